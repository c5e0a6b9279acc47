"""Boxes around icons in a picture, and what a picture is: one icon, a screen with icons, or neither."""

from typing import Literal, NamedTuple

import numpy as np

from indexer.arrays import Floats, Pixels, Positions


class Boxes(NamedTuple):
    """Boxes in pixels of a picture, in no order."""

    corners: Floats
    """(n, 4): left, top, right, bottom; right and bottom are outside."""
    scores: Floats
    """(n,): how surely each holds an icon, 0 to 1."""

    def at(self, rows: Positions) -> "Boxes":
        """Some of them, in the order of `rows`."""
        return Boxes(self.corners[rows], self.scores[rows])


NO_BOXES = Boxes(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))


def areas(corners: Floats) -> Floats:
    """Pixels in each box, (n,)."""
    return np.asarray((corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1]), np.float32)


def shared_areas(one: Floats, other: Floats) -> Floats:
    """Pixels that each box of `one` shares with each of `other`, (n, m)."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    sides = np.maximum(high - low, 0)
    return np.asarray(sides[..., 0] * sides[..., 1], np.float32)


def iou_matrix(one: Floats, other: Floats) -> Floats:
    """Intersection over union of each box of `one` with each of `other`, (n, m)."""
    shared = shared_areas(one, other)
    union = areas(one)[:, None] + areas(other)[None, :] - shared
    return np.asarray(shared / np.maximum(union, 1e-9), np.float32)


def without_overlaps(boxes: Boxes, *, most_shared: float) -> Positions:
    """Rows of the boxes that stay, best first: each shares at most `most_shared` of the smaller area with a better one.

    The smaller area counts, not the union, so a box inside another one goes, too.
    """
    order = np.argsort(-boxes.scores, kind="stable")
    corners = boxes.corners[order]
    sizes = areas(corners)
    goes = np.zeros(len(order), bool)
    for place in range(len(order)):
        if goes[place]:
            continue
        rest = slice(place + 1, None)
        shared = shared_areas(corners[place : place + 1], corners[rest])[0]
        goes[rest] |= shared > most_shared * np.minimum(sizes[place], sizes[rest])
    return order[~goes]


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
    from indexer.screens.located import count_components  # words need no Pillow

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
    """Whether nearly all pixels have one of a few colours, by the upper three bits of each channel."""
    bits = (pixels >> 5).astype(np.int64)
    counts = np.bincount((bits[..., 0] << 6 | bits[..., 1] << 3 | bits[..., 2]).reshape(-1), minlength=512)
    return bool(np.sort(counts)[-_N_COLOURS:].sum() >= _FLAT_SHARE * counts.sum())
