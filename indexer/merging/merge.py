"""Stage three: shards -> a new generation.

    icons index --only merge

A generation holds a snapshot of the catalog with its keyword index, facets to filter and count by, an index of pictures
(image ids) and an index of fused vectors (icon ids), sums of picture, name and tags, so that one inner product with a
query is the weighted sum of its similarities to all three.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from indexer.arrays import Floats, Halves, Ids, distinct
from indexer.catalog import questions
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.errors import LibraryError, ShardError
from indexer.library.folder import Generation, Library, write_manifest
from indexer.library.shards import read_traits
from indexer.library.traits import find_drawings
from indexer.merging.calibration import N_ASKED, Answering, Calibration, NamedQuery, calibrate, spread
from indexer.merging.facets import write_facets, write_places
from indexer.merging.index_kinds import ENOUGH_RECALL, LEAST_RECALL
from indexer.merging.lexicon import Lexicon, write_lexicon, write_snapshot
from indexer.merging.manifest import SNAPSHOT, WEIGHTS, IndexFacts, Manifest
from indexer.merging.vector_index import VectorIndex, build_recommended, fp32_chunks
from indexer.merging.vectors import ExactSearch, Vectors, gather, read_rows, read_words, share_found

N_QUERIES = 64
"""Real names asked to measure recall."""
N_FOUND = 10
"""Of the first so many."""


def merge(
    library: Library,
    engine: Engine,
    *,
    fingerprint: str,
    embedded: Ids,
    encoder: QueryEncoder | None = None,
    stage: Callable[[str], None] = lambda _: None,
) -> Generation:
    """Build the next generation and make it current; `embedded` are the ids of images that have a vector.

    It is tried with real names through `encoder`, or through that which the library carries. `stage` is called with
    the title of each step.

    Raises:
        ShardError: a shard is missing or damaged, or a vector is not finite.
        LibraryError: nothing is embedded, or the new index does not answer as it should.
    """
    with library.next_generation() as built:
        stage("Merging")
        write_snapshot(library.catalog, built.catalog, embedded=embedded)
        with engine.connect() as connection:
            counts = questions.account(connection, fingerprint=fingerprint, embedded=embedded)
            revision, library_id = questions.revision(connection), questions.library_id(connection)
        stage("Reading vectors")
        vectors, drawings = _write_rows(built, library.vectors(fingerprint), fingerprint=fingerprint)
        stage("Building the index of pictures")
        pictures = _build(built.pictures, vectors.image_ids, partial(fp32_chunks, vectors.images), vectors.names)
        stage("Building the index of icons")
        summed = partial(vectors.fused, WEIGHTS)
        fused = _build(built.icons, vectors.icon_ids, summed, vectors.names, is_asked_by_names=True)
        stage("Asking both, to learn what their scores mean")
        # First: what was read from end to end is in memory when it is asked here and there.
        files = built.describe()
        encoder = encoder or open_query_encoder(library.encoder(fingerprint))
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
            calibration=_calibrate(built, pictures, fused, vectors, drawings, encoder),
            counts=counts,
            files=files,
            library=library_id,
        )
        write_manifest(built, manifest)
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
    write_places(built)
    vectors = gather(built, rows, shards, fingerprint=fingerprint, beside=built.folder)
    write_lexicon(built.catalog, built.lexicon)
    drawings = vectors.image_ids[find_drawings(traits, vectors.images)]
    np.save(built.drawings, drawings[vectors.image_rows])
    return vectors, drawings


def _build(
    path: Path,
    ids: Ids,
    vectors_at: Callable[[Ids | None], Iterator[Floats]],
    names: Halves,
    *,
    is_asked_by_names: bool = False,
) -> IndexFacts:
    """Write one index, open it as a search would, and hold its answers against exact search.

    `vectors_at` yields vectors at some places, None for all.
    """

    def some_names(n: int) -> Floats:
        return names[spread(len(names), n)].astype(np.float32)

    try:
        exact = ExactSearch(some_names(N_QUERIES), k=min(len(ids), N_FOUND))
        chunks, asked = _one_ahead(exact.among(vectors_at(None))), some_names if is_asked_by_names else None
        index = build_recommended(ids, chunks, vectors_at, dim=names.shape[1], asked=asked)
    except ValueError as error:
        what = "delete the shards of this encoder and run `icons index`, with another --model if that recurs"
        raise ShardError(f"{error}; {what}") from error
    found_of = partial(share_found, queries=exact.queries, least=exact.best.min(axis=1), k=N_FOUND)
    index.choose_probes(found_of, enough=ENOUGH_RECALL)
    index.save(path)
    spec = index.spec
    del index
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
    encoder: QueryEncoder,
) -> Calibration:
    """Ask both indexes as a search will."""
    borne = distinct(vectors.name_rows)
    chosen = borne[spread(len(borne), N_ASKED)]
    ids, looked_up = vectors.name_ids[chosen], vectors.names[chosen].astype(np.float32)
    answering = Answering(
        icons=VectorIndex.open(built.icons, spec=fused.spec),
        pictures=VectorIndex.open(built.pictures, spec=pictures.spec),
        lexicon=Lexicon.open(built.lexicon),
        encoder=encoder,
        names=(vectors.icon_ids, vectors.name_ids[vectors.name_rows]),
        drawings=(vectors.image_ids, drawings),
    )
    return calibrate(answering, [*map(NamedQuery, read_words(built.catalog, ids), looked_up, ids.tolist())])
