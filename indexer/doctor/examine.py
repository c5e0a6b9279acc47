"""Examines a library without changing it; makes again what can be derived, and sets aside what can't.

Damaged files go to `damaged/TIME/` in the library, under the names that they had, with a line that says what was lost.
Nothing is deleted but leftovers. A generation is held against its manifest, its parts against each other, and a sample
of it is made again.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Pixels, distinct
from indexer.catalog.database import REVISION, connect_to_read, count_on, metadata, used_ids
from indexer.doctor.checks import (
    Finding,
    Report,
    check_screenshots,
    check_stores,
    check_vectors,
    checked,
    contents_of,
    note,
    read_whole,
    whole_shards,
)
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST
from indexer.encoders.graphs import AnyPrecision, load_encoder
from indexer.encoders.query_encoder import read_facts
from indexer.errors import IconsError, ModelError, ShardError
from indexer.library.durable import bytes_on_disk, make_folder, sync, write_file
from indexer.library.folder import Generation, Library, require
from indexer.library.foreign import folders_in, is_outside
from indexer.library.shards import KINDS, count_others, precisions, read_finished, read_vectors, shard_paths
from indexer.merging.facets import read_array
from indexer.merging.manifest import SNAPSHOT, Manifest, spread
from indexer.merging.merge import Vectors, gather, read_rows
from indexer.merging.vector_index import VectorIndex, fp32_chunks
from indexer.pipeline import Stage, merge, restore_encoder
from indexer.screens.add import republish
from indexer.screens.files import UsageFolder
from indexer.screens.looks import answering_usage

TOLERANCE = 5e-3
"""Largest difference of a number in an index from the same in its shard: fp16, and another device's rounding."""
LEAST_COSINE = 0.99
"""Between a stored vector and the same made again on this machine's processor; bf16 on a GPU stays above .999."""


def check_generation(library: Library, generation: Generation, *, answers: bool) -> Iterator[Finding]:
    """Hold a generation against its manifest, its parts against each other, and its indexes against the shards.

    `answers`: whether searches read it; vectors that are missing for one kept for going back are only noted.
    """
    manifest, damaged = read_whole("generation", generation, Manifest.read)
    yield from damaged
    if manifest is None:
        return
    yield from (
        note("leftover", f'"{path}" belongs to no generation', path)
        for path in generation.folder.iterdir()
        if path.name not in (*manifest.files, generation.manifest.name)
    )
    if _is_of_another_library(library, generation, manifest):
        yield Finding("generation", f"{_called(generation)} belongs to another library", path=generation.folder)
        return
    yield from checked(
        "generation",
        generation.folder,
        partial(_compare, library, generation, manifest, answers=answers),
        _called(generation),
    )
    if answers:
        yield from checked("catalog", library.catalog, partial(_compare_catalog, library, generation, manifest))
    if not (library.encoder(manifest.fingerprint) / "encoder.json").is_file():
        yield Finding(
            "encoder",
            f'the query encoder "{manifest.fingerprint}" of {_called(generation)} is missing',
            is_fault=answers,
            path=library.encoder(manifest.fingerprint),
        )


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
                yield Finding(
                    "catalog",
                    f'"{library.catalog}" says of {n} {what} what {_called(generation)}, made from it, does not say',
                    path=library.catalog,
                )


def _is_of_another_library(library: Library, generation: Generation, manifest: Manifest) -> bool:
    """Whether the catalog bears another id, and the shards hold what the catalog says, not what the generation does."""
    try:
        with closing(connect_to_read(library.catalog)) as connection:
            found = connection.execute("SELECT value FROM settings WHERE key = 'library'").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):  # the catalog is damaged, other checks report that
        return False
    if not manifest.library or found is None or found[0] == manifest.library:
        return False
    known = [contents_of(catalog) for catalog in (library.catalog, generation.catalog)]
    n_others = np.zeros(2, int)
    for shard in whole_shards(library) if all(known) else ():
        n_others += [count_others(shard, contents[shard.kind]) for contents in known]
    return bool(n_others[0] < n_others[1])


def _compare(library: Library, generation: Generation, manifest: Manifest, *, answers: bool) -> Iterator[Finding]:
    """Compare counts and ids of a snapshot, its indexes and its facets; then the indexes with the shards."""
    pictures = VectorIndex.open(generation.pictures, spec=manifest.pictures.spec)
    icons = VectorIndex.open(generation.icons, spec=manifest.icons.spec)
    rows = read_rows(generation.catalog)
    image_ids, called = distinct(rows[:, 1]), _called(generation)
    differs = [
        f"{name} of {called} holds {len(found)} ids, its catalog {len(expected)} others"
        for name, found, expected, n in (
            ("pictures.faiss", pictures.ids, image_ids, manifest.pictures.n),
            ("icons.faiss", icons.ids, rows[:, 0], manifest.icons.n),
            ("facets.npy", read_array(generation.facets)["icon"], rows[:, 0], manifest.icons.n),
        )
        if n != len(expected) or not np.array_equal(found, expected)
    ]
    if manifest.counts.embedded != len(image_ids):
        differs.append(f"{called} says {manifest.counts.embedded} pictures, its catalog {len(image_ids)}")
    yield from (Finding("generation", what, path=generation.folder) for what in differs)
    if differs:
        return
    try:
        vectors = gather(generation, rows, library.vectors(manifest.fingerprint), fingerprint=manifest.fingerprint)
    except ShardError as error:
        yield Finding("vectors", f"{called} can't be held against its vectors: {error}", is_fault=answers)
        return
    wrong = list(_compare_vectors(generation, pictures, icons, vectors, manifest))
    n_unknown = sum(shard.contents is None for shard in (whole_shards(library, manifest.fingerprint) if wrong else ()))
    unknown = f"which are right can't be told, as {n_unknown} shards do not say what they hold"
    for what in wrong:
        if n_unknown:
            yield Finding("vectors", f"{what}; {unknown}", is_fault=answers)
        else:
            yield Finding("generation", what, path=generation.folder)


def _compare_vectors(
    generation: Generation, pictures: VectorIndex, icons: VectorIndex, vectors: Vectors, manifest: Manifest
) -> Iterator[str]:
    for name, index, ids, chunks in (
        ("pictures.faiss", pictures, vectors.image_ids, fp32_chunks(vectors.images)),
        ("icons.faiss", icons, vectors.icon_ids, vectors.fused(manifest.weights)),
    ):
        if "fp16" not in index.spec:
            continue  # codes that lose something can't be compared
        start = wrong = 0
        for chunk in chunks:
            stored = index.reconstruct(ids[start : (start := start + len(chunk))])
            wrong += int((np.abs(stored - chunk).max(axis=1) > TOLERANCE).sum())
        if wrong:
            yield f"{wrong} vectors in {name} of {_called(generation)} are not those of the shards"


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


_FIRST_ICONS = """
    SELECT images.id, sources.kind, sources.location, files.path, icons.member, images.digest
    FROM icons JOIN images ON images.id = icons.image_id JOIN files ON files.id = icons.file_id
    JOIN sources ON sources.id = files.source_id
    WHERE icons.id IN (SELECT MIN(id) FROM icons GROUP BY image_id) ORDER BY images.id
"""
_NAMES = "SELECT id, words FROM names WHERE id IN (SELECT name_id FROM icons) ORDER BY id"


def compare_sample(library: Library, generation: Generation, *, n: int) -> tuple[dict[str, Any], list[Finding]]:
    """Embed up to `n` pictures and `n` names of a generation again, evenly spaced, and compare them with the shards."""
    fingerprint = Manifest.read(generation).fingerprint
    with closing(connect_to_read(generation.catalog)) as connection:
        pictures, names = (
            [rows[place] for place in spread(len(rows), n).tolist()]
            for rows in (connection.execute(query).fetchall() for query in (_FIRST_ICONS, _NAMES))
        )
    try:
        ids, cosines = _compare_with_shards(library, fingerprint, pictures, names)
    except (IconsError, OSError, ValueError) as error:
        return (
            {"n_pictures": 0, "n_names": 0, "n_changed": 0, "least_cosine": None},
            [note("sample", f"no sample was compared: {error}")],
        )
    n_changed, least, found = len(pictures) - len(ids), min(cosines, default=None), []
    if n_changed:
        found.append(
            note(
                "sample", f"{n_changed} sampled pictures are no longer as they were indexed; `icons index` looks again"
            )
        )
    if least is not None and least < LEAST_COSINE:
        differs = f"a vector of the sample differs from the same made again: cosine {least:.4f}"
        found.append(Finding("sample", f"{differs}; delete the shards of this encoder and run `icons index`"))
    return {"n_pictures": len(ids), "n_names": len(names), "n_changed": n_changed, "least_cosine": least}, found


def _compare_with_shards(
    library: Library, fingerprint: str, pictures: Sequence[Any], names: Sequence[tuple[int, str]]
) -> tuple[Ids, list[float]]:
    """Tell ids of the pictures that are as they were indexed, and the least cosine of these and of the names."""
    facts = read_facts(library.encoder(fingerprint))
    checkpoint = find_checkpoint(ModelChoice.from_json(facts.choice))
    if checkpoint.fingerprint != fingerprint:
        raise ModelError(f'"{facts.model}" is "{checkpoint.fingerprint}" now, not "{fingerprint}"')
    folder = library.vectors(fingerprint)
    precision: AnyPrecision = "int8" if "int8" in precisions(folder) else "fp32"
    encoder = load_encoder(checkpoint, device=HOST, precision=precision, n_images=len(pictures))
    ids, drawn = _draw_and_encode(pictures, encoder.encode_images, size=encoder.image_size)
    said = encoder.encode_texts([words for _, words in names]) if names else drawn
    cosines = []
    for kind, some, made in (("images", ids, drawn), ("names", np.array([number for number, _ in names]), said)):
        if len(some):
            stored, filled = read_vectors(folder, KINDS[kind], some, fingerprint=fingerprint)
            if not filled.all():
                raise ShardError(f"{int((~filled).sum())} {kind} of it have no vector; `icons index` makes them")
            cosines.append(float((stored.astype(np.float32) * made.astype(np.float32)).sum(axis=1).min()))
    return ids, cosines


def _draw_and_encode(
    pictures: Sequence[Any], encode: Callable[[Pixels], NDArray[Any]], *, size: int
) -> tuple[Ids, NDArray[Any]]:
    """Embed pictures, rows of `_FIRST_ICONS`; ids and vectors of those that are as they were indexed, in order."""
    from indexer.rendering.pool import CHUNK, Job, RenderPool
    from indexer.sources.records import PictureAddress

    jobs = [Job(image, PictureAddress(*address)) for image, *address in pictures]
    with RenderPool(size=size, workers=1, chunk=CHUNK) as pool:
        drawn = [(chunk.ids, encode(chunk.pixels.copy())) for chunk in pool.render([jobs]) if len(chunk.ids)]
    ids, vectors = zip(*drawn, strict=True) if drawn else ([np.empty(0, np.int64)], [np.empty((0, 0))])
    return np.concatenate(ids), np.concatenate(vectors)


def examine(library: Library, *, sample: int = 16, stage: Stage = lambda _: None) -> Report:
    """Examine a library; `sample` pictures and as many names are embedded again. `stage` gets the title of each step.

    Raises:
        LibraryError: nothing was ever indexed there.
    """
    report = Report(str(require(library).root), _facts(library))
    found = report.findings
    for place, check in (("the catalog", check_stores), ("screenshots", check_screenshots)):
        stage(f"Looking at {place}")
        found += check(library)
    current = library.current()
    for number in library.numbers():
        stage(f"Looking at generation {number}")
        found += check_generation(library, library.generation(number), answers=number == current)
    stage("Looking at vectors and encoders")
    at_fault = {finding.path for finding in found if finding.is_fault}
    whole = (one for one in map(library.generation, library.numbers()) if one.folder not in at_fault)
    # The checksum of a snapshot vouches for it.
    found += check_vectors(library, next((one.catalog for one in whole), library.catalog))
    can_embed = not any(finding.is_fault and finding.kind in ("generation", "encoder", "shard") for finding in found)
    if sample and current is not None and can_embed:
        stage("Embedding a sample again")
        report.facts["sample"], differences = compare_sample(library, library.generation(current), n=sample)
        found += differences
    return report


_PACKAGES = ("icons", "faiss-cpu", "numpy", "onnxruntime", "torch", "open_clip_torch", "pyvips")


def _facts(library: Library) -> dict[str, Any]:
    return {
        "versions": {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}
        | {package: version(package) for package in _PACKAGES},
        "schema": REVISION,
        "format": SNAPSHOT,
        "generation": library.current(),
        "generations": library.numbers(),
        "shards": sum(len(shard_paths(folder)) for folder in folders_in(library.root / "vectors")),
        "bytes": bytes_on_disk(library.root),
        "free_bytes": shutil.disk_usage(library.root).free,
    }


def repair(library: Library, *, sample: int, stage: Stage) -> Report:
    """Mend what an examination finds, and examine the library again.

    Raises:
        LibraryError: nothing was ever indexed there, or another process writes it.
    """
    found = examine(library, sample=0, stage=stage).findings
    stage("Repairing")
    done = list(_mend(require(library), [finding for finding in found if finding.is_fault], stage))
    return replace(examine(library, sample=sample, stage=stage), repairs=done)


def _mend(library: Library, faults: list[Finding], stage: Stage) -> Iterator[str]:
    used = used_ids(library)
    aside = library.root / "damaged" / datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    with library.writing():  # which clears leftovers away
        for kind in ("shard", "encoder", "generation", "usage", "preferences"):
            for path in sorted({fault.path for fault in faults if fault.kind == kind and fault.path is not None}):
                if os.path.lexists(path):
                    yield from _set_aside(library, path, aside)
        if any(fault.kind == "catalog" for fault in faults):
            yield from _restore_catalog(library, aside, used)
        if library.current() is None:
            if library.pointer.is_dir():
                yield from _set_aside(library, library.pointer, aside)
            if (generation := newest_whole(library)) is not None:
                library.publish(generation.number)
                yield f"generation {generation.number} answers again"
    kinds = {fault.kind for fault in faults}
    for some in (kinds & {"usage"}, kinds - {"usage"}):  # what can't be made again of the one leaves the other
        yield from _rebuild(library, stage, some)


def _set_aside(library: Library, path: Path, aside: Path) -> Iterator[str]:
    target = aside / path.relative_to(library.root)
    if is_outside(os.path.realpath(path.parent), os.path.realpath(library.root)):
        yield f'left "{path}" alone: a link leads out of the library to it; take that away'
        return
    lost = _lost_with(path)
    make_folder(target.parent)
    path.rename(target)
    sync(target.parent)
    sync(path.parent)
    yield f'set aside "{path}" to "{target}"{lost}'


def _lost_with(path: Path) -> str:
    """Say what goes with a shard: the vectors that no other shard holds."""
    if path.suffix == ".safetensors" and path.name.startswith("looks-"):
        return "; lost: what was seen in its screenshots, `icons usage add` looks at them again"
    if path.suffix != ".safetensors":
        return ""
    try:
        shard = read_finished(path)
    except IconsError:
        return "; which vectors were in it can't be told, `icons index` makes them again"
    lost = set(shard.ids.tolist())
    for other in shard_paths(path.parent, shard.kind):
        with suppress(IconsError):
            lost -= set() if other == path else set(read_finished(other).ids.tolist())
    return f"; lost: the vectors of {len(lost)} {shard.kind}, `icons index` makes them again"


def _restore_catalog(library: Library, aside: Path, used: dict[str, int]) -> Iterator[str]:
    """Put the newest whole generation's snapshot in the place of a damaged catalog.

    Every file is read again by the next scan, since the snapshot lacks the icons that have no vector. Ids that the
    damaged catalog may have used since, up to `used`, are not used again: shards may hold vectors under them.
    """
    generation = newest_whole(library)
    if generation is None:
        yield (
            f'the catalog can\'t be restored, no generation is whole; move "{library.catalog}" away and '
            "run `icons index SOURCE`: it begins anew"
        )
        return
    content = _as_catalog(generation, used)
    for path in (library.catalog, *(Path(f"{library.catalog}{end}") for end in ("-wal", "-shm"))):
        if path.exists():
            yield from _set_aside(library, path, aside)
    write_file(library.catalog, content)
    yield (
        f"restored the catalog from generation {generation.number}; lost: what was scanned since, and runs. "
        "`icons index` reads all sources again"
    )


def _as_catalog(generation: Generation, used: dict[str, int]) -> bytes:
    """A snapshot as a writer's catalog, as bytes: without what a merge derives, with every file to be read again."""
    with closing(connect_to_read(generation.catalog)) as snapshot, closing(sqlite3.connect(":memory:")) as connection:
        snapshot.backup(connection)
        own = {*metadata.tables, "alembic_version", "sqlite_sequence"}
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY sql LIKE '%VIRTUAL%' DESC"
        )
        for (name,) in tables.fetchall():
            if name not in own and not name.startswith("sqlite_"):
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute("UPDATE files SET stamp = ''")
        count_on(connection, used)
        connection.commit()
        return connection.serialize()


def _rebuild(library: Library, stage: Stage, kinds: Set[str]) -> Iterator[str]:
    """Make again what is damaged: a query encoder from the model, a generation from vectors, one of screenshots."""
    try:
        usage = UsageFolder(library)
        if "usage" in kinds and answering_usage(usage) is None:  # a whole one knows what a shard has lost
            manifest = republish(library)
            yield f"built generation {manifest.number} of screenshots: {manifest.counts.indexed} screens; it answers"
        if "encoder" in kinds and restore_encoder(library, stage):
            yield "wrote the query encoder anew"
        if "generation" in kinds and "shard" not in kinds and (built := merge(library, None, stage)) is not None:
            yield f"built generation {built.number} from the vectors; it answers"
    except IconsError as error:
        yield f"could not make everything again: {error}"
