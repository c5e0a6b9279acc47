"""Where do more vectors come from than a library has? Real ones, each moved a little.

A made vector is a real one moved along the difference of two others, as far as a real picture is from its nearest
neighbour: so it stays among directions that icons differ in, and neighbourhoods are as close as in a larger library.
"""

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats

_MOST_LIKE = 0.999
_N_LOOKED_AT, _N_AMONG = 256, 20_000
"""Vectors whose nearest neighbour is looked for, and among how many."""
_TOO_SHORT = 1e-3
"""Length of a difference that is no direction: the two vectors are the same."""


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
