"""On which ground does a picture show? On white, or else on black; what shows on neither is blank."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.errors import RenderError
from indexer.rendering.ink import Planes, distinct_channels

BLANK = "blank: nothing is drawn"

Background = Literal["light", "dark"]

CLEAR_CONTRAST = 24
"""Of 255: a picture with less than this on white (an icon in #eee) is tried on black."""
VISIBLE_CONTRAST = 4
"""Of 255: less than this is noise of the compression, not a shape."""
_COLOUR_BITS = np.uint32(0x00FFFFFF)
"""Of a pixel as a little-endian number."""


def composite(picture: NDArray[np.uint8], *, size: int) -> tuple[Planes, Background]:
    """Lay RGB or RGBA, (height, width, 3 or 4), on the middle of a square, and say which ground it was given.

    Raises RenderError (`BLANK`) where nothing shows.
    """
    on_light = _on_canvas(picture, size=size, shade=255)
    contrast = _contrast(on_light)
    if contrast >= CLEAR_CONTRAST:
        return Planes.of(on_light), "light"
    on_dark = _on_canvas(picture, size=size, shade=0)
    if max(contrast, _contrast(on_dark)) < VISIBLE_CONTRAST:
        return _one_colour(on_light, on_dark)
    return (Planes.of(on_dark), "dark") if _contrast(on_dark) > contrast else (Planes.of(on_light), "light")


def _one_colour(on_light: NDArray[np.uint8], on_dark: NDArray[np.uint8]) -> tuple[Planes, Background]:
    """What is of one colour all over: a full square, on the ground from which it differs more, or nothing at all."""
    from_light, from_dark = 255 - int(on_light.min()), int(on_dark.max())
    if max(from_light, from_dark) < VISIBLE_CONTRAST:
        raise RenderError(BLANK)
    is_light = from_light >= min(from_dark, CLEAR_CONTRAST)
    return (Planes.of(on_light), "light") if is_light else (Planes.of(on_dark), "dark")


def _on_canvas(picture: NDArray[np.uint8], *, size: int, shade: int) -> NDArray[np.uint8]:
    """Composite RGB or RGBA, (height, width, 3 or 4), on a square of one shade: its channels, (3, size, size)."""
    height, width, _ = picture.shape
    planes = _on_shade(picture, shade=shade)
    if height == width:
        return planes
    canvas = np.full((3, size, size), shade, np.uint8)
    top, left = (size - height) // 2, (size - width) // 2
    canvas[:, top : top + height, left : left + width] = planes
    return canvas


def _on_shade(picture: NDArray[np.uint8], *, shade: int) -> NDArray[np.uint8]:
    """Composite RGB or RGBA on black (0) or white (255): its channels, (3, height, width)."""
    height, width, n_channels = picture.shape
    if n_channels == 4 and not (picture.view("<u4") & _COLOUR_BITS).any():  # most icons: all channels are one
        return np.broadcast_to(~picture[..., 3] & np.uint8(shade), (3, height, width))
    planes = np.empty((n_channels, height, width), np.uint8)
    for channel in range(n_channels):
        planes[channel] = picture[..., channel]
    if n_channels == 3:
        return planes
    alpha = planes[3].astype(np.uint16)
    blend = planes[:3] * alpha
    blend += (255 - alpha) * np.uint16(shade) + np.uint16(128)
    blend += blend >> 8
    blend >>= 8  # exactly blend / 255, rounded
    return np.asarray(blend, np.uint8)


def _contrast(canvas: NDArray[np.uint8]) -> int:
    """The widest range of any channel, 0 to 255, of (3, size, size)."""
    return max(int(channel.max()) - int(channel.min()) for channel in distinct_channels(canvas))
