import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from old_schema import migrate
from sqlalchemy import text

from indexer.catalog.database import REVISION, connect_to_read, metadata, open_catalog, read_catalog
from indexer.errors import LibraryError
from indexer.library.bundled import migrations


def test_migrations_build_exactly_the_tables_of_the_schema(tmp_path: Path) -> None:
    with open_catalog(tmp_path / "catalog.sqlite").connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        pragmas = ("PRAGMA integrity_check", "PRAGMA foreign_keys")
        assert [connection.execute(text(pragma)).scalar() for pragma in pragmas] == ["ok", 1]


def test_a_new_catalog_is_what_all_migrations_make_of_an_empty_one(tmp_path: Path) -> None:
    """It is laid without alembic, whose import takes a tenth of a second."""
    open_catalog(tmp_path / "new.sqlite").dispose()
    migrate(tmp_path / "migrated.sqlite", "upgrade", "head")
    schemas = []
    for name in ("new", "migrated"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISION,)]
        schemas.append(sorted((*row[:3], _parts(row[3] or "")) for row in rows))
    assert schemas[0] == schemas[1]


def _parts(sql: str) -> list[str]:
    """Columns and constraints, in any order: those of a table have none."""
    columns = r",(?=CONSTRAINT|\w+(?:INTEGER|TEXT|BLOB))"
    return sorted(part.rstrip(")") for part in re.split(columns, re.sub(r"\s", "", sql)))


@pytest.mark.parametrize(
    ("opened", "revision", "advice"),
    [
        (read_catalog, "0001", "`icons index` brings it there"),
        (read_catalog, "9999", "pip install --upgrade icons"),
        (open_catalog, "0000", "can't be brought to schema"),
        (open_catalog, "9999", "pip install --upgrade icons"),
    ],
)
def test_whoever_reads_refuses_another_schema_with_the_command_to_run(
    tmp_path: Path, opened: Callable[[Path], object], revision: str, advice: str
) -> None:
    path = tmp_path / "catalog.sqlite"
    open_catalog(path).dispose()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    before = path.read_bytes()
    with pytest.raises(LibraryError, match=advice):
        opened(path)
    assert path.read_bytes() == before or opened is open_catalog


@pytest.mark.parametrize("folder", ["a?mode=memory&b", "a%41", "a#b", "file:a?b", "%(here)s", "a%"])
def test_a_catalog_lies_where_its_path_says_whatever_that_means_in_an_address(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / folder / "catalog?%41.sqlite"
    shutil.copytree(migrations(), path.parent / "migrations")
    monkeypatch.setattr("indexer.library.bundled.migrations", lambda: path.parent / "migrations")
    migrate(tmp_path / "old.sqlite", "upgrade", "0001")
    (tmp_path / "old.sqlite").rename(path)
    open_catalog(path).dispose()
    with closing(connect_to_read(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM icons").fetchone() == (0,)
    assert ([there.name for there in tmp_path.iterdir()], path.is_file()) == ([folder], True)


def test_names_keep_their_ids_and_bearers_when_they_learn_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    migrate(path, "upgrade", "0001")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_OF_0001)
    open_catalog(path).dispose()
    with closing(sqlite3.connect(path)) as connection:
        columns = "icons.name, names.id, words, own, language, others"
        assert connection.execute(f"SELECT {columns} FROM icons LEFT JOIN names ON names.id = name_id").fetchall() == [
            ("pfeil", 7, "pfeil", "", "", ""),
            ("star", 3, "star", "", "", ""),
            ("new", None, None, None, None, None),
        ]
        for query, row in (
            ("SELECT seq FROM sqlite_sequence WHERE name = 'names'", (41,)),
            ("SELECT read_by, tag_languages FROM sets", (None, "")),
            ("SELECT names_language FROM sources", ("auto",)),
            ("PRAGMA foreign_key_check", None),
        ):
            assert connection.execute(query).fetchone() == row


_OF_0001 = """
INSERT INTO sources (id, given, kind, location) VALUES (1, '/icons', 'folder', '/icons');
INSERT INTO sets (id, source_id, key, title) VALUES (1, 1, 'icons', 'icons');
INSERT INTO files (id, source_id, path, stamp) VALUES (1, 1, 'a.svg', '1');
INSERT INTO images (id, digest) VALUES (1, x'00');
INSERT INTO names (id, words) VALUES (3, 'star'), (7, 'pfeil'), (41, 'gone');
DELETE FROM names WHERE id = 41;
INSERT INTO icons (file_id, member, set_id, image_id, name_id, name)
    VALUES (1, 'a', 1, 1, 7, 'pfeil'), (1, 'b', 1, 1, 3, 'star'), (1, 'c', 1, 1, NULL, 'new');
"""
