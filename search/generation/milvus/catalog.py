"""The icons behind ids: names, sets and sources out of a fetched file, facts of the whole generation.

The file has the tables of a snapshot, those of icons empty; what is asked of icons is asked of the server.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Positions
from indexer.errors import LibraryError
from indexer.languages.names import parse
from indexer.languages.words import normalise
from indexer.library.foreign import Kind, from_json
from indexer.merging.facets import ROW
from search.generation.backend import IconRow, is_in, numbered_key
from search.generation.milvus.connection import IDS_AT_ONCE, MOST, Connection, Row
from search.generation.milvus.schema import COLUMNS, Values, among, both, in_chunks, spelt, unpacked
from search.generation.snapshot import NAMED, Snapshot

DTYPE = np.dtype([*((name, ROW[name]) for name in ROW.names or ()), ("drawing", np.int64)])
"""A row, and what shows its drawing first."""
N_KEPT = 200_000
"""Rows that are kept: 10 MB."""
Coder = Callable[[str, str], int]
"""Code of a kind's value."""


class IconReader:
    """Reads the rows of a collection of icons."""

    def __init__(self, connection: Connection, collection: str, code: Coder, *, last: int) -> None:
        self.connection = connection
        self.collection = collection
        self._code = code
        self._last = last
        self._kept = np.empty(0, DTYPE)
        self._changing = Lock()

    def rows(self, ids: Ids) -> NDArray[np.void]:
        """Rows of some icons, in their order.

        Raises:
            LibraryError: the server has no such icon.
        """
        distinct = np.unique(ids)
        kept = self._kept
        new = distinct[~is_in(kept["icon"], distinct)]
        if len(new):
            kept = self._keep(self._decode(self.having("id", new)), base=kept)
        if not is_in(kept["icon"], ids).all():
            raise self.connection.lacks_row()
        return kept[np.searchsorted(kept["icon"], ids)]

    def of(self, where: str, fields: Sequence[str] = COLUMNS) -> list[Row]:
        """All rows that an expression finds, by ascending id, however many."""
        found = all_between(self.connection, self.collection, where, fields, (0, self._last))
        return sorted(found, key=lambda row: int(row["id"]))

    def having(self, field: str, values: Values, fields: Sequence[str] = COLUMNS) -> list[Row]:
        """All rows that hold one of some values in a field."""
        return [row for some in in_chunks(values, IDS_AT_ONCE) for row in self.of(among(field, some), fields)]

    def found(self, where: str) -> Ids:
        """Ids of all icons that an expression finds, ascending; their rows are kept."""
        return self.keep(self.of(where))

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending; their rows are kept."""
        return np.sort(self.keep(self.having("image", images)))

    def keep(self, rows: Iterable[Row]) -> Ids:
        """Keep rows that were asked for something else; returns their ids."""
        decoded = self._decode(list(rows))
        self._keep(decoded, base=self._kept)
        return np.asarray(decoded["icon"])

    def _decode(self, rows: Sequence[Row]) -> NDArray[np.void]:
        decoded = np.empty(len(rows), DTYPE)
        for name in ("image", "drawing", "size", "coloured", "animated", "states"):
            decoded[name] = [row[name] for row in rows]
        decoded["icon"] = [row["id"] for row in rows]
        decoded["name"] = [row["name_id"] for row in rows]
        for kind in ("set", "look", "licence"):
            decoded[kind] = [self._code(kind, row[kind]) for row in rows]
        return decoded

    def _keep(self, rows: NDArray[np.void], *, base: NDArray[np.void]) -> NDArray[np.void]:
        """Both, by id, each once; kept for others while they are not too many."""
        joined: NDArray[np.void] = np.concatenate([base, rows])
        joined = joined[np.unique(joined["icon"], return_index=True)[1]]
        with self._changing:
            self._kept = joined if len(joined) <= N_KEPT else rows[np.argsort(rows["icon"])]
        return joined


class FetchedRows:
    """Rows that were read, and a way to what else they bear."""

    def __init__(
        self,
        rows: NDArray[np.void],
        read: Callable[[Ids], list[Row]],
        several: Callable[[str, Sequence[Row]], tuple[Positions, Ids]],
    ) -> None:
        self._rows = rows
        self._read = read
        self._several = several

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return np.ascontiguousarray(self._rows[column])

    def several(self, kind: str) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that the rows bear."""
        return self._several(kind, self._borne)

    @cached_property
    def _borne(self) -> list[Row]:
        """Values of all such kinds, read together."""
        return self._read(self["icon"])


def all_between(
    connection: Connection,
    collection: str,
    where: str,
    fields: Sequence[str],
    ids: tuple[int, int],
    **named: Any,
) -> list[Row]:
    """Rows of a range of ids that an expression finds; where these are more than one answer holds, of its halves."""
    first, last = ids
    bounds = f"id >= {first} and id <= {last}"
    found = connection.query(collection, both(where, bounds), ["id", *fields], **named)
    if len(found) < MOST or first == last:
        return found
    middle = (first + last) // 2
    low = all_between(connection, collection, where, fields, (first, middle), **named)
    return [*low, *all_between(connection, collection, where, fields, (middle + 1, last), **named)]


_HIT = ("name_id", "set_id", "image", "name", "shown")
_SETS = "SELECT sets.id, sets.key, sets.title FROM sets"
_OF_SET = "SELECT author, version, sets.licence, sources.given FROM sets JOIN sources ON sources.id = source_id"
_PICTURES_AT_ONCE = 256
"""Of up to 64 kB."""
_N_NAMES_KEPT = 1_000
"""Names whose icons are kept: one query asks for the same ones several times."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a row says of an icon in JSON, in this order."""

    size: int | None
    licence: str | None
    source: int
    path: str
    member: str


@dataclass(frozen=True, slots=True)
class _Described:
    """What else it says."""

    caption: str | None
    tags: str
    english_tags: str
    categories: str


class MilvusCatalog(Snapshot):
    """A generation's catalog, of which the server holds the icons."""

    def __init__(self, path: Path, connection: Connection, reader: IconReader, pictures: str) -> None:
        super().__init__(path)
        self._asked = connection
        self._reader = reader
        self._pictures = pictures
        self._named = lru_cache(maxsize=_N_NAMES_KEPT)(self._named_on_server)
        self._sets: dict[int, tuple[str, str]] = {row[0]: row[1:] for row in self._connection.execute(_SETS)}
        query = "SELECT id, kind, location FROM sources"
        self._sources: dict[int, tuple[str, str]] = {row[0]: row[1:] for row in self._connection.execute(query)}

    def candidates(self, ids: Ids) -> dict[int, IconRow]:
        """Read icons by id."""
        rows = self._by_id(ids, _HIT)
        words = self._names("words", {row["name_id"] for row in rows})
        return {row["id"]: self._icon_row(row, *words[row["name_id"]]) for row in rows}

    def facts(self, icon: int) -> dict[str, Any]:
        """What the catalog says of an icon beyond what a hit shows."""
        rows = self._by_id(np.array([icon]), ("said", "set_id"))
        if not rows:
            raise self._asked.lacks_row()
        described = asdict(self._read(_Described, rows[0]["said"]))
        author, version, licence, source = self._connection.execute(
            f"{_OF_SET} WHERE sets.id = ?", (rows[0]["set_id"],)
        ).fetchone()
        return {
            "caption": described.pop("caption"),
            **{name: tuple(text.split("\n")) if text else () for name, text in described.items()},
            "author": author,
            "version": version,
            "set_licence": licence,
            "source": source,
        }

    def variants_of(self, set_id: int, name_id: int) -> Ids:
        """Ids of the icons of one set and one name, ascending."""
        return self._reader.found(f"set_id == {set_id} and name_id == {name_id}")

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return self._reader.showing(images)

    def _first_of_set(self, set_key: str, name: str, *, as_words: bool) -> int | None:
        called = among("name_id", self._ids_of_names(normalise(name))) if as_words else f"name == {_text(name)}"
        return self._first(both(f"set == {_text(set_key)}", called))

    def spelt(self, name: str) -> int | None:
        """Id of the first icon whose name is spelt so; those of its words are looked at first."""
        is_it, names = f"name == {_text(name)}", self._ids_of_names(normalise(name))
        found = self._first(both(among("name_id", names), is_it)) if names else None
        return self._first(is_it) if found is None else found

    def key_of(self, icon: int) -> str | None:
        """Spell the key of an icon that shares its set and name with another."""
        rows = self._by_id(np.array([icon]), ("set_id", "name"))
        return numbered_key(self._sets[rows[0]["set_id"]][0], rows[0]["name"], icon) if rows else None

    def names_of(self, ids: Ids | None = None) -> list[str]:
        """Names of some icons whose ids ascend, as their sources spell them; in that order."""
        assert ids is not None, "the names of all icons are more than a server hands out"
        return [row["name"] for row in self._by_id(ids, ("name",))]

    def named(self, words: str) -> Ids:
        """Ids of the icons that bear exactly this name, or one that says just this in another language."""
        return self._named(words)

    def _named_on_server(self, words: str) -> Ids:
        names = self._ids_of_names(words)
        return self._reader.found(among("name_id", names)) if names else np.empty(0, np.int64)

    def called(self, sets: Sequence[str], name: str) -> Ids:
        """Ids of the icons of some sets whose name is spelt so, else is the same words, its style included."""
        of_sets = f"set in {spelt(sets)}"
        found = self._reader.found(both(of_sets, f"name == {_text(name)}"))
        if len(found):
            return found
        words = normalise(name)
        names = [*self._ids_of_names(words), *self._ids_of_names(parse(name).words)]
        rows = self._reader.of(both(of_sets, among("name_id", names)), ("name", "name_id")) if names else []
        known = self._names("words, own", {row["name_id"] for row in rows})
        is_it = (words in (normalise(row["name"]), *known[row["name_id"]]) for row in rows)
        return np.array([row["id"] for row, is_said in zip(rows, is_it, strict=True) if is_said], np.int64)

    def names_in(self, key: str) -> list[str]:
        """Names of a set's icons as they are spelt, each once."""
        return sorted({row["name"] for row in self._reader.of(f"set == {_text(key)}", ("name",))})

    def digests(self, images: Sequence[int]) -> dict[int, bytes]:
        """Digests of the contents that pictures were rendered from, by id."""
        distinct = np.unique(np.array(images, np.int64))
        rows = self._asked.query_among(self._pictures, "id", distinct, ["id", "content"])
        found = {row["id"]: bytes.fromhex(row["content"]) for row in rows}
        if found.keys() != set(images):
            raise self._asked.lacks_row()
        return found

    def contents(self, images: Sequence[int]) -> dict[int, bytes]:
        """Pictures that the server holds, by id."""
        distinct = np.unique(np.array(images, np.int64))
        rows = self._asked.query_among(self._pictures, "id", distinct, ["id", "picture"], most=_PICTURES_AT_ONCE)
        found = ((row["id"], unpacked(row["picture"])) for row in rows)
        return {image: content for image, content in found if content is not None}

    def variants(self, groups: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """Ids and names of all icons of some (set id, name id) groups, by id."""
        names = np.unique(np.array([name for _, name in groups], np.int64))
        sets = among("set_id", sorted({group[0] for group in groups}))
        found: dict[tuple[int, int], list[tuple[int, str]]] = {group: [] for group in groups}
        for chunk in in_chunks(names, IDS_AT_ONCE):
            for row in self._reader.of(both(sets, among("name_id", chunk)), ("set_id", "name_id", "name")):
                if (group := (row["set_id"], row["name_id"])) in found:
                    found[group].append((row["id"], row["name"]))
        return found

    def keys_near(self, key: str) -> list[str]:
        """Keys of a few icons whose names are like that of `key`, from its set where that is known."""
        set_key, _, name = key.rpartition(":")
        if set_key in {known for known, _ in self._sets.values()}:
            rows = self._reader.of(f"set == {_text(set_key)}", ("set", "name"))
        else:
            names = self._names_near(normalise(name[:200]) or name[:200])
            rows = self._reader.of(among("name_id", names), ("set", "name"))
        return self._keys_like(name, [(f"{row['set']}:{row['name']}", row["name"]) for row in rows])

    def _by_id(self, ids: Ids, fields: Sequence[str]) -> list[Row]:
        """Rows of some icons by ascending id; none of those that are not there."""
        return self._reader.having("id", np.unique(ids), fields)

    def _first(self, where: str) -> int | None:
        """The least id that an expression finds."""
        return next((row["id"] for row in self._reader.of(where, ())), None)

    def _icon_row(self, row: Row, words: str) -> IconRow:
        shown = self._read(_Shown, row["shown"])
        if row["set_id"] not in self._sets or shown.source not in self._sources:
            raise self._asked.lacks_row()
        named = row["name"], words, *self._sets[row["set_id"]]
        place = *self._sources[shown.source], shown.path, shown.member
        return IconRow(
            row["id"], row["set_id"], row["name_id"], row["image"], *named, shown.size, shown.licence, *place
        )

    def _read(self, kind: type[Kind], text: str) -> Kind:
        try:
            return from_json(kind, text)
        except ValueError as error:
            raise LibraryError(
                f'"{self._asked.spelling}" says of an icon what can\'t be read ({error}); `icons doctor` examines it'
            ) from error

    def _ids_of_names(self, words: str) -> list[int]:
        return [row[0] for row in self._connection.execute(NAMED, (words,))]

    def _names(self, columns: str, names: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """Some columns of some names, by id."""
        found = self._rows_of(f"SELECT id, {columns} FROM names WHERE id IN ({{marks}})", list(names))
        return {row[0]: row[1:] for row in found}


def _text(text: str) -> str:
    return spelt([text])[1:-1]
