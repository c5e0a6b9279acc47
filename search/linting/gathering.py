"""Which icons are looked at, and what are they called? Those of folders, as `icons index` would take them, or of a set.

Nothing is indexed: sources are scanned and names are read as for a library, and nothing is written anywhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import IconsError
from indexer.naming.names import common_affixes, parse
from indexer.sources.records import Record
from indexer.sources.source import Source, open_sources
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.query import Filters


@dataclass(frozen=True, slots=True)
class Gathered:
    """One icon, found but not read yet."""

    name: str
    words: str
    """What its name says, in English, without style and size."""
    set: str
    style: str | None
    size: int | None
    kind: str
    location: str
    path: str
    member: str
    """By these four `indexer.sources.source.read_picture` finds it."""
    digest: bytes

    @property
    def key(self) -> str:
        """As other commands take it."""
        return f"{self.set}:{self.name}"

    @property
    def place(self) -> str:
        """The file in which it lies."""
        file = str(Path(self.location, self.path)) if self.path else self.location
        return f"{file}#{self.member}" if self.member else file


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something of a source that gave no icon, and why."""

    set: str
    place: str
    reason: str


def of_folders(folders: Sequence[Path], *, exclude: Sequence[str]) -> tuple[list[Gathered], list[Unreadable]]:
    """Find the icons below some folders, files or packages.

    Raises:
        SourceError: one of them is not there, or holds no icons.
    """
    icons: list[Gathered] = []
    unread: list[Unreadable] = []
    for source in (source for folder in folders for source in open_sources(folder, exclude=exclude)):
        found = list(_scanned(source, unread))
        by_set: dict[str, list[tuple[str, Record]]] = defaultdict(list)
        for path, record in found:
            by_set[record.set.key].append((path, record))
        for records in by_set.values():
            icons.extend(_named(source, records))
    if not icons and not unread:
        raise IconsError(f'no icons below "{folders[0]}"; give a folder of pictures, an Iconify set or an npm package')
    return icons, unread


def _scanned(source: Source, unread: list[Unreadable]) -> Iterator[tuple[str, Record]]:
    for scan in source.scan({}):
        place = str(source.location / scan.path) if scan.path else str(source.location)
        if scan.error is not None:
            unread.append(Unreadable(source.location.name, place, scan.error))
        unread.extend(Unreadable(source.location.name, f"{place}#{member}", reason) for member, reason in scan.broken)
        for record in scan.records or ():
            yield scan.path, record


def _named(source: Source, records: Sequence[tuple[str, Record]]) -> Iterator[Gathered]:
    """Read the names of one set together, as a library does."""
    affixes = common_affixes(record.name for _, record in records)
    parsed = [parse(record.name, affixes, style=record.style, size=record.size) for _, record in records]
    english = _in_english([name.words for name in parsed])
    for (path, record), name, words in zip(records, parsed, english, strict=True):
        yield Gathered(
            name=record.name,
            words=words,
            set=record.set.key,
            style=name.style,
            size=name.size,
            kind=source.kind,
            location=str(source.location),
            path=path,
            member=record.member,
            digest=record.digest,
        )


def _in_english(names: Sequence[str]) -> list[str]:
    """What the names of one set say in English; most say it already."""
    from indexer.languages.codes import AUTO
    from indexer.languages.dictionary import Dictionary
    from indexer.languages.judging import Judge
    from indexer.languages.own_names import SetReader

    dictionary = Dictionary.bundled()
    reader = SetReader(dictionary, Judge(dictionary), language=AUTO, names=names, tags=())
    return [read.words if (read := reader.name(words)) else words for words in names]


def of_library(opened: Opened, sets: Sequence[str]) -> list[Gathered]:
    """Find the icons of some sets of a library.

    Raises:
        IconsError: a set is unknown there; the message names near ones.
    """
    facets = opened.in_memory(Ability.LINT)
    ids = facets.every(facets.select(Filters(sets=tuple(sets))))
    rows = opened.snapshot.candidates(ids)
    looks = dict(zip(ids.tolist(), facets.looks(facets.at(ids)), strict=True))
    digests = opened.snapshot.digests(list({row.image_id for row in rows.values()}))
    return [
        Gathered(
            name=row.name,
            words=row.words,
            set=row.set,
            style=looks[row.id],
            size=row.size,
            kind=row.kind,
            location=row.location,
            path=row.path,
            member=row.member,
            digest=digests[row.image_id],
        )
        for row in sorted(rows.values(), key=lambda row: row.id)
    ]


def by_set(icons: Iterable[Gathered]) -> dict[str, list[Gathered]]:
    """Icons by their set, in the order of its first one."""
    found: dict[str, list[Gathered]] = defaultdict(list)
    for icon in icons:
        found[icon.set].append(icon)
    return dict(found)
