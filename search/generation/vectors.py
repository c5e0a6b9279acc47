"""Nearest neighbours in a generation's own FAISS indexes, among all or among those that filters leave."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.merging.manifest import IndexFacts
from indexer.merging.vector_index import Neighbours, VectorIndex
from search.generation.backend import Selection
from search.generation.facets import Chosen

_FEW = 32_768
"""Pictures that a filter leaves: so many, or fewer, are all compared, in blocks of so many values."""
_BLOCK = 1 << 22
_AT_ONCE = 1 << 20
"""Bytes that the system is asked for: of more it would read a part."""
_ID, _HALF = np.dtype(np.int64), np.dtype(np.float16)


@dataclass(frozen=True, slots=True)
class FaissVectors:
    """One index of a generation."""

    index: VectorIndex

    @classmethod
    def open(cls, path: Path, facts: IndexFacts, *, dim: int) -> Self:
        """Map an index file into memory. Its codes and ids are read at once, the whole vectors when they are asked for.

        Raises:
            RuntimeError: FAISS can't read the file.
        """
        if "Refine" in facts.spec:
            _read_ahead(path, n_bytes_of_ids=facts.n * _ID.itemsize, n_bytes_of_vectors=facts.n * dim * _HALF.itemsize)
        return cls(VectorIndex.open(path, spec=facts.spec))

    @property
    def most(self) -> int:
        """Neighbours that can be asked for at once: as many as one likes."""
        return sys.maxsize

    def __len__(self) -> int:
        return len(self.index)

    def nearest(self, query: Floats, n: int, only: Selection | None) -> Neighbours:
        """The `n` nearest, of which the first ones count; all by ascending id where `n` are all."""
        if only is None and n >= len(self.index):
            return self.index.everything(query)
        return self.index.search(query, k=n, only=_ids(only), per_hit=1)

    def search(self, query: Floats, *, k: int, only: Selection | None = None) -> Neighbours:
        """The `k` nearest, each of which counts."""
        return self.index.search(query, k=k, only=_ids(only))

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several vectors."""
        if only is None:
            return self.index.search_many(queries, k=k)
        assert isinstance(only, Chosen)
        if len(only) <= _FEW:
            return _compared(queries, self.reconstruct(only.ids), only.ids, k=k)
        wide = k * -(-2 * len(self) // len(only))  # twice as many as hold `k` of those if they lie evenly
        nears = [_kept(near, only.has(near.ids), k=k) for near in self.index.search_many(queries, k=wide)]
        return [
            near if len(near.ids) >= k else self.search(query, k=k, only=only)
            for query, near in zip(queries, nears, strict=True)
        ]

    def reconstruct(self, ids: Ids) -> Floats:
        """The stored vectors of some ids."""
        return self.index.reconstruct(ids)


def _read_ahead(path: Path, *, n_bytes_of_ids: int, n_bytes_of_vectors: int) -> None:
    """Have the system read what stands before and behind the whole vectors of an index.

    FAISS asks for it page by page: at 10 million icons, with nothing in memory, 5.7 s an index instead of 1.0.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    with path.open("rb") as file:
        size = path.stat().st_size
        ends = size - n_bytes_of_ids - n_bytes_of_vectors, size
        for start, end in zip((0, size - n_bytes_of_ids), ends, strict=True):
            for place in range(max(0, start), end, _AT_ONCE):
                os.posix_fadvise(file.fileno(), place, _AT_ONCE, os.POSIX_FADV_WILLNEED)


def _ids(only: Selection | None) -> Ids | None:
    assert only is None or isinstance(only, Chosen)  # what this engine's own filters leave
    return None if only is None else only.ids


def _kept(near: Neighbours, is_kept: Mask, *, k: int) -> Neighbours:
    """Those of the nearest that are among some."""
    return Neighbours(near.scores[is_kept][:k], near.ids[is_kept][:k], 1.0)


def _compared(queries: Floats, held: Floats, ids: Ids, *, k: int) -> list[Neighbours]:
    """The nearest of a few, whose vectors are all at hand."""
    nears = []
    rows = max(1, _BLOCK // max(1, len(ids)))
    for start in range(0, len(queries), rows):
        cosines = queries[start : start + rows] @ held.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        beyond = -np.inf if k >= len(ids) else 1.0
        nears += [Neighbours(of_one[at], ids[at], beyond) for of_one, at in zip(cosines, order, strict=True)]
    return nears
