"""Boxes around icons in a picture, and what a picture is: one icon, a screen with icons, or neither. No Pillow."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from indexer.arrays import Floats, Ids, Mask, Pixels, Positions


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
    stays = np.ones(len(order), bool)
    for place in range(len(order)):
        if stays[place]:
            rest = slice(place + 1, None)
            shared = shared_areas(corners[place : place + 1], corners[rest])[0]
            stays[rest] &= shared <= most_shared * np.minimum(sizes[place], sizes[rest])
    return order[stays]


_STEP = 24
"""Of 255: least difference between neighbours at an edge."""
GAP = 5
"""Pixels, odd: edges nearer than that are one component."""


def touching_pieces(pixels: Pixels) -> Mask:
    """Pixels that differ from the one before them in their row or column, and what lies between near ones."""
    values = pixels.astype(np.int16)
    edges: Mask = np.zeros(pixels.shape[:2], bool)
    edges[:, 1:] |= np.abs(np.diff(values, axis=1)).max(axis=2) >= _STEP
    edges[1:] |= np.abs(np.diff(values, axis=0)).max(axis=2) >= _STEP
    for axis in range(2):
        padded = np.pad(edges, [(GAP // 2, GAP // 2) if side == axis else (0, 0) for side in range(2)])
        edges = np.asarray(sliding_window_view(padded, GAP, axis=axis).any(axis=-1))
    return edges


def component_corners(mask: Mask) -> Ids:
    """Left, top, right, bottom of each 8-connected component, (n, 4)."""
    steps = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    (rows, starts), (_, ends) = np.nonzero(steps == 1), np.nonzero(steps == -1)  # runs of what is set, by row
    width = mask.shape[1] + 2
    first = np.searchsorted(rows * width + ends, (rows - 1) * width + starts, side="left")
    last = np.searchsorted(rows * width + starts, (rows - 1) * width + ends, side="right")
    n_above = np.maximum(last - first, 0)  # runs of the row before that touch, corners included
    lower = np.repeat(np.arange(len(rows)), n_above)
    upper = np.arange(len(lower)) + np.repeat(first - np.cumsum(n_above) + n_above, n_above)
    numbers = np.arange(len(rows))
    while (numbers[upper] != numbers[lower]).any():  # a component is known by the first of its runs
        least, joined = np.minimum(numbers[upper], numbers[lower]), numbers.copy()
        for runs in (upper, lower):
            np.minimum.at(joined, numbers[runs], least)
        numbers = joined[joined]
    order = np.argsort(numbers, kind="stable")
    _, begins = np.unique(numbers[order], return_index=True)
    lows = [np.minimum.reduceat(values[order], begins) for values in (starts, rows)]
    return np.stack([*lows, *(np.maximum.reduceat(values[order], begins) for values in (ends, rows + 1))], axis=1)


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
    height, width = pixels.shape[:2]
    is_squarish = max(height, width) <= _MOST_RATIO * min(height, width)
    if is_squarish and max(height, width) <= _SMALL:
        return "icon"
    is_plain = len(boxes.scores) <= _MOST_PARTS and _has_even_border(pixels) and _is_flat(pixels)
    if is_squarish and is_plain and len(component_corners(touching_pieces(pixels))) <= _MOST_PIECES:
        return "icon"
    return "screen" if len(boxes.scores) else "neither"


def rim(pixels: Pixels) -> Pixels:
    """The outermost pixels of a picture, (n, 3)."""
    return np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])


def _has_even_border(pixels: Pixels) -> bool:
    border = rim(pixels).astype(np.int64)
    differs = np.abs(border - np.median(border, axis=0)).max(axis=1) >= _CONTRAST
    return bool(differs.mean() <= 1 - _EVEN_SHARE)


def _is_flat(pixels: Pixels) -> bool:
    """Whether nearly all pixels have one of a few colours, by the upper three bits of each channel."""
    bits = (pixels >> 5).astype(np.int64)
    counts = np.bincount((bits[..., 0] << 6 | bits[..., 1] << 3 | bits[..., 2]).reshape(-1), minlength=512)
    return bool(np.sort(counts)[-_N_COLOURS:].sum() >= _FLAT_SHARE * counts.sum())
