"""What is inside a box, as the encoder sees icons: a square of the picture's own ground, the icon in its middle."""

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Pixels

MARGIN = 0.2
"""Of ground around a box, of its longer side. Icons named rightly from true boxes, with .1, .2 and .3: of 556 on real
products .797, .865, .863; of 2,634 on rendered screens .852, .849, .838."""


def crops(pixels: Pixels, corners: Floats, *, size: int) -> Pixels:
    """Cut boxes (n, 4) out of a picture (height, width, 3): uint8 (n, size, size, 3).

    What is drawn around an icon is no part of it: outside its box stands the ground, the median of the box's rim.
    """
    cut = np.empty((len(corners), size, size, 3), np.uint8)
    for row, box in enumerate(corners):
        cut[row] = _crop(pixels, box, size=size)
    return cut


def _crop(pixels: Pixels, box: Floats, *, size: int) -> Pixels:
    height, width = pixels.shape[:2]
    left, top = np.clip(np.floor(box[:2]).astype(int), 0, [width - 1, height - 1])
    right, bottom = np.clip(np.ceil(box[2:]).astype(int), [left + 1, top + 1], [width, height])
    inside = pixels[top:bottom, left:right]
    side = round(max(inside.shape[:2]) * (1 + 2 * MARGIN))
    square = np.empty((side, side, 3), np.uint8)
    square[:] = _ground(pixels, int(left), int(top), int(right), int(bottom))
    row, column = (side - inside.shape[0]) // 2, (side - inside.shape[1]) // 2
    square[row : row + inside.shape[0], column : column + inside.shape[1]] = inside
    return np.asarray(Image.fromarray(square).resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0))


def _ground(pixels: Pixels, left: int, top: int, right: int, bottom: int) -> Pixels:
    """Median colour of the pixels around a box, one pixel wide; of its own rim where the picture ends there."""
    height, width = pixels.shape[:2]
    above, below = max(top - 1, 0), min(bottom, height - 1)
    before, behind = max(left - 1, 0), min(right, width - 1)
    rim = np.concatenate(
        [
            pixels[above, before : behind + 1],
            pixels[below, before : behind + 1],
            pixels[above : below + 1, before],
            pixels[above : below + 1, behind],
        ]
    )
    return np.asarray(np.median(rim, axis=0), np.uint8)
