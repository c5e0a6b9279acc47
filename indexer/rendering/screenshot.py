"""Pictures of whole screens, and what of a screenshot is the icon."""

import struct
from typing import NamedTuple, Self

import numpy as np
from PIL import Image

from indexer.arrays import Pixels
from indexer.errors import RenderError
from indexer.rendering.render import CLEAR_CONTRAST, VISIBLE_CONTRAST, decode, draw, render, svg_document

MARGIN = 0.1
"""Left free around what is drawn, of its longer side: as around icons that use 20 of 24 px."""
_DRAWN_AT = 4
"""An opaque picture is decoded at so many times the model's size, and made smaller once it is square."""
_CONTRAST = 32
"""Of 255: what differs less from the ground is noise of the compression."""
_EVEN_SHARE = 0.9
"""Least share of the border that has the ground's colour where margins are trimmed."""


def cut_out(content: bytes, *, size: int) -> Pixels:
    """Draw what an opaque picture shows at `size`, centred, on a square of its ground: the median of its border.

    An even ground is trimmed to `MARGIN`; what is transparent is drawn as a library's own pictures are. Over Tabler,
    R@1 of screenshots with all changes at 48 / 24 px: on white .49 / .30 (150 icons), on the ground .738 / .588,
    trimmed as well .812 / .688 (80 icons); clean ones .988 throughout.

    Raises RenderError as `indexer.rendering.render.render` does.
    """
    rendered, picture = render(content, size=size), draw(content, size=_DRAWN_AT * size)
    if (picture[..., 3] < 255).any():
        return rendered.pixels
    return _cut_out_opaque(picture[..., :3], size=size, may_be_even=svg_document(content) is not None)


def cut_out_pixels(pixels: Pixels, *, size: int) -> Pixels:
    """Do the same with an opaque picture that is decoded already, RGB (height, width, 3)."""
    height, width = pixels.shape[:2]
    scale = _DRAWN_AT * size / max(height, width)
    sides = max(1, round(width * scale)), max(1, round(height * scale))
    drawn = Image.fromarray(pixels).resize(sides, Image.Resampling.BICUBIC, reducing_gap=3.0)
    return _cut_out_opaque(np.asarray(drawn), size=size, may_be_even=False)


def _cut_out_opaque(colours: Pixels, *, size: int, may_be_even: bool) -> Pixels:
    border = np.concatenate([colours[0], colours[-1], colours[:, 0], colours[:, -1]]).astype(np.int64)
    ground = np.median(border, axis=0)
    differs = np.abs(colours - ground).max(axis=2) >= _CONTRAST
    if not may_be_even and not differs.any():
        raise RenderError("of one colour all over, so there is no icon to look for")
    is_even = (np.abs(border - ground).max(axis=1) < _CONTRAST).mean() >= _EVEN_SHARE
    shown = Image.fromarray(colours).crop(Image.fromarray(differs).getbbox() if is_even else None)
    side = round(max(shown.size) * (1 + 2 * MARGIN * is_even))
    square = Image.new("RGB", (side, side), tuple(ground.astype(int).tolist()))
    square.paste(shown, ((side - shown.width) // 2, (side - shown.height) // 2))
    return np.asarray(square.resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0))


_LARGEST_ICON = 1024
"""Longer side of what may be one icon on nothing: of a larger picture its pixels say enough."""
_HEAD = struct.Struct(">II?")


class Screenshot(NamedTuple):
    """A picture at its natural size."""

    pixels: Pixels
    """RGB, (height, width, 3)."""
    icon: Pixels | None
    """The same as `cutout.cut_out` gives it, of a small SVG or what is transparent: `pixels` say these less well."""

    def to_bytes(self) -> bytes:
        """Spell it for another process."""
        height, width = self.pixels.shape[:2]
        icon = [] if self.icon is None else [self.icon.tobytes()]
        return b"".join([_HEAD.pack(height, width, bool(icon)), self.pixels.tobytes(), *icon])

    @classmethod
    def from_bytes(cls, spelled: bytes, *, size: int) -> Self:
        """Read what `to_bytes` spelled; `size` is that of the icon."""
        height, width, has_icon = _HEAD.unpack_from(spelled)
        values, end = np.frombuffer(spelled, np.uint8, offset=_HEAD.size), 3 * height * width
        return cls(values[:end].reshape(height, width, 3), values[end:].reshape(size, size, 3) if has_icon else None)


def draw_screenshot(content: bytes, *, size: int) -> Screenshot:
    """Draw a whole picture on white, or on black where nothing of it shows on white; `size` is the model's.

    Raises RenderError as `indexer.rendering.render.render` does, and where it is of one colour all over.
    """
    picture, _ = decode(content, size=None)
    is_opaque, image = picture.shape[2] == 3 or int(picture[..., 3].min()) == 255, Image.fromarray(picture)
    shown = image.convert("RGB") if is_opaque else _on_clear_ground(image)
    if _contrast(shown) < VISIBLE_CONTRAST:
        raise RenderError("of one colour all over, so it shows no icon")
    is_plain = (is_opaque and svg_document(content) is None) or max(image.size) > _LARGEST_ICON
    return Screenshot(np.asarray(shown), None if is_plain else cut_out(content, size=size))


def _on_clear_ground(image: Image.Image) -> Image.Image:
    grounds = [Image.new("RGB", image.size, (shade, shade, shade)) for shade in (255, 0)]
    for ground in grounds:
        ground.paste(image, mask=image.getchannel("A"))
    return max(grounds, key=lambda shown: min(_contrast(shown), CLEAR_CONTRAST))


def _contrast(image: Image.Image) -> int:
    """The widest range of any channel, 0 to 255."""
    return max(highest - lowest for lowest, highest in image.getextrema())  # type: ignore[misc]
