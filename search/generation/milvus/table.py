"""The icons of a generation on a server: filtered there, their rows read and counted here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions, in_chunks, is_in
from indexer.errors import LibraryError, UnsupportedError, explain_unreadable
from indexer.library.folder import ORDERS
from indexer.library.foreign import from_json
from indexer.merging.facets import NONE, ROW, SEVERAL, places_by_name
from indexer.merging.lexicon import Lexicon, says_all
from search.generation.backend import Ability, Arranged, IconTable, Selection, SetFacts
from search.generation.milvus.connection import (
    COLUMNS,
    IDS_AT_ONCE,
    MOST,
    OF_PICTURES,
    Connection,
    Row,
    Values,
    among,
    any_of,
    both,
    spelt,
)
from search.query import Filters, Sort


@dataclass(frozen=True, slots=True)
class BrowsedHits:
    """All icons as they are browsed."""

    first: tuple[int, ...]
    """Ids of the first hits."""
    n: int
    """Of all hits."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was computed of all icons when the generation was published."""

    last: int
    """The greatest id of an icon."""
    last_name: int
    """... and of a name."""
    sets: tuple[SetFacts, ...]
    orders: tuple[tuple[BrowsedHits, BrowsedHits], tuple[BrowsedHits, BrowsedHits], tuple[BrowsedHits, BrowsedHits]]
    """`ORDERS` in which icons are browsed: one hit for variants and equal drawings, then one for each icon."""

    @classmethod
    def read(cls, path: Path) -> "Facts":
        """Read it.

        Raises:
            LibraryError: it can't be read.
        """
        with explain_unreadable(f'"{path}"', "delete it, and it is fetched again"):
            return from_json(cls, path.read_bytes())


_SETS_AT_ONCE = 1_000
"""Rows that are read to see in which sets there are some."""


@dataclass(frozen=True)
class Where:
    """The rows of a collection that filters leave; counted when somebody asks."""

    connection: Connection
    collection: str
    expression: str
    pictures: "Where | None" = None
    """The same for the pictures that icons show."""

    def __len__(self) -> int:
        return self._n

    @cached_property
    def _n(self) -> int:
        return self.connection.count(self.collection, self.expression)

    def has(self, ids: Ids) -> Mask:
        """Which of some ids it holds."""
        chunks = (both(among("id", some), self.expression) for some in in_chunks(np.unique(ids), IDS_AT_ONCE))
        found = [row["id"] for where in chunks for row in self.connection.query(self.collection, where, ["id"])]
        return np.isin(ids, found)

    @property
    def images(self) -> "Where":
        """The pictures that its icons show, or may show: one has the labels of all of its icons."""
        assert self.pictures is not None
        return self.pictures


DTYPE = np.dtype([*((name, ROW[name]) for name in ROW.names or ()), ("drawing", np.int64)])
"""A row, and what shows its drawing first."""
N_KEPT = 200_000
"""Rows that are kept: 10 MB."""
_LABELS = ("set", "look", "licence", *SEVERAL)
"""Kinds that a row names by their values."""


class MilvusTable(IconTable):
    """What the icons of a generation can be filtered and counted by."""

    def __init__(self, catalog: Path, connection: Connection, collections: tuple[str, str], facts: Facts) -> None:
        super().__init__(catalog)
        self.connection = connection
        self.icons, self.pictures = collections
        self._facts = facts
        self._n_icons: Ids = np.load(catalog.with_name("bearers.npy"), allow_pickle=False)
        self._rows = np.empty(0, DTYPE)
        """That are kept."""
        self._changing = Lock()

    def __len__(self) -> int:
        return int(self.labels("set").n.sum())

    def at(self, ids: Ids) -> "FetchedRows":
        """What is known of some icons, in their order.

        Raises:
            LibraryError: the server has no such icon.
        """
        distinct, rows = np.unique(ids), self._rows
        new = distinct[~is_in(rows["icon"], distinct)]
        if len(new):
            rows = self._keep(self._decoded(self.having("id", new)), base=rows)
        if not is_in(rows["icon"], ids).all():
            raise self.connection.lacks_row()
        return FetchedRows(self, rows[np.searchsorted(rows["icon"], ids)])

    def query(self, where: str, fields: Sequence[str] = COLUMNS) -> list[Row]:
        """All rows that an expression finds, by ascending id, however many."""
        found = self.connection.query_all(self.icons, where, fields, 0, self._facts.last)
        return sorted(found, key=lambda row: int(row["id"]))

    def having(self, field: str, values: Values, fields: Sequence[str] = COLUMNS) -> list[Row]:
        """All rows that hold one of some values in a field."""
        return [row for some in in_chunks(values, IDS_AT_ONCE) for row in self.query(among(field, some), fields)]

    def found(self, where: str) -> Ids:
        """Ids of all icons that an expression finds, ascending; their rows are kept."""
        return self.keep_rows(self.query(where))

    def keep_rows(self, rows: Iterable[Row]) -> Ids:
        """Keep rows that were asked for something else; returns their ids."""
        decoded = self._decoded(list(rows))
        self._keep(decoded, base=self._rows)
        return np.asarray(decoded["icon"])

    def _decoded(self, rows: Sequence[Row]) -> NDArray[np.void]:
        decoded = np.empty(len(rows), DTYPE)
        for name in DTYPE.names or ():
            field = {"icon": "id", "name": "name_id"}.get(name, name)
            is_label = name in ("set", "look", "licence")
            decoded[name] = [self.code(name, row[field]) if is_label else row.get(field, 0) for row in rows]
        return decoded

    def _keep(self, rows: NDArray[np.void], *, base: NDArray[np.void]) -> NDArray[np.void]:
        """Both, by id, each once; kept for others while they are not too many."""
        joined: NDArray[np.void] = np.concatenate([base, rows])
        joined = joined[np.unique(joined["icon"], return_index=True)[1]]
        with self._changing:
            self._rows = joined if len(joined) <= N_KEPT else rows[np.argsort(rows["icon"])]
        return joined

    def select(self, filters: Filters) -> Where | None:
        """The icons that fit; None where nothing is filtered."""
        asked: dict[str, Values] = {}
        for kind, codes in self._asked(filters):
            values = (*self.labels(kind).values, "") if kind in _LABELS else None  # NONE is the last one
            asked[SEVERAL.get(kind, kind)] = [values[code] for code in codes] if values else codes
        if not asked:
            return None
        shown = both(*(among(OF_PICTURES.get(field, field), values) for field, values in asked.items()))
        of_icons = both(*(among(field, values) for field, values in asked.items()))
        return Where(self.connection, self.icons, of_icons, Where(self.connection, self.pictures, shown))

    def every(self, only: Selection | None) -> Ids:
        """Ids of all icons of a selection, ascending, while one answer of the server holds them."""
        n = len(self) if only is None else len(only)
        if n > MOST:
            subject = "this library has" if only is None else "the filters leave"
            raise UnsupportedError(
                f"{subject} {n:,} icons, and {Ability.SORTED_LIBRARY.value} can't be had of Milvus "
                f"({MOST:,}); look for words, or filter more"
            )
        assert only is None or isinstance(only, Where)
        return self.found("" if only is None else only.expression)

    def browsed(self, sort: Sort, *, flat: bool) -> tuple[Arranged, int]:
        """What was published of an order."""
        order = self._facts.orders[ORDERS.index(sort)][flat]
        return np.array(order.first, np.int32), order.n

    def published_sets(self) -> list[SetFacts]:
        """The facts that were published."""
        return list(self._facts.sets)

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return np.sort(self.keep_rows(self.having("image", images)))

    def stating(self, tag: int) -> Ids:
        """Ids of the icons that state a tag, ascending."""
        return self.found(among("tags", [self.labels("tag").values[tag]]))

    def alike(self, ids: Ids) -> list[Ids]:
        """For each of some icons all that show the same drawing, ascending."""
        drawings = self.at(ids)["drawing"]
        every = self.keep_rows(self.having("drawing", np.unique(drawings)))
        shown = self.at(every)["drawing"]
        order = np.lexsort((every, shown))
        every, shown = every[order], shown[order]
        starts, ends = np.searchsorted(shown, drawings), np.searchsorted(shown, drawings, side="right")
        return [every[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def best_named(self, lexicon: Lexicon, coverage: Floats, *, most: int) -> Ids:
        """Ids of the icons whose names cover most."""
        rows = lexicon.best_rows(coverage, most=most)
        n_before = np.cumsum(self._n_icons[rows]) - self._n_icons[rows]
        names = lexicon.name_ids[rows[n_before < most]]
        if not len(names):
            return names
        ids = self.found(among("name_id", names))
        places = np.argsort(names)[np.searchsorted(np.sort(names), self.at(ids)["name"])]
        return np.asarray(ids[np.lexsort((ids, places))][:most])

    def sets_saying(self, lexicon: Lexicon, coverage: Floats, tags: Sequence[int]) -> Ids:
        """Codes of the sets with an icon whose name covers all words, or that states one of some tags."""
        names = lexicon.name_ids[says_all(coverage)]
        if not len(names) and not tags:
            return np.empty(0, np.int64)
        says = [among("name_id", chunk) for chunk in in_chunks(names, IDS_AT_ONCE)]
        says += [among("tags", [self.labels("tag").values[tag] for tag in tags])] if tags else []
        found: set[str] = set()
        while True:  # each round finds sets that were not seen: icons that say so are thousands, their sets few
            others = f"set not in {spelt(sorted(found))}" if found else ""
            rows = self.connection.query(self.icons, both(any_of(*says), others), ["set"], most=_SETS_AT_ONCE)
            found |= {row["set"] for row in rows}
            if len(rows) < _SETS_AT_ONCE:
                return np.array([self.code("set", key) for key in sorted(found)], np.int64)

    def code(self, kind: str, value: str) -> int:
        """Code of a kind's value.

        Raises:
            LibraryError: the files of the generation do not know it.
        """
        codes = self.keep(f"codes of {kind}", lambda: {one: code for code, one in enumerate(self.labels(kind).values)})
        try:
            return cast(dict[str, int], codes)[value] if value else NONE
        except KeyError:
            raise LibraryError(
                f'"{self.connection.spelling}" has an icon of the {kind} "{value}", which its files do not know; '
                "`icons lab publish` mends it"
            ) from None

    @property
    def _name_bits(self) -> int:
        return self._facts.last_name.bit_length()


@dataclass(frozen=True)
class FetchedRows:
    """Rows that were read, and a way to what else they bear."""

    table: MilvusTable
    rows: NDArray[np.void]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column == "place":  # among these rows: no server holds what changes with every icon
            held = self.table.connection.rows_of(self.table.icons, self["icon"], ["name"])
            return places_by_name((row["name"] for row in held), self.table.labels("set").values, self["set"])
        return np.ascontiguousarray(self.rows[column])

    def several(self, kind: str) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that the rows bear."""
        codes = [sorted(self.table.code(kind, value) for value in row[SEVERAL[kind]]) for row in self._borne]
        places = np.repeat(np.arange(len(codes)), [len(some) for some in codes])
        return places, np.array([code for some in codes for code in some], np.int64)

    @cached_property
    def _borne(self) -> list[Row]:
        """Values of all such kinds, read together."""
        return self.table.connection.rows_of(self.table.icons, self["icon"], [*SEVERAL.values()])
