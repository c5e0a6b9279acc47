"""The icons of a generation on a server: filtered there, counted here."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions
from indexer.errors import LibraryError, UnsupportedError
from indexer.library.foreign import from_json
from indexer.library.traits import FLAGS
from indexer.merging.facets import NONE, OF_LOOK, SEVERAL
from indexer.merging.lexicon import Lexicon, says_all
from search.generation.backend import Ability, Selection
from search.generation.icon_table import FIELDS, KINDS, IconTable, Order, SetFacts, Tally
from search.generation.milvus.catalog import FetchedRows, IconReader
from search.generation.milvus.connection import IDS_AT_ONCE, MOST, Connection, Row
from search.generation.milvus.schema import Condition, among, any_of, both, in_chunks, spelt
from search.query import Filters, Sort

Tallies = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What was computed of all icons when the generation was published."""

    last: int
    """The greatest id of an icon."""
    last_name: int
    """... and of a name."""
    sizes: tuple[int, ...]
    """All sizes that icons have, ascending."""
    tallies: Tallies
    """How many icons have each value of the kinds that have no labels, by kind."""
    sets: tuple[SetFacts, ...]
    orders: dict[str, Order]
    """By `order_key`."""

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, path: Path) -> "Facts":
        """Read it.

        Raises:
            LibraryError: it can't be read.
        """
        try:
            facts = from_json(cls, path.read_bytes())
            if missing := {kind for kind in KINDS if kind not in FIELDS} - facts.tallies.keys():
                raise ValueError(f'it counts no "{min(missing)}"')  # noqa: TRY301
        except (OSError, ValueError) as error:
            raise LibraryError(f'"{path}" can\'t be read ({error}); delete it, and it is fetched again') from error
        return facts


def order_key(sort: str, *, flat: bool) -> str:
    """Key of an order."""
    return f"{sort} flat" if flat else sort


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

    def among(self, ids: Ids) -> Ids:
        """Those of some ids that it holds, in their order."""
        return np.asarray(ids[self.has(ids)])

    def images(self) -> "Where":
        """The pictures that its icons show, or may show: one has the labels of all of its icons."""
        assert self.pictures is not None
        return self.pictures


class MilvusTable(IconTable):
    """What the icons of a generation can be filtered and counted by."""

    def __init__(self, catalog: Path, connection: Connection, collections: tuple[str, str], facts: Facts) -> None:
        super().__init__(catalog)
        self._connection = connection
        self._icons, self._pictures = collections
        self._facts = facts
        self._n_icons: Ids = np.load(catalog.with_name("bearers.npy"), allow_pickle=False)
        self.reader = IconReader(connection, self._icons, self._code, last=facts.last)

    def __len__(self) -> int:
        return int(self.labels("set").n.sum())

    def at(self, ids: Ids) -> FetchedRows:
        """What is known of some icons, in their order."""
        return FetchedRows(self.reader.rows(ids), self._read_several, self._several)

    def select(self, filters: Filters) -> Where | None:
        """The icons that fit; None where nothing is filtered."""
        conditions = list(self._conditions(filters))
        if not conditions:
            return None
        shown = Where(self._connection, self._pictures, both(*(one.of_pictures() for one in conditions)))
        return Where(self._connection, self._icons, both(*(one.of_icons() for one in conditions)), shown)

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
        return self.reader.found("" if only is None else only.expression)

    def precomputed_order(self, sort: Sort, *, flat: bool) -> Order | None:
        """All icons as they are browsed, where that was worked out because they are many."""
        return None if len(self) <= MOST else self._facts.orders.get(order_key(sort, flat=flat))

    def precomputed_sets(self) -> list[SetFacts]:
        """The facts that were published."""
        return list(self._facts.sets)

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        return self.reader.showing(images)

    def stating(self, tag: int) -> Ids:
        """Ids of the icons that state a tag, ascending."""
        return self.reader.found(Condition("tags", (self.labels("tag").values[tag],)).of_icons())

    def alike(self, ids: Ids) -> list[Ids]:
        """For each of some icons all that show the same drawing, ascending."""
        drawings = self.at(ids)["drawing"]
        every = self.reader.keep(self.reader.having("drawing", np.unique(drawings)))
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
        ids = self.reader.found(among("name_id", names))
        places = np.argsort(names)[np.searchsorted(np.sort(names), self.at(ids)["name"])]
        return np.asarray(ids[np.lexsort((ids, places))][:most])

    def sets_saying(self, lexicon: Lexicon, coverage: Floats, tags: Sequence[int]) -> Ids:
        """Codes of the sets with an icon whose name covers all words, or that states one of some tags."""
        names = lexicon.name_ids[says_all(coverage)]
        if not len(names) and not tags:
            return np.empty(0, np.int64)
        stated = tuple(self.labels("tag").values[tag] for tag in tags)
        says = any_of(*(among("name_id", chunk) for chunk in in_chunks(names, IDS_AT_ONCE)))
        says = any_of(says, Condition("tags", stated).of_icons() if stated else "")
        found: set[str] = set()
        while True:  # each round finds sets that were not seen: icons that say so are thousands, their sets few
            others = f"set not in {spelt(sorted(found))}" if found else ""
            rows = self._connection.query(self._icons, both(says, others), ["set"], most=_SETS_AT_ONCE)
            found |= {row["set"] for row in rows}
            if len(rows) < _SETS_AT_ONCE:
                return np.array([self._code("set", key) for key in sorted(found)], np.int64)

    def _whole_tally(self, kind: str) -> Tally:
        return *self._values(kind), np.array(self._facts.tallies[kind], np.int64)

    def _conditions(self, filters: Filters) -> Iterator[Condition]:
        """What each filter asks of a row."""
        for kind, field in FIELDS.items():
            if kind in OF_LOOK or not (asked := getattr(filters, field)):
                continue
            values = (*self.labels(kind).values, "")  # NONE is the last one
            yield Condition(SEVERAL.get(kind, kind), tuple(values[code] for code in self.labels(kind).meant(asked)))
        if filters.styles or filters.corners:
            yield Condition("look", self._fitting_looks(filters))
        if filters.sizes:
            self._refuse_sizes(filters.sizes)
            yield Condition("size", filters.sizes)
        for flag in FLAGS:
            if (value := getattr(filters, flag)) is not None:
                if not sum(self._facts.tallies[flag]):
                    self._refuse_unseen(flag)
                yield Condition(flag, (int(value),))

    def _fitting_looks(self, filters: Filters) -> tuple[str, ...]:
        """Looks that have one of the styles and one of the corners that are asked for."""
        fits = np.ones(len(self.labels("look").values) + 1, bool)
        for kind in OF_LOOK:
            if asked := getattr(filters, FIELDS[kind]):
                fits &= np.logical_or.reduce([self._looks_in(self._known(kind, value)) for value in asked])
        return tuple(look for look, fit in zip(self.labels("look").values, fits, strict=False) if fit)

    def _several(self, kind: str, rows: Sequence[Row]) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that some icons bear."""
        codes = [sorted(self._code(kind, value) for value in row[SEVERAL[kind]]) for row in rows]
        places = np.repeat(np.arange(len(rows)), [len(some) for some in codes])
        return places, np.array([code for some in codes for code in some], np.int64)

    def _read_several(self, ids: Ids) -> list[Row]:
        """Values of the kinds that icons have several of."""
        rows = self._connection.query_among(self._icons, "id", np.unique(ids), ["id", *SEVERAL.values()])
        borne = {row["id"]: row for row in rows}
        try:
            return [borne[icon] for icon in ids.tolist()]
        except KeyError as error:
            raise self._connection.lacks_row() from error

    def _code(self, kind: str, value: str) -> int:
        codes = self.keep(f"codes of {kind}", lambda: {one: code for code, one in enumerate(self.labels(kind).values)})
        try:
            return cast(dict[str, int], codes)[value] if value else NONE
        except KeyError:
            raise LibraryError(
                f'"{self._connection.spelling}" has an icon of the {kind} "{value}", which its files do not know; '
                "`icons lab publish` mends it"
            ) from None

    @property
    def _name_bits(self) -> int:
        return self._facts.last_name.bit_length()

    @property
    def _sizes(self) -> Ids:
        return np.array(self._facts.sizes, np.int64)
