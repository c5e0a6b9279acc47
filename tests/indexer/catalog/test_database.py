import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from indexer.catalog.database import REVISION, open_catalog, upgrade_catalog
from indexer.catalog.schema import metadata
from indexer.errors import LibraryError
from indexer.library.bundled import migrations


def test_the_newest_migration_is_the_revision_this_program_reads() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations()))
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


def test_migrations_build_exactly_the_tables_of_the_schema(tmp_path: Path) -> None:
    with open_catalog(tmp_path / "catalog.sqlite").connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1


def test_a_new_catalog_is_what_all_migrations_make_of_an_empty_one(tmp_path: Path) -> None:
    """It is laid without alembic, whose import takes a tenth of a second."""
    open_catalog(tmp_path / "new.sqlite").dispose()
    upgrade_catalog(tmp_path / "migrated.sqlite")
    schemas = []
    for name in ("new", "migrated"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISION,)]
        schemas.append(sorted((*row[:3], _parts(row[3] or "")) for row in rows))
    assert schemas[0] == schemas[1]


def _parts(sql: str) -> list[str]:
    """Columns and constraints, in any order: those of a table have none."""
    parts = re.split(r",(?=CONSTRAINT|\w+(?:INTEGER|TEXT|BLOB))", re.sub(r"\s", "", sql))
    return sorted(part.rstrip(")") for part in parts)


@pytest.mark.parametrize(
    ("revision", "advice"), [("0000", "run `icons db upgrade`"), ("9999", "pip install --upgrade icons")]
)
def test_another_schema_is_refused_with_the_command_to_run(tmp_path: Path, revision: str, advice: str) -> None:
    path = tmp_path / "catalog.sqlite"
    open_catalog(path).dispose()
    _set_revision(path, revision)
    with pytest.raises(LibraryError, match=advice):
        open_catalog(path)


def test_upgrade_refuses_a_catalog_from_the_future(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    open_catalog(path).dispose()
    _set_revision(path, "9999")
    with pytest.raises(LibraryError, match="newer than"):
        upgrade_catalog(path)


def test_upgrading_a_current_catalog_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    open_catalog(path).dispose()
    assert upgrade_catalog(path) == (REVISION, REVISION)


def _set_revision(path: Path, revision: str) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    engine.dispose()
