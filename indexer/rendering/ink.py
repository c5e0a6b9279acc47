"""How the ink of pictures lies, as small numbers: in lines or areas, in one tone or two, in how many hues.

Measured on a grid of 64 x 64, whatever size the model sees, so that a stroke of 2 px of 24 is as thick for every model.
A row of a mask of the grid is an integer of 64 bits, the first column the highest: to erode all rows of many pictures
takes a few shifts.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.arrays import Mask
from indexer.library.traits import Ink

GRID = 64
_COLOUR = 48
"""Of 255, between a pixel's strongest channel and its weakest: the slate greys of interfaces (#64748b) reach 39."""
_HUE_SHARE = 0.05
"""Of the coloured pixels; fewer of one hue are its edge with another."""
_Rows = NDArray[np.uint64]
"""Masks of the grid, (n, 64)."""


class Planes(NamedTuple):
    """Some pictures a channel at a time, which is quicker to go through, with the highest and lowest of every pixel."""

    channels: NDArray[np.uint8]
    """RGB, or the one channel of greys: (n, 3 or 1, size, size)."""
    highest: NDArray[np.uint8]
    lowest: NDArray[np.uint8]

    @classmethod
    def of(cls, channels: NDArray[np.uint8]) -> Self:
        """Find the highest and the lowest of every pixel."""
        return cls(channels, channels.max(axis=1), channels.min(axis=1))

    @property
    def coloured(self) -> Mask:
        """Which pixels show a colour, and no shade of grey."""
        return (self.highest - self.lowest) > _COLOUR


def measure(planes: Planes, *, on_light: Mask) -> NDArray[np.int8]:
    """Measure pictures on their grounds, of any size, on which they show: an `Ink` each, (n, 9)."""
    if planes.highest.shape[1:] != (GRID, GRID):
        planes = Planes.of(_shrunk(planes.channels))
    depth = np.where(on_light[:, None, None], 255 - planes.lowest, planes.highest)
    top = depth.max(axis=(1, 2)).astype(np.int64)
    some, half, dark = (
        _rows(depth > least.astype(np.uint8)[:, None, None]) for least in (top // 10, top // 2, top * 3 // 4)
    )
    n_some, n_half, left = _count(some), _count(half), half
    thick = []
    for _ in range(4):
        left = _worn(left)
        thick.append(_percent(_count(left), n_half))
    coloured, n_hues = np.zeros((2, len(depth)), np.int64)
    if planes.channels.shape[1] > 1:
        shown = planes.coloured
        coloured = shown.sum(axis=(1, 2))
        n_hues = _count_hues(planes.channels, shown, coloured)
    ink = Ink(
        _percent(n_some, GRID * GRID),
        _percent(_count(_worn(some & ~dark)), n_some),
        _percent(n_half, _count(_enclosed(half))),
        *thick,
        _percent(coloured, n_some),
        n_hues,
    )
    return np.stack(ink, axis=1).astype(np.int8)


def _shrunk(channels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    planes = channels.reshape(-1, *channels.shape[2:])
    grids = [np.asarray(Image.fromarray(plane).resize((GRID, GRID), Image.Resampling.BOX)) for plane in planes]
    return np.stack(grids).reshape(*channels.shape[:2], GRID, GRID)


def _rows(mask: Mask) -> _Rows:
    return np.packbits(mask, axis=2).view(">u8")[..., 0].astype(np.uint64)


def _count(rows: _Rows) -> NDArray[np.int64]:
    return np.bitwise_count(rows).sum(axis=1, dtype=np.int64)


def _percent(part: NDArray[np.int64], whole: NDArray[np.int64] | int) -> NDArray[np.int64]:
    return (200 * part + whole) // (2 * whole)


def _worn(rows: _Rows) -> _Rows:
    """Take a pixel off every edge: what has all eight neighbours is left."""
    across, worn = rows & rows >> 1 & rows << 1, np.zeros_like(rows)
    worn[:, 1:-1] = across[:, :-2] & across[:, 1:-1] & across[:, 2:]
    return worn


def _enclosed(rows: _Rows) -> _Rows:
    """Find the pixels that have ink on all four sides, or are ink."""
    right = left = rows
    for step in (1, 2, 4, 8, 16, 32):
        right, left = right | right >> step, left | left << step
    down = np.bitwise_or.accumulate(rows, axis=1)
    up = np.bitwise_or.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    return right & left & down & up


def _count_hues(channels: NDArray[np.uint8], shown: Mask, n_shown: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the sixths of the colour circle: they differ in which channel exceeds which."""
    red, green, blue = (channels[:, channel] for channel in range(3))
    sixths = (red > green) + 2 * (green > blue) + 4 * (blue > red)
    found = [np.count_nonzero(shown & (sixths == sixth), axis=(1, 2)) > _HUE_SHARE * n_shown for sixth in range(8)]
    return np.sum(found, axis=0)
