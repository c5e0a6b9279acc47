"""The icons behind ids: reads a generation's catalog, never writes it.

Plain sqlite3: SQLAlchemy alone would take a third of the time of a cold search. The tables are `catalog.database`'s.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids
from indexer.errors import UnknownIconError, explain_unreadable
from indexer.languages.words import normalise, parse
from search.generation.backend import IconRow, SetRow, numbered_key
from search.query import is_late

LISTED = "SELECT value FROM json_each(?)"
"""Any number of values, which come as a list of JSON: SQLite takes 32,766 by themselves at most."""
_CANDIDATES = f"""
    SELECT icons.id, icons.set_id, icons.name_id, icons.image_id, icons.name, names.words, sets.key, sets.title,
        icons.size, COALESCE(icons.licence, sets.licence), sources.kind, sources.location, files.path,
        icons.member
    FROM icons JOIN names ON names.id = icons.name_id JOIN sets ON sets.id = icons.set_id
    JOIN files ON files.id = icons.file_id JOIN sources ON sources.id = files.source_id
    WHERE icons.id IN ({LISTED})
"""

_FACTS = {
    "caption": "icons.caption",
    "tags": "icons.tags",
    "english_tags": "icons.english_tags",
    "categories": "icons.categories",
    "author": "sets.author",
    "version": "sets.version",
    "set_licence": "sets.licence",
    "source": "sources.given",
}
"""Fields of `search.query.Details`, and the columns that say them."""

NAMED = "SELECT id FROM names WHERE words = ?1 UNION ALL SELECT id FROM names WHERE own = ?1 AND own <> ''"
"""Ids of the names that are some words, in English or as they are written."""
_MATCHING = f"""
    SELECT rowid, bm25(keywords) AS cost FROM keywords WHERE keywords MATCH ?2
    ORDER BY rowid IN ({NAMED}) DESC, cost, rowid LIMIT ?3
"""

_LONGEST_SPELLING = 200
_LEAST_LIKENESS = 60
"""Per cent of the letters of two names that have to be the same ones in the same order."""
_LONGER = 1.5
"""How many times as long, or as short, a near name may be: others, of which there may be 100,000, are not read."""
_N_NAMES_NEAR = 30
"""Names whose icons are looked at: several icons that bear one are spelt in several ways."""
_MOST_COLONS = 8
"""Of a key, at which it may fall into set and name: both may have some."""
_N_NAMED_KEPT = 10_000
"""Names whose icons are kept: one query asks for the same ones several times, and for those of its synonyms, which
queries share. An icon has one name, so that all of them are a few megabytes."""
_STEPS_BETWEEN_LOOKS = 2_000
"""Of SQLite's machine; whether anybody waits for the answer is looked at some thousand times a second."""


class Snapshot:
    """A generation's catalog, opened for reading only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with explain_unreadable(f'"{path}"', "`icons index` builds a new generation", damages=sqlite3.Error):
            self._uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            self._of_thread = threading.local()
            self.named = lru_cache(maxsize=_N_NAMED_KEPT)(self._named)
            """Ids of the icons that bear exactly this name, or one that says just this in another language."""
            self._connection.execute("SELECT 1 FROM icons LIMIT 1").fetchone()

    @property
    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread: one that is shared would make threads wait for each other."""
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = sqlite3.connect(self._uri, uri=True, check_same_thread=False)
            connection.set_progress_handler(is_late, _STEPS_BETWEEN_LOOKS)
        return connection

    def identity(self) -> tuple[str, int, int]:
        """The id of its library, the revision of the catalog that it is of, and the id of its last icon."""
        query = "SELECT key, value FROM settings WHERE key IN ('library', 'revision')"
        settings = dict(self._connection.execute(query))
        (last_icon,) = self._connection.execute("SELECT MAX(id) FROM icons").fetchone()
        return settings.get("library", ""), int(settings.get("revision", 0)), last_icon

    def icon(self, icon: int) -> IconRow:
        """Read one icon.

        Raises:
            UnknownIconError: there is none of this id.
        """
        found = self.candidates(np.array([icon])) if isinstance(icon, int | np.integer) and abs(icon) < 2**63 else {}
        if icon not in found:
            raise UnknownIconError(f'no icon has the id "{icon}"; `icons search` finds one by words')
        return found[icon]

    def facts(self, icon: int) -> dict[str, Any]:
        """Read what the catalog says of an icon beyond what a hit shows, by the fields of `search.query.Details`."""
        joined = "icons JOIN sets ON sets.id = icons.set_id JOIN sources ON sources.id = sets.source_id"
        query = f"SELECT {', '.join(_FACTS.values())} FROM {joined} WHERE icons.id = ?"
        found = dict(zip(_FACTS, self._connection.execute(query, (icon,)).fetchone(), strict=True))
        return found | {name: lines(found[name]) for name in ("tags", "english_tags", "categories")}

    def reading_of(self, name_id: int) -> tuple[str, str, tuple[str, ...]] | None:
        """How a name was read: its language, in English, and what else it may say; None where it was not."""
        query = "SELECT language, words, others FROM names WHERE id = ? AND own <> ''"
        row = self._connection.execute(query, (name_id,)).fetchone()
        return row and (row[0], row[1], lines(row[2]))

    def variants_of(self, set_id: int, name_id: int) -> Ids:
        """Ids of the icons of one set and one name, ascending."""
        query = "SELECT id FROM icons WHERE set_id = ? AND name_id = ? ORDER BY id"
        return _ids(self._connection.execute(query, (set_id, name_id)))

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return np.sort(_ids(self._rows_of(f"SELECT id FROM icons WHERE image_id IN ({LISTED})", images.tolist())))

    def with_key(self, key: str, *, as_words: bool) -> int | None:
        """Id of the first icon of a set and name ("mdi:home"), the name as it is spelt, or by its words."""
        for place in [place for place, sign in enumerate(key) if sign == ":"][:_MOST_COLONS]:
            if (found := self._first_of_set(key[:place], key[place + 1 :], as_words=as_words)) is not None:
                return found
        return None

    def _first_of_set(self, set_key: str, name: str, *, as_words: bool) -> int | None:
        is_it, spelt = (f"name_id IN ({NAMED})", normalise(name)) if as_words else ("icons.name = ?1", name)
        query = f"""SELECT icons.id FROM icons
            WHERE set_id IN (SELECT id FROM sets WHERE key = ?2) AND {is_it} ORDER BY icons.id LIMIT 1"""
        return self._first_id(query, spelt, set_key)

    def spelt(self, name: str) -> int | None:
        """Id of the first icon whose name is spelt so; those of its words are looked at first, which is quick."""
        query = "SELECT icons.id FROM icons WHERE {among}icons.name = ? ORDER BY icons.id LIMIT 1"
        found = self._first_id(query.format(among=f"name_id IN ({NAMED}) AND "), normalise(name), name)
        return self._first_id(query.format(among=""), name) if found is None else found

    def _first_id(self, query: str, *values: str) -> int | None:
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else int(row[0])

    def key_of(self, icon: int) -> str | None:
        """Spell the key of an icon that shares its set and name with another: "mdi:home#123"; None if there is none."""
        query = "SELECT sets.key, icons.name FROM icons JOIN sets ON sets.id = set_id WHERE icons.id = ?"
        row = self._connection.execute(query, (icon,)).fetchone()
        return numbered_key(row[0], row[1], icon) if row else None

    def keys_near(self, key: str) -> list[str]:
        """Keys of a few icons whose names are like that of `key`, from its set where that is known."""
        set_key, _, name = key.rpartition(":")
        name = name[:_LONGEST_SPELLING]
        known = {row[0] for row in self._connection.execute("SELECT DISTINCT key FROM sets")}
        query = "SELECT sets.key, icons.name FROM icons JOIN sets ON sets.id = set_id WHERE {where} ORDER BY icons.id"
        where, values = "sets.key = ?", list[Any]([set_key])
        if set_key not in known:
            values = self._names_near(normalise(name) or name)
            where = f"name_id IN ({','.join('?' * len(values))})"
        found = self._connection.execute(query.format(where=where), values)
        return self._keys_like(name, ((f"{key}:{icon}", icon) for key, icon in found))

    def _keys_like(self, name: str, keys: Iterable[tuple[str, str]]) -> list[str]:
        """Those of some keys (with their names) whose names are spelt most like one."""
        from rapidfuzz import fuzz, process  # only where a key is unknown

        found = process.extract(name, dict(keys), scorer=fuzz.ratio, limit=5, score_cutoff=_LEAST_LIKENESS)
        return [key for _, _, key in found]

    def _names_near(self, words: str) -> list[int]:
        """Ids of the names that are spelt most alike, of those that are about as long."""
        from rapidfuzz import fuzz, process

        written = "CASE own WHEN '' THEN words ELSE own END"
        query = f"SELECT id, {written} AS written FROM names WHERE length(written) BETWEEN ? AND ?"
        names = dict(self._connection.execute(query, (len(words) / _LONGER, len(words) * _LONGER)))
        near = process.extract(words, names, scorer=fuzz.ratio, limit=_N_NAMES_NEAR, score_cutoff=_LEAST_LIKENESS)
        return [name for _, _, name in near]

    def candidates(self, ids: Ids) -> dict[int, IconRow]:
        """Read icons by id."""
        return {row[0]: IconRow(*row) for row in self._rows_of(_CANDIDATES, ids.tolist())}

    def _named(self, words: str) -> Ids:
        return _ids(self._connection.execute(f"SELECT id FROM icons WHERE name_id IN ({NAMED})", (words,)))

    def called(self, sets: Sequence[str], name: str) -> Ids:
        """Ids of the icons of some sets whose name is spelt so, else is the same words, its style included."""
        of_sets = (
            f"SELECT icons.id FROM icons JOIN sets ON sets.id = set_id WHERE sets.key IN ({','.join('?' * len(sets))})"
        )
        spelt = _ids(self._connection.execute(f"{of_sets} AND icons.name = ?", (*sets, name)))
        if len(spelt):
            return spelt
        query = f"""SELECT icons.id, icons.name, names.words, own FROM names JOIN icons ON icons.name_id = names.id
            JOIN sets ON sets.id = set_id WHERE name_id IN ({NAMED} UNION ALL {NAMED.replace("?1", "?2")})
            AND sets.key IN ({",".join("?" * len(sets))})"""
        words = normalise(name)
        found = self._connection.execute(query, (words, parse(name).words, *sets))
        return _ids((icon,) for icon, spelt, *named in found if words in (normalise(spelt), *named))

    def tag_code(self, words: str) -> int | None:
        """Code of a tag in the words of a query."""
        return self._first_id("SELECT code FROM labels WHERE kind = 'tag' AND value = ?", words)

    def vocabulary(self) -> dict[str, int]:
        """Every word of two letters or more that a name, tag or category holds, and how many names bear it."""
        return dict(self._connection.execute("SELECT term, doc FROM vocabulary WHERE length(term) > 1"))

    def matching(self, query: str, words: str, *, most: int) -> tuple[Ids, NDArray[np.float32]]:
        """Ids of the names that a keyword query (`search.words.wording`) matches, and the merit of each, best first.

        What is called by all the `words` comes before them: of "person" more than `most` names say it as often.
        """
        found = self._connection.execute(_MATCHING, (words, query, most)).fetchall()
        return np.array([row[0] for row in found], np.int64), np.array([-row[1] for row in found], np.float32)

    def all_icons(self) -> Iterator[tuple[int, int, int, int, str]]:
        """Yield (id, set id, name id, image id, name) of every icon, by id."""
        yield from self._connection.execute("SELECT id, set_id, name_id, image_id, name FROM icons ORDER BY id")

    def all_words(self) -> dict[int, str]:
        """Words of every name, by id."""
        return dict(self._connection.execute("SELECT id, words FROM names"))

    def sets(self) -> list[SetRow]:
        """Read all sets: of those with one key the first comes last."""
        query = """SELECT sets.key, sets.title, sets.licence, version, author, location
            FROM sets JOIN sources ON sources.id = source_id ORDER BY sets.id DESC"""
        return [SetRow(*row) for row in self._connection.execute(query)]

    def names_in(self, key: str) -> list[str]:
        """Names of a set's icons as they are spelt, each once."""
        query = "SELECT DISTINCT icons.name FROM icons JOIN sets ON sets.id = set_id WHERE sets.key = ? ORDER BY 1"
        return [name for (name,) in self._connection.execute(query, (key,))]

    def set_keys(self) -> dict[int, str]:
        """Key of every set, by id."""
        return dict(self._connection.execute("SELECT id, key FROM sets"))

    def locations(self) -> set[str]:
        """Where the sources lie that icons come from."""
        return {row[0] for row in self._connection.execute("SELECT location FROM sources")}

    def digests(self, images: Sequence[int]) -> dict[int, bytes]:
        """Digests of the contents that pictures were rendered from, by id."""
        return dict(self._rows_of(f"SELECT id, digest FROM images WHERE id IN ({LISTED})", images))

    def contents(self, images: Sequence[int]) -> dict[int, bytes]:
        """Pictures that lie beside the catalog, by id: none, as they are read where the sources lie."""
        return {}

    def variants(self, groups: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """Ids and names of all icons of some (set id, name id) groups, by id."""
        # CROSS JOIN fixes the order: the few groups first. Asked with IN, SQLite walks the whole index instead.
        groups_first = "SELECT json_extract(value, '$[0]') AS set_id, json_extract(value, '$[1]') AS name_id"
        joined = f"({groups_first} FROM json_each(?)) CROSS JOIN icons USING (set_id, name_id)"
        query = f"SELECT set_id, name_id, id, name FROM {joined} ORDER BY id"
        found: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for set_id, name_id, icon, name in self._rows_of(query, groups):
            found.setdefault((set_id, name_id), []).append((icon, name))
        return found

    def _rows_of(self, query: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Put a query for some values, which are `LISTED`."""
        return self._connection.execute(query, (json.dumps(values),))

    @cached_property
    def second_sets(self) -> frozenset[int]:
        """Ids of the sets whose key an earlier set has already: two sources may call a set alike."""
        query = "SELECT id FROM sets WHERE id NOT IN (SELECT MIN(id) FROM sets GROUP BY key)"
        return frozenset(row[0] for row in self._connection.execute(query))


def lines(text: str) -> tuple[str, ...]:
    """What a field lists, a line each."""
    return tuple(text.split("\n")) if text else ()


def _ids(rows: Iterable[tuple[int]]) -> Ids:
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64)
