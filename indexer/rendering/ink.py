"""How the ink of pictures lies, as small numbers: in lines or areas, in one tone or two, in how many hues.

Measured on a grid of 64 x 64, whatever size the model sees, so that a stroke of 2 px of 24 is as thick for every model.
A row of a mask of the grid is an integer of 64 bits, the first column the highest: to erode all rows of many pictures
takes a few shifts.
"""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.arrays import Ids, Mask, Pixels

GRID = 64
_COLOUR = 48
"""Of 255, between a pixel's strongest channel and its weakest: the slate greys of interfaces (#64748b) reach 39."""
_HUE_SHARE = 0.05
"""Of the coloured pixels; fewer of one hue are its edge with another."""


def shows_colour(channels: Pixels) -> Mask:
    """Which pixels show a colour, and no shade of grey: of RGB, or one channel, (n, 3 or 1, size, size)."""
    return np.asarray(channels.max(axis=1) - channels.min(axis=1) > _COLOUR)


def measure(channels: Pixels, *, on_light: Mask) -> NDArray[np.int8]:
    """Measure pictures on their grounds, (n, 3 or 1, size, size), on which they show: an `Ink` each, (n, 9)."""
    if channels.shape[2:] != (GRID, GRID):
        planes = channels.reshape(-1, *channels.shape[2:])
        grids = [np.asarray(Image.fromarray(plane).resize((GRID, GRID), Image.Resampling.BOX)) for plane in planes]
        channels = np.reshape(grids, (*channels.shape[:2], GRID, GRID))
    depth = np.where(on_light[:, None, None], 255 - channels.min(axis=1), channels.max(axis=1))
    top = depth.max(axis=(1, 2)).astype(np.int64)
    some, half, dark = (
        _rows(depth > least.astype(np.uint8)[:, None, None]) for least in (top // 10, top // 2, top * 3 // 4)
    )
    n_some, n_half = _count(some), _count(half)
    _, *thick = accumulate(range(4), lambda rows, _: _worn(rows), initial=half)
    shown = shows_colour(channels)
    n_shown = np.count_nonzero(shown, axis=(1, 2))
    n_hues = _count_hues(channels, shown, n_shown) if channels.shape[1] > 1 else n_shown
    ink = [  # as `Ink` has them
        _percent(n_some, GRID * GRID),
        _percent(_count(_worn(some & ~dark)), n_some),
        _percent(n_half, _count(_enclosed(half))),
        *(_percent(_count(rows), n_half) for rows in thick),
        _percent(n_shown, n_some),
        n_hues,
    ]
    return np.stack(ink, axis=1).astype(np.int8)


def _rows(mask: Mask) -> NDArray[np.uint64]:
    return np.packbits(mask, axis=2).view(">u8")[..., 0].astype(np.uint64)


def _count(rows: NDArray[np.uint64]) -> Ids:
    return np.asarray(np.bitwise_count(rows).sum(axis=1), np.int64)


def _percent(part: Ids, whole: Ids | int) -> Ids:
    return np.asarray((200 * part + whole) // (2 * whole), np.int64)


def _worn(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Take a pixel off every edge: what has all eight neighbours is left."""
    across, worn = rows & rows >> 1 & rows << 1, np.zeros_like(rows)
    worn[:, 1:-1] = across[:, :-2] & across[:, 1:-1] & across[:, 2:]
    return worn


def _enclosed(rows: Any) -> NDArray[np.uint64]:
    """Find the pixels that have ink on all four sides, or are ink."""
    right = left = rows
    for step in (1, 2, 4, 8, 16, 32):
        right, left = right | right >> step, left | left << step
    down = np.bitwise_or.accumulate(rows, axis=1)
    up = np.bitwise_or.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(right & left & down & up, np.uint64)


def _count_hues(channels: NDArray[np.uint8], shown: Mask, n_shown: Ids) -> Ids:
    """Count the sixths of the colour circle: they differ in which channel exceeds which."""
    red, green, blue = (channels[:, channel] for channel in range(3))
    sixths = (red > green) + 2 * (green > blue) + 4 * (blue > red)
    found = [np.count_nonzero(shown & (sixths == sixth), axis=(1, 2)) > _HUE_SHARE * n_shown for sixth in range(8)]
    return np.asarray(np.sum(found, axis=0), np.int64)
