"""What is a picture: one icon, a screen with icons, or neither? Judged by its ground, its colours and its boxes."""

from typing import Literal

import numpy as np

from indexer.arrays import Pixels
from indexer.locating.boxes import Boxes

PictureKind = Literal["icon", "screen", "neither"]
_SMALL = 96
"""Longer side of a picture that holds one icon, if it is about as wide as high."""
_MOST_RATIO = 1.6
_MOST_PARTS = 3
"""Boxes in a larger picture of one icon: parts of it that stand apart."""
_CONTRAST = 32
_EVEN_SHARE = 0.9
"""Of the border has the ground's colour, where one icon stands on it."""
_FLAT_SHARE = 0.9
"""Of the pixels have one of the few colours of an icon; a photograph's are spread over hundreds."""
_N_COLOURS = 4
_MOST_PIECES = 24
"""What stands apart in one icon, dashes too; words of a page without icons are more."""


def picture_kind(pixels: Pixels, boxes: Boxes) -> PictureKind:
    """Judge a picture, RGB (height, width, 3), of which the boxes of its icons are known."""
    from indexer.locating.components import count_components  # words need no Pillow

    height, width = pixels.shape[:2]
    is_squarish = max(height, width) <= _MOST_RATIO * min(height, width)
    if is_squarish and max(height, width) <= _SMALL:
        return "icon"
    is_plain = len(boxes.scores) <= _MOST_PARTS and _has_even_border(pixels) and _is_flat(pixels)
    if is_squarish and is_plain and count_components(pixels) <= _MOST_PIECES:
        return "icon"
    return "screen" if len(boxes.scores) else "neither"


def _has_even_border(pixels: Pixels) -> bool:
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]).astype(np.int64)
    differs = np.abs(border - np.median(border, axis=0)).max(axis=1) >= _CONTRAST
    return bool(differs.mean() <= 1 - _EVEN_SHARE)


def _is_flat(pixels: Pixels) -> bool:
    """Whether nearly all pixels have one of a few colours, told apart by the upper three bits of each channel."""
    bits = (pixels >> 5).astype(np.int64)
    counts = np.bincount((bits[..., 0] << 6 | bits[..., 1] << 3 | bits[..., 2]).reshape(-1), minlength=512)
    return bool(np.sort(counts)[-_N_COLOURS:].sum() >= _FLAT_SHARE * counts.sum())
