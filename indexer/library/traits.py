"""What is known of a picture beside its vector, as it travels from the renderer through the shards to a generation.

Pictures whose pixels are equal are one drawing in other bytes: Lucide's alert-circle and circle-alert are two files of
one. A search should answer with it once.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Positions

FLAGS = ("coloured", "animated")
TRAITS = np.dtype([*((flag, np.int8) for flag in FLAGS), ("drawing", np.int64)])
"""Flags are 1, 0, or `NOT_KNOWN`; `drawing` is `digest_of` the pixels, which equal drawings share."""
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
