"""How does the ink of a picture lie: in lines or areas, in one tone or two, in how many hues? Pixels -> small numbers.

Measured on a grid of 64 x 64, whatever size the model sees, so that a stroke of 2 px of 24 is as thick for every model.
A mask of the grid is one integer of 4,096 bits, row by row: an erosion is six shifts, which take 2 microseconds.
"""

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


def _columns(first: int, last: int) -> int:
    """Return the mask of some columns, `last` left out."""
    row = np.zeros((GRID, GRID), bool)
    row[:, first:last] = True
    return _mask(row)


def _mask(grid: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(grid).tobytes(), "big")


_FROM = [_columns(step, GRID) for step in _STEPS]
_UNTIL = [_columns(0, GRID - step) for step in _STEPS]
"""Columns that a shift to the right, or to the left, may fill: others would take what has left the row beside."""


class Planes(NamedTuple):
    """A picture's channels, each (size * size,) uint8, with the highest and the lowest of every pixel."""

    red: NDArray[np.uint8]
    green: NDArray[np.uint8]
    blue: NDArray[np.uint8]
    highest: NDArray[np.uint8]
    lowest: NDArray[np.uint8]

    @classmethod
    def of(cls, pixels: NDArray[np.uint8]) -> Self:
        """Lay out RGB, (size, size, 3): a plane at a time is twice as fast."""
        red, green, blue = np.ascontiguousarray(pixels.reshape(-1, 3).T)
        return cls(red, green, blue, np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue))

    @property
    def coloured(self) -> NDArray[np.bool_]:
        """Which pixels show a colour, and no shade of grey."""
        return (self.highest - self.lowest) > _COLOUR


def measure(pixels: NDArray[np.uint8], planes: Planes, *, on_light: bool) -> Ink:
    """Measure a picture on its ground, RGB (size, size, 3), and the same as planes."""
    if len(pixels) != GRID:
        planes = Planes.of(np.asarray(Image.fromarray(pixels).resize((GRID, GRID), Image.Resampling.BOX)))
    depth = (255 - planes.lowest if on_light else planes.highest).reshape(GRID, GRID)
    top = int(depth.max())
    some, half, dark = (_mask(depth > int(top * share)) for share in (0.1, 0.5, 0.75))
    layers = [half]
    for _ in range(4):
        layers.append(_worn(layers[-1]))
    n_some, n_half, coloured = some.bit_count(), half.bit_count(), _mask(planes.coloured)
    thick_1, thick_2, thick_3, thick_4 = (_percent(mask.bit_count(), n_half) for mask in layers[1:])
    return Ink(
        area=_percent(n_some, GRID * GRID),
        pale=_percent(_worn(some & ~dark).bit_count(), n_some),
        solid=_percent(n_half, _enclosed(half).bit_count()),
        thick_1=thick_1,
        thick_2=thick_2,
        thick_3=thick_3,
        thick_4=thick_4,
        coloured=_percent(coloured.bit_count(), n_some),
        n_hues=_count_hues(planes, coloured) if coloured else 0,
    )


def _percent(part: int, whole: int) -> int:
    return min(100, round(100 * part / max(1, whole)))


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


def _count_hues(planes: Planes, coloured: int) -> int:
    """Count the sixths of the colour circle: they differ in which channel exceeds which."""
    sixths = [coloured]
    for one, other in ((planes.red, planes.green), (planes.green, planes.blue), (planes.blue, planes.red)):
        exceeds = _mask(one > other)
        sixths = [part for sixth in sixths for part in (sixth & exceeds, sixth & ~exceeds)]
    return sum(sixth.bit_count() > _HUE_SHARE * coloured.bit_count() for sixth in sixths)
