"""Examines a library without changing it; makes again what can be derived, and sets aside what can't.

Damaged files go to `damaged/TIME/` in the library, under the names that they had, with a line that says what was lost.
Nothing is deleted but leftovers.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Set
from contextlib import closing, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from indexer.catalog.database import REVISION, connect_to_read, count_on, metadata, used_ids
from indexer.doctor.checks import Finding, Report, check_screenshots, check_stores, check_vectors
from indexer.doctor.generations import check_generation, compare_sample, newest_whole
from indexer.errors import IconsError
from indexer.library.durable import bytes_on_disk, make_folder, sync, write_file
from indexer.library.folder import Generation, Library, require
from indexer.library.foreign import folders_in, is_outside
from indexer.library.shards import read_finished, shard_paths
from indexer.merging.manifest import SNAPSHOT
from indexer.pipeline import Stage, merge, restore_encoder
from indexer.screens.add import republish
from indexer.screens.files import UsageFolder
from indexer.screens.looks import answering_usage


def examine(library: Library, *, sample: int = 16, stage: Stage = lambda _: None) -> Report:
    """Examine a library; `sample` pictures and as many names are embedded again. `stage` gets the title of each step.

    Raises:
        LibraryError: nothing was ever indexed there.
    """
    report = Report(str(require(library).root), _facts(library))
    found = report.findings
    stage("Looking at the catalog")
    found += check_stores(library)
    stage("Looking at screenshots")
    found += check_screenshots(library)
    current = library.current()
    for number in library.numbers():
        stage(f"Looking at generation {number}")
        found += check_generation(library, library.generation(number), answers=number == current)
    stage("Looking at vectors and encoders")
    at_fault = {finding.path for finding in found if finding.is_fault}
    whole = (one for one in map(library.generation, library.numbers()) if one.folder not in at_fault)
    catalog = next((one.catalog for one in whole), library.catalog)  # the checksum of a snapshot vouches for it
    found += check_vectors(library, catalog)
    faults = {finding.kind for finding in found if finding.is_fault}
    if sample and current is not None and faults.isdisjoint(("generation", "encoder", "shard")):
        stage("Embedding a sample again")
        report.facts["sample"], differences = compare_sample(library, library.generation(current), n=sample)
        found += differences
    return report


def _facts(library: Library) -> dict[str, Any]:
    packages = ("icons", "faiss-cpu", "numpy", "onnxruntime", "torch", "open_clip_torch", "pyvips")
    versions = {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}
    return {
        "versions": versions | {package: version(package) for package in packages},
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
    report = examine(library, sample=sample, stage=stage)
    report.repairs = done
    return report


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
            there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
            if there and name not in own and not name.startswith("sqlite_"):
                connection.execute(f'DROP TABLE "{name}"')
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
            number, n = manifest.number, manifest.counts.indexed
            yield f"built generation {number} of screenshots: {n} screens; it answers"
        if "encoder" in kinds and restore_encoder(library, stage):
            yield "wrote the query encoder anew"
        is_stale = "generation" in kinds and "shard" not in kinds
        built = merge(library, None, stage) if is_stale else None
        if built is not None:
            yield f"built generation {built.number} from the vectors; it answers"
    except IconsError as error:
        yield f"could not make everything again: {error}"
