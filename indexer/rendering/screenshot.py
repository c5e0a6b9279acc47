"""What does a picture of a whole screen look like? Bytes -> RGB at its natural size, on one ground."""

import struct
from typing import NamedTuple, Self

import numpy as np
from PIL import Image

from indexer.arrays import Pixels
from indexer.errors import RenderError
from indexer.rendering.cutout import cut_out
from indexer.rendering.grounds import CLEAR_CONTRAST, VISIBLE_CONTRAST
from indexer.rendering.render import draw_whole
from indexer.rendering.svg_document import svg_document

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
        head = _HEAD.pack(height, width, self.icon is not None)
        return b"".join([head, self.pixels.tobytes(), b"" if self.icon is None else self.icon.tobytes()])

    @classmethod
    def from_bytes(cls, spelled: bytes, *, size: int) -> Self:
        """Read what `to_bytes` spelled; `size` is that of the icon."""
        height, width, has_icon = _HEAD.unpack_from(spelled)
        values = np.frombuffer(spelled, np.uint8, offset=_HEAD.size)
        end = 3 * height * width
        icon = values[end:].reshape(size, size, 3) if has_icon else None
        return cls(values[:end].reshape(height, width, 3), icon)


def draw_screenshot(content: bytes, *, size: int) -> Screenshot:
    """Draw a whole picture on white, or on black where nothing of it shows on white; `size` is the model's.

    Raises RenderError as `indexer.rendering.render.render` does, and where it is of one colour all over.
    """
    picture = draw_whole(content)
    is_opaque = picture.shape[2] == 3 or int(picture[..., 3].min()) == 255
    image = Image.fromarray(picture)
    shown = image.convert("RGB") if is_opaque else _on_clear_ground(image)
    if _contrast(shown) < VISIBLE_CONTRAST:
        raise RenderError("of one colour all over, so it shows no icon")
    is_plain = (is_opaque and svg_document(content) is None) or max(image.size) > _LARGEST_ICON
    return Screenshot(np.asarray(shown), None if is_plain else cut_out(content, size=size))


def _on_clear_ground(image: Image.Image) -> Image.Image:
    on_white = _on_ground(image, 255)
    if _contrast(on_white) >= CLEAR_CONTRAST:
        return on_white
    on_black = _on_ground(image, 0)
    return on_black if _contrast(on_black) > _contrast(on_white) else on_white


def _on_ground(image: Image.Image, shade: int) -> Image.Image:
    ground = Image.new("RGB", image.size, (shade, shade, shade))
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _contrast(image: Image.Image) -> int:
    """The widest range of any channel, 0 to 255."""
    return max(highest - lowest for lowest, highest in image.getextrema())  # type: ignore[misc]
