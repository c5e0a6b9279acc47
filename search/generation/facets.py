"""A generation whose files lie on this machine: columns of its icons, mapped into memory, and its FAISS indexes.

`indexer.merging.facets` says what the files of columns hold.
"""

import os
import sys
from bisect import bisect_left
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, distinct
from indexer.library.folder import ORDERS
from indexer.library.shards import FLAGS
from indexer.merging.browsing import Columns, FacetRows
from indexer.merging.facets import SEVERAL, read_array
from indexer.merging.lexicon import Lexicon, says_all
from indexer.merging.manifest import IndexFacts
from indexer.merging.vector_index import Neighbours, VectorIndex
from search.generation.backend import Arranged, IconTable, Selection
from search.query import Filters, Sort


@dataclass(frozen=True)
class Chosen:
    """Icons, or pictures, whose ids are at hand, ascending if selected; `facets` tell what icons show."""

    ids: Ids
    facets: "Facets | None" = None

    def __len__(self) -> int:
        return len(self.ids)

    def has(self, ids: Ids) -> Mask:
        """Which of some ids it holds."""
        return self._is_held.take(ids, mode="clip")

    @cached_property
    def _is_held(self) -> Mask:
        """Whether it holds an id, by id; the last one stands for all beyond."""
        is_held = np.zeros(int(self.ids.max(initial=0)) + 2, dtype=bool)
        is_held[self.ids] = True
        return is_held

    @cached_property
    def images(self) -> "Chosen":
        """The pictures that its icons show: always the same object, by which an index knows a filter again."""
        assert self.facets is not None
        return Chosen(distinct(self.facets.at(self.ids)["image"]))


class Facets(IconTable, Columns):
    """What the icons of one generation can be filtered and counted by."""

    def at(self, ids: Ids) -> FacetRows:
        """What is known of some icons, in their order."""
        return FacetRows(self, self.positions(ids))

    def every(self, only: Selection | None) -> Ids:
        """Ids of all icons of a selection, ascending; None: of all there are."""
        if only is None:
            return cast(Ids, self.column("icon"))
        assert isinstance(only, Chosen)
        return only.ids

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return cast(Ids, self.column("icon")[Chosen(images).has(self.column("image"))])

    def with_pairs(self, kind: str, pairs: NDArray[np.integer]) -> "Facets":
        """The same icons, as if these pairs of rows and codes were all that is known of a kind."""
        other = copy(self)
        other._pairs = {**self._pairs, kind: pairs}
        other._kept = {name: made for name, made in self._kept.items() if name != f"starts of {kind}"}
        return other

    def browsed(self, sort: Sort, *, flat: bool) -> tuple[Arranged, int]:
        """What a merge has worked out."""
        of_orders = self.keep("hits", lambda: read_array(self._generation.hits))
        hits: Arranged = of_orders[ORDERS.index(sort), int(flat)]
        n = bisect_left(hits, True, key=lambda icon: icon == 0)  # which stands behind the last one
        return hits[:n], n

    def stating(self, tag: int) -> Ids:
        """Ids of the icons that state the tag of a code, ascending."""
        rows, borne = self._pairs["tag"]
        return cast(Ids, self.column("icon")[rows[borne == tag]])

    def alike(self, ids: Ids) -> list[Ids]:
        """For each of some icons all that show the same drawing, itself included, ascending."""
        order = self.keep("rows by drawing", lambda: np.argsort(self.drawings, kind="stable"))
        drawings, icons = self.drawings[self.positions(ids)], self.column("icon")
        starts = np.searchsorted(self.drawings, drawings, sorter=order)
        ends = np.searchsorted(self.drawings, drawings, side="right", sorter=order)
        return [icons[order[start:end]] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def best_named(self, lexicon: Lexicon, coverage: Floats, *, most: int) -> Ids:
        """Ids of the icons whose names cover most."""
        return lexicon.icons.of_many(lexicon.best_rows(coverage, most=most))[:most]

    def sets_saying(self, lexicon: Lexicon, coverage: Floats, tags: Sequence[int]) -> Ids:
        """Codes of the sets with an icon whose name covers all words, or that states one of some tags."""
        own = np.concatenate([lexicon.icons.of_many(np.flatnonzero(says_all(coverage))), *map(self.stating, tags)])
        return np.asarray(self.at(own)["set"], np.int64)

    def select(self, filters: Filters) -> Chosen | None:
        """The icons that fit; None where nothing is filtered.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """
        masks = [self._bearing(kind, codes) for kind, codes in self._asked(filters)]
        return Chosen(self.column("icon")[np.logical_and.reduce(masks)], self) if masks else None

    def _bearing(self, kind: str, codes: Sequence[int]) -> Mask:
        if kind == "size" or kind in FLAGS:
            return np.isin(self.column(kind), codes)
        is_chosen = np.zeros(len(self.labels(kind).values) + 1, dtype=bool)  # the last one stands for NONE
        is_chosen[codes] = True
        if kind not in SEVERAL:
            return cast(Mask, is_chosen[self.column(kind)])
        rows, borne = self._pairs[kind]
        mask = np.zeros(len(self), dtype=bool)
        mask[rows[is_chosen[borne]]] = True
        return mask


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

    def search(self, query: Floats, *, k: int, only: Selection | None = None, is_rough: bool = False) -> Neighbours:
        """The `k` nearest; of a rough search all, by ascending id, where `k` are all."""
        if is_rough and only is None and k >= len(self.index):
            return self.index.everything(query)
        assert only is None or isinstance(only, Chosen)  # what this engine's own filters leave
        ids = None if only is None else only.ids
        return self.index.search(query, k=k, only=ids, is_rough=is_rough)

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several vectors."""
        if only is None:
            return self.index.search_many(queries, k=k)
        return [self.search(query, k=k, only=only) for query in queries]

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
