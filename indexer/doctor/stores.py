"""Are the catalog, the shards and the query encoders of a library whole, and is anything left that nobody needs?"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from indexer.catalog.database import REVISION, connect_to_read, metadata
from indexer.doctor.findings import Finding
from indexer.encoders.query_encoder import read_facts
from indexer.errors import LibraryError, ShardError
from indexer.library.durable import bytes_on_disk, differences
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.library.preferences import read_preferences
from indexer.library.shards import (
    ADVICE,
    KINDS,
    Contents,
    Kind,
    count_others,
    of_others,
    read_coverage,
    read_shard,
    shard_paths,
)
from indexer.merging.manifest import answering_manifest
from indexer.merging.snapshot import read_contents

UNIT = 1e-2
"""Largest difference of a vector's length from one."""
SPARE_GENERATIONS = 1.2
"""Room that the next generation needs beside the one that answers."""


def check_catalog(library: Library) -> Iterator[Finding]:
    """Whether SQLite finds the catalog whole, its references lead somewhere, and its schema is this program's."""
    path = library.catalog
    if not path.is_file():
        yield Finding("catalog", f'"{path}" is missing', path=path)
        return
    try:
        with closing(connect_to_read(path)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables and library.numbers():
                yield Finding("catalog", f'"{path}" is empty, and there are generations', path=path)
                return
            if not tables:
                yield Finding("catalog", "nothing is indexed yet; `icons index SOURCE` does it", is_fault=False)
                return
            yield from _check_schema(connection, path, tables)
            complaints = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            n_lost = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    except (sqlite3.Error, UnicodeDecodeError) as error:  # names of tables are text too
        yield Finding("catalog", f'"{path}" can\'t be read ({error})', path=path)
        return
    if complaints != ["ok"]:
        yield Finding("catalog", f'"{path}" is damaged: {complaints[0]}', path=path)
    elif n_lost:
        yield Finding("catalog", f'"{path}" holds {n_lost} rows that refer to nothing', path=path)


def _check_schema(connection: sqlite3.Connection, path: Path, tables: set[str]) -> Iterator[Finding]:
    found = None
    if "alembic_version" in tables:
        (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone() or (None,)
    if found != REVISION:
        newer = found is not None and found > REVISION
        advice = "`pip install --upgrade icons` reads it" if newer else "`icons index` brings it there"
        yield Finding("schema", f'"{path}" has schema "{found}", this program needs "{REVISION}"; {advice}', path=path)
        return
    for table in metadata.tables.values():  # names of columns are bytes of the file, too, that may change by themselves
        there = {name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table.name}")')}
        if missing := sorted({column.name for column in table.columns} - there):
            yield Finding("catalog", f'"{path}" is damaged: {table.name}.{missing[0]} is missing', path=path)


def check_shards(library: Library, catalog: Path) -> Iterator[Finding]:
    """Whether every shard matches its receipt, holds unit vectors, and is of the library that `catalog` tells of."""
    contents: dict[Kind, Contents] = {}
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(connect_to_read(catalog)) as connection:
        contents = {kind: read_contents(connection, kind) for kind in KINDS.values()}
    for folder in folders_in(library.root / "vectors"):
        for path in shard_paths(folder):
            try:
                shard = read_shard(path, fingerprint=folder.name)
            except ShardError as error:
                yield Finding("shard", str(error), path=path)
                continue
            lengths = np.linalg.norm(shard.vectors.astype(np.float32), axis=1)
            n_wrong = int((~(np.abs(lengths - 1) < UNIT)).sum())
            if n_wrong:
                yield Finding("shard", f'{n_wrong} vectors of shard "{path}" are not of length one', path=path)
            elif shard.kind in contents and (n_others := count_others(shard, contents[shard.kind])):
                yield Finding("shard", f'shard "{path}" {of_others(n_others, shard.kind)}; {ADVICE}', path=path)


def check_failures(library: Library) -> Iterator[Finding]:
    """Whether the catalog says of every picture that failed why: ranks that were started by hand write shards alone."""
    for folder in folders_in(library.root / "vectors"):
        try:
            failed = read_coverage(folder).failures
            with closing(connect_to_read(library.catalog)) as connection:
                known = connection.execute("SELECT image_id FROM failures WHERE fingerprint = ?", (folder.name,))
                n_unexplained = len(failed.keys() - {image for (image,) in known})
        except (ShardError, sqlite3.Error, UnicodeError):  # told by other checks
            continue
        if n_unexplained:
            what = f"{n_unexplained} pictures failed, and the catalog does not say why; `icons index` brings that in"
            yield Finding("failures", what, is_fault=_is_published_without(library, folder.name))


def _is_published_without(library: Library, fingerprint: str) -> bool:
    """Whether the generation that answers was made of an encoder's shards and lacks icons for no reason."""
    manifest = answering_manifest(library)
    return manifest is not None and manifest.fingerprint == fingerprint and manifest.counts.missing > 0


def check_encoders(library: Library) -> Iterator[Finding]:
    """Whether every exported query encoder is as it was written."""
    for folder in folders_in(library.root / "encoders"):
        try:
            facts = read_facts(folder)
        except (OSError, ValueError) as error:
            yield Finding("encoder", f'query encoder "{folder}" can\'t be read ({error})', path=folder)
            continue
        if facts.fingerprint != folder.name:
            yield Finding("encoder", f'query encoder "{folder}" says that it is "{facts.fingerprint}"', path=folder)
        elif facts.files is None:
            what = f'query encoder "{folder}" was written without checksums; delete it and `icons index` writes it anew'
            yield Finding("encoder", what, is_fault=False, path=folder)
        else:
            for path, how in differences(folder, facts.files, sums=True):
                yield Finding("encoder", f'"{path}" {how}', path=folder)


def check_preferences(library: Library) -> Iterator[Finding]:
    """Whether what is preferred can be read."""
    try:
        read_preferences(library)
    except LibraryError as error:
        yield Finding("preferences", str(error), path=library.preferences)


def check_leftovers(library: Library) -> Iterator[Finding]:
    """What writers that were killed have left aside; the next one removes it."""
    if library.is_being_written():
        what = "another `icons` process writes this library now; what it has not finished is not judged"
        yield Finding("leftover", what, is_fault=False)
        return
    for path in library.leftovers():
        what = f'"{path}" was left by a process that was killed; the next `icons index` deletes it'
        yield Finding("leftover", what, is_fault=False, path=path)


def check_room(library: Library) -> Iterator[Finding]:
    """Whether there is room on the disk for one more generation."""
    current = library.current()
    if current is None:
        return
    needed = int(SPARE_GENERATIONS * bytes_on_disk(library.generation(current).folder))
    free = shutil.disk_usage(library.root).free
    if free < needed:
        what = f"{free / 1e6:,.0f} MB are free, the next generation needs about {needed / 1e6:,.0f} MB"
        yield Finding("room", what, is_fault=False)
