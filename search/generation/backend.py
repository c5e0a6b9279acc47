"""What a search asks of the engine that holds a generation: protocols, and a table of its icons.

The embedded engine (`facets`, `snapshot`) has all of a generation on this machine's disk; others ask a server. So
nothing here hands out the columns of all icons: ranking asks for the rows of its candidates. An engine says where rows
come from (`IconTable.at`); which labels there are, and how they are counted, is the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions
from indexer.errors import IconsError, UnsupportedError
from indexer.languages.words import LOOKS, stated_look
from indexer.library.shards import FLAGS
from indexer.merging.facets import NONE, OF_LOOK, SEVERAL, compared
from indexer.merging.lexicon import Lexicon
from indexer.merging.vector_index import Neighbours
from indexer.sources.records import FAMILIES, PictureAddress, family
from search.generation.labels import Labels, unknown
from search.query import N_VALUES, FacetCount, Filters, Sort


class Ability(Enum):
    """What not every engine can do; the value is how a person calls it."""

    KEYWORDS = "keyword queries (--keyword)"
    DEEP = "looking for hits beyond the 16,384 nearest icons"
    SET_CARDS = "describing every set"
    SORTED_LIBRARY = "sorting and counting more icons than one answer of the server holds"
    MAP = "`icons map`"
    LINT = "`icons lint` of a library"
    EVALUATE = "`icons lab evaluate`"
    USAGE = "`icons usage`"
    PUBLISH = "`icons lab publish` of it to another server"
    REPAIR = "`icons doctor --repair`"


@dataclass(frozen=True, slots=True)
class Engine:
    """What answers, and what it can do."""

    name: str
    abilities: frozenset[Ability]

    def require(self, ability: Ability) -> None:
        """Go on only where the engine can do something.

        Raises:
            UnsupportedError: it can't.
        """
        if ability not in self.abilities:
            raise UnsupportedError(
                f"{ability.value} can't be had of a library on {self.name}; "
                "run it on the machine that holds the library's folder"
            )


EMBEDDED = Engine("this machine", frozenset(Ability))


class Selection(Protocol):
    """The icons, or pictures, that some filters leave; an engine alone knows how it is spelt."""

    def __len__(self) -> int: ...

    def has(self, ids: Ids) -> Mask:
        """Which of some ids it holds."""

    def images(self) -> "Selection":
        """The pictures that its icons show."""


class VectorSearch(Protocol):
    """Nearest neighbours by inner product among one kind of vectors: fused ones of icons, or those of pictures."""

    @property
    def most(self) -> int:
        """Neighbours that can be asked for at once."""

    def __len__(self) -> int: ...

    def search(self, query: Floats, *, k: int, only: Selection | None = None, is_rough: bool = False) -> Neighbours:
        """The `k` nearest to a unit vector (dim,), best first; of those of a rough search the first ones count.

        A rough one gives all where `k` are all.
        """

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several unit vectors (n, dim), best first."""

    def reconstruct(self, ids: Ids) -> Floats:
        """The vectors of some ids, (n, dim), in their order."""


class Rows(Protocol):
    """What is known of some icons, in their order."""

    def __len__(self) -> int: ...

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A field of `indexer.merging.facets.ROW` for each icon, or "drawing", its first picture."""

    def several(self, kind: str) -> tuple[NDArray[np.intp], Ids]:
        """Places of the icons, ascending, and codes of all labels of a kind that they bear: tags, categories."""


@dataclass(frozen=True, slots=True)
class IconRow:
    """One icon as the catalog knows it."""

    id: int
    set_id: int
    name_id: int
    image_id: int
    name: str
    words: str
    set: str
    set_title: str
    size: int | None
    licence: str | None
    kind: str
    location: str
    path: str
    member: str

    def address(self, digest: bytes) -> PictureAddress:
        """Where its picture of a digest is read from."""
        return PictureAddress(self.kind, self.location, self.path, self.member, digest)


@dataclass(frozen=True, slots=True)
class SetRow:
    """One set as the catalog knows it."""

    key: str
    title: str
    licence: str | None
    version: str | None
    author: str | None
    location: str


def is_in(held: Ids, ids: Ids) -> Mask:
    """Which of some ids are among others that ascend."""
    if not len(held):
        return np.zeros(len(ids), bool)
    return np.asarray(held[np.minimum(np.searchsorted(held, ids), len(held) - 1)] == ids)


def numbered_key(set_key: str, name: str, icon: int) -> str:
    """Spell the key of an icon that its set and name alone do not lead to."""
    return f"{set_key}:{name}#{icon}"


KINDS = ("set", "style", "corner", "licence", "family", "category", "tag", "size", "coloured", "animated")
"""What is counted; "family" is the licence's."""
FIELDS = {
    "set": "sets",
    "style": "styles",
    "corner": "corners",
    "licence": "licences",
    "category": "categories",
    "tag": "tags",
}
"""Kind of label -> its field in `Filters`."""
_TITLES = {"coloured": ("one colour", "coloured"), "animated": ("still", "animated")}
Choice = Callable[[Positions, Ids], Positions]
"""Which of some pairs of places and codes count."""
Tally = tuple[Sequence[str], Sequence[str], Ids]
"""Values of a kind, their titles, and how many icons have each."""


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What a set is like, by all of its icons."""

    key: str
    n: int
    styles: tuple[str, ...]
    categories: tuple[str, ...]
    newest: int
    sample: tuple[int, ...]
    """Ids of icons that show it."""


@dataclass(frozen=True, slots=True)
class Order:
    """All icons of a generation as they are browsed."""

    first: tuple[int, ...]
    """Ids of the first hits."""
    n: int
    """Of all hits."""
    counts: dict[str, list[FacetCount]]


class IconTable(ABC):
    """The icons of one generation. Many threads may ask at once."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._kept: dict[str, Any] = {}

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def at(self, ids: Ids) -> Rows:
        """What is known of some icons, in their order."""

    @abstractmethod
    def select(self, filters: Filters) -> Selection | None:
        """The icons that fit; None where nothing is filtered.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """

    @abstractmethod
    def every(self, only: Selection | None) -> Ids:
        """Ids of all icons of a selection, ascending; None: of all there are.

        Raises:
            UnsupportedError: these are more than the engine hands out.
        """

    @abstractmethod
    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""

    @abstractmethod
    def stating(self, tag: int) -> Ids:
        """Ids of the icons that state the tag of a code, ascending."""

    @abstractmethod
    def alike(self, ids: Ids) -> list[Ids]:
        """For each of some icons all that show the same drawing, itself included, ascending."""

    @abstractmethod
    def best_named(self, lexicon: Lexicon, coverage: Floats, *, most: int) -> Ids:
        """Ids of the icons whose names cover most, as `Lexicon.best_icons` orders them."""

    @abstractmethod
    def sets_saying(self, lexicon: Lexicon, coverage: Floats, tags: Sequence[int]) -> Ids:
        """Codes of the sets with an icon whose name covers all words, or that states one of some tags."""

    def whole_tally(self, kind: str) -> Tally:
        """Count the values of a kind among all icons; made once."""
        counts = self.labels(kind).n if kind in FIELDS else self.keep(f"counts of {kind}", partial(self._counts, kind))
        return *self._values(kind), counts

    @abstractmethod
    def _counts(self, kind: str) -> Ids:
        """How many of all icons have each value of a kind that has no labels."""

    def precomputed_order(self, sort: Sort, *, flat: bool) -> Order | None:
        """All icons as they are browsed, where that was written when the generation was; None: it is to be made."""
        return None

    def precomputed_sets(self) -> list[SetFacts] | None:
        """What was written of the sets when the generation was; None where all icons are at hand to be looked at."""
        return None

    def labels(self, kind: str) -> Labels:
        """The values of a kind: set, look, style, corner, licence, category or tag."""
        return cast(Labels, self.keep(f"labels of {kind}", lambda: Labels.read(self._catalog, kind)))

    def variants(self, rows: Rows) -> Ids:
        """A number for the set and name of each of some rows, which all variants of an icon share."""
        return cast(Ids, rows["set"].astype(np.int64) << self._name_bits | rows["name"])

    def looks(self, rows: Rows) -> list[str | None]:
        """All styles of some icons, as one text each: "sharp filled"."""
        values = (*self.labels("look").values, None)  # code -1 is "none"
        return [values[code] for code in rows["look"].tolist()]

    def in_style(self, ids: Ids, style: str) -> Mask:
        """Which icons have all words of a style, as `names.asked_style` spells it: "sharp filled" is "filled"."""
        return np.asarray(self._looks_in(style)[self.at(ids)["look"]])

    def lacks(self, ids: Ids, style: str) -> tuple[Floats, Floats]:
        """How many words of a style some icons lack: its look, and others that any icon here has."""
        looks = (*self._words_of_looks(), frozenset[str]())
        asked = frozenset(style.split()).intersection(*[frozenset().union(*looks)])
        lacking = [(len((asked - look).intersection(LOOKS)), len((asked - look).difference(LOOKS))) for look in looks]
        of_look, others = np.array(lacking, np.float32)[self.at(ids)["look"]].T
        return of_look, others

    def is_like(self, ids: Ids, style: str) -> Mask:
        """Which icons are in a style that is asked for: in its look, whatever the corners are, if it says one."""
        of_look, others = self.lacks(ids, style)
        return np.asarray(of_look + (0 if stated_look(style) else others) == 0)

    def _looks_in(self, style: str) -> Mask:
        """Which looks, by code, have all words of a style; the last one stands for none."""
        words = frozenset(style.split())
        return np.array([*(bool(words) and words <= look for look in self._words_of_looks()), False])

    def count(
        self,
        ids: Ids | None = None,
        *,
        kinds: Sequence[str] = KINDS,
        most: int = N_VALUES,
        choose: Choice | None = None,
    ) -> dict[str, list[FacetCount]]:
        """Count the values of some icons, None for all: at most `most` of a kind, most frequent first, then by value.

        What is not known of an icon is not counted, but a licence that is not stated belongs to the unknown family.
        `choose` says which pairs of a place in `ids` and a code count.
        """
        if ids is None:
            tallies = {kind: self.whole_tally(kind) for kind in kinds}
        else:
            rows = self.at(ids)
            tallies = {kind: self._tally(kind, rows, choose) for kind in kinds}
        return {kind: _most_frequent(*tally, most=most) for kind, tally in tallies.items()}

    def _asked(self, filters: Filters) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield what each filter asks: a kind, and codes of its labels, sizes, or 0 and 1. Style and corner are a look.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """
        looks: list[Mask] = []
        for kind, field in FIELDS.items():
            if (asked := getattr(filters, field)) and kind in OF_LOOK:
                looks.append(np.logical_or.reduce([self._looks_in(self._known(kind, value)) for value in asked]))
            elif asked:
                yield kind, self.labels(kind).meant(asked)
        if looks:
            yield "look", np.flatnonzero(np.logical_and.reduce(looks)).tolist()
        if filters.sizes:
            known = self._sizes.tolist()
            for size in (size for size in filters.sizes if size not in known):
                raise IconsError(unknown("size", size, sorted(known, key=lambda other: abs(other - size))[:5]))
            yield "size", filters.sizes
        for flag in FLAGS:
            if (value := getattr(filters, flag)) is None:
                continue
            if not self.whole_tally(flag)[2].any():
                raise IconsError(
                    f"it is not known which icons are {flag}: an older program embedded them; "
                    'delete the folder "vectors" of this library, then run `icons index`'
                )
            yield flag, (int(value),)

    def _known(self, kind: str, asked: str) -> str:
        """Spell a style as looks do: each of its words is a look, or a label of its kind or of the other one.

        Raises:
            IconsError: one is not, or there are none.
        """
        known = {*LOOKS, *(value for other in OF_LOOK for value in self.labels(other).values)}
        style = compared(kind, asked)
        if not style or not known.issuperset(style.split()):
            self.labels(kind).meant([asked])
        return style

    def _words_of_looks(self) -> list[frozenset[str]]:
        """Words of each look, by code."""
        values = self.labels("look").values
        return cast(list[frozenset[str]], self.keep("words", lambda: [frozenset(look.split()) for look in values]))

    def _tally(self, kind: str, rows: Rows, choose: Choice | None = None) -> Tally:
        """Values of a kind, their titles, and how many of the icons have each."""
        values, titles = self._values(kind)
        places, codes = self._coded(kind, rows)
        if codes.max(initial=NONE) >= len(values):  # a damaged one would cost as much memory as it is large
            raise IndexError(f"a code of a {kind} has no label")
        if choose is not None:
            codes = codes[choose(places, codes)]
        return values, titles, np.bincount(codes, minlength=len(values))

    def _values(self, kind: str) -> tuple[Sequence[str], Sequence[str]]:
        """All values of a kind, by their codes, and their titles."""
        if kind in FIELDS:
            labels = self.labels(kind)
            return labels.values, labels.titles
        if kind == "family":
            return FAMILIES, FAMILIES
        if kind in FLAGS:
            return ("false", "true"), _TITLES[kind]
        sizes = self._sizes.tolist()
        return list(map(str, sizes)), [f"{size} px" for size in sizes]

    @property
    @abstractmethod
    def _name_bits(self) -> int:
        """How many bits a name's id takes."""

    @property
    @abstractmethod
    def _sizes(self) -> Ids:
        """All sizes that icons have, ascending."""

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
            return places, np.searchsorted(self._sizes, codes[places])
        return places, codes[places] if kind in FLAGS else self.labels(kind).first_alike[codes[places]]

    def _of_look(self, kind: str, rows: Rows) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that are words of the looks of some rows."""
        labels, looks = self.labels(kind).values, (*self._words_of_looks(), frozenset[str]())  # the last one is none
        held = np.array([[label in look for look in looks] for label in labels], bool).reshape(-1, len(looks))
        codes, places = np.nonzero(held[:, rows["look"]])
        return places, codes

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Make a thing once; where two threads make it at the same time, one of the two is kept."""
        if name not in self._kept:
            self._kept.setdefault(name, make())
        return self._kept[name]


def _most_frequent(values: Sequence[str], titles: Sequence[str], counts: Ids, *, most: int) -> list[FacetCount]:
    order = np.argsort(-counts, kind="stable")[:most].tolist()
    return [FacetCount(values[i], titles[i], int(counts[i])) for i in order if counts[i]]
