"""Whether what a library keeps is whole: catalog, pointer, shards, encoders, what is known of screenshots.

Faults need mending; notes do not.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from indexer.catalog.database import REVISION, connect_to_read, metadata
from indexer.encoders.query_encoder import read_facts
from indexer.errors import IconsError, ShardError
from indexer.library.durable import differences
from indexer.library.folder import AnyGeneration, Library, read_preferences
from indexer.library.foreign import folders_in
from indexer.library.shards import (
    ADVICE,
    KINDS,
    Contents,
    Kind,
    Shard,
    count_others,
    of_others,
    read_coverage,
    read_shard,
    shard_paths,
)
from indexer.merging.merge import read_contents
from indexer.screens.files import UsageFolder, read_shots
from indexer.screens.looks import LookKey, UsageManifest, look_paths, read_looks

UNIT = 1e-2
"""Largest difference of a vector's length from one."""
_DAMAGES = (sqlite3.Error, OSError, RuntimeError, ValueError)
Subject = Literal[
    "catalog",
    "schema",
    "pointer",
    "preferences",
    "generation",
    "encoder",
    "shard",
    "failures",
    "leftover",
    "vectors",
    "sample",
    "usage",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written, or that a person should know."""

    kind: Subject
    message: str
    is_fault: bool = True
    path: Path | None = None
    """The file or folder that is at fault, where it is one."""


@dataclass(slots=True)
class Report:
    """What was examined, what was found, and what a repair has done about it."""

    library: str
    facts: dict[str, Any]
    """Versions, sizes and counts."""
    findings: list[Finding] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    """What a repair did and what was lost by it, in order."""

    @property
    def is_sound(self) -> bool:
        """Whether no fault was found; notes do not count."""
        return not any(finding.is_fault for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Spell the report for programs."""
        findings = [
            {"kind": one.kind, "fault": one.is_fault, "message": one.message, "path": one.path and str(one.path)}
            for one in self.findings
        ]
        told = {"library": self.library, "sound": self.is_sound, "findings": findings, "repairs": self.repairs}
        return told | self.facts


def note(kind: Subject, message: str, path: Path | None = None) -> Finding:
    """What a person should know, and what needs no mending."""
    return Finding(kind, message, is_fault=False, path=path)


def checked(kind: Subject, path: Path, check: Callable[[], object], called: str = "") -> Iterator[Finding]:
    """What a check of a file or folder finds, or that a reader refuses it; any other error says that it is damaged."""
    try:
        yield from found if isinstance(found := check(), Iterator) else ()
    except IconsError as error:
        yield Finding(kind, str(error), path=path)
    except _DAMAGES as error:
        yield Finding(kind, (called or f'"{path}"') + f" can't be read ({error})", path=path)


def read_whole(
    kind: Subject, generation: AnyGeneration, read: Callable[[AnyGeneration], Any]
) -> tuple[Any, list[Finding]]:
    """Read the manifest of a generation; None, and what is wrong, where it or one of its files is not as written."""
    try:
        manifest = read(generation)
    except IconsError as error:
        return None, [Finding(kind, str(error), path=generation.folder)]
    damaged = [
        Finding(kind, f'"{path}" {how}', path=generation.folder)
        for path, how in differences(generation.folder, manifest.files, sums=True)
    ]
    return None if damaged else manifest, damaged


def check_stores(library: Library) -> Iterator[Finding]:
    """Whether catalog, pointer and preferences can be read, and what was left aside."""
    yield from checked("catalog", library.catalog, partial(_check_catalog, library))
    yield from _check_pointer(library)
    yield from checked("preferences", library.preferences, partial(read_preferences, library))
    if library.is_being_written():
        yield note(
            "leftover", "another `icons` process writes this library now; what it has not finished is not judged"
        )
    else:
        for path in library.leftovers():
            yield note(
                "leftover",
                f'"{path}" was left by a process that was killed; the next `icons index` deletes it',
                path,
            )


def _check_catalog(library: Library) -> Iterator[Finding]:
    """Whether SQLite finds the catalog whole, its references lead somewhere, and its schema is this program's."""
    path = library.catalog
    if not path.is_file():
        yield Finding("catalog", f'"{path}" is missing', path=path)
        return
    with closing(connect_to_read(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            if library.numbers():
                yield Finding("catalog", f'"{path}" is empty, and there are generations', path=path)
            else:
                yield note("catalog", "nothing is indexed yet; `icons index SOURCE` does it")
            return
        yield from _check_schema(connection, path, tables)
        (complaint,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        n_lost = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    if complaint != "ok":
        yield Finding("catalog", f'"{path}" is damaged: {complaint}', path=path)
    elif n_lost:
        yield Finding("catalog", f'"{path}" holds {n_lost} rows that refer to nothing', path=path)


def _check_schema(connection: sqlite3.Connection, path: Path, tables: set[str]) -> Iterator[Finding]:
    query = "SELECT version_num FROM alembic_version" if "alembic_version" in tables else "SELECT NULL"
    (found,) = connection.execute(query).fetchone() or (None,)
    if found != REVISION:
        advice = (
            "`pip install --upgrade icons` reads it" if (found or "") > REVISION else "`icons index` brings it there"
        )
        yield Finding("schema", f'"{path}" has schema "{found}", this program needs "{REVISION}"; {advice}', path=path)
        return
    for table in metadata.tables.values():  # names of columns are bytes of the file, too, that may change by themselves
        there = {name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table.name}")')}
        for missing in sorted({column.name for column in table.columns} - there)[:1]:
            yield Finding("catalog", f'"{path}" is damaged: {table.name}.{missing} is missing', path=path)


def _check_pointer(library: Library) -> Iterator[Finding]:
    """Whether the pointer names a generation that is there."""
    pointer, current, numbers = library.pointer, library.current(), library.numbers()
    if current is not None:
        yield from (
            note(
                "pointer",
                f"generation {number} is newer than {current}, which answers: rolled back, or never published",
            )
            for number in numbers
            if number > current
        )
    elif pointer.exists():
        try:
            text = pointer.read_bytes()[:40].decode("ascii", errors="replace").strip()
            said = f'says "{text}", which is no generation that is there'
        except OSError as error:
            said = f"can't be read ({error.strerror})"
        yield Finding("pointer", f'"{pointer}" {said}', path=pointer)
    elif not numbers:
        yield note("pointer", "nothing is published yet; `icons index` does it")
    elif _has_published(library):
        yield Finding("pointer", f'"{pointer}" is missing, there are generations', path=pointer)
    else:
        yield note(
            "pointer",
            f"generation {numbers[0]} is whole and answers, but the first run has not come to its end; "
            "`icons index` brings it there",
        )


def _has_published(library: Library) -> bool:
    """Whether the catalog tells of a run that came to its end; one that can't be read may have."""
    with suppress(sqlite3.Error), closing(connect_to_read(library.catalog)) as connection:
        return connection.execute("SELECT 1 FROM runs").fetchone() is not None
    return True


def contents_of(catalog: Path) -> dict[Kind, Contents]:
    """What a catalog says that its images and names are; nothing where it can't be read."""
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(connect_to_read(catalog)) as connection:
        return {kind: read_contents(connection, kind) for kind in KINDS.values()}
    return {}


def whole_shards(library: Library, fingerprint: str = "*") -> Iterator[Shard]:
    """Read all shards that match their receipts, of one encoder or all."""
    for path in (library.root / "vectors").glob(f"{fingerprint}/[!.]*.safetensors"):
        with suppress(ShardError):
            yield read_shard(path, fingerprint=path.parent.name)


def check_vectors(library: Library, catalog: Path) -> Iterator[Finding]:
    """Whether shards and encoders are whole, and shards of the library that `catalog` tells of."""
    contents, folders = contents_of(catalog), folders_in(library.root / "vectors")
    for path in (path for folder in folders for path in shard_paths(folder)):
        yield from checked("shard", path, partial(_check_shard, path, contents))
    for folder in folders:
        with suppress(ShardError, sqlite3.Error, UnicodeError):  # other checks report that
            yield from _check_failures(library, folder)
    for folder in folders_in(library.root / "encoders"):
        called = f'query encoder "{folder}"'
        yield from checked("encoder", folder, partial(_check_encoder, folder, called), called)


def _check_shard(path: Path, contents: dict[Kind, Contents]) -> Iterator[Finding]:
    """Whether a shard matches its receipt, holds unit vectors, and is of this library."""
    shard = read_shard(path, fingerprint=path.parent.name)
    n_wrong = int((~(np.abs(np.linalg.norm(shard.vectors.astype(np.float32), axis=1) - 1) < UNIT)).sum())
    if n_wrong:
        yield Finding("shard", f'{n_wrong} vectors of shard "{path}" are not of length one', path=path)
    elif shard.kind in contents and (n_others := count_others(shard, contents[shard.kind])):
        yield Finding("shard", f'shard "{path}" {of_others(n_others, shard.kind)}; {ADVICE}', path=path)


def _check_failures(library: Library, folder: Path) -> Iterator[Finding]:
    """Whether the catalog says of every picture that failed why: ranks that were started by hand write shards alone."""
    failed = read_coverage(folder).failures
    with closing(connect_to_read(library.catalog)) as connection:
        known = connection.execute("SELECT image_id FROM failures WHERE fingerprint = ?", (folder.name,))
        n_unexplained = len(failed.keys() - {image for (image,) in known})
    if n_unexplained:
        yield note(
            "failures",
            f"{n_unexplained} pictures failed, and the catalog does not say why; `icons index` brings that in",
        )


def _check_encoder(folder: Path, called: str) -> Iterator[Finding]:
    """Whether an exported query encoder is as it was written."""
    facts = read_facts(folder)
    if facts.fingerprint != folder.name:
        yield Finding("encoder", f'{called} says that it is "{facts.fingerprint}"', path=folder)
    for path, how in differences(folder, facts.files or {}, sums=True):  # those of an older program have no sums
        yield Finding("encoder", f'"{path}" {how}', path=folder)


def check_screenshots(library: Library) -> Iterator[Finding]:
    """Hold what is known of screenshots against receipts and manifests; nothing is found where there are none."""
    folder = UsageFolder(library)
    if not folder.root.is_dir():
        return
    yield from checked("usage", folder.settings, partial(read_shots, folder))
    for looks in folders_in(folder.looks):
        fingerprint, _, detector = looks.name.partition("+")
        for path in look_paths(looks):
            yield from checked("usage", path, partial(read_looks, path, key=LookKey(fingerprint, detector, dim=0)))
    current, numbers = folder.current(), folder.numbers()
    if current is None and numbers:
        yield Finding("usage", f'"{folder.pointer}" names no generation that is there', path=folder.pointer)
    for generation in map(folder.generation, numbers):
        yield from read_whole("usage", generation, UsageManifest.read)[1]
