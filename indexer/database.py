"""Opens a catalog, and refuses one of another schema."""

from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from sqlite3 import DatabaseError, IntegrityError, ProgrammingError

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, inspect, text

from indexer.durable import make_folder
from indexer.errors import LibraryError

REVISION = "0001"
"""Schema of the catalogs that this program writes: the newest revision in migrations/versions."""
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000", "temp_store=MEMORY")
ADVICE = "free disk space if it is full, else `icons doctor` says what is wrong"


def open_catalog(path: Path) -> Engine:
    """Open the catalog for its one writer; an empty one gets the newest schema.

    Raises:
        LibraryError: its schema is older or newer than this program, or it is damaged.
    """
    make_folder(path.parent)
    engine = _connect(path)
    with engine.begin() as connection:
        if not inspect(connection).get_table_names():
            _run_alembic(connection)
        check_revision(connection, path)
    return engine


def upgrade_catalog(path: Path) -> tuple[str | None, str]:
    """Bring a catalog to this program's schema, all of the way or none; return the revision before and after.

    Raises:
        LibraryError: it was written by a newer program, or is damaged.
    """
    engine = _connect(path)
    try:
        with engine.begin() as connection:
            before = _revision(connection)
            if before is not None and before > REVISION:
                check_revision(connection, path)
            _run_alembic(connection)
    finally:
        engine.dispose()
    return before, REVISION


def _connect(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def _configure(connection: SqliteConnection, _: object) -> None:
        connection.isolation_level = None  # sqlite3 itself would end a transaction before each CREATE TABLE
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    @event.listens_for(engine, "handle_error")
    def _refuse(context: ExceptionContext) -> None:
        cause = context.original_exception
        is_own = isinstance(cause, IntegrityError | ProgrammingError)
        if isinstance(cause, DatabaseError | UnicodeDecodeError) and not is_own:
            raise LibraryError(f'"{path}" can\'t be read or written ({cause}); {ADVICE}') from cause

    return engine


def check_revision(connection: Connection, path: Path) -> None:
    """Refuse a catalog of another schema.

    Raises:
        LibraryError: with the command that mends it.
    """
    found = _revision(connection)
    if found == REVISION:
        return
    if found is not None and found > REVISION:
        raise LibraryError(
            f'"{path}" has schema "{found}", newer than "{REVISION}" of this program; '
            "`pip install --upgrade icons` brings a program that reads it"
        )
    raise LibraryError(f'"{path}" has schema "{found}", this program needs "{REVISION}"; run `icons db upgrade`')


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run_alembic(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    from indexer.bundled import migrations

    config = Config()
    config.set_main_option("script_location", str(migrations()))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
