"""Boxes without any training: what stands apart from its ground, as large and as square as icons are.

The baseline that the detector is held against. Lines of text become wide components and are left out by their shape.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from indexer.arrays import Mask, Pixels
from indexer.locating.boxes import NO_BOXES, Boxes

_CONTRAST = 24
"""Of 255: least difference between neighbours at an edge."""
_GAP = 5
"""Pixels, odd: edges nearer than that are one component."""
_SIDES = (8, 72)
_RATIOS = (0.6, 1.67)
"""Width by height."""


def connected_components(pixels: Pixels) -> Boxes:
    """Find what may be icons in a picture, RGB (height, width, 3); every score is 1."""
    corners = _component_corners(_pieces(pixels))
    margin = _GAP // 2
    corners += np.array([margin, margin, -margin, -margin])
    sides = corners[:, 2:] - corners[:, :2]
    ratios = sides[:, 0] / np.maximum(sides[:, 1], 1)
    fits = (sides >= _SIDES[0]).all(1) & (sides <= _SIDES[1]).all(1) & (ratios >= _RATIOS[0]) & (ratios <= _RATIOS[1])
    if not fits.any():
        return NO_BOXES
    return Boxes(corners[fits].astype(np.float32), np.ones(int(fits.sum()), np.float32))


def count_components(pixels: Pixels) -> int:
    """How many pieces of a picture stand apart from each other, whatever their size."""
    return len(_component_corners(_pieces(pixels)))


def _pieces(pixels: Pixels) -> Mask:
    """Edges, and what lies between near ones."""
    edges = Image.fromarray(_edges(pixels).astype(np.uint8) * 255)
    return np.asarray(edges.filter(ImageFilter.MaxFilter(_GAP))) > 0


def _edges(pixels: Pixels) -> Mask:
    """Pixels that differ from the one before them in their row or column."""
    values = pixels.astype(np.int16)
    edges = np.zeros(pixels.shape[:2], bool)
    edges[:, 1:] |= np.abs(np.diff(values, axis=1)).max(axis=2) >= _CONTRAST
    edges[1:] |= np.abs(np.diff(values, axis=0)).max(axis=2) >= _CONTRAST
    return edges


def _component_corners(mask: Mask) -> NDArray[np.int64]:
    """Left, top, right, bottom of each 8-connected component, (n, 4), by union-find over runs of rows."""
    rows, starts, ends = _runs(mask)
    parents = np.arange(len(rows))
    for upper, lower in zip(*_touching(rows, starts, ends), strict=True):
        one, other = _root(parents, upper), _root(parents, lower)
        parents[max(one, other)] = min(one, other)
    roots = np.array([_root(parents, run) for run in range(len(rows))], np.int64)
    _, numbers = np.unique(roots, return_inverse=True)
    n = int(numbers.max()) + 1 if len(numbers) else 0
    corners = np.zeros((n, 4), np.int64)
    corners[:, :2] = np.iinfo(np.int64).max
    np.minimum.at(corners[:, 0], numbers, starts)
    np.minimum.at(corners[:, 1], numbers, rows)
    np.maximum.at(corners[:, 2], numbers, ends)
    np.maximum.at(corners[:, 3], numbers, rows + 1)
    return corners


def _runs(mask: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Row, first column and column after the last of each stretch that is set, by row and column."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    return rows, starts, np.nonzero(steps == -1)[1]


def _touching(
    rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of runs of neighbouring rows that touch, corners included: the upper ones, the lower ones."""
    width = int(ends.max(initial=0)) + 2
    first = np.searchsorted(rows * width + ends, (rows - 1) * width + starts, side="left")
    last = np.searchsorted(rows * width + starts, (rows - 1) * width + ends, side="right")
    counts = np.maximum(last - first, 0)
    lower = np.repeat(np.arange(len(rows)), counts)
    offsets = np.arange(len(lower)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(first, counts) + offsets, lower


def _root(parents: NDArray[np.int64], run: int) -> int:
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = int(parents[run])
    return run
