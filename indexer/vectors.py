"""Unit vectors in, nearest ids out: the only importer of FAISS.

An index is a FAISS factory string (`index_kinds.py` says which for how many vectors); how it is asked follows from that
string alone. Ids are the catalog's; a position is never a key.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import faiss
import numpy as np
from numpy.typing import NDArray

from indexer.index_kinds import CHUNK
from indexer.process import cores

REFINED = 1000
"""Candidates that RaBitQ hands to the exact scores, whatever few hits are wanted. At 365,000 real pictures asked with
names, recall@10 is .903 with 200, .991 with 1,000, .997 with 2,000; at icons with fused vectors 1.0 from 1,000."""
REFINED_PER_HIT = 4
"""The least candidates for each hit, where many are wanted."""
PROBES_PER_ROOT = 4
"""Lists read, for the root of how many there are: 90 of 512. Of 20,000 pictures asked with names 64 of 512 find .978 of
the first ten, 128 find .992; words lie beside the pictures, so that their neighbours are spread over many lists."""
GRAPH_WIDTH = 128
"""Neighbours that a walk through a graph keeps in view (efSearch)."""
FP16_ERROR = 5e-4
"""Largest error of an inner product of unit vectors kept in fp16."""

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """Nearest vectors of one query, best first: inner products and ids, never padded."""

    scores: Floats
    ids: Ids


class VectorIndex:
    """Inner-product search over one set of vectors, one thread a query."""

    def __init__(self, index: Any, *, spec: str) -> None:
        self._index = index
        self.spec = spec

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._index.d)

    @classmethod
    def build(
        cls, ids: Ids, chunks: Iterable[Floats], *, dim: int, spec: str, sample: Floats | None = None
    ) -> "VectorIndex":
        """Index fp32 chunks (n, dim) that follow the order of `ids`, which ascend.

        What has to be trained learns from `sample`; without one, from the first chunk.

        Raises:
            ValueError: ids repeat or do not ascend, or a vector is not finite.
        """
        if (np.diff(ids) <= 0).any():
            raise ValueError("ids repeat or do not ascend")  # IndexIDMap2 would take both and answer twice
        faiss.omp_set_num_threads(cores())
        index = faiss.index_factory(dim, spec, faiss.METRIC_INNER_PRODUCT)
        if sample is not None:
            index.train(sample)
        start = 0
        for chunk in chunks:
            if not np.isfinite(chunk).all():
                raise ValueError("a vector is not finite")
            if not index.is_trained:
                index.train(chunk)
            index.add_with_ids(chunk, ids[start : start + len(chunk)])
            start += len(chunk)
        assert start == len(ids)
        return cls(index, spec=spec)

    @classmethod
    def open(cls, path: Path, *, spec: str) -> "VectorIndex":
        """Map an index file into memory, to search only: adding to a mapped index aborts the process.

        Raises:
            RuntimeError: FAISS can't read the file.
        """
        return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), spec=spec)

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        faiss.write_index(self._index, str(path))

    def search(self, query: Floats, *, k: int, only: Ids | None = None, per_hit: int = REFINED_PER_HIT) -> Found:
        """Find the `k` nearest to one unit vector (dim,), among the ids `only` where given.

        A refined index scores `per_hit` candidates for each hit exactly; 1 is enough where only the first of `k` count.
        """
        k = min(k, len(self) if only is None else len(only))
        if k <= 0:
            return Found(np.empty(0, np.float32), np.empty(0, np.int64))
        faiss.omp_set_num_threads(1)  # each thread of Python has a number of its own, all cores at first
        scores, ids = self._index.search(
            np.ascontiguousarray(query[None]), k, params=self._parameters(only, k=k, per_hit=per_hit)
        )
        real = ids[0] >= 0
        return Found(scores[0][real], ids[0][real])

    def reconstruct(self, ids: Ids) -> Floats:
        """Read back the stored vectors of some ids, (n, dim)."""
        return cast(Floats, self._index.reconstruct_batch(ids))

    def _parameters(self, only: Ids | None, *, k: int, per_hit: int) -> Any:
        if "Refine" not in self.spec:
            return _plain_parameters(self.spec, None if only is None else faiss.IDSelectorBatch(only))
        selector = None
        if only is not None:
            # IDMap2 translates the selector of the outer parameters only; the base index is asked in positions.
            id_map = faiss.vector_to_array(self._index.id_map)
            selector = faiss.IDSelectorBatch(np.searchsorted(id_map, np.intersect1d(id_map, only)))
        k_factor = max(per_hit, REFINED / k)
        base = _plain_parameters(self.spec, selector)
        return faiss.IndexRefineSearchParameters(k_factor=k_factor, base_index_params=base)


def _plain_parameters(spec: str, selector: Any) -> Any:
    """How an index of this spec, or the base of a refined one, is asked."""
    given = {} if selector is None else {"sel": selector}
    if "HNSW" in spec:
        return faiss.SearchParametersHNSW(efSearch=GRAPH_WIDTH, **given)
    if "RaBitQ" in spec:
        # Without parameters of its own the index quantises the query to 4 bits; a fresh parameter object says 0, which
        # is the same hits at 800 ms instead of 5 (413,000 vectors).
        given["qb"] = 4
    if lists := re.search(r"IVF(\d+)", spec):
        given["nprobe"] = min(int(lists[1]), round(PROBES_PER_ROOT * int(lists[1]) ** 0.5))
        return (faiss.IVFRaBitQSearchParameters if "RaBitQ" in spec else faiss.SearchParametersIVF)(**given)
    if "RaBitQ" in spec:
        return faiss.RaBitQSearchParameters(**given)
    return faiss.SearchParameters(**given) if given else None  # product codes refuse any


def recall(index: VectorIndex, chunks: Iterable[Floats], queries: Floats, *, k: int = 10) -> float:
    """Share of an index's first `k` answers that an exact fp32 search would give too; equal scores are equally right.

    `chunks` are the indexed vectors, in any order; `queries` is (n, dim).
    """
    k = min(k, len(index))
    least = least_scores(chunks, queries, k=k)
    found = [index.search(query, k=k) for query in queries]
    return float(np.mean([share_right(hits, bound, k=k) for hits, bound in zip(found, least, strict=True)]))


def least_scores(chunks: Iterable[Floats], queries: Floats, *, k: int) -> Floats:
    """What the `k`-th nearest vector of each query scores in an exact fp32 search, (queries,)."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for chunk in chunks:
        scores = np.concatenate([best, queries @ chunk.T], axis=1)
        best = -np.partition(-scores, k - 1, axis=1)[:, :k]
    return cast(Floats, best.min(axis=1))


def share_right(found: Found, least: float, *, k: int) -> float:
    """Share of `k` that the first `k` hits reach a score with, an fp16's error aside."""
    return float((found.scores[:k] >= least - FP16_ERROR).sum() / k)


def fp32_chunks(vectors: NDArray[np.float16]) -> Iterator[Floats]:
    """Yield fp16 vectors (n, dim) as fp32, a chunk at a time."""
    for start in range(0, len(vectors), CHUNK):
        yield vectors[start : start + CHUNK].astype(np.float32)
