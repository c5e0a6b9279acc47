"""Whether an encoder still makes the vectors that a library holds: some are embedded again and compared."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids, Pixels
from indexer.catalog.database import connect_to_read
from indexer.doctor.findings import Finding
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST
from indexer.encoders.loaded import AnyPrecision
from indexer.encoders.query_encoder import open_query_encoder, read_facts
from indexer.errors import EmbedError, LibraryError, ModelError, ShardError
from indexer.library.durable import differences
from indexer.library.folder import Generation, Library
from indexer.library.shards import ADVICE, KINDS, Kind, precisions, read_shard, read_vectors, shard_paths
from indexer.merging.calibration import spread
from indexer.merging.manifest import Manifest

LEAST_COSINE = 0.99
"""Between a stored vector and the same made again on this machine's processor; bf16 on a GPU stays above .999."""
_WRONG = "holds vectors of other {0}, perhaps another library's: cosine {1:.4f} with the same made again"
_OF_A_SHARD = 8
"""Items of an older shard that are embedded again: what comes from another library differs in nearly all."""

_FIRST_ICONS = """
    SELECT images.id, sources.kind, sources.location, files.path, icons.member, images.digest
    FROM icons JOIN images ON images.id = icons.image_id JOIN files ON files.id = icons.file_id
    JOIN sources ON sources.id = files.source_id
    WHERE icons.id IN (SELECT MIN(id) FROM icons GROUP BY image_id) ORDER BY images.id
"""
_NAMES = "SELECT id, words FROM names WHERE id IN (SELECT name_id FROM icons) ORDER BY id"


@dataclass(frozen=True, slots=True)
class Compared:
    """How much of a sample could be compared, and how alike it was."""

    n_pictures: int = 0
    n_names: int = 0
    n_changed: int = 0
    """Pictures whose source is no longer as it was indexed."""
    least_cosine: float | None = None


def compare_sample(library: Library, generation: Generation, *, n: int) -> tuple[Compared, list[Finding]]:
    """Embed up to `n` pictures and `n` names of a generation again, evenly spaced, and compare them with the shards."""
    manifest = Manifest.read(generation)
    try:
        checkpoint = _checkpoint(library, manifest.fingerprint)
    except (ModelError, OSError, ValueError) as error:
        what = f"no sample was embedded again: the encoder is not there as it was ({error})"
        return Compared(), [Finding("sample", what, is_fault=False)]
    with closing(connect_to_read(generation.catalog)) as connection:
        pictures = _spaced(connection.execute(_FIRST_ICONS).fetchall(), n)
        names = _spaced(connection.execute(_NAMES).fetchall(), n)
    try:
        return _compare(library, checkpoint, pictures, names)
    except (EmbedError, ModelError, ShardError) as error:
        return Compared(), [Finding("sample", f"no sample was compared: {error}", is_fault=False)]


def _compare(
    library: Library, checkpoint: Checkpoint, pictures: Sequence[Any], names: Sequence[tuple[int, str]]
) -> tuple[Compared, list[Finding]]:
    from indexer.encoders.graphs import load_encoder

    folder = library.vectors(checkpoint.fingerprint)
    precision: AnyPrecision = "int8" if "int8" in precisions(folder) else "fp32"
    encoder = load_encoder(checkpoint, device=HOST, precision=precision, n_images=len(pictures))
    drawn = _draw_and_encode(pictures, encoder.encode_images, size=encoder.image_size)
    again = {"images": drawn, "names": _encode_names(names, encoder.encode_texts)}
    some = [_stored(folder, kind, again[kind][0]) for kind in KINDS.values() if len(again[kind][0])]
    n_drawn, least = len(drawn[0]), [_least_cosine(one, *again[one.kind]) for one in some]
    compared = Compared(
        n_drawn, len(names), len(pictures) - n_drawn, min((c for c in least if c is not None), default=None)
    )
    return compared, list(_findings(compared))


def _draw_and_encode(
    pictures: Sequence[Any], encode: Callable[[Pixels], NDArray[Any]], *, size: int
) -> tuple[Ids, NDArray[Any]]:
    """Embed pictures, rows of `_FIRST_ICONS`; ids and vectors of those that are as they were indexed, in order."""
    from indexer.rendering.pool import CHUNK, RenderPool
    from indexer.rendering.slots import Job
    from indexer.sources.records import PictureAddress

    ids, vectors = [np.empty(0, np.int64)], []
    with RenderPool(size=size, workers=1, chunk=CHUNK) as pool:
        for chunk in pool.render([[Job(image, PictureAddress(*address)) for image, *address in pictures]]):
            if len(chunk.ids):
                ids.append(chunk.ids)
                vectors.append(encode(chunk.pixels.copy()))
    return np.concatenate(ids), np.concatenate(vectors) if vectors else np.empty((0, 0))


def _encode_names(
    names: Sequence[tuple[int, str]], encode: Callable[[list[str]], NDArray[Any]]
) -> tuple[Ids, NDArray[Any]]:
    ids = np.array([number for number, _ in names], np.int64)
    return ids, encode([words for _, words in names]) if names else np.empty((0, 0))


@dataclass(frozen=True, slots=True)
class _Some:
    """Some vectors of a shard, or of a folder of them."""

    path: Path
    kind: Kind
    ids: Ids
    vectors: Halves


def compare_shards(library: Library, fingerprint: str, catalog: Path) -> tuple[list[Finding], int]:
    """Embed some items again of each shard of an older program, which does not say what its items are.

    The encoder is that which the library carries: vectors that answer its queries are this library's. Returns a fault
    for each shard of others, and the number of shards that could not be compared.
    """
    with closing(connect_to_read(catalog)) as connection:
        pictures = {row[0]: row for row in connection.execute(_FIRST_ICONS)}
        names = dict(connection.execute("SELECT id, words FROM names"))
    known: dict[Kind, Set[int]] = {"images": pictures.keys(), "names": names.keys()}
    some = list(_of_older_shards(library.vectors(fingerprint), known))
    folder = library.encoder(fingerprint)
    try:
        if not some or any(differences(folder, read_facts(folder).files or {}, sums=True)):
            return [], len(some)
        encoder = open_query_encoder(folder)
        drawn, named = (sorted({*chain(*(one.ids.tolist() for one in some if one.kind == kind))}) for kind in KINDS)
        rows = [pictures[number] for number in drawn]
        again = {
            "images": _draw_and_encode(rows, encoder.encode_many_pictures, size=encoder.image_size),
            "names": _encode_names([(number, names[number]) for number in named], encoder.encode_many_words),
        }
    except (EmbedError, LibraryError, OSError, RuntimeError, ValueError, KeyError):  # other checks report that
        return [], len(some)
    least = [_least_cosine(one, *again[one.kind]) for one in some]
    wrong = [
        Finding("shard", f'shard "{one.path}" {_WRONG.format(one.kind, cosine)}; {ADVICE}', path=one.path)
        for one, cosine in zip(some, least, strict=True)
        if cosine is not None and cosine < LEAST_COSINE
    ]
    return wrong, least.count(None)


def _of_older_shards(folder: Path, known: Mapping[Kind, Set[int]]) -> Iterator[_Some]:
    """Take some vectors of each shard that does not say what its items are, of items that are known."""
    for path in shard_paths(folder):
        with suppress(ShardError):  # other checks report that
            shard = read_shard(path, fingerprint=folder.name)
            if shard.contents is None and len(shard.ids):
                rows = [row for row, number in enumerate(shard.ids.tolist()) if number in known[shard.kind]]
                if chosen := _spaced(rows, _OF_A_SHARD):
                    yield _Some(path, shard.kind, shard.ids[chosen], shard.vectors[chosen])


def _least_cosine(some: _Some, ids: Ids, again: NDArray[Any]) -> float | None:
    """Of vectors of a shard with the same made again; None where none could be made."""
    _, rows, made = np.intersect1d(some.ids, ids, return_indices=True)
    if not len(rows):
        return None
    return float((some.vectors[rows].astype(np.float32) * again[made].astype(np.float32)).sum(axis=1).min())


def _findings(compared: Compared) -> Iterator[Finding]:
    if compared.n_changed:
        what = f"{compared.n_changed} sampled pictures are no longer as they were indexed; `icons index` looks again"
        yield Finding("sample", what, is_fault=False)
    if compared.least_cosine is not None and compared.least_cosine < LEAST_COSINE:
        what = f"a vector of the sample differs from the same made again: cosine {compared.least_cosine:.4f}"
        yield Finding("sample", f"{what}; delete the shards of this encoder and run `icons index`")


def _checkpoint(library: Library, fingerprint: str) -> Checkpoint:
    facts = read_facts(library.encoder(fingerprint))
    checkpoint = find_checkpoint(ModelChoice.from_json(facts.choice))
    if checkpoint.fingerprint != fingerprint:
        raise ModelError(f'"{facts.model}" is "{checkpoint.fingerprint}" now, not "{fingerprint}"')
    return checkpoint


def _stored(folder: Path, kind: Kind, ids: Ids) -> "_Some":
    stored, filled = read_vectors(folder, kind, ids, fingerprint=folder.name)
    if not filled.all():
        raise ShardError(f"{int((~filled).sum())} {kind} of it have no vector; `icons index` makes them")
    return _Some(folder, kind, ids, stored)


def _spaced(rows: Sequence[Any], n: int) -> Sequence[Any]:
    """Take up to `n` rows, evenly spaced, the first and the last among them."""
    return [rows[place] for place in spread(len(rows), n).tolist()]
