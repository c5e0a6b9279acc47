"""How much of what exact search finds does an index find?"""

from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np

from indexer.arrays import Floats
from indexer.publishing.vector_index import Neighbours, VectorIndex

FP16_ERROR = 5e-4
"""Largest error of an inner product of unit vectors kept in fp16."""


def recall(index: VectorIndex, chunks: Iterable[Floats], queries: Floats, *, k: int = 10) -> float:
    """Share of an index's first `k` answers that an exact fp32 search would give too; equal scores are equally right.

    `chunks` are the indexed vectors, in any order; `queries` is (n, dim).
    """
    k = min(k, len(index))
    return share_found(index, queries, least_scores(chunks, queries, k=k), k=k)


def share_found(index: VectorIndex, queries: Floats, least: Floats, *, k: int) -> float:
    """Share of an index's first `k` answers that reach what `least_scores` says of the queries."""
    k = min(k, len(index))
    found = [index.search(query, k=k) for query in queries]
    return float(np.mean([share_right(hits, bound, k=k) for hits, bound in zip(found, least, strict=True)]))


class ExactSearch:
    """An exact fp32 search for the `k` nearest of each query, (queries, dim), among vectors that go by."""

    def __init__(self, queries: Floats, *, k: int) -> None:
        self.queries, self.k = queries, k
        self._best = np.full((len(queries), k), -np.inf, dtype=np.float32)

    def among(self, chunks: Iterable[Floats]) -> Iterator[Floats]:
        """Yield chunks as they come, each once it has been looked at."""
        for chunk in chunks:
            scores = np.concatenate([self._best, self.queries @ chunk.T], axis=1)
            self._best = -np.partition(-scores, self.k - 1, axis=1)[:, : self.k]
            yield chunk

    @property
    def least_scores(self) -> Floats:
        """What the `k`-th nearest vector of each query scores, (queries,)."""
        return cast(Floats, self._best.min(axis=1))


def least_scores(chunks: Iterable[Floats], queries: Floats, *, k: int) -> Floats:
    """What the `k`-th nearest vector of each query scores in an exact fp32 search, (queries,)."""
    exact = ExactSearch(queries, k=k)
    for _ in exact.among(chunks):
        pass
    return exact.least_scores


def share_right(found: Neighbours, least: float, *, k: int) -> float:
    """Share of `k` that the first `k` hits reach a score with, an fp16's error aside."""
    return float((found.scores[:k] >= least - FP16_ERROR).sum() / k)
