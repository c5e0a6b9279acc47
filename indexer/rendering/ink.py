"""How the ink of a picture lies, as small numbers: in lines or areas, in one tone or two, in how many hues.

Measured on a grid of 64 x 64, whatever size the model sees, so that a stroke of 2 px of 24 is as thick for every model.
A mask of the grid is one integer of 4,096 bits, row by row: an erosion is six shifts, which take a microsecond.
"""

from functools import reduce
from itertools import accumulate
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.library.traits import Ink

GRID = 64
_COLOUR = 48
"""Of 255, between a pixel's strongest channel and its weakest: the slate greys of interfaces (#64748b) reach 39."""
_HUE_SHARE = 0.05
"""Of the coloured pixels; fewer of one hue are its edge with another."""
_STEPS = [1 << power for power in range(6)]
_ALL = (1 << GRID * GRID) - 1


def _mask(grid: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(grid).tobytes(), "big")


_COLUMN = np.tile(np.arange(GRID), (GRID, 1))
_FROM = [_mask(step <= _COLUMN) for step in _STEPS]
_UNTIL = [_mask(GRID - step > _COLUMN) for step in _STEPS]
"""Columns that a shift to the right, or to the left, may fill: others would take what has left the row beside."""


class Planes(NamedTuple):
    """A picture a channel at a time, which is quicker to go through, with the highest and lowest of every pixel."""

    channels: NDArray[np.uint8]
    """RGB, (3, size, size)."""
    highest: NDArray[np.uint8]
    lowest: NDArray[np.uint8]

    @classmethod
    def of(cls, channels: NDArray[np.uint8]) -> Self:
        """Find the highest and the lowest of every pixel."""
        distinct = distinct_channels(channels)
        return cls(channels, reduce(np.maximum, distinct), reduce(np.minimum, distinct))

    @property
    def coloured(self) -> NDArray[np.bool_]:
        """Which pixels show a colour, and no shade of grey."""
        return (self.highest - self.lowest) > _COLOUR


def distinct_channels(channels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Take one channel of a picture that is one channel three times, (3, size, size) -> (1 or 3, size, size)."""
    return channels if channels.strides[0] else channels[:1]


def measure(planes: Planes, *, on_light: bool) -> Ink:
    """Measure a picture on its ground, of any size, on which it shows."""
    if planes.highest.shape != (GRID, GRID):
        box = Image.Resampling.BOX
        shrunk = [np.asarray(Image.fromarray(channel).resize((GRID, GRID), box)) for channel in planes.channels]
        planes = Planes.of(np.stack(shrunk))
    depth = 255 - planes.lowest if on_light else planes.highest
    top = int(depth.max())
    some, half, dark = _mask(depth > top // 10), _mask(depth > top // 2), _mask(depth > top * 3 // 4)
    coloured = _mask(planes.coloured) if len(distinct_channels(planes.channels)) > 1 else 0
    layers = accumulate(range(4), lambda mask, _: _worn(mask), initial=half)
    n_some, (n_half, *n_thick) = some.bit_count(), (layer.bit_count() for layer in layers)
    thick_1, thick_2, thick_3, thick_4 = (_percent(n, n_half) for n in n_thick)
    return Ink(
        area=_percent(n_some, GRID * GRID),
        pale=_percent(_worn(some & ~dark).bit_count(), n_some),
        solid=_percent(n_half, _enclosed(half).bit_count()),
        thick_1=thick_1,
        thick_2=thick_2,
        thick_3=thick_3,
        thick_4=thick_4,
        coloured=_percent(coloured.bit_count(), n_some),
        n_hues=_count_hues(planes.channels, coloured) if coloured else 0,
    )


def _percent(part: int, whole: int) -> int:
    return (200 * part + whole) // (2 * whole)


def _worn(mask: int) -> int:
    """Take a pixel off every edge: what has all eight neighbours is left."""
    across = mask & (mask >> 1 & _FROM[0]) & (mask << 1 & _UNTIL[0])
    return across & across >> GRID & across << GRID


def _enclosed(mask: int) -> int:
    """Find the pixels that have ink on all four sides, or are ink."""
    right = left = down = up = mask
    for step, fills_from, fills_until in zip(_STEPS, _FROM, _UNTIL, strict=True):
        right |= right >> step & fills_from
        left |= left << step & fills_until
        down |= down >> step * GRID
        up |= up << step * GRID & _ALL
    return right & left & down & up


def _count_hues(channels: NDArray[np.uint8], coloured: int) -> int:
    """Count the sixths of the colour circle: they differ in which channel exceeds which."""
    sixths = [coloured]
    for one, other in ((0, 1), (1, 2), (2, 0)):
        exceeds = _mask(channels[one] > channels[other])
        sixths = [part for sixth in sixths for part in (sixth & exceeds, sixth & ~exceeds)]
    return sum(sixth.bit_count() > _HUE_SHARE * coloured.bit_count() for sixth in sixths)
