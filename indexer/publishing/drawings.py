"""Which pictures are the same drawing in other bytes? Those whose pixels are equal, as the renderer has seen them.

Lucide's alert-circle and circle-alert are two files of one drawing; a search should answer with it once.
"""

import numpy as np
from numpy.typing import NDArray

from indexer.library.traits import NOT_KNOWN, digest_of


def find_drawings(traits: NDArray[np.void], vectors: NDArray[np.float16]) -> NDArray[np.int64]:
    """Number the drawing of each picture: the lowest place among `traits` (n,) that shows the same.

    Shards of older programs hold no digest of the pixels; there `vectors` (n, dim) that are equal tell it, which misses
    some that differ by rounding.
    """
    digests = traits["drawing"].copy()
    for place in np.flatnonzero(digests == NOT_KNOWN):
        digests[place] = digest_of(vectors[place])
    _, first, drawings = np.unique(digests, return_index=True, return_inverse=True)
    return np.asarray(first[drawings], np.int64)
