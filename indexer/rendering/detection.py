"""Is a picture coloured, does it move? Seen while it is drawn, from its pixels and its bytes."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

_COLOUR = 48
"""Of 255, between a pixel's strongest channel and its weakest: the slate greys of interfaces (#64748b) reach 39."""
_COLOURED_SHARE = 0.001
"""Of all pixels: a badge of three pixels' radius has 28 of 4,096, the rim of a grey shape in a JPEG fewer than 4."""
_SVG_MOVES = (b"<animate", b"<set ", b"keyframes ")
_MOVING_BITMAPS = ("GIF", "PNG", "WEBP")


def is_coloured(pixels: NDArray[np.uint8]) -> bool:
    """Whether a picture on its ground, (size, size, 3), shows any colour, or shades of grey alone."""
    planes = np.ascontiguousarray(pixels.reshape(-1, 3).T)  # a plane at a time is twice as fast
    highest = np.maximum(np.maximum(planes[0], planes[1]), planes[2])
    lowest = np.minimum(np.minimum(planes[0], planes[1]), planes[2])
    return bool(np.count_nonzero(highest - lowest > _COLOUR) > _COLOURED_SHARE * len(highest))


def does_svg_move(document: bytes) -> bool:
    """Whether an SVG is animated, by SMIL or by a style sheet; scripts never run here."""
    return any(sign in document for sign in _SVG_MOVES)


def does_bitmap_move(image: "Image.Image", kind: str) -> bool:
    """Whether an opened bitmap has more than one frame."""
    try:
        return kind in _MOVING_BITMAPS and bool(getattr(image, "is_animated", False))
    except Exception:  # hostile bytes make a decoder raise anything; a second frame that can't be read moves nothing
        return False
