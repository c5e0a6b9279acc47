"""Names the icons of a set. Its names are read together: what all of them share says nothing, and only all of
them tell which language they are in. Tags are read beside them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, select, update

from indexer.catalog.database import icons, names, sets, sources
from indexer.catalog.writer import write_rows
from indexer.languages.dictionary import Dictionary
from indexer.languages.names import Name, common_affixes, parse
from indexer.languages.own_names import RECIPE, Judge, SetReader
from indexer.languages.words import normalise_tag

_OF_NAME = ("words", "own", "language", "others")
_KEY = ("words", "own", "language")
"""Columns that name one row."""


class _Called(NamedTuple):
    """What an icon is called, as columns of its name and its own."""

    words: str
    own: str
    language: str
    others: str
    style: str | None
    size: int | None
    english_tags: str


class Namer:
    """Names sets by a dictionary."""

    def __init__(self, connection: Connection, dictionary: Dictionary) -> None:
        self._connection = connection
        self._dictionary = dictionary
        self._judge = Judge(dictionary)

    def read_otherwise(self) -> set[int]:
        """Ids of the sets that were read by other rules, another dictionary, or in another language than is stated."""
        query = select(sets.c.id, sets.c.read_by, sources.c.names_language).select_from(sets.join(sources))
        return {row.id for row in self._connection.execute(query) if row.read_by != self._reader(row.names_language)}

    def name(self, set_id: int) -> bool:
        """Read the names and tags of a set, and tell whether what is said of an icon has changed."""
        rows, language = self._icons_of(set_id), self._language_of(set_id)
        tag_languages = set[str]()
        changed = [
            {"icon": row.id, **new._asdict()}
            for row, new in zip(rows, self._called(rows, language, tag_languages), strict=True)
            if tuple(row[: len(new)]) != new
        ]
        self._write(changed)
        by_whom = {"read_by": self._reader(language), "tag_languages": " ".join(sorted(tag_languages))}
        self._connection.execute(update(sets).where(sets.c.id == set_id).values(by_whom))
        return bool(changed)

    def _icons_of(self, set_id: int) -> Sequence[Row[Any]]:
        """Icons of a set: what they are called now, as `_Called` has it, and what decides it."""
        now = (*(names.c[column] for column in _OF_NAME), icons.c.style, icons.c.size, icons.c.english_tags)
        stated = (icons.c.id, icons.c.name, icons.c.stated_style, icons.c.stated_size, icons.c.tags)
        query: Select[Any] = select(*now, *stated).select_from(icons.outerjoin(names))
        return self._connection.execute(query.where(icons.c.set_id == set_id)).all()

    def _language_of(self, set_id: int) -> str:
        """The language that is stated for a set's source."""
        query = select(sources.c.names_language).select_from(sets.join(sources)).where(sets.c.id == set_id)
        return str(self._connection.execute(query).scalar_one())

    def _reader(self, language: str) -> str:
        return f"{RECIPE} {self._dictionary.digest} {language}"

    def _called(self, rows: Sequence[Row[Any]], language: str, tag_languages: set[str]) -> Iterator[_Called]:
        """Yield what each icon of a set is called, and note the languages of tags."""
        affixes = common_affixes(row.name for row in rows)
        parsed = [parse(row.name, affixes, style=row.stated_style, size=row.stated_size) for row in rows]
        tags = [_tags_of(row) for row in rows]
        reader = SetReader(
            self._dictionary,
            self._judge,
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
        distinct = {tuple(row[column] for column in _OF_NAME): None for row in changed}
        rows = [dict(zip(_OF_NAME, values, strict=True)) for values in distinct]
        write_rows(self._connection, names, [row for row in rows if not row["own"]], by=_KEY)
        write_rows(self._connection, names, [row for row in rows if row["own"]], by=_KEY, set_=("others",))
        is_it = [names.c[column] == bindparam(column) for column in _KEY]
        of_words = select(names.c.id).where(*is_it).scalar_subquery()
        rename = update(icons).where(icons.c.id == bindparam("icon")).values(name_id=of_words)
        rename = rename.values(style=bindparam("style"), size=bindparam("size"), english_tags=bindparam("english_tags"))
        self._connection.execute(rename, list(changed))


def _tags_of(row: Row[Any]) -> list[str]:
    return [tag for stated in row.tags.split("\n") if (tag := normalise_tag(stated))] if row.tags else []


def _in_english(reader: SetReader, name: Name, *, english_tags: str) -> _Called:
    """A name as it is, or in English with a style that it states in its own language."""
    read = reader.name(name.words)
    if read is None:
        return _Called(name.words, "", "", "", name.style, name.size, english_tags)
    style = name.style or read.style
    return _Called(read.words, name.words, read.language, "\n".join(read.others), style, name.size, english_tags)
