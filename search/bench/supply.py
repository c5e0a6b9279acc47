"""Where do ten million vectors come from? A library's own, in mixed order, and beyond them others made from these.

A made vector is a real one moved along the difference of two others, as far as a real picture is from its nearest
neighbour: so it stays among directions that icons differ in, and neighbourhoods are as close as in a larger library.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.errors import LibraryError
from indexer.publishing.index_kinds import CHUNK
from indexer.reports.bars import Progress

LEAST_REAL = 10
"""Pictures below which there is nothing to make others from, and no ten nearest to find."""
_MOST_LIKE = 0.999
_N_LOOKED_AT, _N_AMONG = 256, 20_000
"""Pictures whose nearest neighbour is looked for, and among how many."""
_TOO_SHORT = 1e-3
"""Length of a difference that is no direction: the two pictures are the same."""


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


def nearest_likeness(vectors: NDArray[np.float16]) -> float:
    """Median cosine of a vector with its nearest other one, of vectors in no order."""
    among = vectors[:_N_AMONG].astype(np.float32)
    looked_at = min(_N_LOOKED_AT, len(among))
    cosines = among[:looked_at] @ among.T
    cosines[np.arange(looked_at), np.arange(looked_at)] = -1
    return min(_MOST_LIKE, round(float(np.median(cosines.max(axis=1))), 4))


def perturb(
    real: NDArray[np.float16], originals: NDArray[np.float16], *, likeness: float, seed: tuple[int, ...]
) -> NDArray[np.float16]:
    """Move each of `originals` (n, dim) along the difference of two of `real` until their cosine is `likeness`."""
    generator = np.random.default_rng(seed)
    start = originals.astype(np.float32)
    one, other = generator.integers(len(real), size=(2, len(start)))
    across = _across(real[one].astype(np.float32) - real[other].astype(np.float32), start)
    lengths = np.linalg.norm(across, axis=1)
    short = lengths < _TOO_SHORT
    across[short] = _across(generator.standard_normal((int(short.sum()), start.shape[1]), np.float32), start[short])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    moved: Floats = likeness * start + np.float32(np.sqrt(1 - likeness**2)) * across
    return moved.astype(np.float16)


def _across(directions: Floats, vectors: Floats) -> Floats:
    """What is left of directions beside unit vectors."""
    along: Floats = np.einsum("nd,nd->n", directions, vectors)[:, None] * vectors
    return directions - along
