"""Which pictures are the same drawing in other bytes? Told from their vectors, which differ by rounding alone.

Lucide's alert-circle and circle-alert are two files of one drawing; a search should answer with it once.
"""

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

SAME = 1e-4
"""Largest squared distance of two such vectors, in units of what pictures of the library are usually apart from their
mean. Of Lucide, Tabler and Material Design Icons, in bf16, equal pixels are 3e-5 apart at most, mostly 0; the next are
a letter O and a zero, 1.6e-4."""
N_TABLES, N_BITS = 5, 20
"""Vectors this close share all signs of 20 projections with a chance of nine in ten: five tables miss one pair in
100,000."""
ROUNDING = 1e-6
"""Error of a squared distance in fp32."""
_MOST_ALIKE = 256
"""Pictures of one bucket that are compared with each other."""


def find_drawings(vectors: NDArray[np.float16], *, seed: int = 0) -> Ids:
    """Number the drawing of each picture: the lowest place among `vectors` (n, dim) that shows the same.

    Charikar, Similarity Estimation Techniques from Rounding Algorithms, 2002: pictures that fall on the same side of
    random planes are compared; the planes go through the mean, as all icons lie to one side of the origin.
    """
    mean = vectors[:: max(1, len(vectors) // 10_000)].astype(np.float32).mean(axis=0)
    furthest = SAME * max(0.0, 1 - float(mean @ mean))
    random = np.random.default_rng(seed)
    pairs = [np.empty((0, 2), np.int64)]
    for _ in range(N_TABLES):
        planes = random.standard_normal((vectors.shape[1], N_BITS)).astype(np.float32)
        pairs += [_same(bucket, vectors, furthest=furthest) for bucket in _buckets(_sides(vectors, planes, mean))]
    return _joined(np.concatenate(pairs), n=len(vectors))


def _sides(vectors: NDArray[np.float16], planes: NDArray[np.float32], mean: NDArray[np.float32]) -> Ids:
    """On which side of each plane every vector lies, as one number."""
    powers = 1 << np.arange(planes.shape[1])
    offset = mean @ planes
    parts = [
        (vectors[start : start + 10_000].astype(np.float32) @ planes > offset) @ powers
        for start in range(0, len(vectors), 10_000)
    ]
    return np.concatenate(parts)


def _buckets(sides: Ids) -> list[Ids]:
    """Places that share their side of every plane, ascending, where there are several."""
    order = np.argsort(sides, kind="stable")
    starts = np.flatnonzero(np.diff(sides[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    shared = np.flatnonzero(lengths > 1).tolist()
    return [order[starts[place] : starts[place] + min(lengths[place], _MOST_ALIKE)] for place in shared]


def _same(bucket: Ids, vectors: NDArray[np.float16], *, furthest: float) -> Ids:
    """Pairs of places in a bucket that show the same, (pairs, 2)."""
    held = vectors[bucket].astype(np.float32)
    lengths = (held * held).sum(axis=1)
    distances = lengths[:, None] + lengths - 2 * held @ held.T
    return bucket[np.argwhere(np.triu(distances <= furthest + ROUNDING, 1))]


def _joined(pairs: Ids, *, n: int) -> Ids:
    """Give all that hang together by pairs the lowest number of theirs."""
    numbers = np.arange(n)
    while True:
        lowest = np.minimum(numbers[pairs[:, 0]], numbers[pairs[:, 1]])
        joined = numbers.copy()
        np.minimum.at(joined, pairs[:, 0], lowest)
        np.minimum.at(joined, pairs[:, 1], lowest)
        if np.array_equal(joined, numbers):
            return numbers
        numbers = joined
