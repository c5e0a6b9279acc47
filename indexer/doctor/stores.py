"""Whether catalog, shards, query encoders and what is known of screenshots are whole, and what nobody needs."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from indexer.catalog.database import REVISION, connect_to_read, metadata
from indexer.doctor.findings import Finding, read_whole, refusals
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
from indexer.merging.vector_index import VectorIndex
from indexer.merging.vectors import read_contents
from indexer.screens.files import UsageFolder, UsageGeneration, read_places, read_shots
from indexer.screens.looks import LookKey, UsageManifest, look_paths, read_looks

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
        except (ShardError, sqlite3.Error, UnicodeError):  # other checks report that
            continue
        if n_unexplained:
            what = f"{n_unexplained} pictures failed, and the catalog does not say why; `icons index` brings that in"
            made = answering_manifest(library)
            lacks_icons = made is not None and made.fingerprint == folder.name and made.counts.missing > 0
            yield Finding("failures", what, is_fault=lacks_icons)


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
    return refusals("preferences", library.preferences, partial(read_preferences, library))


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


_DAMAGES = (LibraryError, SafetensorError, OSError, KeyError, RuntimeError, ValueError, TypeError)


def check_screenshots(library: Library) -> Iterator[Finding]:
    """Hold what is known of screenshots against receipts and manifests; nothing is found where there are none."""
    folder = UsageFolder(library)
    if not folder.root.is_dir():
        return
    yield from refusals("usage", folder.settings, partial(read_shots, folder))
    for looks in folders_in(folder.looks):
        fingerprint, _, detector = looks.name.partition("+")
        for path in look_paths(looks):
            read = partial(read_looks, path, key=LookKey(fingerprint, detector, dim=0))
            yield from refusals("usage", path, read)
    current, numbers = folder.current(), folder.numbers()
    if current is None and numbers:
        yield Finding("usage", f'"{folder.pointer}" names no generation that is there', path=folder.pointer)
    for number in numbers:
        yield from _check_screens(folder.generation(number))


def _check_screens(generation: UsageGeneration) -> Iterator[Finding]:
    """Whether its files are what its manifest says, and say the same of each other."""
    manifest, damaged = read_whole("usage", generation, UsageManifest.read)
    yield from damaged
    if manifest is None:
        return
    try:
        wrong = list(_contradictions(generation, manifest))
    except _DAMAGES as error:
        wrong = [f"can't be read ({error})"]
    for what in wrong:
        yield Finding("usage", f"generation {generation.number} of screenshots {what}", path=generation.folder)


def _contradictions(generation: UsageGeneration, manifest: UsageManifest) -> Iterator[str]:
    counts = manifest.counts
    with safe_open(generation.boxes, framework="numpy") as file:
        digests, shown, crop_starts = (file.get_tensor(name) for name in ("digests", "shown", "crop_starts"))
    placed = read_places(generation)
    screens = {one.screen for one in placed if one.screen is not None}
    n_vectors = VectorIndex.open(generation.drawings, spec=manifest.spec).ids.size if manifest.spec else 0
    claims = {
        "screens": (counts.indexed, len(digests), len(screens)),
        "files": (counts.found, len(placed)),
        "boxes": (counts.icons, len(shown)),
        "drawings": (counts.drawings, len(crop_starts) - 1, n_vectors, int(np.max(shown, initial=-1)) + 1),
        "bytes of crops": (generation.crops.stat().st_size, int(crop_starts[-1])),
    }
    for what, counted in claims.items():
        if len(set(counted)) > 1:
            yield f"says of its {what}: {', '.join(map(str, counted))}"
