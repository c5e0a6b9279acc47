"""What icons are found by: vectors of pictures, names and tags from the shards, their sum, and an index's recall.

An icon's fused vector is p * picture + (1 - p) * name. Where tags are stated, a share of it is the direction of their
mean instead, which also says something of words that none of the tags contains. A name in another language may say
several things in English: its vector is the middle of these.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Halves, Ids, distinct
from indexer.errors import ShardError
from indexer.languages.words import normalise_tag
from indexer.library.folder import Generation
from indexer.library.shards import KINDS, Contents, Kind, content_of, read_vectors
from indexer.merging.facets import in_english, read_array, reading
from indexer.merging.index_kinds import CHUNK
from indexer.merging.manifest import Weights
from indexer.merging.vector_index import Neighbours, VectorIndex

OTHERS = 0.4
"""Share of a name's other readings in its vector, all of them together."""
_ICONS_AT_ONCE = 4_096
"""Whose tags' vectors are in memory at a time: 60 MB at ten tags each."""


@dataclass(frozen=True, slots=True)
class TagVectors:
    """Vectors of tags, and which icon states which."""

    vectors: NDArray[Any]
    """(tags, dim)."""
    rows: Ids
    """Places of icons, ascending, one for each tag that is stated."""
    tags: Ids
    """Places in `vectors`, for each of `rows`."""

    def means(self, icons: Ids) -> Floats:
        """Directions of the mean tag of icons at some places, (n, dim); zero where none is stated."""
        means = np.zeros((len(icons), self.vectors.shape[1]), np.float32)
        for start in range(0, len(icons), _ICONS_AT_ONCE):
            some = icons[start : start + _ICONS_AT_ONCE]
            lows = np.searchsorted(self.rows, some)
            n_stated = np.searchsorted(self.rows, some, side="right") - lows
            stating = np.flatnonzero(n_stated)
            if not len(stating):
                continue
            n_stated = n_stated[stating]
            begins = np.cumsum(n_stated) - n_stated
            stated = self.tags[np.repeat(lows[stating] - begins, n_stated) + np.arange(n_stated.sum())]
            sums = np.add.reduceat(self.vectors[stated].astype(np.float32), begins, axis=0)
            means[start + stating] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means


@dataclass(frozen=True, slots=True)
class Vectors:
    """All vectors that a generation needs, fp16 or fp32, ids ascending; which icon shows, bears and states which."""

    image_ids: Ids
    images: NDArray[Any]
    name_ids: Ids
    names: NDArray[Any]
    icon_ids: Ids
    image_rows: Ids
    name_rows: Ids
    tags: TagVectors

    def fused(self, weights: Weights, icons: Ids | None = None) -> Iterator[Floats]:
        """Yield the sums of picture, name and tags of icons at some places, None for all, a chunk at a time."""
        icons = np.arange(len(self.icon_ids)) if icons is None else icons
        for start in range(0, len(icons), CHUNK):
            some = icons[start : start + CHUNK]
            picture = self.images[self.image_rows[some]].astype(np.float32)
            name = self.names[self.name_rows[some]].astype(np.float32)
            seen = weights.picture * picture + (1 - weights.picture) * name
            means = self.tags.means(some)
            share = weights.tags * means.any(axis=1, keepdims=True).astype(np.float32)
            yield (1 - share) * seen + share * means


def gather(built: Generation, rows: Ids, folder: Path, *, fingerprint: str, beside: Path | None = None) -> Vectors:
    """Read the vectors of icons, whose (icon, image, name) ids are `rows` (n, 3), by icon; tags from their facets.

    They lie in memory, or in files without a name in the folder `beside`.

    Raises:
        ShardError: one is missing or damaged, or a shard is of another library.
    """
    image_ids, name_ids = distinct(rows[:, 1]), distinct(rows[:, 2])
    tag_ids = read_tag_ids(built.catalog)
    stated, codes = in_english(built.catalog, read_array(built.tags)).astype(np.int64)
    read, others = _read_others(built.catalog, name_ids)
    text_ids = distinct(np.concatenate([name_ids, tag_ids, others]))
    with reading(built.catalog) as connection:
        contents = {kind: read_contents(connection, kind) for kind in KINDS.values()}
    assemble = partial(_assemble, folder, contents, fingerprint=fingerprint, beside=beside)
    texts = assemble("names", text_ids)
    return Vectors(
        image_ids=image_ids,
        images=assemble("images", image_ids),
        name_ids=name_ids,
        names=with_others(texts[np.searchsorted(text_ids, name_ids)], read, texts[np.searchsorted(text_ids, others)]),
        icon_ids=np.ascontiguousarray(rows[:, 0]),
        image_rows=np.searchsorted(image_ids, rows[:, 1]),
        name_rows=np.searchsorted(name_ids, rows[:, 2]),
        tags=TagVectors(texts[np.searchsorted(text_ids, tag_ids)], stated, codes),
    )


def read_rows(catalog: Path) -> Ids:
    """Read (icon, image, name) ids of a snapshot's icons, (n, 3), by icon."""
    with reading(catalog) as connection:
        found = connection.execute("SELECT id, image_id, name_id FROM icons ORDER BY id")
        return np.fromiter((value for row in found for value in row), np.int64).reshape(-1, 3)


def read_contents(connection: sqlite3.Connection, kind: Kind) -> Contents:
    """Read what each image or name of a catalog or a snapshot is."""
    column = {"images": "CAST(digest AS BLOB)", "names": "CAST(words AS TEXT)"}[kind]  # a damaged one may be a number
    query = f"SELECT id, {column} FROM {kind} WHERE {column} IS NOT NULL ORDER BY id"
    pairs = ((number, content_of(item)) for number, item in connection.execute(query))
    found = np.fromiter((value for pair in pairs for value in pair), np.int64).reshape(-1, 2)
    return Contents(np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1]))


def read_words(catalog: Path, names: Ids) -> list[str]:
    """Read the words of some names of a snapshot, in their order."""
    with reading(catalog) as connection:
        read = connection.execute
        return [read("SELECT words FROM names WHERE id = ?", (name,)).fetchone()[0] for name in names.tolist()]


def read_tag_ids(catalog: Path) -> Ids:
    """Ids in `names` of the words of a snapshot's tags, by their codes.

    Raises:
        ShardError: one is no row there yet.
    """
    query = """SELECT names.id FROM labels LEFT JOIN names ON words = value AND own = ''
        WHERE kind = 'tag' ORDER BY code"""
    with reading(catalog) as connection:
        found = [row[0] for row in connection.execute(query)]
    if None in found:
        raise ShardError(f"{found.count(None)} tags have no vector yet; `icons index` makes them")
    return np.array(found, np.int64)


def _read_others(catalog: Path, name_ids: Ids) -> tuple[Ids, Ids]:
    """What some names may say beside their words: places of the names, ascending, and ids in `names` of what is said.

    Raises:
        ShardError: something is no row there yet.
    """
    query = "SELECT id, others FROM names WHERE own <> '' AND others <> '' ORDER BY id"
    with reading(catalog) as connection:
        read = connection.execute(query).fetchall()
        if not read:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        known = dict(connection.execute("SELECT words, id FROM names WHERE own = ''"))
    said = [(name, known.get(normalise_tag(other), -1)) for name, others in read for other in others.split("\n")]
    pairs = np.array(said, np.int64)
    pairs = pairs[np.isin(pairs[:, 0], name_ids)]
    if (n_new := int((pairs[:, 1] < 0).sum())) > 0:
        raise ShardError(f"{n_new} readings of names have no vector yet; `icons index` makes them")
    return np.searchsorted(name_ids, pairs[:, 0]), pairs[:, 1]


def with_others(names: Halves, read: Ids, others: Halves) -> Halves:
    """Vectors of names, where `read` says which of them may say something else, the middle of what they say."""
    if not len(read):
        return names
    places, begins = np.unique(read, return_index=True)
    means = np.add.reduceat(others.astype(np.float32), begins, axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    middle = (1 - OTHERS) * names[places].astype(np.float32) + OTHERS * means
    names[places] = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    return names


def _assemble(
    folder: Path, contents: dict[Kind, Contents], kind: Kind, ids: Ids, *, fingerprint: str, beside: Path | None
) -> Halves:
    vectors, filled = read_vectors(folder, kind, ids, fingerprint=fingerprint, contents=contents[kind], beside=beside)
    if not filled.all():
        raise ShardError(f"{int((~filled).sum())} {kind} have no vector yet; `icons index` makes them")
    return vectors


FP16_ERROR = 5e-4
"""Largest error of an inner product of unit vectors kept in fp16."""


def share_found(index: VectorIndex, queries: Floats, least: Floats, *, k: int) -> float:
    """Share of an index's first `k` answers that reach what `least_scores` says of the queries."""
    k = min(k, len(index))
    found = [index.search(query, k=k) for query in queries]
    return float(np.mean([share_right(hits, bound, k=k) for hits, bound in zip(found, least, strict=True)]))


class ExactSearch:
    """An exact fp32 search for the `k` nearest of each query, (queries, dim), among vectors that go by."""

    def __init__(self, queries: Floats, *, k: int) -> None:
        self.queries, self.k = queries, k
        self.best = np.full((len(queries), k), -np.inf, dtype=np.float32)
        """What the nearest vectors of each query score, in no order."""

    def among(self, chunks: Iterable[Floats]) -> Iterator[Floats]:
        """Yield chunks as they come, each once it has been looked at."""
        for chunk in chunks:
            scores = np.concatenate([self.best, self.queries @ chunk.T], axis=1)
            self.best = -np.partition(-scores, self.k - 1, axis=1)[:, : self.k]
            yield chunk


def least_scores(chunks: Iterable[Floats], queries: Floats, *, k: int) -> Floats:
    """What the `k`-th nearest vector of each query scores in an exact fp32 search, (queries,)."""
    exact = ExactSearch(queries, k=k)
    for _ in exact.among(chunks):
        pass
    return cast(Floats, exact.best.min(axis=1))


def share_right(found: Neighbours, least: float, *, k: int) -> float:
    """Share of `k` that the first `k` hits reach a score with, an fp16's error aside."""
    return float((found.scores[:k] >= least - FP16_ERROR).sum() / k)
