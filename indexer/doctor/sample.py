"""Does an encoder still make the vectors that a library holds? Some are rendered and embedded again, and compared."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indexer.arrays import Floats, Halves, Ids
from indexer.catalog.database import connect_to_read
from indexer.doctor.findings import Finding
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.facts import read_facts
from indexer.errors import EmbedError, ModelError, ShardError
from indexer.library.folder import Generation, Library
from indexer.library.shards import Kind, precisions, read_vectors
from indexer.publishing.calibration import spread
from indexer.publishing.manifest import Manifest
from indexer.ranks.devices import HOST

if TYPE_CHECKING:
    from indexer.encoders.loading import AnyPrecision

LEAST_COSINE = 0.99
"""Between a stored vector and the same made again on this machine's processor; bf16 on a GPU stays above .999."""

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
    except (ModelError, OSError, ValueError, KeyError) as error:
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
    from indexer.encoders.loading import load_encoder
    from indexer.rendering.pool import Job, RenderPool

    is_int8 = "int8" in precisions(library.vectors(checkpoint.fingerprint))
    precision: AnyPrecision = "int8" if is_int8 else "fp32"
    encoder = load_encoder(checkpoint, device=HOST, precision=precision, n_images=len(pictures))
    jobs = [Job(*picture) for picture in pictures]
    cosines: list[Floats] = []
    n_drawn = 0
    with RenderPool(size=encoder.image_size, workers=1, chunk=max(1, len(jobs))) as pool:
        for chunk in pool.render([jobs]):
            n_drawn += len(chunk.ids)
            if len(chunk.ids):
                again = encoder.encode_images(chunk.pixels.copy())
                cosines.append(_cosines(library, "images", chunk.ids, again, checkpoint.fingerprint))
    ids = np.array([number for number, _ in names], np.int64)
    again = encoder.encode_texts([words for _, words in names])
    cosines.append(_cosines(library, "names", ids, again, checkpoint.fingerprint))
    compared = Compared(n_drawn, len(names), len(jobs) - n_drawn, float(np.concatenate(cosines).min()))
    return compared, list(_findings(compared))


def _findings(compared: Compared) -> Iterator[Finding]:
    if compared.n_changed:
        what = f"{compared.n_changed} sampled pictures are no longer as they were indexed; `icons index` looks again"
        yield Finding("sample", what, is_fault=False)
    if compared.least_cosine is not None and compared.least_cosine < LEAST_COSINE:
        what = f"a vector of the sample differs from the same made again: cosine {compared.least_cosine:.4f}"
        yield Finding("sample", f"{what}; delete the shards of this encoder and run `icons index`")


def _checkpoint(library: Library, fingerprint: str) -> Checkpoint:
    facts = read_facts(library.encoder(fingerprint))
    checkpoint = find_checkpoint(ModelChoice.from_json(facts["choice"]))
    if checkpoint.fingerprint != fingerprint:
        raise ModelError(f'"{facts["model"]}" is "{checkpoint.fingerprint}" now, not "{fingerprint}"')
    return checkpoint


def _cosines(library: Library, kind: Kind, ids: Ids, again: Halves, fingerprint: str) -> Floats:
    stored, filled = read_vectors(library.vectors(fingerprint), kind, ids, fingerprint=fingerprint)
    if not filled.all():
        raise ShardError(f"{int((~filled).sum())} {kind} of it have no vector; `icons index` makes them")
    return np.asarray((stored.astype(np.float32) * again.astype(np.float32)).sum(axis=1))


def _spaced(rows: Sequence[Any], n: int) -> Sequence[Any]:
    """Take up to `n` rows, evenly spaced, the first and the last among them."""
    return [rows[place] for place in spread(len(rows), n).tolist()]
