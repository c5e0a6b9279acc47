"""Where do ten million vectors come from? A library's own, in mixed order, and beyond them others made from these."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.bench.synthetic.clusters import nearest_likeness, perturb
from indexer.errors import LibraryError
from indexer.publishing.index_kinds import CHUNK
from indexer.reports.bars import Progress

LEAST_REAL = 10
"""Pictures below which there is nothing to make others from, and no ten nearest to find."""


@dataclass(frozen=True)
class Supply:
    """Unit vectors on disk, real ones first."""

    vectors: NDArray[np.float16]
    """(n, dim), mapped; any first part of it is as good a sample as another."""
    n_real: int
    likeness: float | None
    """Cosine of a made vector with the one it was made from; None where all are real."""


def write_vectors(path: Path, real: NDArray[np.float16], *, n: int, seed: int, progress: Progress) -> Supply:
    """Write `n` vectors to a file, `real` ones (m, dim) as far as they go, and map it.

    Raises:
        LibraryError: there are too few real ones.
    """
    if len(real) < LEAST_REAL:
        raise LibraryError(
            f'a library of "{len(real)}" pictures is too small to measure indexes on; `icons index SOURCE` '
            "adds some, and without a SOURCE the first run takes the bundled sample icons"
        )
    real = real[np.random.default_rng(seed).permutation(len(real))]
    likeness = None if n <= len(real) else nearest_likeness(real)
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(n, real.shape[1]))
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(n, start + CHUNK))
        chunk = real[rows % len(real)]
        is_made = rows >= len(real)
        if likeness is not None and is_made.any():
            chunk[is_made] = perturb(real, chunk[is_made], likeness=likeness, seed=(seed, start))
        written[rows[0] : rows[-1] + 1] = chunk
        progress("Vectors", int(rows[-1]) + 1, n)
    written.flush()
    return Supply(np.load(path, mmap_mode="r"), min(n, len(real)), likeness)
