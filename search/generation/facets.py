"""Which icons fit some filters, and how many of each set, style, licence ... are among those that were found?

`indexer.publishing.facets` says what the files hold; they are mapped into memory, so opening them costs nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Mask, Positions, rows_by_id
from indexer.errors import IconsError, LibraryError
from indexer.library.folder import Generation
from indexer.library.traits import FLAGS, NOT_KNOWN
from indexer.naming.looks import LOOKS
from indexer.publishing.facets import NONE, OF_LOOK, SEVERAL, compared, read_array
from indexer.sources.licences import FAMILIES, family
from search.generation.labels import Labels, unknown
from search.query import Filters
from search.results import N_VALUES, FacetCount
from search.words.set_names import SetNames

Codes = NDArray[np.int32]

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


class Facets:
    """What the icons of one generation can be filtered and counted by. Many threads may ask at once.

    Raises:
        LibraryError: its files are missing or not whole.
    """

    def __init__(self, generation: Generation) -> None:
        self._catalog = generation.catalog
        self._kept: dict[str, Any] = {}
        try:
            self.rows: NDArray[np.void] = read_array(generation.facets)
            self._pairs = {kind: read_array(getattr(generation, name)) for kind, name in SEVERAL.items()}
        except (OSError, ValueError) as error:
            raise LibraryError(
                f'facets of "{generation.folder}" can\'t be read ({error}); `icons merge` builds a new generation'
            ) from error

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[Any]:
        """One field of all rows, by ascending icon id: contiguous, which is quicker to go through."""
        column: NDArray[Any] = self.keep(name, lambda: np.ascontiguousarray(self.rows[name]))
        return column

    def labels(self, kind: str) -> Labels:
        """The values of a kind: set, look, style, corner, licence, category or tag."""
        return cast(Labels, self.keep(f"labels of {kind}", lambda: Labels.read(self._catalog, kind)))

    @property
    def set_names(self) -> SetNames:
        """What the library's sets are called."""
        return self.labels("set").set_names

    def positions(self, ids: Ids) -> Positions:
        """Rows of some icons of this generation."""
        rows: Positions = self.keep("rows by id", lambda: rows_by_id(self.column("icon")))
        return rows[ids]

    def variants(self, rows: Positions) -> Ids:
        """A number for the set and name of each of some rows, which all variants of an icon share."""
        bits = self.keep("bits of names", lambda: int(self.column("name").max(initial=0)).bit_length())
        return cast(Ids, self.column("set")[rows].astype(np.int64) << bits | self.column("name")[rows])

    def showing(self, images: Ids) -> Ids:
        """Ids of the icons that show some pictures, ascending."""
        shown = self.column("image")
        is_wanted = np.zeros(self.keep("last image", lambda: int(shown.max(initial=0))) + 1, dtype=bool)
        is_wanted[images] = True
        return cast(Ids, self.column("icon")[is_wanted[shown]])

    def pairs(self, kind: str) -> Codes:
        """Which row bears which label of a kind that icons have several of: rows, which ascend, and codes, (2, n)."""
        return cast(Codes, self._pairs[kind])

    def telling(self, kind: str, pairs: NDArray[np.integer]) -> "Facets":
        """The same icons, as if these pairs of rows and codes were all that is known of a kind."""
        other = copy(self)
        other._pairs = {**self._pairs, kind: pairs}
        other._kept = {}
        return other

    def stating(self, tag: int) -> Ids:
        """Ids of the icons that state a tag, given by its code, ascending."""
        rows, borne = self._pairs["tag"]
        return cast(Ids, self.column("icon")[rows[borne == tag]])

    def looks(self, ids: Ids) -> list[str | None]:
        """All styles of some icons, as one text each: "sharp filled"."""
        values = (*self.labels("look").values, None)  # code -1 is "none"
        return [values[code] for code in self.column("look")[self.positions(ids)].tolist()]

    def in_style(self, style: str, rows: Positions | slice = slice(None)) -> Mask:
        """Which rows have all words of a style, as `naming.looks.asked_style` spells it: "sharp filled" is "filled"."""
        wanted = frozenset(style.split())
        fitting = [bool(wanted) and wanted <= words for words in self._words_of_looks()]
        return cast(Mask, np.array([*fitting, False])[self.column("look")[rows]])  # code -1 is "none"

    def select(self, filters: Filters) -> Ids | None:
        """Ids of the icons that fit, ascending; None where nothing is filtered.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """
        masks = list(self._masks(filters))
        return cast(Ids, self.column("icon")[np.logical_and.reduce(masks)]) if masks else None

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
        Given places in `ids` and the code that each has of a kind, `choose` says which of these pairs count.
        """
        if ids is None:
            tallies = {kind: self.keep(f"tally of {kind}", partial(self._tally, kind, None)) for kind in kinds}
        else:
            positions = self.positions(ids)
            tallies = {kind: self._tally(kind, positions, choose) for kind in kinds}
        return {kind: _most_frequent(*tally, most=most) for kind, tally in tallies.items()}

    def _masks(self, filters: Filters) -> Iterator[Mask]:
        """Yield which rows fit, a filter at a time."""
        for kind, field in FIELDS.items():
            if not (asked := getattr(filters, field)):
                continue
            if kind in OF_LOOK:
                yield np.logical_or.reduce([self.in_style(self._known(kind, value)) for value in asked])
            else:
                yield self._bearing(kind, self.labels(kind).meant(asked))
        if filters.sizes:
            yield self._of_sizes(filters.sizes)
        for flag in FLAGS:
            if (wanted := getattr(filters, flag)) is not None:
                yield self._being(flag, wanted)

    def _bearing(self, kind: str, codes: Sequence[int]) -> Mask:
        wanted = np.zeros(len(self.labels(kind).values) + 1, dtype=bool)  # the last one stands for NONE
        wanted[codes] = True
        if kind not in SEVERAL:
            return cast(Mask, wanted[self.column(kind)])
        rows, borne = self._pairs[kind]
        mask = np.zeros(len(self), dtype=bool)
        mask[rows[wanted[borne]]] = True
        return mask

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

    def _holding(self, kind: str) -> Mask:
        """Which looks, by code, hold which labels of a kind that are words of theirs, (labels, looks)."""
        words = self._words_of_looks()
        found = self.keep(
            f"looks of {kind}", lambda: [[label in look for look in words] for label in self.labels(kind).values]
        )
        return np.array(found, bool).reshape(len(self.labels(kind).values), len(words))

    def _of_sizes(self, sizes: Sequence[int]) -> Mask:
        column = self.column("size")
        masks = [column == size for size in sizes]
        for size, mask in zip(sizes, masks, strict=True):
            if size == NONE or not mask.any():
                known = np.setdiff1d(column, [NONE]).tolist()
                raise IconsError(unknown("size", size, sorted(known, key=lambda other: abs(other - size))[:5]))
        return cast(Mask, np.logical_or.reduce(masks))

    def _being(self, trait: str, wanted: bool) -> Mask:
        column = self.column(trait)
        if (column == NOT_KNOWN).all():
            raise IconsError(
                f"it is not known which icons are {trait}: an older program embedded them; "
                'delete the folder "vectors" of this library, then run `icons index`'
            )
        return cast(Mask, column == wanted)

    def _tally(
        self, kind: str, positions: Positions | None, choose: Choice | None = None
    ) -> tuple[Sequence[str], Sequence[str], Ids]:
        """Values of a kind, their titles, and how many of the icons have each."""
        values, titles = self._values(kind)
        if positions is None and kind in FIELDS:
            return values, titles, self.labels(kind).n
        places, codes = self._coded(kind, np.arange(len(self)) if positions is None else positions)
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
    def _sizes(self) -> Ids:
        """All sizes that icons have, ascending."""
        return cast(Ids, self.keep("sizes", lambda: np.setdiff1d(self.column("size"), [NONE])))

    def _coded(self, kind: str, positions: Positions) -> tuple[Positions, Ids]:
        """Which of some rows has which code of a kind: places in `positions`, which ascend, and codes; without NONE."""
        if kind in SEVERAL:
            return self._several(kind, positions)
        if kind in OF_LOOK:
            return self._of_look(kind, positions)
        if kind == "family":
            of_licences = [FAMILIES.index(family(licence)) for licence in (*self.labels("licence").values, None)]
            return np.arange(len(positions)), np.array(of_licences)[self.column("licence")[positions]]  # -1 is NONE
        codes = self.column(kind)[positions]
        places = np.flatnonzero(codes != NONE)  # which is NOT_KNOWN, too
        if kind == "size":
            return places, np.searchsorted(self._sizes, codes[places])
        return places, codes[places] if kind in FLAGS else self.labels(kind).first_alike[codes[places]]

    def _of_look(self, kind: str, positions: Positions) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that are words of the looks of some rows."""
        looks = self.column("look")[positions]
        pairs = [(np.flatnonzero(np.append(held, False)[looks]), code) for code, held in enumerate(self._holding(kind))]
        places = [found for found, _ in pairs] or [np.empty(0, np.int64)]
        return np.concatenate(places), np.repeat(np.arange(len(pairs)), [len(found) for found, _ in pairs])

    def _several(self, kind: str, positions: Positions) -> tuple[Positions, Ids]:
        """Places and codes of all labels that some rows bear."""
        rows, codes = self._pairs[kind]
        starts = self.keep(f"starts of {kind}", lambda: np.searchsorted(rows, np.arange(len(self) + 1)))
        n = starts[positions + 1] - starts[positions]
        # Each row's pairs follow one another: where they start, repeated for each, and how far behind that it stands.
        offsets = np.repeat(starts[positions] - np.cumsum(n) + n, n)
        return np.repeat(np.arange(len(positions)), n), codes[offsets + np.arange(len(offsets))]

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Make a thing once; where two threads make it at the same time, one of the two is kept."""
        if name not in self._kept:
            self._kept.setdefault(name, make())
        return self._kept[name]

    def keeps(self, name: str) -> bool:
        """Whether a thing was made already."""
        return name in self._kept


def _most_frequent(values: Sequence[str], titles: Sequence[str], counts: Ids, *, most: int) -> list[FacetCount]:
    order = np.argsort(-counts, kind="stable")[:most].tolist()
    return [FacetCount(values[i], titles[i], int(counts[i])) for i in order if counts[i]]
