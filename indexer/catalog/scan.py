"""Stage one: sources -> rows. Reads the remembered sources, writes the catalog in one transaction.

    icons index --only scan ~/design/icons

What is unchanged is not read again; what moved keeps its id; what is gone leaves; what can't be read is listed.
A source that has lost all its icons, or most of many, stays as it was: a mount that is away is the usual cause.
"""

import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, RowMapping, bindparam, delete, func, insert, select, update

from indexer.catalog import contents
from indexer.catalog.contents import ReadSet
from indexer.catalog.database import files, icons, problems, selecting, sets, sources, write_rows
from indexer.errors import SourceError, UnreachedError
from indexer.languages.dictionary import Dictionary
from indexer.languages.letters import AUTO
from indexer.languages.own_names import is_unread
from indexer.languages.words import counted, normalise
from indexer.library.stores import spelled, url_of
from indexer.sources.records import UNREAD, FileScan, refuse_undecoded, to_text
from indexer.sources.source import Source, open_sources, why_empty

_MANY = 1000
"""Icons of a source from which on less than half of them is a loss to be asked about."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A source that stays as it was, as it has lost its icons or can't be read."""

    location: str
    icons: int
    """That it had, and keeps."""
    reason: str
    command: str
    """Drops it, or takes what is there now."""

    def __str__(self) -> str:
        """Say so in one line, with the way out."""
        keeps = f"its icons stay as they were: bring them back, or run `{self.command}`"
        return f"{self.reason}; {keeps if self.icons else f'`{self.command}` drops it from the library'}"


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
    others: dict[str, int] = field(default_factory=dict)
    """Drawings in formats that are not read, by suffix."""
    kept: list[Kept] = field(default_factory=list)
    """Sources that were left as they were."""
    empty: list[str] = field(default_factory=list)
    """Which named places hold no icons, and where some may be: they are not remembered."""


def remember(connection: Connection, location: Path, *, exclude: Sequence[str], names_language: str = AUTO) -> None:
    """Keep a location for this scan and all later ones; named again, its patterns and its language are replaced.

    Raises:
        SourceError: nothing that can be indexed is there.
    """
    named = _as_named_before(connection, location)
    options = {"exclude": json.dumps(list(exclude)), "names_language": names_language}
    connection.execute(update(sources).where(sources.c.named == named).values(options))
    for source in open_sources(Path(named), exclude=exclude):
        _source_row(connection, {"named": named, **options}, source)


def forget(connection: Connection, location: Path) -> int:
    """Drop a remembered location, or a part of one, with its icons; return how many icons that were.

    A part is a package of a node_modules folder, or a file or folder inside a source. What is still there of a part is
    found again by the next scan.

    Raises:
        SourceError: it was never named, and nothing is known below it.
    """
    before = sum(_count_icons(connection).values())
    dropped = connection.execute(delete(sources).where(sources.c.named == _as_named_before(connection, location)))
    if not dropped.rowcount and not _forget_part(connection, location):
        raise SourceError(f'"{location}" is not a source of this library; `icons sources` lists them')
    contents.bump_revision(connection)
    return before - sum(_count_icons(connection).values())


def move(connection: Connection, old: Path, new: Path) -> int:
    """Tell where a remembered location lies now, so that its icons keep their ids and vectors; return how many.

    Raises:
        SourceError: the old one was never named, the new one was, or nothing that can be indexed is there.
    """
    before, after = _as_named_before(connection, old), _as_named_before(connection, new)
    rows = connection.execute(select(sources).where(sources.c.named == before)).all()
    if not rows:
        raise SourceError(f'"{old}" is not a source of this library; `icons sources` lists them')
    open_sources(Path(after), exclude=json.loads(rows[0].exclude))
    places = {row.id: after + row.location.removeprefix(before) for row in rows}
    is_there = (sources.c.named == after) | sources.c.location.in_([*places.values()])
    if connection.scalar(select(func.count()).select_from(sources).where(is_there)):
        raise SourceError(f'"{new}" is a source of this library already; `icons sources --forget "{new}"` drops it')
    for source_id, place in places.items():
        connection.execute(update(sources).where(sources.c.id == source_id).values(named=after, location=place))
    there = files.c.source_id.in_([*places])
    connection.execute(update(files).where(there).values(stamp=UNREAD))  # a set is called as its folder
    contents.bump_revision(connection)
    return sum(_count_icons(connection).get(source_id, 0) for source_id in places)


def _forget_part(connection: Connection, location: Path) -> bool:
    """Drop the sources that lie at a place, and the files of sources that lie at or below it; tell whether any did."""
    places = {url_of(location) or str(location.expanduser().absolute()), _real(location)}
    n_dropped = 0
    for row in connection.execute(select(sources.c.id, sources.c.location)).all():
        spellings = {row.location, _real(Path(row.location))}
        if spellings & places:
            n_dropped += connection.execute(delete(sources).where(sources.c.id == row.id)).rowcount
        for folder, place in product(spellings, places):
            if place.startswith(f"{folder}/"):
                part = to_text(place.removeprefix(f"{folder}/"))
                is_below = func.substr(files.c.path, 1, len(part) + 1) == f"{part}/"  # LIKE takes "A" for "a"
                is_it = (files.c.source_id == row.id) & ((files.c.path == part) | is_below)
                n_dropped += connection.execute(delete(files).where(is_it)).rowcount
    return bool(n_dropped)


def scan(
    engine: Engine,
    *,
    report: Callable[[ScanTally], None] = lambda _: None,
    changed: Collection[tuple[str, str]] = frozenset(),
    unread: Iterable[int] = (),
    dictionary: Dictionary | None = None,
) -> ScanTally:
    """Bring the catalog up to date with every remembered source, all of it or nothing.

    Sources that have lost their icons or can't be read are left as they were, and listed in the tally. That shows when
    all are read, since icons may have moved from one to another: then it is done once more, without those.
    `changed` files, by location and path, and those of the images `unread` are read again whatever their stamp says.
    Names in other languages are read by the `dictionary`, by default the bundled one.
    """
    unread_images = np.fromiter(unread, np.int64)
    dictionary = dictionary or Dictionary.bundled()
    kept: dict[str, Kept] = {}
    with engine.connect() as connection:
        while True:
            with connection.begin() as transaction:
                suspect = {*changed, *contents.files_showing(connection, unread_images)}
                run = _Scan(connection, report, suspect, dictionary, kept)
                run.read()
                if not (lost := run.finish()):
                    return run.tally
                transaction.rollback()
            kept |= lost


def _as_named_before(connection: Connection, location: Path) -> str:
    """Spell a location as it was first named: a folder has many spellings, by links and by "..", and is one source."""
    if (url := url_of(location)) is not None:
        return url
    refuse_undecoded(location)
    named = str(location.expanduser().absolute())
    real = os.path.realpath(named)
    known = connection.execute(select(sources.c.named).distinct().order_by(sources.c.id)).scalars().all()
    return next((other for other in (named, *known) if other in known and os.path.realpath(other) == real), named)


def _real(location: Path) -> str:
    """Spell a place so that it has one spelling."""
    return url_of(location) or os.path.realpath(location.expanduser())


def _count_icons(connection: Connection) -> dict[int, int]:
    """Icons of each source that has any, by the source's id."""
    query = select(sets.c.source_id, func.count()).select_from(icons.join(sets)).group_by(sets.c.source_id)
    return dict(connection.execute(query).all())


def _source_row(connection: Connection, options: Mapping[Any, Any], source: Source) -> int:
    """Id of a source; a new one takes over how it was named, with which options."""
    location = spelled(source.location)
    where = sources.c.location == location
    connection.execute(update(sources).where(where).values(kind=source.kind))
    number = select(sources.c.id).where(where)
    if connection.execute(number).scalar() is None:  # an upsert would use up a number each time
        connection.execute(insert(sources).values({**options, "kind": source.kind, "location": location}))
    return int(connection.execute(number).scalar_one())


class _Scan:
    """One scan under way: what it has seen, and what it must do once everything was seen."""

    def __init__(
        self,
        connection: Connection,
        report: Callable[[ScanTally], None],
        suspect: Collection[tuple[str, str]],
        dictionary: Dictionary,
        kept: Mapping[str, Kept],
    ) -> None:
        self.connection = connection
        self.report = report
        self.suspect = suspect
        self.dictionary = dictionary
        self.kept = kept
        self.tally = ScanTally(kept=list(kept.values()))
        self.newest_before = connection.execute(select(func.coalesce(func.max(icons.c.id), 0))).scalar_one()
        self.n_before = _count_icons(connection)
        are_kept = sources.c.named.in_(list(kept)) | sources.c.location.in_(list(kept))
        rows = connection.execute(select(sources.c.id, sources.c.location).where(are_kept)).all()
        self.sources_seen: set[int] = {row.id for row in rows}
        self.places_seen = {_real(Path(row.location)) for row in rows}
        self.errors: dict[int, str] = {}
        self.lost: dict[str, Kept] = {}
        self.sets_touched: set[int] = set()
        self.has_changed_sets = False
        self.gone: list[int] = []
        self.gone_files: list[int] = []

    def read(self) -> None:
        """Read every source that is not kept, found anew below each location that the user named; each of them once."""
        query = select(sources.c.named, sources.c.exclude, sources.c.names_language).group_by(sources.c.named)
        for row in self.connection.execute(query.order_by(func.min(sources.c.id))).mappings().all():
            if row.named in self.kept:
                continue
            n_read, opened, refusal = self.tally.icons, [], None
            try:
                opened = open_sources(Path(row.named), exclude=json.loads(row.exclude))
                for source in opened:
                    self._read_source(source, row)
            except SourceError as error:
                refusal = error
            source_ids = self.connection.scalars(select(sources.c.id).where(sources.c.named == row.named)).all()
            n_icons = sum(self.n_before.get(source_id, 0) for source_id in source_ids)
            if n_icons == 0 and self.tally.icons == n_read and not isinstance(refusal, UnreachedError):
                errors = [self.errors[source_id] for source_id in source_ids if source_id in self.errors]
                self.tally.empty.append(str(refusal or why_empty(opened[0], *errors[:1])))
                self.sources_seen.difference_update(source_ids)
            elif refusal is not None:
                self.sources_seen.update(source_ids)
                reason = str(refusal)
                if not (url_of(row.named) or Path(row.named).exists()):
                    moved = shlex.join(("icons", "sources", "--move", row.named, "NEW"))
                    reason = f'"{row.named}" is not there now (`{moved}` says where it is)'
                command = shlex.join(("icons", "sources", "--forget", row.named))
                self.lost[row.named] = Kept(row.named, n_icons, reason, command)

    def _read_source(self, source: Source, options: RowMapping) -> None:
        """Store what is new or changed in one source, and note what is gone from it."""
        location, place = spelled(source.location), _real(source.location)
        if place in self.places_seen:  # kept, or older programs knew a folder under two spellings
            return
        self.places_seen.add(place)
        source_id = _source_row(self.connection, options, source)
        self.sources_seen.add(source_id)
        query = select(files.c.path, files.c.stamp, files.c.id).where(files.c.source_id == source_id)
        known = {row.path: row for row in self.connection.execute(query)}
        stamps = {path: row.stamp for path, row in known.items() if (location, path) not in self.suspect}
        for batch in _batches(source.scan(stamps)):
            for scanned in batch:
                known.pop(scanned.path, None)
                if scanned.error is not None:
                    self.errors.setdefault(source_id, scanned.error)
            for suffix, n in Counter(scanned.other for scanned in batch if scanned.other).items():
                self.tally.others[suffix] = self.tally.others.get(suffix, 0) + n
            self.tally.files += sum(not scanned.other for scanned in batch)
            was_read = [scanned for scanned in batch if scanned.records is not None or scanned.error is not None]
            self._store(source_id, was_read)
            self.report(self.tally)
        self.gone_files += [row.id for row in known.values()]

    def finish(self) -> dict[str, Kept]:
        """Settle moves, drop what is gone, name the icons of every touched set; or tell which sources are to be kept.

        These are by location, and nothing is to be committed then.
        """
        unseen = select(files.c.id).where(files.c.source_id.not_in(self.sources_seen))
        self.gone_files += self.connection.execute(unseen).scalars()
        on_them = select(icons.c.id).where(icons.c.file_id.in_(selecting(self.connection, self.gone_files)))
        self.gone += self.connection.scalars(on_them)
        self._keep_ids_of_moved()
        self._find_lost()
        if self.lost:
            return self.lost
        self._drop_gone()
        namer = contents.Namer(self.connection, self.dictionary)
        there = set(self.connection.execute(select(sets.c.id)).scalars())
        to_name = sorted(self.sets_touched & there | namer.read_otherwise())
        is_renamed = [namer.name(set_id) for set_id in to_name]
        tally = self.tally
        tally.broken = self.connection.execute(select(func.count()).select_from(problems)).scalar_one()
        tally.read = contents.read_sets(self.connection, lambda name: is_unread(self.dictionary, normalise(name)))
        if tally.added or tally.changed or tally.moved or tally.gone or self.has_changed_sets or any(is_renamed):
            contents.bump_revision(self.connection)
        return {}

    def _find_lost(self) -> None:
        """Find the sources that have no icons any more, or less than half of many: those that moved are not lost."""
        are_gone = icons.c.id.in_(selecting(self.connection, self.gone))
        n_gone = Counter(
            self.connection.scalars(select(sets.c.source_id).select_from(icons.join(sets)).where(are_gone))
        )
        n_known = _count_icons(self.connection)
        for row in self.connection.execute(select(sources).where(sources.c.id.in_(sorted(n_gone)))):
            before, left = self.n_before.get(row.id, 0), n_known[row.id] - n_gone[row.id]
            n_missing = min(n_gone[row.id], before - left)  # less where others have come in their place
            is_lost = left == 0 or (before >= _MANY and n_missing * 2 > before)
            is_other_spelling = row.id not in self.sources_seen and _real(Path(row.location)) in self.places_seen
            if is_lost and not is_other_spelling:
                error = f" ({self.errors[row.id]})" if row.id in self.errors else ""
                reason = f'"{row.location}" had {counted(before, "icon")} and has {left or "none"} now{error}'
                command = shlex.join(("icons", "sources", "--forget", row.location))
                if left:
                    options = [part for pattern in json.loads(row.exclude) for part in ("--exclude", pattern)]
                    options += ["--names-language", row.names_language] * (row.names_language != AUTO)
                    command += " && " + shlex.join(("icons", "index", row.named, *options))
                self.lost[row.location] = Kept(row.location, before, reason, command)

    def _store(self, source_id: int, batch: Sequence[FileScan]) -> None:
        file_ids = contents.write_files(self.connection, source_id, batch)
        contents.write_problems(self.connection, file_ids, batch)
        records = [(file_ids[scanned.path], record) for scanned in batch for record in scanned.records or ()]
        set_ids, is_changed = contents.write_sets(self.connection, source_id, {record.set for _, record in records})
        self.has_changed_sets |= is_changed
        image_ids = contents.write_images(self.connection, [record.digest for _, record in records])
        on_them = select(icons).where(icons.c.file_id.in_(selecting(self.connection, [*file_ids.values()])))
        old = {(row.file_id, row.member): row for row in self.connection.execute(on_them)}
        changed = []
        for file_id, record in records:
            row = {  # its name is read later, together with its set's
                "file_id": file_id,
                "member": record.member,
                "set_id": set_ids[record.set.key],
                "image_id": image_ids[record.digest],
                "name": record.name,
                "stated_style": record.style,
                "stated_size": record.size,
                "caption": record.caption,
                "tags": "\n".join(record.tags),
                "categories": "\n".join(record.categories),
                "licence": record.licence,
            }
            before = old.pop((file_id, record.member), None)
            if before is not None and all(getattr(before, column) == row[column] for column in contents.COMPARED):
                continue
            changed.append(row)
            self.sets_touched.add(set_ids[record.set.key])
            self.tally.added += before is None
            self.tally.changed += before is not None
        self.tally.icons += len(records)
        self.gone += [row.id for row in old.values()]
        write_rows(self.connection, icons, changed, by=("file_id", "member"), set_=contents.COMPARED)

    def _keep_ids_of_moved(self) -> None:
        """Give an icon that vanished here and appeared there its old id back."""
        are_gone = icons.c.id.in_(selecting(self.connection, self.gone))
        ordered = self.connection.execute(select(icons).where(are_gone).order_by(icons.c.image_id, icons.c.id))
        gone = {image: list(rows) for image, rows in groupby(ordered, key=lambda row: row.image_id)}
        kept, replaced = [], []
        shows_one = icons.c.image_id.in_(selecting(self.connection, [*gone]))
        added = select(icons).where(icons.c.id > self.newest_before, shows_one).order_by(icons.c.id)
        for new in self.connection.execute(added):
            if candidates := gone[new.image_id]:
                old = next((row for row in candidates if row.name == new.name), candidates[0])
                candidates.remove(old)
                self.sets_touched.add(old.set_id)
                replaced.append(new.id)
                kept.append({"old": old.id, **{column: getattr(new, column) for column in contents.PLACED}})
        moved = {row["old"] for row in kept}
        self.gone = [icon for icon in self.gone if icon not in moved]
        self.connection.execute(delete(icons).where(icons.c.id.in_(selecting(self.connection, replaced))))
        if kept:
            move = update(icons).where(icons.c.id == bindparam("old"))
            self.connection.execute(move.values({column: bindparam(column) for column in contents.PLACED}), kept)
        self.tally.moved += len(kept)
        self.tally.added -= len(kept)

    def _drop_gone(self) -> None:
        self.tally.gone += len(self.gone)
        are_gone = icons.c.id.in_(selecting(self.connection, self.gone))
        self.sets_touched.update(self.connection.scalars(select(icons.c.set_id).distinct().where(are_gone)))
        self.connection.execute(delete(icons).where(are_gone))
        self.connection.execute(delete(files).where(files.c.id.in_(selecting(self.connection, self.gone_files))))
        self.connection.execute(delete(sources).where(sources.c.id.not_in(self.sources_seen)))
        self.connection.execute(delete(sets).where(sets.c.id.not_in(select(icons.c.set_id).distinct())))


def _batches(scans: Iterable[FileScan]) -> Iterator[list[FileScan]]:
    """Group scans so that each group holds about contents.BATCH records."""
    n_records = 0

    def number(scanned: FileScan) -> int:
        nonlocal n_records
        n_records += max(1, len(scanned.records or ()))
        return n_records // contents.BATCH

    yield from (list(batch) for _, batch in groupby(scans, key=number))
