"""The icons behind ids, and the nearest vectors: names, sets and sources out of a fetched file, the rest of a server.

The file has the tables of a snapshot, those of icons empty; what is asked of icons is asked of the server. Neighbours
are looked for in a collection by its own name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indexer.arrays import Floats, Ids, in_chunks
from indexer.errors import LibraryError
from indexer.languages.words import normalise, parse
from indexer.library.foreign import from_json
from indexer.merging.vector_index import Neighbours
from search.generation.backend import IconRow, Selection, numbered_key
from search.generation.milvus.connection import (
    EXACT_UP_TO,
    IDS_AT_ONCE,
    MOST,
    SECONDS,
    VECTOR,
    Connection,
    Row,
    among,
    both,
    spelt,
    unpacked,
)
from search.generation.milvus.table import MilvusTable, Where
from search.generation.snapshot import LISTED, NAMED, Snapshot, lines

_HIT = ("name_id", "set_id", "image", "name", "shown")
_SETS = "SELECT sets.id, sets.key, sets.title FROM sets"
_OF_SET = "SELECT author, version, sets.licence, sources.given FROM sets JOIN sources ON sources.id = source_id"
_PICTURES_AT_ONCE = 256
"""Of up to 64 kB."""


_Shown = tuple[int | None, str | None, int, str, str]
"""What a row says of an icon in JSON: size, licence, source, path, member."""
_Described = tuple[str | None, str, str, str]
"""What else it says: caption, tags, tags in English, categories."""


class MilvusCatalog(Snapshot):
    """A generation's catalog, of which the server holds the icons."""

    def __init__(self, path: Path, table: MilvusTable) -> None:
        super().__init__(path)
        self._asked = table.connection
        self._table = table
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
        caption, *texts = self._read(_Described, rows[0]["said"])
        lists = zip(("tags", "english_tags", "categories"), map(lines, texts), strict=True)
        author, version, licence, source = self._connection.execute(
            f"{_OF_SET} WHERE sets.id = ?", (rows[0]["set_id"],)
        ).fetchone()
        return {
            "caption": caption,
            **dict(lists),
            "author": author,
            "version": version,
            "set_licence": licence,
            "source": source,
        }

    def variants_of(self, set_id: int, name_id: int) -> Ids:
        """Ids of the icons of one set and one name, ascending."""
        return self._table.found(f"set_id == {set_id} and name_id == {name_id}")

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return self._table.showing(images)

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

    def _named(self, words: str) -> Ids:
        names = self._ids_of_names(words)
        return self._table.found(among("name_id", names)) if names else np.empty(0, np.int64)

    def called(self, sets: Sequence[str], name: str) -> Ids:
        """Ids of the icons of some sets whose name is spelt so, else is the same words, its style included."""
        of_sets = f"set in {spelt(sets)}"
        found = self._table.found(both(of_sets, f"name == {_text(name)}"))
        if len(found):
            return found
        words = normalise(name)
        names = [*self._ids_of_names(words), *self._ids_of_names(parse(name).words)]
        rows = self._table.query(both(of_sets, among("name_id", names)), ("name", "name_id")) if names else []
        known = self._names("words, own", {row["name_id"] for row in rows})
        is_it = (words in (normalise(row["name"]), *known[row["name_id"]]) for row in rows)
        return np.array([row["id"] for row, is_said in zip(rows, is_it, strict=True) if is_said], np.int64)

    def names_in(self, key: str) -> list[str]:
        """Names of a set's icons as they are spelt, each once."""
        return sorted({row["name"] for row in self._table.query(f"set == {_text(key)}", ("name",))})

    def digests(self, images: Sequence[int]) -> dict[int, bytes]:
        """Digests of the contents that pictures were rendered from, by id."""
        rows = self._asked.rows_of(self._table.pictures, np.unique(np.array(images, np.int64)), ["content"])
        return {row["id"]: bytes.fromhex(row["content"]) for row in rows}

    def contents(self, images: Sequence[int]) -> dict[int, bytes]:
        """Pictures that the server holds, by id."""
        distinct = np.unique(np.array(images, np.int64))
        rows = self._asked.rows_of(self._table.pictures, distinct, ["picture"], most=_PICTURES_AT_ONCE)
        found = ((row["id"], unpacked(row["picture"])) for row in rows)
        return {image: content for image, content in found if content is not None}

    def variants(self, groups: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """Ids and names of all icons of some (set id, name id) groups, by id."""
        names = np.unique(np.array([name for _, name in groups], np.int64))
        sets = among("set_id", sorted({group[0] for group in groups}))
        found: dict[tuple[int, int], list[tuple[int, str]]] = {group: [] for group in groups}
        for chunk in in_chunks(names, IDS_AT_ONCE):
            for row in self._table.query(both(sets, among("name_id", chunk)), ("set_id", "name_id", "name")):
                if (group := (row["set_id"], row["name_id"])) in found:
                    found[group].append((row["id"], row["name"]))
        return found

    def keys_near(self, key: str) -> list[str]:
        """Keys of a few icons whose names are like that of `key`, from its set where that is known."""
        set_key, _, name = key.rpartition(":")
        if set_key in {known for known, _ in self._sets.values()}:
            rows = self._table.query(f"set == {_text(set_key)}", ("set", "name"))
        else:
            names = self._names_near(normalise(name[:200]) or name[:200])
            rows = self._table.query(among("name_id", names), ("set", "name"))
        return self._keys_like(name, [(f"{row['set']}:{row['name']}", row["name"]) for row in rows])

    def _by_id(self, ids: Ids, fields: Sequence[str]) -> list[Row]:
        """Rows of some icons by ascending id; none of those that are not there."""
        return self._table.having("id", np.unique(ids), fields)

    def _first(self, where: str) -> int | None:
        """The least id that an expression finds."""
        return next((row["id"] for row in self._table.query(where, ())), None)

    def _icon_row(self, row: Row, words: str) -> IconRow:
        size, licence, source, *place = self._read(_Shown, row["shown"])
        if row["set_id"] not in self._sets or source not in self._sources:
            raise self._asked.lacks_row()
        named = row["name"], words, *self._sets[row["set_id"]]
        ids = row["id"], row["set_id"], row["name_id"], row["image"]
        return IconRow(*ids, *named, size, licence, *self._sources[source], *place)

    def _read(self, kind: Any, text: str) -> Any:
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
        found = self._rows_of(f"SELECT id, {columns} FROM names WHERE id IN ({LISTED})", list(names))
        return {row[0]: row[1:] for row in found}


def _text(text: str) -> str:
    return spelt([text])[1:-1]


GRAPH_WIDTH = 512
"""Neighbours that a walk through the graph keeps in view at least (ef)."""
WIDER = 2.0
"""... and for each neighbour that is asked for. This makes up for a graph that was built quickly (`GRAPH`)."""
_QUERIES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class VectorKind:
    """How a collection keeps its vectors."""

    dim: int
    is_half: bool
    """Whether in half precision."""


class MilvusVectors:
    """The vectors of one collection."""

    def __init__(self, connection: Connection, collection: str, n: int, *, kind: VectorKind) -> None:
        self._connection = connection
        self._collection = collection
        self._n = n
        self._kind = kind
        self.fields: Sequence[str] = ()
        """What is read of each neighbour beside its id, for `keep`."""
        self.keep: Callable[[Sequence[Row]], object] = len
        self.seconds = SECONDS
        """For one answer."""

    @property
    def most(self) -> int:
        """Neighbours that the server can be asked for at once."""
        return MOST

    def __len__(self) -> int:
        return self._n

    def search(self, query: Floats, *, k: int, only: Selection | None = None, is_rough: bool = False) -> Neighbours:
        """The `k` nearest, best first; equal ones by id. A server knows no rough search."""
        return self.search_many(query[None], k=k, only=only)[0]

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several vectors."""
        assert only is None or isinstance(only, Where)
        k = min(k, MOST, self._n)
        if k <= 0:
            return [Neighbours(np.empty(0, np.float32), np.empty(0, np.int64), -np.inf) for _ in queries]
        asked: dict[str, Any] = {"k": k, "output_fields": list(self.fields), "seconds": self.seconds}
        asked["filter"] = "" if only is None else only.expression
        asked["ef"] = max(round(WIDER * k), GRAPH_WIDTH) if self._n > EXACT_UP_TO else 0
        found: list[Neighbours] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            vectors = list(some.astype(np.float16)) if self._kind.is_half else some.tolist()
            for hits in self._connection.search(self._collection, vectors, **asked):
                self.keep([{"id": hit["id"], **hit["entity"]} for hit in hits])
                found.append(self._neighbours(hits, k))
        return found

    def reconstruct(self, ids: Ids) -> Floats:
        """The vectors of some ids, in their order.

        Raises:
            LibraryError: the server has no such id.
        """
        # One answer holds 64 MB at most.
        rows = self._connection.rows_of(self._collection, ids, [VECTOR], most=IDS_AT_ONCE // 4)
        return np.array([as_floats(row[VECTOR]) for row in rows], np.float32).reshape(-1, self._kind.dim)

    def _neighbours(self, hits: Sequence[Row], k: int) -> Neighbours:
        scores = np.array([hit["distance"] for hit in hits], np.float32)
        ids = np.array([hit["id"] for hit in hits], np.int64)
        order = np.lexsort((ids, -scores))
        is_all = len(hits) < k or k >= self._n
        return Neighbours(scores[order], ids[order], -np.inf if is_all else float(scores.min(initial=np.inf)))


def as_floats(stored: Any) -> Floats:
    """A vector as it comes: floats, or the bytes of halves."""
    if isinstance(stored, bytes) or (len(stored) == 1 and isinstance(stored[0], bytes)):
        return np.frombuffer(stored if isinstance(stored, bytes) else stored[0], np.float16).astype(np.float32)
    return np.asarray(stored, np.float32)
