"""How icons of a generation are counted and put in order, and which one stands for its variants and equal drawings.

Searches do so with the icons that filters leave. A merge does it once with all of them: for each order the ids of its
hits are an array of the generation, and how many hits have a label stands beside it in the table `labels`.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Positions, firsts_of, rows_by_id
from indexer.errors import explain_unreadable
from indexer.library.folder import ORDERS, Generation
from indexer.library.shards import FLAGS
from indexer.merging.facets import NONE, OF_LOOK, ROW, SEVERAL, compared, natural_ranks, read_array, reading
from indexer.sources.records import FAMILIES, family

KINDS = ("set", "style", "corner", "licence", "family", "category", "tag", "size", "coloured", "animated")
"""What is counted; "family" is the licence's."""
Choice = Callable[[Positions, Ids], Positions]
"""Which of some pairs of places and codes count."""


@dataclass(frozen=True)
class Labels:
    """All values of one kind; the code of a label is its place."""

    kind: str
    values: Sequence[str]
    titles: Sequence[str]
    n: Ids
    """Icons of the whole library that bear each."""
    hits: dict[str, Ids]
    """Hits of the whole library that have each, by order; "flat": where variants are hits of their own."""

    @classmethod
    def read(cls, path: Path, kind: str) -> Self:
        """Read the values of a kind from a generation's catalog.

        Raises:
            LibraryError: it can't be read.
        """
        query = f"SELECT value, title, n, {', '.join(_COLUMNS)} FROM labels WHERE kind = ? ORDER BY code"
        failing = explain_unreadable(f'"{path}"', "`icons index` builds a new generation", damages=sqlite3.Error)
        with failing, reading(path) as connection:
            rows = connection.execute(query, (kind,)).fetchall()
        values, titles, *numbers = zip(*rows, strict=True) if rows else [()] * (3 + len(_COLUMNS))
        n, *hits = (np.array(of_all, np.int64) for of_all in numbers)
        return cls(kind, values, titles, n, dict(zip(("flat", *ORDERS), hits, strict=True)))

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """Words of each."""
        return [frozenset(value.split()) for value in self.values]

    @cached_property
    def first_alike(self) -> Ids:
        """For each label the first one that is the same, case aside: who filters by one of them means all."""
        return np.array([self.codes[compared(self.kind, value)][0] for value in self.values], np.int64)

    @cached_property
    def codes(self) -> dict[str, list[int]]:
        """Codes by folded value: of two licences that differ in case only, both."""
        codes: dict[str, list[int]] = {}
        for code, value in enumerate(self.values):
            codes.setdefault(compared(self.kind, value), []).append(code)
        return codes


_COLUMNS = tuple(f"hits_{order}" for order in ("flat", *ORDERS))


class Rows(Protocol):
    """What is known of some icons, in their order."""

    def __len__(self) -> int: ...

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A field of `indexer.merging.facets.ROW` for each icon; "drawing", the first picture that shows the
        same; "place", where it stands by name."""

    def several(self, kind: str) -> tuple[NDArray[np.intp], Ids]:
        """Places of the icons, ascending, and codes of all labels of a kind that they bear: tags, categories."""


class Table(ABC):
    """The icons of one generation, to be counted. Many threads may ask at once."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._kept: dict[str, Any] = {}

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def _name_bits(self) -> int:
        """How many bits a name's id takes."""

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Make a thing once; where two threads make it at the same time, one of the two is kept."""
        if name not in self._kept:
            self._kept.setdefault(name, make())
        return self._kept[name]

    def labels(self, kind: str) -> Labels:
        """The values of a kind of `KINDS`, or the looks."""
        return cast(Labels, self.keep(f"labels of {kind}", lambda: Labels.read(self._catalog, kind)))

    def variants(self, rows: Rows) -> Ids:
        """A number for the set and name of each of some rows, which all variants of an icon share."""
        return cast(Ids, rows["set"].astype(np.int64) << self._name_bits | rows["name"])

    def tally(self, kind: str, rows: Rows, choose: Choice | None = None) -> Ids:
        """How many of some rows have each value of a kind; `choose` says which pairs of a place and a code count.

        What is not known of an icon is not counted, but a licence that is not stated belongs to the unknown family.
        """
        n, (places, codes) = len(self.labels(kind).values), self._coded(kind, rows)
        if codes.max(initial=NONE) >= n:  # a damaged one would cost as much memory as it is large
            raise IndexError(f"a code of a {kind} has no label")
        if choose is not None:
            codes = codes[choose(places, codes)]
        return np.bincount(codes, minlength=n)

    def in_order(self, rows: Rows, order: str) -> Positions:
        """Places of some icons, whose ids ascend, in an order: one of `ORDERS`."""
        if order == "newest":
            return np.arange(len(rows))[::-1]
        places = rows["place"].astype(np.int64)
        if order == "set":
            places |= natural_ranks(self.labels("set").values)[rows["set"]].astype(np.int64) << 32
        return np.argsort(places)

    def _coded(self, kind: str, rows: Rows) -> tuple[Positions, Ids]:
        """Which of some rows has which code of a kind: places, which ascend, and codes; without NONE."""
        if kind in SEVERAL:
            return rows.several(kind)
        if kind in OF_LOOK:
            return self._of_look(kind, rows)
        if kind == "family":
            of_licences = [FAMILIES.index(family(licence)) for licence in (*self.labels("licence").values, None)]
            return np.arange(len(rows)), np.array(of_licences)[rows["licence"]]  # -1 is NONE
        codes = rows[kind]
        places = np.flatnonzero(codes != NONE)  # which is NOT_KNOWN, too
        if kind == "size":
            return places, np.searchsorted(np.array(self.labels(kind).values, np.int64), codes[places])
        return places, codes[places] if kind in FLAGS else self.labels(kind).first_alike[codes[places]]

    def _of_look(self, kind: str, rows: Rows) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that are words of the looks of some rows."""
        labels, looks = self.labels(kind).values, (*self.labels("look").words, frozenset[str]())  # the last one is none
        held = np.array([[label in look for look in looks] for label in labels], bool).reshape(-1, len(looks))
        codes, places = np.nonzero(held[:, rows["look"]])
        return places, codes


@dataclass(frozen=True, slots=True)
class FacetRows:
    """Some rows of the columns."""

    columns: "Columns"
    positions: Positions

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column in (ROW.names or ()) and 16 * len(self.positions) < len(self.columns):
            return self.columns.rows[column][self.positions]  # of few rows no whole column is put together
        return self.columns.column(column)[self.positions]

    def several(self, kind: str) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that the rows bear."""
        rows, codes = self.columns.pairs(kind)
        starts = self.columns.keep(f"starts of {kind}", lambda: np.searchsorted(rows, np.arange(len(self.columns) + 1)))
        first = starts[self.positions]
        n = starts[self.positions + 1] - first
        # Each row's pairs follow one another: where they start, repeated for each, and how far behind that it stands.
        offsets = np.repeat(first - np.cumsum(n) + n, n)
        return np.repeat(np.arange(len(self)), n), codes[offsets + np.arange(len(offsets))]


class Columns(Table):
    """The icons of a generation whose files lie here: columns of them, mapped into memory.

    Raises:
        LibraryError: its files are missing or not whole.
    """

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation.catalog)
        self._generation = generation
        with explain_unreadable(f'facets of "{generation.folder}"', "`icons index` builds a new generation"):
            self.rows: NDArray[np.void] = read_array(generation.facets)
            self._pairs = {kind: read_array(getattr(generation, name)) for kind, name in SEVERAL.items()}
            self.drawings: NDArray[Any] = read_array(generation.drawings)
            self._kept |= {"drawing": self.drawings, "place": read_array(generation.places)}

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[Any]:
        """What `Rows` tell of all icons, by ascending id: contiguous, which is quicker to go through."""
        column: NDArray[Any] = self.keep(name, lambda: np.ascontiguousarray(self.rows[name]))
        return column  # a `cast` would work out its type at each of some thirty calls a query

    def positions(self, ids: Ids) -> Positions:
        """Rows of some icons of this generation."""
        rows: Positions = self.keep("rows by id", lambda: rows_by_id(self.column("icon")))
        return rows[ids]

    def pairs(self, kind: str) -> NDArray[np.int32]:
        """Which row bears which label of a kind that icons have several of: rows, which ascend, and codes, (2, n)."""
        return cast(NDArray[np.int32], self._pairs[kind])

    @property
    def _name_bits(self) -> int:
        return cast(int, self.keep("bits of names", lambda: int(self.column("name").max(initial=0)).bit_length()))


def group_many(variants: Ids, drawings: Ids) -> Positions:
    """Keep the first of each variant group and of each drawing, in their order; numbers are 0 or more.

    In each round those stay that come first in their group and in their drawing, and take what shares either with them.
    """
    kept: list[Positions] = []
    rest = np.arange(len(variants))
    while len(rest):
        firsts = firsts_of(variants[rest]), firsts_of(drawings[rest])
        stays = (firsts[0] == np.arange(len(rest))) & (firsts[1] == np.arange(len(rest)))
        kept.append(rest[stays])
        rest = rest[~(stays[firsts[0]] | stays[firsts[1]])]
    return np.sort(np.concatenate(kept)) if kept else rest


def first_of_groups(variants: Ids, drawings: Ids) -> Choice:
    """Which pairs of a place among some icons and a code are hits: of those with the same code one of each group.

    Icons that groups join bear the same codes, as a rule: those are hits that are if codes are left aside. Two sets of
    codes are taken for the same with a chance of 3e-14.
    """
    n, firsts = len(variants), (firsts_of(variants), firsts_of(drawings))
    is_first, joined, is_open = np.zeros(n, bool), np.arange(n), np.zeros(n, bool)
    is_first[group_many(*firsts)] = True
    for one in firsts * 2:  # of all that groups join the first, but where chains of groups are longer
        behind = np.flatnonzero(one != np.arange(n))
        np.minimum.at(joined, one[behind], joined[behind])
        joined[behind] = joined[one[behind]]
    for one in firsts:
        apart = np.flatnonzero(joined != joined[one])
        is_open[joined[apart]] = is_open[joined[one[apart]]] = True
    bits = n.bit_length()

    def choose(places: Positions, codes: Ids) -> Positions:
        marks = np.random.default_rng(0).integers(1 << 45, size=int(codes.max(initial=0)) + 1).astype(np.float64)
        borne, is_mixed = np.bincount(places, marks[codes], minlength=n), is_open.copy()
        is_mixed[joined[borne != borne[joined]]] = True
        is_hit, others = is_first[places], np.flatnonzero(is_mixed[joined[places]])
        of_variants, of_drawings = (codes[others].astype(np.int64) << bits | one[places[others]] for one in firsts)
        is_hit[others] = False
        is_hit[others[group_many(of_variants, of_drawings)]] = True
        return np.flatnonzero(is_hit)

    return choose


def hits_among(rows: Rows, variants: Ids) -> Positions:
    """Which of some icons in an order stand for their variants and equal drawings: the cleanest, then the first."""
    order = np.arange(len(rows))
    if (roughness := rows["roughness"]).any():
        order = np.lexsort((roughness, firsts_of(variants)))
    return order[group_many(variants[order], rows["drawing"][order])]


def write_hits(generation: Generation) -> None:
    """Write what is shown where nothing is asked, of a snapshot whose facets, places and drawings are there.

    The array is (`ORDERS`, 2, icons): ids of the hits, and behind them 0; then ids of all icons, for who wants variants
    and equal drawings apart.
    """
    table = Columns(generation)
    every = FacetRows(table, np.arange(len(table)))
    counts = {kind: [table.tally(kind, every)] for kind in KINDS}
    hits = np.zeros((len(ORDERS), 2, len(table)), np.int32)
    for place, order in enumerate(ORDERS):
        rows = FacetRows(table, table.in_order(every, order))
        variants, icons = table.variants(rows), rows["icon"]
        shown = icons[hits_among(rows, variants)]
        hits[place, 0, : len(shown)], hits[place, 1] = shown, icons
        choose = first_of_groups(variants, rows["drawing"])
        for kind, of_orders in counts.items():
            of_orders.append(table.tally(kind, rows, choose))
    np.save(generation.hits, hits)
    update = f"UPDATE labels SET {', '.join(f'{column} = ?' for column in _COLUMNS)} WHERE kind = ? AND code = ?"
    with closing(sqlite3.connect(generation.catalog)) as connection, connection:
        for kind, of_orders in counts.items():
            of_labels = enumerate(np.stack(of_orders, axis=1).tolist())
            connection.executemany(update, ((*hits, kind, code) for code, hits in of_labels))
        connection.execute("UPDATE labels SET n = hits_flat WHERE n = 0")  # kinds that only pictures tell of


def count_traits(catalog: Path) -> dict[str, int]:
    """Count the icons of a snapshot by what was seen of their pictures.

    Raises:
        LibraryError: it can't be read.
    """
    one_colour, coloured = Labels.read(catalog, "coloured").n.tolist()
    n, (_, animated) = Labels.read(catalog, "set").n.sum().item(), Labels.read(catalog, "animated").n.tolist()
    return {"coloured": coloured, "one_colour": one_colour, "animated": animated, "unknown": n - coloured - one_colour}
