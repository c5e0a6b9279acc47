"""Stage three: shards -> a new generation. Reads the catalog and one encoder's shards, writes `generations/N/`.

    icons merge

A generation holds a snapshot of the catalog with its keyword index, facets to filter and count by, an index of pictures
(image ids) and an index of fused vectors (icon ids): weight * picture + (1 - weight) * name, so that one inner product
with a query is the weighted sum of both similarities.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import Engine

from indexer.arrays import Floats, Halves, Ids
from indexer.catalog import questions
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.errors import LibraryError, ShardError
from indexer.library.durable import describe_file, folder_aside
from indexer.library.folder import Generation, Library
from indexer.library.shards import Kind, read_traits, read_vectors
from indexer.library.traits import find_drawings
from indexer.publishing.calibration import N_ASKED, calibrate, spread
from indexer.publishing.curves import Calibration
from indexer.publishing.facets import write_facets
from indexer.publishing.index_kinds import CHUNK, LEAST_RECALL, recommended
from indexer.publishing.lexicon import write_lexicon
from indexer.publishing.manifest import PICTURE_WEIGHT, SNAPSHOT, IndexFacts, Manifest
from indexer.publishing.snapshot import read_rows, write_snapshot
from indexer.publishing.vector_index import VectorIndex, fp32_chunks, recall

N_LEARNT = 16_384
"""Vectors that an index learns from, where it has to."""
N_QUERIES = 64
"""Real names asked to measure recall."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """All vectors that a generation needs, ids ascending, and which icon shows and bears which."""

    image_ids: Ids
    images: Halves
    name_ids: Ids
    names: Halves
    icon_ids: Ids
    image_rows: Ids
    name_rows: Ids

    def fused(self, weight: float = PICTURE_WEIGHT) -> Iterator[Floats]:
        """Yield the sums of picture and name, in the order of the icons, a chunk at a time."""
        for start in range(0, len(self.icon_ids), CHUNK):
            part = slice(start, start + CHUNK)
            picture = self.images[self.image_rows[part]].astype(np.float32)
            name = self.names[self.name_rows[part]].astype(np.float32)
            yield weight * picture + (1 - weight) * name


def merge(library: Library, engine: Engine, *, fingerprint: str, embedded: Ids) -> Generation:
    """Build the next generation and make it current; `embedded` are the ids of images that have a vector.

    Raises:
        ShardError: a shard is missing or damaged, or a vector is not finite.
        LibraryError: nothing is embedded, or the new index does not answer as it should.
    """
    generation = library.generation(library.next_number())
    with folder_aside(generation.folder) as aside:
        built = Generation(generation.number, aside)
        write_snapshot(library.catalog, built.catalog, embedded=embedded)
        with engine.connect() as connection:
            counts = questions.account(connection, fingerprint=fingerprint, embedded=embedded)
            revision = questions.revision(connection)
        rows = read_rows(built.catalog)
        if not len(rows):
            what = "no icon is embedded yet, so there is nothing to search"
            raise LibraryError(f"{what}; `icons failures` lists the reasons")
        vectors = gather(rows, library.vectors(fingerprint), fingerprint=fingerprint)
        traits = read_traits(library.vectors(fingerprint), vectors.image_ids)
        write_facets(built, vectors.image_ids, traits)
        write_lexicon(built.catalog, built.lexicon)
        drawings = vectors.image_ids[find_drawings(traits, vectors.images)]
        np.save(built.drawings, drawings[vectors.image_rows])
        pictures = _build(built.pictures, vectors.image_ids, lambda: fp32_chunks(vectors.images), vectors)
        fused = _build(built.icons, vectors.icon_ids, vectors.fused, vectors)
        encoder = open_query_encoder(library.encoder(fingerprint))
        manifest = Manifest(
            number=generation.number,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            schema=SNAPSHOT,
            revision=revision,
            fingerprint=fingerprint,
            dim=vectors.images.shape[1],
            picture_weight=PICTURE_WEIGHT,
            pictures=pictures,
            icons=fused,
            calibration=_calibrate(built, pictures, fused, vectors, drawings, encoder),
            counts=counts,
            files={path.name: describe_file(path) for path in built.files},
        )
        manifest.write(built)
    library.publish(generation)
    return generation


def gather(rows: Ids, folder: Path, *, fingerprint: str) -> Vectors:
    """Read the vectors of some icons, given as (icon, image, name) ids (n, 3), by icon.

    Raises:
        ShardError: one is missing or damaged.
    """
    image_ids, name_ids = np.unique(rows[:, 1]), np.unique(rows[:, 2])
    return Vectors(
        image_ids=image_ids,
        images=_assemble(folder, "images", image_ids, fingerprint=fingerprint),
        name_ids=name_ids,
        names=_assemble(folder, "names", name_ids, fingerprint=fingerprint),
        icon_ids=np.ascontiguousarray(rows[:, 0]),
        image_rows=np.searchsorted(image_ids, rows[:, 1]),
        name_rows=np.searchsorted(name_ids, rows[:, 2]),
    )


def _assemble(folder: Path, kind: Kind, wanted: Ids, *, fingerprint: str) -> Halves:
    vectors, filled = read_vectors(folder, kind, wanted, fingerprint=fingerprint)
    if not filled.all():
        raise ShardError(f"{int((~filled).sum())} {kind} have no vector yet; `icons embed` makes them")
    return vectors


def _build(path: Path, ids: Ids, chunks: Callable[[], Iterator[Floats]], vectors: Vectors) -> IndexFacts:
    """Write one index, open it as a search would, and hold its answers against exact search.

    It learns from vectors of all sources: ids ascend, so the first chunk is what was indexed first.
    """
    dim = vectors.images.shape[1]
    spec = recommended(len(ids)).spec(len(ids), dim=dim)
    try:
        every = len(ids) // N_LEARNT
        sample = np.concatenate([chunk[::every] for chunk in chunks()]) if len(ids) > CHUNK else None
        index = VectorIndex.build(ids, chunks(), dim=dim, spec=spec, sample=sample)
    except ValueError as error:
        raise ShardError(f"{error}; delete the shards of this encoder and run `icons index`") from error
    index.save(path)
    del index
    opened = VectorIndex.open(path, spec=spec)
    asked = vectors.names[spread(len(vectors.names), N_QUERIES)].astype(np.float32)
    found = recall(opened, chunks(), asked)
    if found < LEAST_RECALL:
        raise LibraryError(f'index "{spec}" finds {found:.3f} of what exact search finds; nothing was published')
    return IndexFacts(spec, len(ids), round(found, 4))


def _calibrate(
    built: Generation,
    pictures: IndexFacts,
    fused: IndexFacts,
    vectors: Vectors,
    drawings: Ids,
    encoder: QueryEncoder,
) -> Calibration:
    """Ask both indexes as a search will."""
    borne = np.unique(vectors.name_rows)
    chosen = borne[spread(len(borne), N_ASKED)]
    return calibrate(
        VectorIndex.open(built.icons, spec=fused.spec),
        VectorIndex.open(built.pictures, spec=pictures.spec),
        names=(vectors.names[chosen].astype(np.float32), vectors.name_ids[chosen]),
        bearers=(vectors.icon_ids, vectors.name_ids[vectors.name_rows]),
        drawings=(vectors.image_ids, drawings),
        encoder=encoder,
    )
