"""Records become rows: writes a batch's files, sets, images and icons."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Row, Select, Table, delete, insert, select
from sqlalchemy.dialects.sqlite import insert as upsert

from indexer.catalog.database import files, icons, images, problems, sets
from indexer.sources.records import FileScan, IconSet, Record

BATCH = 5000
"""Records a write and values an IN list; SQLite takes at most 32,766 variables."""
COMPARED = (
    "set_id", "image_id", "name", "stated_style", "stated_size", "caption", "tags", "categories", "licence",
)  # fmt: skip
"""Columns of an icon that its source decides: a difference in one of them is a change."""
PLACED = ("file_id", "member", *COMPARED)
"""Columns that a moved icon takes over from where it appeared."""

T = TypeVar("T")


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut values into lists that fit one statement."""
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def rows_where(
    connection: Connection, query: Select[Any], column: Column[Any], values: Sequence[Any]
) -> Iterator[Row[Any]]:
    """Yield the rows of a query in which a column has one of any number of values."""
    for chunk in chunks(values):
        yield from connection.execute(query.where(column.in_(chunk))).all()


def write_rows(
    connection: Connection, table: Table, rows: Sequence[dict[str, Any]], *, by: Sequence[str], set_: Sequence[str] = ()
) -> None:
    """Write rows; of those that are there already, by some columns, others are set anew."""
    if not rows:
        return
    statement = upsert(table)
    anew = {column: statement.excluded[column] for column in set_}
    if anew:
        statement = statement.on_conflict_do_update(index_elements=by, set_=anew)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=by)
    connection.execute(statement, rows)


def write_files(connection: Connection, source_id: int, batch: Sequence[FileScan]) -> dict[str, int]:
    """Write the files of a batch; return their ids by path."""
    rows = [
        {"source_id": source_id, "path": scanned.path, "stamp": scanned.stamp, "skipped": scanned.skipped}
        for scanned in batch
    ]
    write_rows(connection, files, rows, by=("source_id", "path"), set_=("stamp", "skipped"))
    query = select(files.c.path, files.c.id).where(files.c.source_id == source_id)
    found = rows_where(connection, query, files.c.path, [scanned.path for scanned in batch])
    return {row.path: row.id for row in found}


def write_problems(connection: Connection, file_ids: dict[str, int], batch: Sequence[FileScan]) -> None:
    """Replace what was known to be wrong with the entries of some files."""
    for ids in chunks(list(file_ids.values())):
        connection.execute(delete(problems).where(problems.c.file_id.in_(ids)))
    rows = [
        {"file_id": file_ids[scanned.path], "member": member, "reason": reason}
        for scanned in batch
        for member, reason in (*scanned.broken, *([("", scanned.error)] if scanned.error else []))
    ]
    if rows:
        connection.execute(insert(problems), rows)


def write_sets(connection: Connection, source_id: int, found: set[IconSet]) -> tuple[dict[str, int], bool]:
    """Write the sets of a batch; return their ids by key, and whether one that was known says something else now."""
    facts = [sets.c[fact.name] for fact in fields(IconSet)]
    known = {row.key: tuple(row) for row in connection.execute(select(*facts).where(sets.c.source_id == source_id))}
    is_changed = any(known.get(icon_set.key, astuple(icon_set)) != astuple(icon_set) for icon_set in found)
    rows = [{"source_id": source_id, **asdict(icon_set)} for icon_set in found]
    write_rows(connection, sets, rows, by=("source_id", "key"), set_=("title", "version", "licence", "author"))
    query = select(sets.c.key, sets.c.id).where(sets.c.source_id == source_id)
    return {row.key: row.id for row in connection.execute(query)}, is_changed


def write_images(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Write the images of a batch; return their ids by digest."""
    distinct = list(dict.fromkeys(digests))
    write_rows(connection, images, [{"digest": digest} for digest in distinct], by=("digest",))
    found = rows_where(connection, select(images.c.digest, images.c.id), images.c.digest, distinct)
    return {row.digest: row.id for row in found}


def read_icons(connection: Connection, file_ids: Iterable[int]) -> dict[tuple[int, str], Row[Any]]:
    """Read the icons of some files, by file and member."""
    found = rows_where(connection, select(icons), icons.c.file_id, list(file_ids))
    return {(row.file_id, row.member): row for row in found}


def icon_row(file_id: int, record: Record, set_id: int, image_id: int) -> dict[str, object]:
    """Spell a record as a row; its name is read later, together with its set's."""
    return {
        "file_id": file_id,
        "member": record.member,
        "set_id": set_id,
        "image_id": image_id,
        "name": record.name,
        "stated_style": record.style,
        "stated_size": record.size,
        "caption": record.caption,
        "tags": "\n".join(record.tags),
        "categories": "\n".join(record.categories),
        "licence": record.licence,
    }


def read_by_image(connection: Connection, ids: Sequence[int]) -> dict[int, list[Row[Any]]]:
    """Read some icons, those of one image together, by id."""
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows_where(connection, select(icons).order_by(icons.c.id), icons.c.id, ids):
        found[row.image_id].append(row)
    return found
