"""Stage three: shards -> a new generation.

    icons index --only merge

A generation holds a snapshot of the catalog with its keyword index, facets to filter and count by, an index of pictures
(image ids) and an index of fused vectors (icon ids), sums of picture, name and tags, so that one inner product with a
query is the weighted sum of its similarities to all three.

An icon's fused vector is p * picture + (1 - p) * name. Where tags are stated, a share of it is the direction of their
mean instead, which also says something of words that none of the tags contains. A name in another language may say
several things in English: its vector is the middle of these.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from indexer.arrays import Floats, Halves, Ids, distinct
from indexer.catalog import contents
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import LibraryError, ShardError
from indexer.languages.words import normalise_tag
from indexer.library.folder import Generation, Library, write_manifest
from indexer.library.shards import KINDS, Contents, Kind, content_of, find_drawings, read_traits, read_vectors
from indexer.merging.browsing import write_hits
from indexer.merging.facets import in_english, read_array, reading, write_facets
from indexer.merging.lexicon import Lexicon, write_lexicon, write_snapshot
from indexer.merging.manifest import (
    CHUNK,
    ENOUGH_RECALL,
    LEAST_RECALL,
    N_ASKED,
    SNAPSHOT,
    WEIGHTS,
    Answering,
    Calibration,
    IndexFacts,
    Manifest,
    NamedQuery,
    Nonsense,
    Weights,
    calibrate,
    spread,
)
from indexer.merging.vector_index import Neighbours, VectorIndex, build_recommended, fp32_chunks

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
            n_stated = n_stated[stating]
            begins = np.cumsum(n_stated) - n_stated
            stated = self.tags[np.repeat(lows[stating] - begins, n_stated) + np.arange(n_stated.sum())]
            sums = np.add.reduceat(self.vectors[stated].astype(np.float32), begins, axis=0)
            means[start + stating] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means


@dataclass(frozen=True)
class Vectors:
    """All vectors that a generation needs, fp16 or fp32, ids ascending; which icon shows, bears and states which."""

    image_ids: Ids
    images: NDArray[Any]
    name_ids: Ids
    """Those of tags and of other readings among them."""
    names: NDArray[Any]
    icon_ids: Ids
    image_rows: Ids
    name_rows: Ids
    tags: TagVectors

    @cached_property
    def borne(self) -> Ids:
        """Places of the names that icons bear, ascending."""
        return distinct(self.name_rows)

    def some_names(self, n: int) -> Floats:
        """Vectors of `n` of these, (n, dim)."""
        return self.names[self.borne[spread(len(self.borne), n)]].astype(np.float32)

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
    read, others = _read_others(built.catalog, name_ids).T
    text_ids = distinct(np.concatenate([name_ids, tag_ids, others]))
    with reading(built.catalog) as connection:
        contents = {kind: read_contents(connection, kind) for kind in KINDS.values()}

    def assemble(kind: Kind, ids: Ids) -> Halves:
        known = contents[kind]
        vectors, filled = read_vectors(folder, kind, ids, fingerprint=fingerprint, contents=known, beside=beside)
        if not filled.all():
            raise ShardError(f"{int((~filled).sum())} {kind} have no vector yet; `icons index` makes them")
        return vectors

    texts = assemble("names", text_ids)
    add_others(texts, np.searchsorted(text_ids, read), texts[np.searchsorted(text_ids, others)])
    return Vectors(
        image_ids=image_ids,
        images=assemble("images", image_ids),
        name_ids=text_ids,
        names=texts,
        icon_ids=np.ascontiguousarray(rows[:, 0]),
        image_rows=np.searchsorted(image_ids, rows[:, 1]),
        name_rows=np.searchsorted(text_ids, rows[:, 2]),
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
        return [
            connection.execute("SELECT words FROM names WHERE id = ?", (name,)).fetchone()[0] for name in names.tolist()
        ]


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


def _read_others(catalog: Path, name_ids: Ids) -> Ids:
    """What some names may say beside their words: ids of the names, ascending, and of what is said, (n, 2).

    Raises:
        ShardError: something is no row there yet.
    """
    query = "SELECT id, others FROM names WHERE own <> '' AND others <> '' ORDER BY id"
    with reading(catalog) as connection:
        read = connection.execute(query).fetchall()
        if not read:
            return np.empty((0, 2), np.int64)
        known = dict(connection.execute("SELECT words, id FROM names WHERE own = ''"))
    said = [(name, known.get(normalise_tag(other), -1)) for name, others in read for other in others.split("\n")]
    pairs = np.array(said, np.int64)
    pairs = pairs[np.isin(pairs[:, 0], name_ids)]
    if (n_new := int((pairs[:, 1] < 0).sum())) > 0:
        raise ShardError(f"{n_new} readings of names have no vector yet; `icons index` makes them")
    return pairs


def add_others(names: Halves, read: Ids, others: Halves) -> None:
    """Where `read` says of some names that they may say something else, let their vectors be the middle of it all."""
    if not len(read):
        return
    places, begins = np.unique(read, return_index=True)
    means = np.add.reduceat(others.astype(np.float32), begins, axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    middle = (1 - OTHERS) * names[places].astype(np.float32) + OTHERS * means
    names[places] = middle / np.linalg.norm(middle, axis=1, keepdims=True)


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
            self.best = np.partition(scores, -self.k, axis=1)[:, -self.k :]
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


N_QUERIES = 128
"""Real names asked to measure recall."""
N_FOUND = 10
"""Of the first so many."""


def merge(
    library: Library,
    engine: Engine,
    *,
    fingerprint: str,
    embedded: Ids,
    open_encoder: Callable[[], QueryEncoder],
    stage: Callable[[str], None] = lambda _: None,
) -> Generation:
    """Build the next generation and make it current; `embedded` are the ids of images that have a vector.

    It is tried with real names, and with nonsense, for which `open_encoder` is called the first time. `stage` is called
    with the title of each step.

    Raises:
        ShardError: a shard is missing or damaged, or a vector is not finite.
        LibraryError: nothing is embedded, or the new index does not answer as it should.
    """
    with library.next_generation() as built:
        stage("Merging")
        write_snapshot(library.catalog, built.catalog, embedded=embedded)
        with engine.connect() as connection:
            counts = contents.account(connection, fingerprint=fingerprint, embedded=embedded)
            revision, library_id = contents.revision(connection), contents.library_id(connection)
        stage("Reading vectors")
        vectors, drawings = _write_rows(built, library.vectors(fingerprint), fingerprint=fingerprint)
        stage("Building the index of pictures")
        pictures = _build(built.pictures, vectors.image_ids, partial(fp32_chunks, vectors.images), vectors)
        stage("Building the index of icons")
        fused = _build(
            built.icons, vectors.icon_ids, partial(vectors.fused, WEIGHTS), vectors, asked=vectors.some_names
        )
        stage("Asking both, to learn what their scores mean")
        # First: what was read from end to end is in memory when it is asked here and there.
        files = built.describe()
        nonsense = Nonsense.kept(library.vectors(fingerprint), open_encoder, dim=vectors.images.shape[1])
        manifest = Manifest(
            number=built.number,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            schema=SNAPSHOT,
            revision=revision,
            fingerprint=fingerprint,
            dim=vectors.images.shape[1],
            weights=WEIGHTS,
            pictures=pictures,
            icons=fused,
            calibration=_calibrate(built, pictures, fused, vectors, drawings, nonsense),
            counts=counts,
            files=files,
            library=library_id,
        )
        write_manifest(built, manifest)
        stage("Publishing")
    return library.generation(built.number)


def _write_rows(built: Generation, shards: Path, *, fingerprint: str) -> tuple[Vectors, Ids]:
    """Write what is known of the snapshot's icons: facets, names, drawings. Their vectors, and an image's drawing."""
    rows = read_rows(built.catalog)
    if not len(rows):
        what = "no icon is embedded yet, so there is nothing to search"
        raise LibraryError(f"{what}; `icons status --failures` lists the reasons")
    shown = distinct(rows[:, 1])
    traits = read_traits(shards, shown)
    write_facets(built, shown, traits)
    vectors = gather(built, rows, shards, fingerprint=fingerprint, beside=built.folder)
    write_lexicon(built.catalog, built.lexicon)
    drawings = vectors.image_ids[find_drawings(traits, vectors.images)]
    np.save(built.drawings, drawings[vectors.image_rows])
    write_hits(built)
    return vectors, drawings


def _build(
    path: Path,
    ids: Ids,
    vectors_at: Callable[[Ids | None], Iterator[Floats]],
    vectors: Vectors,
    *,
    asked: Callable[[int], Floats] | None = None,
) -> IndexFacts:
    """Write one index, open it as a search would, and hold its answers against exact search.

    `vectors_at` yields vectors at some places, None for all; lists lie around what is `asked` (`build_recommended`).
    """
    try:
        exact = ExactSearch(vectors.some_names(N_QUERIES), k=min(len(ids), N_FOUND))
        chunks = _one_ahead(exact.among(vectors_at(None)))
        spec = build_recommended(path, ids, chunks, vectors_at, dim=vectors.names.shape[1], asked=asked)
    except ValueError as error:
        what = "delete the shards of this encoder and run `icons index`, with another --model if that recurs"
        raise ShardError(f"{error}; {what}") from error
    found_of = partial(share_found, queries=exact.queries, least=exact.best.min(axis=1), k=N_FOUND)
    VectorIndex.open(path, spec=spec).choose_probes(path, found_of, enough=ENOUGH_RECALL)
    found = found_of(VectorIndex.open(path, spec=spec))
    if found < LEAST_RECALL:
        raise LibraryError(f'index "{spec}" finds {found:.3f} of what exact search finds; nothing was published')
    return IndexFacts(spec, len(ids), round(found, 4))


def _one_ahead(chunks: Iterator[Floats]) -> Iterator[Floats]:
    """Have the next chunk made while one is indexed: of both, neither keeps all cores busy."""
    with ThreadPoolExecutor(1) as beside:
        coming = beside.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = beside.submit(next, chunks, None)
            yield chunk


def _calibrate(
    built: Generation,
    pictures: IndexFacts,
    fused: IndexFacts,
    vectors: Vectors,
    drawings: Ids,
    nonsense: Nonsense,
) -> Calibration:
    """Ask both indexes as a search will."""
    ids = vectors.name_ids[vectors.borne[spread(len(vectors.borne), N_ASKED)]]
    answering = Answering(
        icons=VectorIndex.open(built.icons, spec=fused.spec),
        pictures=VectorIndex.open(built.pictures, spec=pictures.spec),
        lexicon=Lexicon.open(built.lexicon),
        nonsense=nonsense,
        names=(vectors.icon_ids, vectors.name_ids[vectors.name_rows]),
        drawings=(vectors.image_ids, drawings),
    )
    words, asked = read_words(built.catalog, ids), vectors.some_names(N_ASKED)
    return calibrate(answering, [*map(NamedQuery, words, asked, ids.tolist())])
