"""Stage one: sources -> rows. Reads the remembered sources, writes the catalog in one transaction.

    icons scan ~/design/icons

What is unchanged is not read again; what moved keeps its id; what is gone leaves; what can't be read is listed.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, select, update

from indexer.catalog import questions, writer
from indexer.catalog.naming import Namer
from indexer.catalog.questions import ReadSet
from indexer.catalog.schema import files, icons, problems, sets, sources
from indexer.errors import SourceError
from indexer.languages.codes import AUTO
from indexer.languages.dictionary import Dictionary
from indexer.sources.paths import refuse_undecoded
from indexer.sources.records import FileScan
from indexer.sources.source import Source, open_sources
from indexer.stores.places import spelled, url_of


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
    read: list[ReadSet] = field(default_factory=list)
    """Sets with names or tags in other languages."""


Report = Callable[[ScanTally], None]


class Opening(Protocol):
    """What lies at a location, as `sources.source.open_sources` tells it."""

    def __call__(self, location: Path, *, exclude: Sequence[str]) -> list[Source]:
        """The sources that are there."""


def remember(connection: Connection, location: Path, *, exclude: Sequence[str], names_language: str = AUTO) -> None:
    """Keep a location for this scan and all later ones; given again, its patterns and its language are replaced.

    Raises:
        SourceError: nothing that can be indexed is there.
    """
    given = _as_given_before(connection, location)
    options = {"exclude": json.dumps(list(exclude)), "names_language": names_language}
    connection.execute(update(sources).where(sources.c.given == given).values(options))
    for source in open_sources(Path(given), exclude=exclude):
        _source_row(connection, {"given": given, **options}, source)


def forget(connection: Connection, location: Path) -> int:
    """Drop a remembered location with all its icons; return how many sources that were.

    Raises:
        SourceError: it was never given.
    """
    given = _as_given_before(connection, location)
    n_dropped: int = connection.execute(delete(sources).where(sources.c.given == given)).rowcount
    if not n_dropped:
        raise SourceError(f'"{location}" is not a source of this library; `icons sources` lists them')
    questions.bump_revision(connection)
    return n_dropped


def scan(
    engine: Engine,
    *,
    report: Report = lambda _: None,
    changed: Collection[tuple[str, str]] = frozenset(),
    unread: Iterable[int] = (),
    dictionary: Dictionary | None = None,
    opening: Opening = open_sources,
) -> ScanTally:
    """Bring the catalog up to date with every remembered source, all of it or nothing.

    `changed` files, by location and path, and those of the images `unread` are read again whatever their stamp says.
    Names in other languages are read by the `dictionary`, the bundled one where none is given. `opening` says what lies
    at a location.

    Raises:
        SourceError: a remembered location is no longer there.
    """
    with engine.begin() as connection:
        suspect = {*changed, *questions.files_showing(connection, np.fromiter(unread, np.int64))}
        run = _Scan(connection, report, suspect, dictionary or Dictionary.bundled())
        for source_id, source in _remembered(connection, opening):
            run.read(source_id, source)
        run.finish()
    return run.tally


def _as_given_before(connection: Connection, location: Path) -> str:
    """Spell a location as it was first given: a folder has many spellings, by links and by "..", and is one source."""
    if (url := url_of(location)) is not None:
        return url
    refuse_undecoded(location)
    given = str(location.expanduser().absolute())
    real = os.path.realpath(given)
    known = connection.execute(select(sources.c.given).distinct().order_by(sources.c.id)).scalars().all()
    return next((other for other in (given, *known) if other in known and os.path.realpath(other) == real), given)


def _remembered(connection: Connection, opening: Opening) -> Iterator[tuple[int, Source]]:
    """Yield every source with its row's id, found anew below each location that the user gave; each of them once."""
    seen: set[str] = set()
    query = select(sources.c.given, sources.c.exclude, sources.c.names_language).group_by(sources.c.given)
    for row in connection.execute(query.order_by(func.min(sources.c.id))).all():
        try:
            found = opening(Path(row.given), exclude=json.loads(row.exclude))
        except SourceError as error:
            raise SourceError(f'{error}; `icons forget "{row.given}"` drops it from the library') from error
        for source in found:
            real = url_of(source.location) or os.path.realpath(source.location)
            if real in seen:  # older programs took two spellings of one folder for two sources
                continue
            seen.add(real)
            yield _source_row(connection, row._asdict(), source), source


def _source_row(connection: Connection, given: Mapping[str, str], source: Source) -> int:
    """Id of a source; a new one takes over what is `given` to it: where, and with which options."""
    location = spelled(source.location)
    where = sources.c.location == location
    connection.execute(update(sources).where(where).values(kind=source.kind))
    number = select(sources.c.id).where(where)
    if connection.execute(number).scalar() is None:  # an upsert would use up a number each time
        connection.execute(insert(sources).values({**given, "kind": source.kind, "location": location}))
    return int(connection.execute(number).scalar_one())


class _Scan:
    """One scan under way: what it has seen, and what it must settle once everything was seen."""

    def __init__(
        self, connection: Connection, report: Report, suspect: Collection[tuple[str, str]], dictionary: Dictionary
    ) -> None:
        self.connection = connection
        self.report = report
        self.suspect = suspect
        self.dictionary = dictionary
        self.tally = ScanTally()
        self.newest_before = connection.execute(select(func.coalesce(func.max(icons.c.id), 0))).scalar_one()
        self.sources_seen: set[int] = set()
        self.sets_touched: set[int] = set()
        self.has_changed_sets = False
        self.gone: list[int] = []
        self.gone_files: list[int] = []

    def read(self, source_id: int, source: Source) -> None:
        """Store what is new or changed in one source, and note what is gone from it."""
        self.sources_seen.add(source_id)
        query = select(files.c.path, files.c.stamp, files.c.id).where(files.c.source_id == source_id)
        known = {row.path: row for row in self.connection.execute(query)}
        location = spelled(source.location)
        stamps = {path: row.stamp for path, row in known.items() if (location, path) not in self.suspect}
        for batch in _batches(source.scan(stamps)):
            for scanned in batch:
                known.pop(scanned.path, None)
            self.tally.files += len(batch)
            was_read = [scanned for scanned in batch if scanned.records is not None or scanned.error is not None]
            self._store(source_id, was_read)
            self.report(self.tally)
        self.gone_files += [row.id for row in known.values()]

    def finish(self) -> None:
        """Settle moves, drop what is gone, name the icons of every touched set."""
        lost = select(files.c.id).where(files.c.source_id.not_in(self.sources_seen))
        self.gone_files += self.connection.execute(lost).scalars()
        on_them = writer.rows_where(self.connection, select(icons.c.id), icons.c.file_id, self.gone_files)
        self.gone += [row.id for row in on_them]
        self._settle_moves()
        self._drop_gone()
        namer = Namer(self.connection, self.dictionary)
        is_renamed = [namer.name(set_id) for set_id in sorted(self.sets_touched | namer.read_otherwise())]
        self.tally.broken = self.connection.execute(select(func.count()).select_from(problems)).scalar_one()
        tally = self.tally
        tally.read = questions.read_sets(self.connection)
        if tally.added or tally.changed or tally.moved or tally.gone or self.has_changed_sets or any(is_renamed):
            questions.bump_revision(self.connection)

    def _store(self, source_id: int, batch: Sequence[FileScan]) -> None:
        if not batch:
            return
        file_ids = writer.write_files(self.connection, source_id, batch)
        writer.write_problems(self.connection, file_ids, batch)
        records = [(file_ids[scanned.path], record) for scanned in batch for record in scanned.records or ()]
        set_ids, is_changed = writer.write_sets(self.connection, source_id, {record.set for _, record in records})
        self.has_changed_sets |= is_changed
        image_ids = writer.write_images(self.connection, [record.digest for _, record in records])
        old = writer.read_icons(self.connection, file_ids.values())
        changed = []
        for file_id, record in records:
            row = writer.icon_row(file_id, record, set_ids[record.set.key], image_ids[record.digest])
            before = old.pop((file_id, record.member), None)
            if before is not None and all(getattr(before, column) == row[column] for column in writer.COMPARED):
                continue
            changed.append(row)
            self.sets_touched.add(set_ids[record.set.key])
            self.tally.added += before is None
            self.tally.changed += before is not None
        self.tally.icons += len(records)
        self.gone += [row.id for row in old.values()]
        writer.write_icons(self.connection, changed)

    def _settle_moves(self) -> None:
        """Give an icon that vanished here and appeared there its old id back."""
        gone = writer.read_by_image(self.connection, self.gone)
        if not gone:
            return
        kept, replaced = [], []
        added = select(icons).where(icons.c.id > self.newest_before).order_by(icons.c.id)
        for new in writer.rows_where(self.connection, added, icons.c.image_id, list(gone)):
            candidates = gone[new.image_id]
            if not candidates:
                continue
            old = next((row for row in candidates if row.name == new.name), candidates[0])
            candidates.remove(old)
            self.sets_touched.add(old.set_id)
            replaced.append(new.id)
            kept.append({"old": old.id, **{column: getattr(new, column) for column in writer.PLACED}})
        moved = {row["old"] for row in kept}
        self.gone = [icon for icon in self.gone if icon not in moved]
        for ids in writer.chunks(replaced):
            self.connection.execute(delete(icons).where(icons.c.id.in_(ids)))
        if kept:
            move = update(icons).where(icons.c.id == bindparam("old"))
            self.connection.execute(move.values({column: bindparam(column) for column in writer.PLACED}), kept)
        self.tally.moved += len(kept)
        self.tally.added -= len(kept)

    def _drop_gone(self) -> None:
        self.tally.gone += len(self.gone)
        for ids in writer.chunks(self.gone):
            touched = select(icons.c.set_id).distinct().where(icons.c.id.in_(ids))
            self.sets_touched.update(self.connection.execute(touched).scalars())
            self.connection.execute(delete(icons).where(icons.c.id.in_(ids)))
        for ids in writer.chunks(self.gone_files):
            self.connection.execute(delete(files).where(files.c.id.in_(ids)))
        self.connection.execute(delete(sources).where(sources.c.id.not_in(self.sources_seen)))
        self.connection.execute(delete(sets).where(sets.c.id.not_in(select(icons.c.set_id).distinct())))


def _batches(scans: Iterable[FileScan]) -> Iterator[list[FileScan]]:
    """Group scans so that each group holds about writer.BATCH records."""
    batch: list[FileScan] = []
    weight = 0
    for scanned in scans:
        batch.append(scanned)
        weight += max(1, len(scanned.records or ()))
        if weight >= writer.BATCH:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
