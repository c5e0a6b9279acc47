"""Opens a catalog, refuses one of another schema, and gives no id again that vectors or snapshots have."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from sqlite3 import DatabaseError, IntegrityError, ProgrammingError
from typing import Any

import numpy as np
from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    ExceptionContext,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects.sqlite import insert

from indexer.arrays import Ids
from indexer.errors import IconsError, LibraryError
from indexer.library.durable import make_folder
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.library.shards import read_finished, shard_paths

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""`model` (the encoder in use, JSON), `revision` (grows with every change that a search could see) and `library` (a
random id, made by the first run; older catalogs have none)."""

sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("given", Text, key="named", nullable=False),
    Column("exclude", Text, nullable=False, server_default="[]"),
    Column("kind", Text, nullable=False),
    Column("location", Text, nullable=False, unique=True),
    Column("names_language", Text, nullable=False, server_default="auto"),
    sqlite_autoincrement=True,
)
"""`named` is what the user named, `location` what was found there: a node_modules folder is many sources.
`names_language` is an ISO 639 code, or "auto": that of names and tags."""

sets = Table(
    "sets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Integer, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("version", Text),
    Column("licence", Text),
    Column("author", Text),
    Column("read_by", Text),
    Column("tag_languages", Text, nullable=False, server_default=""),
    UniqueConstraint("source_id", "key"),
    sqlite_autoincrement=True,
)
"""`read_by` says by which rules and dictionary names and tags were read: others read them anew. `tag_languages` are
codes of the languages that its tags were read in, with spaces between."""

files = Table(
    "files",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Integer, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
    Column("path", Text, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("skipped", Integer, nullable=False, server_default="0"),
    UniqueConstraint("source_id", "path"),
    sqlite_autoincrement=True,
)

problems = Table(
    "problems",
    metadata,
    Column("file_id", Integer, ForeignKey("files.id", ondelete="CASCADE"), primary_key=True),
    Column("member", Text, primary_key=True),
    Column("reason", Text, nullable=False),
)
"""Entries that a scan could not turn into an icon; `member` is "" for the file as a whole."""

images = Table(
    "images",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    sqlite_autoincrement=True,
)
"""What an icon looks like: the digest of the content that is rendered. Kept when its last icon goes."""

names = Table(
    "names",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("words", Text, nullable=False),
    Column("own", Text, nullable=False, server_default=""),
    Column("language", Text, nullable=False, server_default=""),
    Column("others", Text, nullable=False, server_default=""),
    UniqueConstraint("words", "own", "language"),
    Index("ix_names_own", "own", sqlite_where=text("own <> ''")),
    sqlite_autoincrement=True,
)
"""Words that have a vector: what icons are called, and what their tags say. Of a name in another language, `words` say
it in English, `own` as it is written, `others` in other ways, joined with newlines; the three are "" of any else."""

icons = Table(
    "icons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("file_id", Integer, ForeignKey("files.id", ondelete="CASCADE"), nullable=False),
    Column("member", Text, nullable=False),
    Column("set_id", Integer, ForeignKey("sets.id", ondelete="CASCADE"), nullable=False),
    Column("image_id", Integer, ForeignKey("images.id"), nullable=False, index=True),
    Column("name_id", Integer, ForeignKey("names.id")),
    Column("name", Text, nullable=False),
    Column("style", Text),
    Column("size", Integer),
    Column("stated_style", Text),
    Column("stated_size", Integer),
    Column("caption", Text),
    Column("tags", Text, nullable=False, server_default=""),
    Column("categories", Text, nullable=False, server_default=""),
    Column("licence", Text),
    Column("english_tags", Text, nullable=False, server_default=""),
    UniqueConstraint("file_id", "member"),
    Index("ix_icons_set_id_name_id", "set_id", "name_id"),
    Index("ix_icons_name_id", "name_id"),
    sqlite_autoincrement=True,
)
"""A named entry of a source. Icons of one set and one name are variants of each other. `tags` and `categories` are
joined with newlines; `stated_*` is what the source says, `style` and `size` what is left after reading the name.
`english_tags` are all tags in English where one is in another language, else ""."""

failures = Table(
    "failures",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("image_id", Integer, ForeignKey("images.id", ondelete="CASCADE"), primary_key=True),
    Column("reason", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("seconds", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("found", Integer, nullable=False),
    Column("embedded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("duplicate", Integer, nullable=False),
    Column("hidden", Integer, nullable=False),
    Column("timings", Text, nullable=False, server_default="[]"),
    sqlite_autoincrement=True,
)
"""One line a published run: found = embedded + failed + duplicate; `timings` are spans as JSON."""


REVISION = "0003"
"""Schema of the catalogs that this program writes: the newest revision in migrations/versions."""
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000", "temp_store=MEMORY")
_VERSION_TABLE = """CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)"""


_LOCKED = "another program has it open and is writing, a database browser perhaps; close that, then run this again"
_FULL = "free disk space if it is full, else `icons doctor` says what is wrong"


def open_catalog(path: Path) -> Engine:
    """Open the catalog for its one writer: an empty one gets the newest schema, an older one is brought to it.

    An upgrade is one transaction: it is made all of the way or not at all.

    Raises:
        LibraryError: its schema is newer than this program, or it is damaged or lost.
    """
    make_folder(path.parent)
    _refuse_lost(path)
    engine = _engine(path, _connect_to_write)
    with engine.begin() as connection:
        found = _revision(connection)
        if not inspect(connection).get_table_names():  # alembic's import takes longer than the scan of a folder
            metadata.create_all(connection, checkfirst=False)
            connection.exec_driver_sql(_VERSION_TABLE)
            connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})
        elif found is not None and found < REVISION:
            _run_alembic(connection, path)
        check_revision(connection, path)
    return engine


def read_catalog(path: Path) -> Engine:
    """Open the catalog for questions; in a folder that is read-only, too.

    Raises:
        LibraryError: its schema is older or newer than this program, or it is damaged or lost.
    """
    _refuse_lost(path)
    # In a folder that can be written a writer may be at work, and SQLite can lay files for that beside the catalog.
    can_write = os.access(path.parent, os.W_OK)
    try:
        return _checked(_engine(path, _connect_to_write if can_write else connect_to_read), path)
    except LibraryError as error:
        if not can_write or getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF not in _WITHOUT_ROOM:
            raise
        return _checked(_engine(path, connect_to_read), path)


def _checked(engine: Engine, path: Path) -> Engine:
    with engine.connect() as connection:
        check_revision(connection, path)
    return engine


_WITHOUT_ROOM = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
"""What SQLite says where it could not lay a file beside a catalog, as on a disk that is full."""


def connect_to_read(path: Path) -> SqliteConnection:
    """Open a catalog for reading, and leave nothing beside it, wherever it lies and however its writer ended.

    SQLite reads a log only where it has, or can make, the file of shared memory that belongs to it. Where it can't, on
    a disk that is read-only, a copy is read, in memory.
    """
    log, shared = (Path(f"{path}{end}") for end in ("-wal", "-shm"))
    has_log = log.exists() and log.stat().st_size > 0
    if has_log and not shared.exists():
        return _copy_in_memory(path, log)
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{'' if has_log else '&immutable=1'}", uri=True)


def _copy_in_memory(path: Path, log: Path) -> SqliteConnection:
    in_memory = sqlite3.connect(":memory:")
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder, file.name))
        with closing(sqlite3.connect(Path(folder, path.name))) as copied:
            copied.backup(in_memory)
    return in_memory


def _refuse_lost(path: Path) -> None:
    """Refuse to begin anew where generations are there: what they were made from was lost."""
    numbers = Library(path.parent).numbers()
    if numbers and not (path.is_file() and path.stat().st_size):
        raise LibraryError(
            f'"{path}" is missing or empty, but generation {numbers[0]} was made from it; '
            "`icons doctor --repair` restores it, another --library begins anew"
        )


def used_ids(library: Library) -> dict[str, int]:
    """The largest ids of images and names that any shard knows, and of icons that any generation knows.

    A catalog counts its ids by itself. One that begins anew beside vectors, or comes from a backup or a snapshot older
    than they are, would give their ids to other pictures, which would then have the vectors of the old ones.
    """
    used = {"images": 0, "names": 0, "icons": 0}
    for path in chain.from_iterable(map(shard_paths, folders_in(library.root / "vectors"))):
        with suppress(IconsError):
            kind, ids, failures, _ = read_finished(path)
            used[kind] = max(used[kind], int(ids.max(initial=0)), *failures)
    for number in library.numbers():
        with suppress(sqlite3.Error), closing(connect_to_read(library.generation(number).catalog)) as connection:
            found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'icons'").fetchone()
            used["icons"] = max(used["icons"], *(found or (0,)))
    return used


def count_on(connection: SqliteConnection, used: dict[str, int]) -> None:
    """Let a catalog's next ids come after those that were used."""
    known = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    for table, number in used.items():
        if number > known.get(table, 0):
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))


def _connect_to_write(path: Path) -> SqliteConnection:
    # sqlite3 itself would end a transaction before each CREATE TABLE
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _engine(path: Path, connect: Callable[[Path], SqliteConnection]) -> Engine:
    engine = create_engine(URL.create("sqlite", database=str(path)), creator=partial(connect, path))

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    @event.listens_for(engine, "handle_error")
    def _refuse(context: ExceptionContext) -> None:
        cause = context.original_exception
        is_own = isinstance(cause, IntegrityError | ProgrammingError)
        if isinstance(cause, DatabaseError | UnicodeDecodeError) and not is_own:
            advice = _LOCKED if "locked" in str(cause) else _FULL
            raise LibraryError(f'"{path}" can\'t be read or written ({cause}); {advice}') from cause

    return engine


def check_revision(connection: Connection, path: Path) -> None:
    """Refuse a catalog of another schema.

    Raises:
        LibraryError: with the command that mends it.
    """
    found = _revision(connection)
    if found != REVISION:
        raise LibraryError(
            f'"{path}" has schema "{found}", newer than "{REVISION}" of this program; '
            "`pip install --upgrade icons` brings a program that reads it"
            if found is not None and found > REVISION
            else f'"{path}" has schema "{found}", this program needs "{REVISION}"; `icons index` brings it there'
        )


def _revision(connection: Connection) -> str | None:
    is_there = inspect(connection).has_table("alembic_version")
    return connection.scalar(text("SELECT version_num FROM alembic_version")) if is_there else None


def _run_alembic(connection: Connection, path: Path) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    from indexer.library.bundled import migrations

    config = Config()
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))  # it fills in what is in %()s
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise LibraryError(f'"{path}" can\'t be brought to schema "{REVISION}": {error}') from error


_AT_ONCE = 65_536
"""Values that are written in one statement: what stands for them in memory is many times their size."""


def selecting(connection: Connection, values: Sequence[Any] | Ids) -> Select[Any]:
    """Lay values down in a temporary table, where those of an earlier call go; return what selects them."""
    connection.execute(text("CREATE TEMP TABLE IF NOT EXISTS chosen (value PRIMARY KEY)"))
    connection.execute(text("DELETE FROM chosen"))
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        rows = [{"value": value} for value in (some.tolist() if isinstance(some, np.ndarray) else some)]
        connection.execute(text("INSERT OR IGNORE INTO chosen VALUES (:value)"), rows)
    return select(text("value")).select_from(text("chosen"))


def write_rows(
    connection: Connection, table: Table, rows: Sequence[dict[str, Any]], *, by: Sequence[str], set_: Sequence[str] = ()
) -> None:
    """Write rows; of those that are there already, by some columns, others are set anew."""
    if rows:
        statement = insert(table)
        anew = {column: statement.excluded[column] for column in set_}
        nothing = statement.on_conflict_do_nothing(index_elements=by)
        updated = statement.on_conflict_do_update(index_elements=by, set_=anew) if anew else nothing
        connection.execute(updated, rows)
