"""What a search asks of the engine that holds a generation: protocols, and a table of its icons.

The embedded engine (`facets`, `snapshot`) has all of a generation on this machine's disk; others ask a server. So
nothing here hands out the columns of all icons: ranking asks for the rows of its candidates. An engine says where rows
come from (`IconTable.at`); which labels there are, and how they are counted, is the same for all.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask
from indexer.errors import IconsError, UnknownSetError, UnsupportedError
from indexer.languages.words import LOOKS, stated_look
from indexer.library.shards import FLAGS
from indexer.merging.browsing import KINDS, Choice, Labels, Rows, Table
from indexer.merging.facets import NONE, OF_LOOK, compared
from indexer.merging.lexicon import Lexicon
from indexer.merging.vector_index import Neighbours
from indexer.sources.records import FAMILIES, PictureAddress, family
from search.query import N_VALUES, FacetCount, Filters, Sort
from search.words.codes import SetNames


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

    @property
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


def numbered_key(set_key: str, name: str, icon: int) -> str:
    """Spell the key of an icon that its set and name alone do not lead to."""
    return f"{set_key}:{name}#{icon}"


_NEAR = 5
_ALIKE = 70
"""Of 100: "thick" is not "thin"."""
_WORD = re.compile(r"\w+")


class AskedLabels(Labels):
    """All values of one kind, and which of them are meant."""

    def meant(self, asked: Iterable[str]) -> list[int]:
        """Codes of the labels that are asked for, case aside; of a family of licences all that belong to it.

        Icons that state no licence (NONE) belong to the unknown family.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """
        return [code for value in asked for code in self._meant(value)]

    def called(self, names: Iterable[str]) -> list[str]:
        """Labels that are meant, each once; raises as `meant` does."""
        return list(dict.fromkeys(self.values[code] for code in self.meant(names)))

    def in_code(self, name: str) -> list[str]:
        """Keys of the sets that code means by a name."""
        return [self.values[code] for code in self.set_names.with_key(name) or ()]

    def _meant(self, value: str) -> list[int]:
        folded = compared(self.kind, value)
        if self.kind == "licence" and folded in FAMILIES:
            stated = [code for code, licence in enumerate(self.values) if family(licence) == folded]
            return [*stated, NONE] if family(None) == folded else stated
        if self.kind == "set" and (meant := self.set_names.meant(value)):
            return list(meant)
        if folded not in self.codes:
            most = [self.values[code] for code in np.argsort(-self.n, kind="stable")[:_NEAR]]
            message = unknown(self.kind, value, self._near(folded), most=most)
            raise UnknownSetError(message, name=value) if self.kind == "set" else IconsError(message)
        return self.codes[folded]

    def _near(self, folded: str) -> list[str]:
        """Values that are spelt much like one that is none, or have a word in their title that is."""
        from rapidfuzz import fuzz, process

        known: dict[str, list[str]] = {family: [family] for family in (FAMILIES if self.kind == "licence" else ())}
        for value, title in zip(self.values, self.titles, strict=True):
            for said in {compared(self.kind, value), title.lower(), *_WORD.findall(f"{value} {title}".lower())}:
                known.setdefault(said, []).append(value)
        near = process.extract(folded, list(known), scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=_NEAR)
        return list(dict.fromkeys(value for said, *_ in near for value in known[said]))[:_NEAR]

    @cached_property
    def set_names(self) -> SetNames:
        """What the values are called beside their keys, where they are sets."""
        return SetNames(self.values, self.titles)


def unknown(kind: str, value: object, near: Sequence[object], *, most: Sequence[str] = ()) -> str:
    """Say that a value is none of a kind's, and which near ones are, else which most icons have."""
    said = f"; near: {', '.join(map(str, near))}" if near else f"; the most frequent are {', '.join(most)}"
    return f'no {kind} "{value}" in this library{said if near or most else ": no icon of it states one"}'


FIELDS = {
    "set": "sets",
    "style": "styles",
    "corner": "corners",
    "licence": "licences",
    "category": "categories",
    "tag": "tags",
}
"""Kind of label -> its field in `Filters`."""


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


Arranged = NDArray[np.int32]
"""Ids of hits in their order: half the memory, and no library comes near the end of its numbers."""


class IconTable(Table):
    """The icons of one generation. Many threads may ask at once."""

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
        """Ids of the icons whose names cover most, as `Lexicon.best_rows` orders them; `most` at most."""

    @abstractmethod
    def sets_saying(self, lexicon: Lexicon, coverage: Floats, tags: Sequence[int]) -> Ids:
        """Codes of the sets with an icon whose name covers all words, or that states one of some tags."""

    @abstractmethod
    def browsed(self, sort: Sort, *, flat: bool) -> tuple[Arranged, int]:
        """The first hits in an order where nothing is asked, of an engine here all; and how many hits there are.

        They are worked out when a generation is made.
        """

    def published_sets(self) -> list[SetFacts] | None:
        """What was written of the sets when the generation was; None where all icons are at hand to be looked at."""
        return None

    def labels(self, kind: str) -> AskedLabels:
        """The values of a kind: one of `KINDS`, or the looks."""
        return cast(AskedLabels, self.keep(f"labels of {kind}", lambda: AskedLabels.read(self._catalog, kind)))

    def looks(self, rows: Rows) -> list[str | None]:
        """All styles of some icons, as one text each: "sharp filled"."""
        values = (*self.labels("look").values, None)  # code -1 is "none"
        return [values[code] for code in rows["look"].tolist()]

    def in_style(self, ids: Ids, style: str) -> Mask:
        """Which icons have all words of a style, as `words.asked_style` spells it: "sharp filled" is "filled"."""
        return np.asarray(self._looks_in(style)[self.at(ids)["look"]])

    def lacks(self, ids: Ids, style: str) -> tuple[Floats, Floats]:
        """How many words of a style some icons lack: its look, and others that any icon here has."""
        looks = (*self.labels("look").words, frozenset[str]())
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
        return np.array([*(bool(words) and words <= look for look in self.labels("look").words), False])

    def count(
        self, ids: Ids, *, kinds: Sequence[str] = KINDS, most: int = N_VALUES, choose: Choice | None = None
    ) -> dict[str, list[FacetCount]]:
        """Count the values of some icons as `tally` does: at most `most` of a kind, most frequent first, then by value.

        `choose` says which pairs of a place in `ids` and a code count.
        """
        rows = self.at(ids)
        return {kind: _most_frequent(self.labels(kind), self.tally(kind, rows, choose), most=most) for kind in kinds}

    def count_all(self, order: str | None = None, *, most: int = N_VALUES) -> dict[str, list[FacetCount]]:
        """Count the values of all icons, or of all hits in an order."""
        labels = map(self.labels, KINDS)
        return {one.kind: _most_frequent(one, one.hits[order] if order else one.n, most=most) for one in labels}

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
            known = list(map(int, self.labels("size").values))
            for size in (size for size in filters.sizes if size not in known):
                raise IconsError(unknown("size", size, sorted(known, key=lambda other: abs(other - size))[:5]))
            yield "size", filters.sizes
        for flag in FLAGS:
            if (value := getattr(filters, flag)) is None:
                continue
            if not self.labels(flag).n.any():
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


def _most_frequent(labels: Labels, counts: Ids, *, most: int) -> list[FacetCount]:
    order = np.argsort(-counts, kind="stable")[:most].tolist()
    return [FacetCount(labels.values[i], labels.titles[i], int(counts[i])) for i in order if counts[i]]
