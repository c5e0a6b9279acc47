"""Stage one: sources -> rows. Reads the remembered sources, writes the catalog in one transaction.

    icons scan ~/design/icons

What is unchanged is not read again; what moved keeps its id; what is gone leaves; what can't be read is listed.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, Row, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from indexer import catalog
from indexer.errors import SourceError
from indexer.naming import common_affixes, parse
from indexer.schema import files, icons, images, names, problems, sets, sources
from indexer.sources import Source, open_sources
from indexer.sources.records import FileScan, IconSet, Record

T = TypeVar("T")

BATCH = 5000
"""Records a write and values an IN list; SQLite takes at most 32,766 variables."""
COMPARED = (
    "set_id", "image_id", "name", "stated_style", "stated_size", "caption", "tags", "categories", "licence",
)  # fmt: skip
PLACED = ("file_id", "member", *COMPARED)


@dataclass(slots=True)
class ScanTally:
    """What a scan found to be different, in icons; `broken` counts entries that could not be read."""

    files: int = 0
    icons: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    gone: int = 0
    broken: int = 0


Report = Callable[[ScanTally], None]


def remember(connection: Connection, location: Path, *, exclude: Sequence[str]) -> None:
    """Keep a location for this scan and all later ones; given again, its patterns are replaced.

    Raises:
        SourceError: nothing that can be indexed is there.
    """
    given = str(location.expanduser().absolute())
    connection.execute(update(sources).where(sources.c.given == given).values(exclude=json.dumps(list(exclude))))
    for source in open_sources(Path(given), exclude=exclude):
        _source_row(connection, given, json.dumps(list(exclude)), source)


def forget(connection: Connection, location: Path) -> int:
    """Drop a remembered location with all its icons; return how many sources that were.

    Raises:
        SourceError: it was never given.
    """
    given = str(location.expanduser().absolute())
    n_dropped: int = connection.execute(delete(sources).where(sources.c.given == given)).rowcount
    if not n_dropped:
        raise SourceError(f'"{location}" is not a source of this library; `icons sources` lists them')
    catalog.bump_revision(connection)
    return n_dropped


def scan(engine: Engine, *, report: Report = lambda _: None) -> ScanTally:
    """Bring the catalog up to date with every remembered source, all of it or nothing.

    Raises:
        SourceError: a remembered location is no longer there.
    """
    with engine.begin() as connection:
        run = _Scan(connection, report)
        for source_id, source in _remembered(connection):
            run.read(source_id, source)
        run.finish()
    return run.tally


def _remembered(connection: Connection) -> Iterator[tuple[int, Source]]:
    """Yield every source with its row's id, found anew below each location that the user gave."""
    for given, exclude in connection.execute(select(sources.c.given, sources.c.exclude).distinct()).all():
        try:
            found = open_sources(Path(given), exclude=json.loads(exclude))
        except SourceError as error:
            raise SourceError(f'{error}; `icons forget "{given}"` drops it from the library') from error
        for source in found:
            yield _source_row(connection, given, exclude, source), source


def _source_row(connection: Connection, given: str, exclude: str, source: Source) -> int:
    statement = upsert(sources).values(given=given, exclude=exclude, kind=source.kind, location=str(source.location))
    statement = statement.on_conflict_do_update(index_elements=["location"], set_={"kind": source.kind})
    connection.execute(statement)
    query = select(sources.c.id).where(sources.c.location == str(source.location))
    return int(connection.execute(query).scalar_one())


class _Scan:
    """One scan under way: what it has seen, and what it must settle once everything was seen."""

    def __init__(self, connection: Connection, report: Report) -> None:
        self.connection = connection
        self.report = report
        self.tally = ScanTally()
        self.newest_before = connection.execute(select(func.coalesce(func.max(icons.c.id), 0))).scalar_one()
        self.sources_seen: set[int] = set()
        self.sets_touched: set[int] = set()
        self.gone: list[int] = []
        self.gone_files: list[int] = []

    def read(self, source_id: int, source: Source) -> None:
        """Store what is new or changed in one source, and note what is gone from it."""
        self.sources_seen.add(source_id)
        query = select(files.c.path, files.c.stamp, files.c.id).where(files.c.source_id == source_id)
        known = {row.path: row for row in self.connection.execute(query)}
        for batch in _batches(source.scan({path: row.stamp for path, row in known.items()})):
            for scanned in batch:
                known.pop(scanned.path, None)
            self.tally.files += len(batch)
            self._store(source_id, [scanned for scanned in batch if _was_read(scanned)])
            self.report(self.tally)
        self.gone_files += [row.id for row in known.values()]

    def finish(self) -> None:
        """Settle moves, drop what is gone, name the icons of every touched set."""
        lost = select(files.c.id).where(files.c.source_id.not_in(self.sources_seen))
        self.gone_files += self.connection.execute(lost).scalars()
        for ids in _chunks(self.gone_files):
            self.gone += self.connection.execute(select(icons.c.id).where(icons.c.file_id.in_(ids))).scalars()
        self._settle_moves()
        self._drop_gone()
        for set_id in sorted(self.sets_touched):
            _name_set(self.connection, set_id)
        self.tally.broken = self.connection.execute(select(func.count()).select_from(problems)).scalar_one()
        tally = self.tally
        if tally.added or tally.changed or tally.moved or tally.gone:
            catalog.bump_revision(self.connection)

    def _store(self, source_id: int, batch: Sequence[FileScan]) -> None:
        if not batch:
            return
        file_ids = _file_rows(self.connection, source_id, batch)
        _store_problems(self.connection, file_ids, batch)
        records = [(file_ids[scanned.path], record) for scanned in batch for record in scanned.records or ()]
        set_ids = _set_rows(self.connection, source_id, {record.set for _, record in records})
        image_ids = _image_rows(self.connection, [record.digest for _, record in records])
        old = _icon_rows(self.connection, file_ids.values())
        changed = []
        for file_id, record in records:
            row = _icon_row(file_id, record, set_ids[record.set.key], image_ids[record.digest])
            before = old.pop((file_id, record.member), None)
            if before is not None and all(getattr(before, column) == row[column] for column in COMPARED):
                continue
            changed.append(row)
            self.sets_touched.add(set_ids[record.set.key])
            self.tally.added += before is None
            self.tally.changed += before is not None
        self.tally.icons += len(records)
        self.gone += [row.id for row in old.values()]
        _write_icons(self.connection, changed)

    def _settle_moves(self) -> None:
        """Give an icon that vanished here and appeared there its old id back."""
        gone = _rows_by_image(self.connection, self.gone)
        if not gone:
            return
        kept, replaced = [], []
        for new in self._added_rows(list(gone)):
            candidates = gone[new.image_id]
            if not candidates:
                continue
            old = next((row for row in candidates if row.name == new.name), candidates[0])
            candidates.remove(old)
            self.sets_touched.add(old.set_id)
            replaced.append(new.id)
            kept.append({"old": old.id, **{column: getattr(new, column) for column in PLACED}})
        moved = {row["old"] for row in kept}
        self.gone = [icon for icon in self.gone if icon not in moved]
        for ids in _chunks(replaced):
            self.connection.execute(delete(icons).where(icons.c.id.in_(ids)))
        if kept:
            move = update(icons).where(icons.c.id == bindparam("old"))
            self.connection.execute(move.values({column: bindparam(column) for column in PLACED}), kept)
        self.tally.moved += len(kept)
        self.tally.added -= len(kept)

    def _added_rows(self, image_ids: Sequence[int]) -> Iterator[Row[tuple[object, ...]]]:
        for ids in _chunks(image_ids):
            query = select(icons).where(icons.c.id > self.newest_before, icons.c.image_id.in_(ids)).order_by(icons.c.id)
            yield from self.connection.execute(query).all()

    def _drop_gone(self) -> None:
        self.tally.gone += len(self.gone)
        for ids in _chunks(self.gone):
            self.sets_touched.update(
                self.connection.execute(select(icons.c.set_id).distinct().where(icons.c.id.in_(ids))).scalars()
            )
            self.connection.execute(delete(icons).where(icons.c.id.in_(ids)))
        for ids in _chunks(self.gone_files):
            self.connection.execute(delete(files).where(files.c.id.in_(ids)))
        self.connection.execute(delete(sources).where(sources.c.id.not_in(self.sources_seen)))
        self.connection.execute(delete(sets).where(sets.c.id.not_in(select(icons.c.set_id).distinct())))


def _was_read(scanned: FileScan) -> bool:
    return scanned.records is not None or scanned.error is not None


def _batches(scans: Iterable[FileScan]) -> Iterator[list[FileScan]]:
    """Group scans so that each group holds about BATCH records."""
    batch: list[FileScan] = []
    weight = 0
    for scanned in scans:
        batch.append(scanned)
        weight += max(1, len(scanned.records or ()))
        if weight >= BATCH:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def _file_rows(connection: Connection, source_id: int, batch: Sequence[FileScan]) -> dict[str, int]:
    """Write the files of a batch; return their ids by path."""
    statement = upsert(files)
    statement = statement.on_conflict_do_update(
        index_elements=["source_id", "path"],
        set_={"stamp": statement.excluded.stamp, "skipped": statement.excluded.skipped},
    )
    rows = [
        {"source_id": source_id, "path": scanned.path, "stamp": scanned.stamp, "skipped": scanned.skipped}
        for scanned in batch
    ]
    connection.execute(statement, rows)
    found: dict[str, int] = {}
    for paths in _chunks([scanned.path for scanned in batch]):
        query = select(files.c.path, files.c.id).where(files.c.source_id == source_id, files.c.path.in_(paths))
        found.update((row.path, row.id) for row in connection.execute(query))
    return found


def _store_problems(connection: Connection, file_ids: dict[str, int], batch: Sequence[FileScan]) -> None:
    for ids in _chunks(list(file_ids.values())):
        connection.execute(delete(problems).where(problems.c.file_id.in_(ids)))
    rows = [
        {"file_id": file_ids[scanned.path], "member": member, "reason": reason}
        for scanned in batch
        for member, reason in (*scanned.broken, *([("", scanned.error)] if scanned.error else []))
    ]
    if rows:
        connection.execute(insert(problems), rows)


def _set_rows(connection: Connection, source_id: int, found: set[IconSet]) -> dict[str, int]:
    """Write the sets of a batch; return their ids by key."""
    statement = upsert(sets)
    statement = statement.on_conflict_do_update(
        index_elements=["source_id", "key"],
        set_={column: statement.excluded[column] for column in ("title", "version", "licence", "author")},
    )
    rows = [
        {
            "source_id": source_id,
            "key": icon_set.key,
            "title": icon_set.title,
            "version": icon_set.version,
            "licence": icon_set.licence,
            "author": icon_set.author,
        }
        for icon_set in found
    ]
    if rows:
        connection.execute(statement, rows)
    query = select(sets.c.key, sets.c.id).where(sets.c.source_id == source_id)
    return {row.key: row.id for row in connection.execute(query)}


def _image_rows(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Write the images of a batch; return their ids by digest."""
    distinct = list(dict.fromkeys(digests))
    if distinct:
        connection.execute(
            upsert(images).on_conflict_do_nothing(index_elements=["digest"]),
            [{"digest": digest} for digest in distinct],
        )
    found: dict[bytes, int] = {}
    for chunk in _chunks(distinct):
        query = select(images.c.digest, images.c.id).where(images.c.digest.in_(chunk))
        found.update((row.digest, row.id) for row in connection.execute(query))
    return found


def _icon_rows(connection: Connection, file_ids: Iterable[int]) -> dict[tuple[int, str], Row[tuple[object, ...]]]:
    found: dict[tuple[int, str], Row[tuple[object, ...]]] = {}
    for ids in _chunks(list(file_ids)):
        query = select(icons).where(icons.c.file_id.in_(ids))
        found.update(((row.file_id, row.member), row) for row in connection.execute(query))
    return found


def _icon_row(file_id: int, record: Record, set_id: int, image_id: int) -> dict[str, object]:
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


def _write_icons(connection: Connection, rows: Sequence[dict[str, object]]) -> None:
    statement = upsert(icons)
    statement = statement.on_conflict_do_update(
        index_elements=["file_id", "member"], set_={column: statement.excluded[column] for column in COMPARED}
    )
    if rows:
        connection.execute(statement, rows)


def _rows_by_image(connection: Connection, ids: Sequence[int]) -> dict[int, list[Row[tuple[object, ...]]]]:
    found: dict[int, list[Row[tuple[object, ...]]]] = defaultdict(list)
    for chunk in _chunks(ids):
        for row in connection.execute(select(icons).where(icons.c.id.in_(chunk)).order_by(icons.c.id)):
            found[row.image_id].append(row)
    return found


def _name_set(connection: Connection, set_id: int) -> None:
    """Read the names of one set together, since what all of them share says nothing."""
    query = select(
        icons.c.id, icons.c.name, icons.c.stated_style, icons.c.stated_size, names.c.words, icons.c.style, icons.c.size
    ).select_from(icons.outerjoin(names))
    rows = connection.execute(query.where(icons.c.set_id == set_id)).all()
    affixes = common_affixes(row.name for row in rows)
    renamed = []
    for row in rows:
        name = parse(row.name, affixes, style=row.stated_style, size=row.stated_size)
        if (name.words, name.style, name.size) != (row.words, row.style, row.size):
            renamed.append({"icon": row.id, "words": name.words, "style": name.style, "size": name.size})
    if renamed:
        connection.execute(
            upsert(names).on_conflict_do_nothing(index_elements=["words"]),
            [{"words": words} for words in dict.fromkeys(row["words"] for row in renamed)],
        )
        of_words = select(names.c.id).where(names.c.words == bindparam("words")).scalar_subquery()
        rename = update(icons).where(icons.c.id == bindparam("icon"))
        connection.execute(rename.values(name_id=of_words, style=bindparam("style"), size=bindparam("size")), renamed)
