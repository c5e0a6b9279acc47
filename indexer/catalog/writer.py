"""Records become rows: writes a batch's files, sets, images and icons, and names the icons of a set.

The names of a set are read together: what all of them share says nothing, and only all of them tell which language they
are in. Tags are read beside them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any

from sqlalchemy import Column, Connection, Row, Select, bindparam, delete, select, update

from indexer.catalog.database import files, icons, images, names, problems, selecting, sets, sources, write_rows
from indexer.languages.dictionary import Dictionary
from indexer.languages.own_names import RECIPE, SetReader
from indexer.languages.words import Name, common_affixes, normalise_tag, parse
from indexer.sources.records import FileScan, IconSet

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
