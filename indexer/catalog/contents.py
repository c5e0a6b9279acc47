"""The contents of a catalog: what is asked of its rows, and what is written into them.

The names of a set are read together: what all of them share says nothing, and only all of them tell which language they
are in. Tags are read beside them.
"""

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np
from sqlalchemy import (
    Column,
    Connection,
    Row,
    RowMapping,
    Select,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    union_all,
    update,
)

from indexer.arrays import Ids, distinct
from indexer.catalog.database import (
    failures,
    files,
    icons,
    images,
    names,
    problems,
    runs,
    selecting,
    sets,
    settings,
    sources,
    write_rows,
)
from indexer.languages.dictionary import Dictionary
from indexer.languages.own_names import RECIPE, SetReader
from indexer.languages.words import Name, common_affixes, normalise_tag, parse
from indexer.library.shards import Accounting
from indexer.sources.records import FileScan, IconSet, PictureAddress

_LOCATED_AT_ONCE = 65_536
"""Images: SQLite sorts what it finds in memory."""


def setting(connection: Connection, key: str) -> str | None:
    """Read one setting."""
    return connection.execute(select(settings.c.value).where(settings.c.key == key)).scalar()


def store_setting(connection: Connection, key: str, value: str) -> None:
    """Write one setting."""
    write_rows(connection, settings, [{"key": key, "value": value}], by=("key",), set_=("value",))


def library_id(connection: Connection) -> str:
    """The random id of the library, "" where no newer program has written it yet. A copy of a library keeps it."""
    return setting(connection, "library") or ""


def ensure_library_id(connection: Connection) -> None:
    """Give a library an id that has none."""
    if not library_id(connection):
        store_setting(connection, "library", secrets.token_hex(8))


def has_had_sources(connection: Connection) -> bool:
    """Whether this library has ever had a source: SQLite counts the ids that it hands out."""
    return bool(connection.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = 'sources'")))


def revision(connection: Connection) -> int:
    """Number that grows with every change that a search could see."""
    return int(setting(connection, "revision") or 0)


def bump_revision(connection: Connection) -> None:
    """Say that the catalog differs from what was published."""
    store_setting(connection, "revision", str(revision(connection) + 1))


def image_ids(connection: Connection) -> Ids:
    """Ids of the images that icons show now, ascending."""
    return ids_of(connection, select(icons.c.image_id).distinct().order_by(icons.c.image_id))


def locate_images(connection: Connection, ids: Ids) -> Iterator[tuple[int, PictureAddress]]:
    """Yield each image with the address of the first icon that shows it; `ids` ascend."""
    for start in range(0, len(ids), _LOCATED_AT_ONCE):
        is_one = icons.c.image_id.in_(selecting(connection, ids[start : start + _LOCATED_AT_ONCE]))
        first = select(func.min(icons.c.id)).where(is_one).group_by(icons.c.image_id)
        query = (
            select(images.c.id, sources.c.kind, sources.c.location, files.c.path, icons.c.member, images.c.digest)
            .select_from(icons.join(images).join(files, icons.c.file_id == files.c.id).join(sources))
            .where(icons.c.id.in_(first))
            .order_by(images.c.id)
        )
        for image, *address in connection.execute(query).all():
            yield image, PictureAddress(*address)


def reasons(connection: Connection, fingerprint: str) -> dict[int, str]:
    """Why images have no vector of this encoder, by image id."""
    query = select(failures.c.image_id, failures.c.reason).where(failures.c.fingerprint == fingerprint)
    return dict(connection.execute(query).all())


def replace_failures(connection: Connection, fingerprint: str, found: dict[int, str]) -> None:
    """Record why images have no vector of this encoder, instead of what was recorded before."""
    connection.execute(delete(failures).where(failures.c.fingerprint == fingerprint))
    rows = [{"fingerprint": fingerprint, "image_id": image, "reason": reason} for image, reason in found.items()]
    write_rows(connection, failures, rows, by=("fingerprint", "image_id"))


def account(connection: Connection, *, fingerprint: str, embedded: Ids) -> Accounting:
    """Count where every entry ended; `embedded` are the images that have a vector of this encoder."""
    shown = ids_of(connection, select(icons.c.image_id))
    with_vector = shown[np.isin(shown, embedded)]
    without = shown[~np.isin(shown, embedded)]
    n_failed = int(np.isin(without, list(reasons(connection, fingerprint))).sum())
    n_problems = connection.execute(select(func.count()).select_from(problems)).scalar_one()
    n_embedded = len(distinct(with_vector))
    return Accounting(
        found=len(shown) + n_problems,
        embedded=n_embedded,
        failed=n_problems + n_failed,
        duplicate=len(with_vector) - n_embedded,
        missing=len(without) - n_failed,
        hidden=connection.execute(select(func.coalesce(func.sum(files.c.skipped), 0))).scalar_one(),
    )


def list_failures(connection: Connection, fingerprint: str) -> Iterator[tuple[str, str]]:
    """Yield place and reason of every entry without a vector, files before pictures, in a stable order."""
    where = files.join(sources)
    columns = (sources.c.location, files.c.path)
    unread = (
        select(*columns, problems.c.member, problems.c.reason)
        .select_from(where.join(problems))
        .order_by(sources.c.id, files.c.path, problems.c.member)
    )
    unseen = (
        select(*columns, icons.c.member, failures.c.reason)
        .select_from(where.join(icons).join(failures, failures.c.image_id == icons.c.image_id))
        .where(failures.c.fingerprint == fingerprint)
        .order_by(sources.c.id, files.c.path, icons.c.member)
    )
    for query in (unread, unseen):
        for location, path, member, reason in connection.execute(query):
            yield PictureAddress("", location, path, member).place, reason


def files_showing(connection: Connection, ids: Ids) -> set[tuple[str, str]]:
    """Source's location and path of the files that hold some images."""
    query = select(sources.c.location, files.c.path).select_from(files.join(sources).join(icons))
    shows_one = icons.c.image_id.in_(selecting(connection, ids))
    return {(location, path) for location, path in connection.execute(query.where(shows_one))}


def count_by_source(connection: Connection) -> list[RowMapping]:
    """List (given, location, kind, names_language, icons, sets) of every remembered source."""
    return list(
        connection.execute(
            select(
                sources.c.named.label("given"),
                sources.c.location,
                sources.c.kind,
                sources.c.names_language,
                func.count(icons.c.id).label("icons"),
                func.count(icons.c.set_id.distinct()).label("sets"),
            )
            .select_from(sources.outerjoin(sets).outerjoin(icons, icons.c.set_id == sets.c.id))
            .group_by(sources.c.id)
            .order_by(sources.c.id)
        ).mappings()
    )


@dataclass(frozen=True, slots=True)
class ReadSet:
    """A set with names or tags in other languages."""

    set: str
    names: dict[str, int]
    """ISO 639 code -> how many of its names are in that language, most first."""
    tags: tuple[str, ...]
    """Codes of the languages that its tags are in."""
    unread: tuple[str, ...] = ()
    """Its names of which nobody knows a word, in their order."""


def read_sets(connection: Connection, is_unread: Callable[[str], bool] = lambda _: False) -> list[ReadSet]:
    """List the sets with names or tags in other languages, or with names beyond ASCII of which nobody knows a word."""
    n_names = func.count(names.c.id.distinct())
    of_sets = select(icons.c.set_id, names.c.language, n_names).select_from(names.join(icons)).where(names.c.own != "")
    counted = of_sets.group_by(icons.c.set_id, names.c.language).order_by(-n_names, names.c.language)
    counts: dict[int, dict[str, int]] = {}
    for number, language, n in connection.execute(counted):
        counts.setdefault(number, {})[language] = n
    may_be_unread = sets.c.id.in_(list(counts)) | icons.c.name.op("GLOB")("*[^ -~]*")
    of_icons = select(icons.c.set_id, icons.c.name).distinct().select_from(icons.join(names).join(sets))
    unread = defaultdict[int, list[str]](list)
    for row in connection.execute(of_icons.where(names.c.own == "", may_be_unread).order_by(icons.c.name)):
        unread[row.set_id] += [row.name] * is_unread(row.name)
    found = connection.execute(select(sets.c.id, sets.c.key, sets.c.tag_languages).order_by(sets.c.id))
    read = (
        ReadSet(row.key, counts.get(row.id, {}), tuple(row.tag_languages.split()), tuple(unread[row.id]))
        for row in found
    )
    return [one for one in read if one.names or one.tags or one.unread]


def store_run(connection: Connection, counts: Accounting, **facts: str | int) -> None:
    """Write the line of a published run."""
    row = asdict(counts) | facts
    connection.execute(insert(runs).values({column: row[column] for column in row if column in runs.c}))


def last_run(connection: Connection) -> RowMapping | None:
    """Read the line of the last published run."""
    return connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).mappings().first()


def ids_of(connection: Connection, query: Select[Any]) -> Ids:
    """Read a column of ids."""
    return np.fromiter(connection.execute(query).scalars(), dtype=np.int64)


def name_ids(connection: Connection) -> Ids:
    """Ids of the names that icons bear now, ascending."""
    return ids_of(connection, select(icons.c.name_id).distinct().order_by(icons.c.name_id))


def text_ids(connection: Connection) -> Ids:
    """Ids of all words that icons bear or state as a tag now, ascending, and of what these say in English, too.

    What is no name yet gets a row.
    """
    borne = names.c.id.in_(select(icons.c.name_id))
    said = union_all(
        select(icons.c.tags).where(icons.c.tags != ""),
        select(icons.c.english_tags).where(icons.c.english_tags != ""),
        select(names.c.others).where(
            names.c.own != "", names.c.others != "", borne
        ),  # what else a name in another language may say
    )
    parts = dict.fromkeys(part for text in connection.scalars(said) for part in text.split("\n"))
    different = dict.fromkeys(words for part in parts if (words := normalise_tag(part)))
    known = _known(connection)
    if new := [{"words": words} for words in different if words not in known]:
        connection.execute(insert(names), new)
        known = _known(connection)
    return distinct(np.concatenate([name_ids(connection), np.array([known[words] for words in different], np.int64)]))


def _known(connection: Connection) -> dict[str, int]:
    """Ids of the words that stand for themselves."""
    return dict(connection.execute(select(names.c.words, names.c.id).where(names.c.own == "")).all())


def words_of(connection: Connection, ids: Ids) -> Iterator[tuple[int, str]]:
    """Yield (id, words) of each name or tag, by id."""
    query = select(names.c.id, names.c.words).where(names.c.id.in_(selecting(connection, ids)))
    yield from ((number, words) for number, words in connection.execute(query.order_by(names.c.id)))


BATCH = 5000
"""Records a write."""
COMPARED = (
    "set_id", "image_id", "name", "stated_style", "stated_size", "caption", "tags", "categories", "licence",
)  # fmt: skip
"""Columns of an icon that its source decides: a difference in one of them is a change."""
PLACED = ("file_id", "member", *COMPARED)
"""Columns that a moved icon takes over from where it appeared."""


def _ids(connection: Connection, query: Select[Any], column: Column[Any], values: Sequence[Any]) -> dict[Any, int]:
    """Read rows back by the values that they were written with: value -> id."""
    chosen = query.where(column.in_(selecting(connection, values)))
    return dict(connection.execute(chosen.with_only_columns(column, column.table.c.id)).all())


def write_files(connection: Connection, source_id: int, batch: Sequence[FileScan]) -> dict[str, int]:
    """Write the files of a batch; return their ids by path."""
    rows = [
        {"source_id": source_id, "path": scanned.path, "stamp": scanned.stamp, "skipped": scanned.skipped}
        for scanned in batch
    ]
    write_rows(connection, files, rows, by=("source_id", "path"), set_=("stamp", "skipped"))
    query = select(files).where(files.c.source_id == source_id)
    return _ids(connection, query, files.c.path, [scanned.path for scanned in batch])


def write_problems(connection: Connection, file_ids: dict[str, int], batch: Sequence[FileScan]) -> None:
    """Replace what was known to be wrong with the entries of some files."""
    connection.execute(delete(problems).where(problems.c.file_id.in_(selecting(connection, [*file_ids.values()]))))
    rows = [
        {"file_id": file_ids[scanned.path], "member": member, "reason": reason}
        for scanned in batch
        for member, reason in (*scanned.broken, *([("", scanned.error)] if scanned.error else []))
    ]
    write_rows(connection, problems, rows, by=("file_id", "member"))


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
    return _ids(connection, select(images), images.c.digest, distinct)


_CALLED = ("words", "own", "language", "others", "style", "size", "english_tags")
"""Columns of a name and of an icon that say what it is called."""
_OF_NAME, _KEY = _CALLED[:4], _CALLED[:3]
"""Those of its name; those that tell names apart."""


class Namer:
    """Names sets by a dictionary."""

    def __init__(self, connection: Connection, dictionary: Dictionary) -> None:
        self._connection = connection
        self._dictionary = dictionary

    def read_otherwise(self) -> set[int]:
        """Ids of the sets that were read by other rules, another dictionary, or in another language than is stated."""
        query = select(sets.c.id, sets.c.read_by, sources.c.names_language).select_from(sets.join(sources))
        return {row.id for row in self._connection.execute(query) if row.read_by != self._reader(row.names_language)}

    def name(self, set_id: int) -> bool:
        """Read the names and tags of a set, and tell whether what is said of an icon has changed."""
        stated = select(sources.c.names_language).select_from(sets.join(sources)).where(sets.c.id == set_id)
        rows, language = self._icons_of(set_id), str(self._connection.execute(stated).scalar_one())
        tag_languages = set[str]()
        changed = [
            {"icon": row.id, **dict(zip(_CALLED, new, strict=True))}
            for row, new in zip(rows, self._called(rows, language, tag_languages), strict=True)
            if tuple(row[: len(new)]) != new
        ]
        self._write(changed)
        by_whom = {"read_by": self._reader(language), "tag_languages": " ".join(sorted(tag_languages))}
        self._connection.execute(update(sets).where(sets.c.id == set_id).values(by_whom))
        return bool(changed)

    def _icons_of(self, set_id: int) -> Sequence[Any]:
        """Icons of a set: what they are called now, as `_CALLED` has it, and what decides it."""
        of_name = [names.c[column] for column in _OF_NAME]
        now = (*of_name, icons.c.style, icons.c.size, icons.c.english_tags)
        stated = (icons.c.id, icons.c.name, icons.c.stated_style, icons.c.stated_size, icons.c.tags)
        query = select(*now, *stated).select_from(icons.outerjoin(names)).where(icons.c.set_id == set_id)
        return self._connection.execute(query).all()

    def _reader(self, language: str) -> str:
        return f"{RECIPE} {self._dictionary.digest} {language}"

    def _called(self, rows: Sequence[Row[Any]], language: str, tag_languages: set[str]) -> Iterator[tuple[Any, ...]]:
        """Yield what each icon of a set is called, and note the languages of tags."""
        affixes = common_affixes(row.name for row in rows)
        parsed = [parse(row.name, affixes, style=row.stated_style, size=row.stated_size) for row in rows]
        tags = [[tag for stated in row.tags.split("\n") if (tag := normalise_tag(stated))] for row in rows]
        reader = SetReader(
            self._dictionary,
            language=language,
            names=(name.words for name in parsed),
            tags=(tag for some in tags for tag in some),
        )
        for name, some in zip(parsed, tags, strict=True):
            english, languages = reader.tags(some) if some else ((), frozenset[str]())
            tag_languages |= languages
            yield _in_english(reader, name, english_tags="\n".join(english) if languages else "")

    def _write(self, changed: Sequence[dict[str, Any]]) -> None:
        if not changed:
            return
        distinct = dict.fromkeys(tuple(row[column] for column in _OF_NAME) for row in changed)
        rows = [dict(zip(_OF_NAME, values, strict=True)) for values in distinct]
        write_rows(self._connection, names, [row for row in rows if not row["own"]], by=_KEY)
        write_rows(self._connection, names, [row for row in rows if row["own"]], by=_KEY, set_=("others",))
        is_it = [names.c[column] == bindparam(column) for column in _KEY]
        of_words = select(names.c.id).where(*is_it).scalar_subquery()
        of_icon: dict[str, Any] = {column: bindparam(column) for column in ("style", "size", "english_tags")}
        rename = update(icons).where(icons.c.id == bindparam("icon")).values(name_id=of_words, **of_icon)
        self._connection.execute(rename, list(changed))


def _in_english(reader: SetReader, name: Name, *, english_tags: str) -> tuple[Any, ...]:
    """A name as it is, or in English with a style that it states in its own language."""
    read = reader.name(name.words)
    if read is None:
        return name.words, "", "", "", name.style, name.size, english_tags
    style = name.style or read.style
    return read.words, name.words, read.language, "\n".join(read.others), style, name.size, english_tags
