"""Whether a generation is what its manifest says, and its catalog, its indexes and the vectors say the same."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from indexer.arrays import distinct
from indexer.catalog.database import connect_to_read
from indexer.doctor.findings import Finding, read_whole
from indexer.doctor.sample import compare_shards
from indexer.errors import IconsError, ShardError
from indexer.library.folder import Generation, Library
from indexer.library.shards import KINDS, count_others, read_shard
from indexer.merging.facets import read_array
from indexer.merging.manifest import Manifest
from indexer.merging.vector_index import VectorIndex, fp32_chunks
from indexer.merging.vectors import Vectors, gather, read_contents, read_rows

TOLERANCE = 5e-3
"""Largest difference of a number in an index from the same in its shard: fp16, and another device's rounding."""


def check_pointer(library: Library) -> Iterator[Finding]:
    """Whether the pointer names a generation that is there."""
    current, numbers = library.current(), library.numbers()
    if current is None and library.pointer.exists():
        yield Finding("pointer", f'"{library.pointer}" {_said(library.pointer)}', path=library.pointer)
    elif current is None and numbers and _has_published(library):
        yield Finding("pointer", f'"{library.pointer}" is missing, there are generations', path=library.pointer)
    elif current is None and numbers:
        what = f"generation {numbers[0]} is whole and answers, but the first run has not come to its end"
        yield Finding("pointer", f"{what}; `icons index` brings it there", is_fault=False)
    elif current is None:
        yield Finding("pointer", "nothing is published yet; `icons index` does it", is_fault=False)
    for number in numbers:
        if current is not None and number > current:
            what = f"generation {number} is newer than {current}, which answers: rolled back, or never published"
            yield Finding("generation", f"{what}; the next one that is published replaces it", is_fault=False)


def _has_published(library: Library) -> bool:
    """Whether the catalog tells of a run that came to its end; one that can't be read may have."""
    try:
        with closing(connect_to_read(library.catalog)) as connection:
            return connection.execute("SELECT 1 FROM runs").fetchone() is not None
    except sqlite3.Error:
        return True


def _said(pointer: Path) -> str:
    """What is in the place of a number that leads to a generation."""
    try:
        text = pointer.read_bytes()[:40].decode("ascii", errors="replace").strip()
    except OSError as error:
        return f"can't be read ({error.strerror})"
    return f'says "{text}", which is no generation that is there'


def check_generation(library: Library, generation: Generation, *, answers: bool) -> Iterator[Finding]:
    """Hold a generation against its manifest, its parts against each other, and its indexes against the shards.

    `answers`: whether searches read it; vectors that are missing for one kept for going back are only noted.
    """
    manifest, damaged = read_whole("generation", generation, Manifest.read)
    yield from damaged
    if manifest is None:
        return
    yield from _foreign_files(generation, manifest)
    if _is_of_another_library(library, generation, manifest):
        yield Finding("generation", f"{_called(generation)} belongs to another library", path=generation.folder)
        return
    try:
        yield from _compare(library, generation, manifest, answers=answers)
    except (sqlite3.Error, RuntimeError, ValueError, OSError) as error:
        yield Finding("generation", f"{_called(generation)} can't be read ({error})", path=generation.folder)
    if answers:
        try:
            yield from _compare_catalog(library, generation, manifest)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            yield Finding("catalog", f'"{library.catalog}" can\'t be read ({error})', path=library.catalog)
    if not (library.encoder(manifest.fingerprint) / "encoder.json").is_file():
        what = f'the query encoder "{manifest.fingerprint}" of {_called(generation)} is missing'
        yield Finding("encoder", what, is_fault=answers, path=library.encoder(manifest.fingerprint))


_FOR_EVER = {
    "pictures": "SELECT id, digest FROM {db}.images",
    "names": "SELECT id, words, own, language FROM {db}.names",
}
"""What an id means does not change: whatever a snapshot knows, the catalog says too."""
_UNCHANGED = {
    "icons": """SELECT icons.id, icons.member, image_id, name_id, name, style, size, caption, tags, english_tags,
        categories, icons.licence, sets.key, files.path, sources.location
        FROM {db}.icons JOIN {db}.sets ON sets.id = set_id JOIN {db}.files ON files.id = file_id
        JOIN {db}.sources ON sources.id = files.source_id""",
    "other readings": "SELECT id, others FROM {db}.names",
}
"""Nor does this, while the catalog's revision is that of the snapshot."""


def _compare_catalog(library: Library, generation: Generation, manifest: Manifest) -> Iterator[Finding]:
    """Hold the catalog, which is written all the time and so has no checksum, against a snapshot, which has one."""
    with closing(connect_to_read(library.catalog)) as connection:
        connection.execute("ATTACH ? AS snapshot", (f"{generation.catalog.as_uri()}?mode=ro&immutable=1",))
        revision = connection.execute("SELECT value FROM settings WHERE key = 'revision'").fetchone()
        is_same = revision is not None and revision[0] == str(manifest.revision)
        for what, query in {**_FOR_EVER, **(_UNCHANGED if is_same else {})}.items():
            known, found = (query.format(db=db) for db in ("snapshot", "main"))
            (n,) = connection.execute(f"SELECT COUNT(*) FROM ({known} EXCEPT {found})").fetchone()
            if n:
                what_differs = (
                    f'"{library.catalog}" says of {n} {what} what {_called(generation)}, made from it, does not say'
                )
                yield Finding("catalog", what_differs, path=library.catalog)


def _foreign_files(generation: Generation, manifest: Manifest) -> Iterator[Finding]:
    known = {*manifest.files, generation.manifest.name}
    for path in generation.folder.iterdir():
        if path.name not in known:
            yield Finding("leftover", f'"{path}" belongs to no generation', is_fault=False, path=path)


def _is_of_another_library(library: Library, generation: Generation, manifest: Manifest) -> bool:
    """Whether the catalog bears another id, and the shards hold what the catalog says, not what the generation does."""
    try:
        with closing(connect_to_read(library.catalog)) as own, closing(connect_to_read(generation.catalog)) as other:
            found = own.execute("SELECT value FROM settings WHERE key = 'library'").fetchone()
            if not manifest.library or found is None or found[0] == manifest.library:
                return False
            contents = [{kind: read_contents(one, kind) for kind in KINDS.values()} for one in (own, other)]
    except (sqlite3.Error, UnicodeDecodeError):  # the catalog is damaged, other checks report that
        return False
    n_others = [0, 0]
    for path in (library.root / "vectors").glob("*/[!.]*.safetensors"):
        with suppress(ShardError):
            shard = read_shard(path, fingerprint=path.parent.name)
            for place, known in enumerate(contents):
                n_others[place] += count_others(shard, known[shard.kind])
    return n_others[0] < n_others[1]


def _compare(library: Library, generation: Generation, manifest: Manifest, *, answers: bool) -> Iterator[Finding]:
    """Compare counts and ids of a snapshot, its indexes and its facets; then the indexes with the shards."""
    pictures = VectorIndex.open(generation.pictures, spec=manifest.pictures.spec)
    icons = VectorIndex.open(generation.icons, spec=manifest.icons.spec)
    rows = read_rows(generation.catalog)
    image_ids = distinct(rows[:, 1])
    claims = [
        ("pictures.faiss", pictures.ids, image_ids, manifest.pictures.n),
        ("icons.faiss", icons.ids, rows[:, 0], manifest.icons.n),
        ("facets.npy", read_array(generation.facets)["icon"], rows[:, 0], manifest.icons.n),
    ]
    differs = False
    for name, found, expected, n in claims:
        if n != len(expected) or not np.array_equal(found, expected):
            differs = True
            what = f"{name} of {_called(generation)} holds {len(found)} ids, its catalog {len(expected)} others"
            yield Finding("generation", what, path=generation.folder)
    if manifest.counts.embedded != len(image_ids):
        what = f"{_called(generation)} says {manifest.counts.embedded} pictures, its catalog {len(image_ids)}"
        yield Finding("generation", what, path=generation.folder)
    if differs:
        return
    try:
        vectors = gather(generation, rows, library.vectors(manifest.fingerprint), fingerprint=manifest.fingerprint)
    except ShardError as error:
        what = f"{_called(generation)} can't be held against its vectors: {error}"
        yield Finding("vectors", what, is_fault=answers)
        return
    wrong = list(_compare_vectors(generation, pictures, icons, vectors, manifest))
    if wrong:
        yield from _blame(library, generation, wrong, fingerprint=manifest.fingerprint, answers=answers)


def _compare_vectors(
    generation: Generation, pictures: VectorIndex, icons: VectorIndex, vectors: Vectors, manifest: Manifest
) -> Iterator[str]:
    for name, index, ids, chunks in (
        ("pictures.faiss", pictures, vectors.image_ids, fp32_chunks(vectors.images)),
        ("icons.faiss", icons, vectors.icon_ids, vectors.fused(manifest.weights)),
    ):
        if "fp16" not in index.spec:
            continue  # codes that lose something can't be compared
        start, wrong = 0, 0
        for chunk in chunks:
            stored = index.reconstruct(ids[start : start + len(chunk)])
            wrong += int((np.abs(stored - chunk).max(axis=1) > TOLERANCE).sum())
            start += len(chunk)
        if wrong:
            yield f"{wrong} vectors in {name} of {_called(generation)} are not those of the shards"


def _blame(
    library: Library, generation: Generation, wrong: list[str], *, fingerprint: str, answers: bool
) -> Iterator[Finding]:
    """Say which is at fault, a generation whose files are as they were written, or the shards: the encoder knows."""
    shards, n_unknown = compare_shards(library, fingerprint, generation.catalog)
    yield from shards
    for what in () if shards else wrong:
        if n_unknown:
            unknown = f"which are right can't be told, as {n_unknown} shards could not be compared with their encoder"
            yield Finding("vectors", f"{what}; {unknown}", is_fault=answers)
        else:
            yield Finding("generation", what, path=generation.folder)


def _called(generation: Generation) -> str:
    return f"generation {generation.number}"


def newest_whole(library: Library) -> Generation | None:
    """Find the newest generation that a search could answer from."""
    for generation in map(library.generation, library.numbers()):
        with suppress(IconsError):
            found = check_generation(library, generation, answers=False)
            if not any(finding.is_fault and finding.kind == "generation" for finding in found):
                return generation
    return None
