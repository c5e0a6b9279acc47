"""Unit vectors in, nearest ids out: the only importer of FAISS.

An index is a FAISS factory string (`index_kinds.py` says which for how many vectors); how it is asked follows from that
string alone. Ids are the catalog's; a position is never a key.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from errno import EIO
from functools import cached_property
from os import SEEK_END
from pathlib import Path
from struct import Struct
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, rows_by_id
from indexer.library.durable import naming
from indexer.merging.manifest import CHUNK, recommended
from indexer.process import cores, known_to_blas

with known_to_blas():
    import faiss

N_LEARNT = 16_384
"""Vectors that an index learns from, where it has to."""
REFINED = 2000
"""Candidates that codes hand to the exact scores, for however few hits; a rough search as many as it is asked for. At
365,328 real pictures asked with words, recall@10 of product codes is .983 with 1,000, .998 with 2,000; that of one-bit
codes .995 and .998. At icons with fused vectors both find all ten from 1,000; of the first 200 .996 with 2,000, .978
with 1,000. Codes in lists hand on twice as many: there are more to mistake."""
_REFINED_PER_HIT = 4
"""The least candidates for each of many hits."""
PROBES_PER_ROOT = 4
"""Lists read, for the root of how many there are: 90 of 512. Of 20,000 pictures asked with names 64 of 512 find .978 of
the first ten, 128 find .992; words lie beside the pictures, so that their neighbours are spread over many lists."""
PROBED_CODES = 8
"""One of so many lists is read where codes lie in lists, unless a merge chooses; twice as many under a filter: of
pictures among an eighth of all .94 to .99 are found with one in eight, .98 to 1 with one in four."""
SHARES = (1 / 32, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8)
"""Of the lists, that a merge tries to read. Of 2 million icons made of Iconify's, in lists around names, 1/16 finds
.992 of the first ten that a name asks for and 1/8 .999; of pictures .975 and .992."""
_LEAST_PROBES = 16
GRAPH_WIDTH = 128
"""Neighbours that a walk through a graph keeps in view (efSearch)."""
EXACT_AMONG = 20_000
"""Of so many ids that a filter leaves, or fewer, all whole vectors are compared, unless codes stand in one list."""
FEW = 16
"""Queries that one thread asks together: threads that wait for each other would cost others the cores."""
SEEN_AROUND = 16
"""So many times as many as are surely all that are so near are asked of codes: of 703 icons of all of Iconify's, codes
find 677 among the nearest 4,000, all among 16,000."""
_SIZE = Struct("<Q")
"""As a file of FAISS holds a length."""
_BEHIND_WHOLE, _FRONT = 4 + _SIZE.size, 1024
"""Bytes between the last whole vector and the first id; and so many at most before what is said of lists."""
_EXACT = ("IDMap,Flat", "IDMap,SQfp16")
"""Indexes that compare all whole vectors in any case."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Nearest vectors of one query, best first: inner products and ids, never padded."""

    scores: Floats
    ids: Ids
    beyond: float
    """The most that the inner product of another may be, as far as codes can tell; minus infinity: there are none."""


class VectorIndex:
    """Inner-product search over one set of vectors, one thread a query."""

    def __init__(self, index: Any, *, spec: str) -> None:
        self._index = index
        self._inner = faiss.downcast_index(index.index)
        self._lists = faiss.extract_index_ivf(index) if "IVF" in spec else None
        self.ids: Ids = faiss.vector_to_array(index.id_map)
        """Of its vectors, ascending."""
        self.spec = spec
        self._has_one_list = "PQ" in spec and self._lists is None
        self._placed: tuple[Ids, Any, Any] = self.ids[:0], None, None
        """The last ids that a query was asked among, a selector of the vectors that bear them, and `_codes_around`
        these, if all codes stand in one list: a filter is asked with again. Threads share it, so it is read and
        replaced as one."""

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @classmethod
    def build(
        cls,
        ids: Ids,
        chunks: Iterable[Floats],
        *,
        dim: int,
        spec: str,
        sample: Floats | None = None,
        asked: Floats | None = None,
    ) -> "VectorIndex":
        """Index fp32 chunks (n, dim) that follow the order of `ids`, which ascend.

        What has to be trained learns from `sample`; without one, from the first chunk. Lists lie around what is
        `asked` (n, dim), if anything is: queries are near other vectors than those of the index are. Of an index that
        is refined, memory takes the codes alone: it answers once `save` was given the vectors again.

        Raises:
            ValueError: ids repeat or do not ascend, or a vector is not finite.
        """
        if (np.diff(ids) <= 0).any():
            raise ValueError("ids repeat or do not ascend")  # IndexIDMap would take both and answer twice
        index = faiss.index_factory(dim, spec, faiss.METRIC_INNER_PRODUCT)
        codes = faiss.downcast_index(index.index) if "Refine" in spec else None
        start = 0
        for chunk in chunks:
            if not np.isfinite(chunk).all():
                raise ValueError("a vector is not finite")
            if not index.is_trained:
                _train(index, chunk if sample is None else sample, asked, spec=spec)
            if codes is not None:
                codes.base_index.add(chunk)
            else:
                index.add_with_ids(chunk, ids[start : start + len(chunk)])
            start += len(chunk)
        assert start == len(ids)
        if codes is not None:
            codes.refine_index.ntotal = codes.ntotal = index.ntotal = start
            faiss.copy_array_to_vector(np.ascontiguousarray(ids), index.id_map)
        built = cls(index, spec=spec)
        if built._lists is not None:
            n_lists = built._lists.nlist
            of_codes, of_root = n_lists // PROBED_CODES, round(PROBES_PER_ROOT * math.sqrt(n_lists))
            built._lists.nprobe = min(n_lists, max(_LEAST_PROBES, of_codes) if "PQ" in spec else of_root)
        return built

    @classmethod
    def open(cls, path: Path, *, spec: str) -> "VectorIndex":
        """Map an index file into memory, to search only: adding to a mapped index aborts the process.

        Raises:
            RuntimeError: FAISS can't read the file.
        """
        return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), spec=spec)

    def save(self, path: Path, whole: Iterable[Floats]) -> None:
        """Write the index to a file; `whole` are its vectors, chunk by chunk, which a refined one does not hold.

        Raises:
            OSError: it can't be written.
        """
        try:
            faiss.write_index(self._index, str(path))
        except RuntimeError as error:
            raise OSError(EIO, str(error).strip().splitlines()[-1], str(path)) from error
        if "Refine" not in self.spec:
            return
        refined = self._inner.refine_index
        with naming(path), path.open("r+b") as file:  # FAISS ends with whole vectors, a number, and the ids
            file.seek(-(_BEHIND_WHOLE + self.ids.nbytes), SEEK_END)
            behind = file.read()
            file.seek(-(len(behind) + _SIZE.size), SEEK_END)
            file.write(_SIZE.pack(len(self) * refined.sa_code_size()))
            file.writelines(refined.sa_encode(chunk).data for chunk in whole)
            file.write(behind)

    def choose_probes(self, path: Path, share_found: Callable[["VectorIndex"], float], *, enough: float) -> None:
        """Read as few of the lists, if any, as find `enough`, or the most that are tried; its file keeps it."""
        if self._lists is None:
            return
        n_lists, before = self._lists.nlist, self._lists.nprobe
        for share in SHARES:
            self._lists.nprobe = max(min(_LEAST_PROBES, n_lists), round(share * n_lists))
            if share_found(self) >= enough:
                break
        with naming(path), path.open("r+b") as file:
            file.seek(file.read(_FRONT).index(_SIZE.pack(n_lists) + _SIZE.pack(before)) + _SIZE.size)
            file.write(_SIZE.pack(self._lists.nprobe))

    def search(self, query: Floats, *, k: int, only: Ids | None = None, is_rough: bool = False) -> Neighbours:
        """Find the `k` nearest to one unit vector (dim,), among the ids `only` if that is not None, which ascend.

        Among up to `REFINED` ids the answer is exact, whatever the index; where codes don't stand in one list, among up
        to `EXACT_AMONG`. A rough search is for queries of whose many hits the first ones count.
        """
        n = len(self) if only is None else len(only)
        k = min(k, n)
        if k <= 0:
            return Neighbours(np.empty(0, np.float32), np.empty(0, np.int64), -np.inf)
        faiss.omp_set_num_threads(1)  # each thread of Python has a number of its own, all cores at first
        has_codes_around = self._has_one_list and only is not None
        are_few = n == k or (only is not None and n <= EXACT_AMONG)
        is_whole = self.spec in _EXACT or (are_few and not has_codes_around)
        n_refined = self._refined(k, n=n, is_rough=is_rough)
        scores, positions = self._ask(query, k, only, n_refined, is_whole=is_whole)
        if positions[0, -1] < 0 and not is_whole:  # the lists that were read hold fewer
            is_whole = True
            scores, positions = self._ask(query, k, only, n_refined, is_whole=True)
        real = positions[0] >= 0
        scores, ids = scores[0][real], self.ids[positions[0][real]]
        is_exact = is_whole or (has_codes_around and n_refined == n)
        last = scores[len(scores) - 1 if is_exact else len(scores) // SEEN_AROUND :][:1]
        return Neighbours(scores, ids, -np.inf if n == k else float(last.max(initial=-np.inf)))

    def search_many(self, queries: Floats, *, k: int) -> list[Neighbours]:
        """Find the `k` nearest to each of several unit vectors (n, dim), on all cores if they are many."""
        if k <= 0 or k >= len(self) or not len(queries):
            return [self.search(query, k=k) for query in queries]
        faiss.omp_set_num_threads(cores() if len(queries) > FEW else 1)
        parameters = self._parameters(None, n_refined=self._refined(k, n=len(self), is_rough=False), k=k)
        scores, positions = self._inner.search(np.ascontiguousarray(queries), k, params=parameters)
        return [
            Neighbours(of_query[at >= 0], self.ids[at[at >= 0]], float(of_query[-1]))
            for of_query, at in zip(scores, positions, strict=True)
        ]

    def everything(self, query: Floats) -> Neighbours:
        """The exact inner products of all vectors with one unit vector (dim,), by ascending id: not sorted by score."""
        faiss.omp_set_num_threads(1)
        found = np.empty(len(self), np.float32)
        index, parameters = self._whole(None)
        scores, positions = index.search(np.ascontiguousarray(query[None]), len(self), params=parameters)
        found[positions[0]] = scores[0]
        return Neighbours(found, self.ids, -np.inf)

    def _ask(
        self, query: Floats, k: int, only: Ids | None, n_refined: int, *, is_whole: bool
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Scores and positions, (1, k) each; a position is -1 where nothing was found."""
        selector, around = (None, None) if only is None else self._places(only)
        if is_whole:
            index, parameters = self._whole(selector)
        else:
            index, parameters = around or self._inner, self._parameters(selector, n_refined=n_refined, k=k)
        return cast(
            tuple[Floats, NDArray[np.int64]],
            index.search(np.ascontiguousarray(query[None]), k, params=parameters),
        )

    def _refined(self, k: int, *, n: int, is_rough: bool) -> int:
        """How many of `n` candidates are scored exactly."""
        enough = k if is_rough and n > REFINED else max(_REFINED_PER_HIT * k, REFINED)
        return min(n, enough if self._lists is None else 2 * enough)

    def _places(self, only: Ids) -> tuple[Any, Any]:
        """A selector of the vectors that bear some ids, and codes around them, if all codes stand in one list."""
        ids, selector, around = self._placed
        if ids is not only:
            is_named = np.zeros(max(int(only[-1]), int(self.ids[-1])) + 1, dtype=bool)
            is_named[only] = True
            is_kept = is_named[self.ids]
            # A bit a position: a selector of ids is a hash table, which takes longer to fill than the search itself.
            selector = faiss.IDSelectorBitmap(np.packbits(is_kept, bitorder="little"))
            around = self._codes_around(is_kept) if self._has_one_list else None
            self._placed = only, selector, around
        return selector, around

    def _codes_around(self, is_kept: Mask) -> Any:
        """A list of the blocks of product codes that hold some vectors: of others, too, which a selector leaves out.

        FAISS takes a selector for codes in lists alone. What is in a set stands together, and so in few blocks.
        """
        codes = faiss.downcast_index(self._inner.base_index)
        blocks = np.unique(np.flatnonzero(is_kept) // codes.bbs)
        positions = (codes.bbs * blocks[:, None] + np.arange(codes.bbs)).ravel()
        packed = faiss.rev_swig_ptr(codes.codes.get(), codes.codes.size()).reshape(-1, codes.bbs * codes.M2 // 2)
        around = faiss.index_factory(codes.d, f"IVF1,PQ{codes.M}x4fs", codes.metric_type)
        around.quantizer.add(np.zeros((1, codes.d), np.float32))
        around.pq, around.is_trained, around.ntotal = codes.pq, True, len(self)
        chosen = packed.take(blocks, axis=0)
        around.invlists.add_entries(0, len(positions), faiss.swig_ptr(positions), faiss.swig_ptr(chosen))
        return faiss.IndexRefine(around, self._inner.refine_index)

    def reconstruct(self, ids: Ids) -> Floats:
        """Read back the stored vectors of some ids, (n, dim).

        Raises:
            KeyError: an id is not in the index.
        """
        positions = self._rows.take(ids, mode="clip")
        if (self.ids[positions] != ids).any():
            raise KeyError("an id is not in the index")
        stored = self._stored.take(positions, axis=0)
        return stored.view(np.float32) if "Flat" in self.spec else _whole_of(stored.view(np.int16))

    @cached_property
    def _stored(self) -> NDArray[np.uint8]:
        """The bytes of all whole vectors, (n, bytes), where they lie: FAISS gives one by one in twice the time."""
        whole = faiss.downcast_index(self._inner.refine_index) if "Refine" in self.spec else self._inner
        return cast(
            NDArray[np.uint8],
            faiss.rev_swig_ptr(whole.codes.data(), len(self) * whole.sa_code_size()).reshape(len(self), -1),
        )

    @cached_property
    def _rows(self) -> Ids:
        return rows_by_id(self.ids)

    def _whole(self, selector: Any) -> tuple[Any, Any]:
        """The index that holds whole vectors, and how those of a selector are asked, None for all."""
        inner, options = self._inner, {} if selector is None else {"sel": selector}
        if "IVF" in self.spec and "Refine" not in self.spec:
            return inner, faiss.SearchParametersIVF(nprobe=inner.nlist, **options)
        whole = inner.refine_index if "Refine" in self.spec else inner.storage if "HNSW" in self.spec else inner
        return faiss.downcast_index(whole), faiss.SearchParameters(**options)

    def _parameters(self, selector: Any, *, n_refined: int, k: int) -> Any:
        """How the index is asked, or the base of a refined one."""
        options, kind = {} if selector is None else {"sel": selector}, faiss.SearchParameters
        if "HNSW" in self.spec:
            return faiss.SearchParametersHNSW(efSearch=GRAPH_WIDTH, **options)
        if "RaBitQ" in self.spec:
            # Without parameters of its own the index quantises the query to 4 bits; a fresh parameter object says 0,
            # which is the same hits at 800 ms instead of 5 (413,000 vectors).
            options["qb"], kind = 4, faiss.RaBitQSearchParameters
        if self._lists is not None:
            options["nprobe"] = self._lists.nprobe * (1 if selector is None else 2)
            kind = faiss.IVFRaBitQSearchParameters if "RaBitQ" in self.spec else faiss.SearchParametersIVF
        elif "PQ" in self.spec:
            kind = faiss.SearchParametersIVF  # of `_codes_around`
        plain = kind(**options) if options else None  # product codes refuse any
        if "Refine" not in self.spec:
            return plain
        # FAISS multiplies the factor by `k` again, in fp32, and cuts: of 10 candidates it would look at 9.
        return faiss.IndexRefineSearchParameters(k_factor=(n_refined + 0.5) / k, base_index_params=plain)


def build_recommended(
    path: Path,
    ids: Ids,
    chunks: Iterable[Floats],
    vectors_at: Callable[[Ids | None], Iterable[Floats]],
    *,
    dim: int,
    asked: Callable[[int], Floats] | None = None,
) -> str:
    """Write the kind of index that so many vectors should have; return its spec.

    `chunks` are all vectors; `vectors_at` yields those at places, None for all: whole ones go past memory into the
    file. It learns from vectors of all sources: ids ascend, so the first chunk is what was indexed first. Lists lie
    around what is `asked`, so many vectors as that is called with.

    Raises:
        ValueError: ids repeat or do not ascend, or a vector is not finite.
        OSError: it can't be written.
    """
    n, kind = len(ids), recommended(len(ids))
    n_learnt, spec = max(N_LEARNT, kind.n_trained(n)), kind.spec(n, dim=dim)
    sample = np.concatenate([*vectors_at(np.arange(0, n, n // n_learnt))]) if n > CHUNK else None
    around = asked(n_learnt) if asked is not None and kind.has_lists else None
    VectorIndex.build(ids, chunks, dim=dim, spec=spec, sample=sample, asked=around).save(path, vectors_at(None))
    return spec


def _train(index: Any, sample: Floats, asked: Floats | None, *, spec: str) -> None:
    faiss.omp_set_num_threads(cores())
    if "IVF" in spec:
        lists = faiss.extract_index_ivf(index)
        middles = faiss.Kmeans(index.d, lists.nlist, niter=10, spherical=True)
        middles.train(sample if asked is None else asked)
        lists.quantizer.add(middles.centroids)
    # Product codes are hundreds of tiny trainings: two threads take eight times as long for them as one.
    faiss.omp_set_num_threads(1 if "PQ" in spec else cores())
    index.train(sample)
    faiss.omp_set_num_threads(cores())


def _whole_of(halves: NDArray[np.int16]) -> Floats:
    """Finite fp16 as fp32, the same values: bits are put in their places, and 112 is what exponents count less.

    FAISS and numpy go through them one by one, which takes four times as long.
    """
    bits = np.left_shift(halves, 13, dtype=np.int32) & ~0x70000000
    return bits.view(np.float32) * np.float32(2.0**112)


def fp32_chunks(vectors: NDArray[np.float16], places: Ids | None = None) -> Iterator[Floats]:
    """Yield fp16 vectors (n, dim) at some places, None for all, as fp32, a chunk at a time."""
    chosen = vectors if places is None else vectors[places]
    for start in range(0, len(chosen), CHUNK):
        yield chosen[start : start + CHUNK].astype(np.float32)
