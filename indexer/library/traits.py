"""What travels beside vectors, as plain data: traits of pictures, and where every entry of a source ended.

Pictures whose pixels are equal are one drawing in other bytes: Lucide's alert-circle and circle-alert are two files of
one. A search should answer with it once.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Positions

FLAGS = ("coloured", "animated")


class Ink(NamedTuple):
    """How the ink of a picture lies, as `rendering.render` measures it on a grid of 64 x 64; shares are percent."""

    area: int
    """Of the grid that bears any ink."""
    pale: int
    """Of the ink: areas, and lines of 3 px or more, in a second, lighter tone."""
    solid: int
    """Of what the ink encloses from four sides: the rest is holes."""
    thick_1: int
    thick_2: int
    thick_3: int
    thick_4: int
    """Of the ink that is left once so many px are taken off every edge."""
    coloured: int
    """Of the ink."""
    n_hues: int
    """Sixths of the colour circle that hold coloured ink, 0 to 6."""


TRAITS = np.dtype([*((flag, np.int8) for flag in FLAGS), ("drawing", np.int64), ("ink", np.int8, len(Ink._fields))])
"""Flags are 1, 0, or `NOT_KNOWN`; `drawing` is `digest_of` the pixels, which equal drawings share; `ink` is
an `Ink`, all of it `NOT_KNOWN` in shards of older programs."""
NOT_KNOWN = -1


def digest_of(array: NDArray[Any]) -> int:
    """64 bits of a C-contiguous array's content: of a million arrays two have the same with a chance of 3e-8."""
    return int.from_bytes(hashlib.blake2b(array.data, digest_size=8).digest(), "little", signed=True)


def find_drawings(traits: NDArray[np.void], vectors: Halves) -> Positions:
    """Number the drawing of each picture: the lowest place among `traits` (n,) that shows the same.

    Shards of older programs hold no digest of the pixels; there `vectors` (n, dim) that are equal tell it, which misses
    some that differ by rounding.
    """
    digests = traits["drawing"].copy()
    for place in np.flatnonzero(digests == NOT_KNOWN):
        digests[place] = digest_of(vectors[place])
    _, first, drawings = np.unique(digests, return_index=True, return_inverse=True)
    return np.asarray(first[drawings], np.intp)


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where every entry of every source ended: found = embedded + failed + duplicate + missing."""

    found: int
    embedded: int
    """Distinct images with a vector."""
    failed: int
    """Entries that could not be read or rendered, each listed with its reason."""
    duplicate: int
    """Icons whose picture another icon shows already."""
    missing: int
    """Icons that have neither a vector nor a reason yet; 0 after a whole run."""
    hidden: int
    """Entries that their own source marks as hidden; left out, not counted as found."""
