"""What each drawing of the screens is: an icon of our set, one of another, or nothing that is known."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.merging.calibration import Curve, sigmoid
from indexer.reports.terminal import Progress
from indexer.screens.looks import Sameness
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.query import Filters
from search.screens.opened import UsageIndex


class Meanings:
    """Names of what is like a drawing, in a library."""

    def __init__(self, opened: Opened, curve: Curve) -> None:
        self._curve = curve
        facets = self._facets = opened.in_memory(Ability.USAGE)
        self._order = facets.keep("rows by image", lambda: np.argsort(facets.column("image"), kind="stable"))
        self._images: Ids = facets.keep("images in order", lambda: facets.column("image")[self._order])
        self._words: dict[int, str] = facets.keep("words by name", opened.snapshot.all_words)

    def icons_showing(self, images: Ids) -> Ids:
        """The first icon that shows each of some pictures, in their order."""
        rows = self._order[np.searchsorted(self._images, images)]
        return np.asarray(self._facets.column("icon")[rows], np.int64)

    def drawings(self, icons: Ids) -> Ids:
        """The drawing of each of some icons."""
        return np.asarray(self._facets.at(icons)["drawing"], np.int64)

    def of(self, icons: Ids, cosines: Floats) -> str:
        """Name what is shown, by the icons that are most like it, best first.

        Each set has one vote, for the name of the icon that it has nearest; it weighs as much as that is nearer.
        """
        known = self._facets.at(icons)
        sets, names = known["set"], known["name"]
        _, first = np.unique(sets, return_index=True)
        weights = np.exp(self._curve.slope * (cosines - cosines[0]))
        votes: dict[str, float] = defaultdict(float)
        for place in sorted(first.tolist()):
            votes[self._words[int(names[place])]] += float(weights[place])
        return max(votes, key=lambda words: (round(votes[words], 6), -len(words), words))


OWN_SET = 1.0
"""Log-odds by which an icon of one's own set comes before an equally like one of another: it is what one expects."""


def is_icon(own: Floats, rival: Floats, same: Sameness, *, expected: float = 0.0) -> Floats:
    """Probability by the cosine with the icon and the highest one with something else that it may be instead.

    Both equal leave half of what the likeness alone says; `expected` log-odds speak for the icon beforehand.
    """
    return np.asarray(same.known.scores(own) * sigmoid(same.lead.logits(own - rival) + expected), np.float32)


Origin = Literal["ours", "foreign", "unknown"]
LEAST_SURE = 0.5
_NEAREST = 24
"""Pictures of the whole library that are looked at for each drawing."""
_AT_ONCE = 1_024
"""Drawings."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a drawing is taken for."""

    drawing: int
    origin: Origin
    icon: int
    """Id of the icon that it is most like: of our set where it is ours, else of the library."""
    score: float
    """How sure that is."""
    ours: int
    """Id of the icon of our set that it is most like, and so may be replaced by."""
    variant: int
    """Of the icon: a number that all variants of it share."""
    meaning: str
    """By the names of what it is like in all sets."""


def name_drawings(index: UsageIndex, opened: Opened, sets: Sequence[str], *, progress: Progress) -> Iterator[Named]:
    """Judge every drawing by its likeness with the pictures of some sets, which are ours, and with all others.

    Raises:
        IconsError: a set is unknown here; the message names near ones.
        LibraryError: icons and screens were seen by two encoders.
    """
    index.refuse_other_encoder(opened)
    facets = opened.in_memory(Ability.USAGE)
    ids = facets.every(facets.select(Filters(sets=tuple(sets))))
    ours = _Ours(opened, ids)
    for start in range(0, index.n_drawings, _AT_ONCE):
        drawings = np.arange(start, min(start + _AT_ONCE, index.n_drawings), dtype=np.int64)
        yield from _name(index, opened, ours, drawings)
        progress("Naming the drawings", int(drawings[-1]) + 1, index.n_drawings)


class _Ours:
    """The pictures of our sets, and the icons that show them."""

    def __init__(self, opened: Opened, icons: Ids) -> None:
        shown = opened.images_of(icons)
        self.images, first = np.unique(shown, return_index=True)
        self.icons: Ids = icons[first]
        self.vectors = opened.pictures.reconstruct(self.images)
        self.drawings = np.unique(opened.facets.at(icons)["drawing"])

    def is_any(self, drawings: Ids) -> Mask:
        """Which drawings of the library some icon of ours shows."""
        return np.isin(drawings, self.drawings)


def _name(index: UsageIndex, opened: Opened, ours: _Ours, drawings: Ids) -> Iterator[Named]:
    vectors, same = index.vectors(drawings), index.manifest.same
    cosines = vectors @ ours.vectors.T
    best = cosines.argmax(axis=1)
    own = cosines[np.arange(len(cosines)), best]
    meanings = Meanings(opened, same.lead)
    nears = opened.pictures.search_many(vectors, k=_NEAREST)
    shown = [meanings.icons_showing(near.ids) for near in nears]
    are_ours = [ours.is_any(meanings.drawings(icons)) for icons in shown]
    others = [_first_other(near.scores, ours_too) for near, ours_too in zip(nears, are_ours, strict=True)]
    is_ours = is_icon(own, np.array(others, np.float32), same, expected=OWN_SET)
    likes = [int(ours.icons[place]) for place in best.tolist()]
    known = same.known.scores(np.array([near.scores[0] for near in nears], np.float32))
    are_own = (is_ours >= LEAST_SURE).tolist()
    icons = [likes[row] if is_own else int(shown[row][0]) for row, is_own in enumerate(are_own)]
    variants = opened.facets.variants(opened.facets.at(np.array(icons, np.int64)))
    for row, drawing in enumerate(drawings.tolist()):
        yield Named(
            drawing,
            origin="ours" if are_own[row] else "foreign" if known[row] >= LEAST_SURE else "unknown",
            icon=icons[row],
            score=float(is_ours[row] if are_own[row] else known[row]),
            ours=likes[row],
            variant=int(variants[row]),
            meaning=meanings.of(shown[row], nears[row].scores),
        )


def _first_other(cosines: Floats, are_ours: Mask) -> float:
    """The highest cosine with a picture that is none of ours; -1 where all the nearest are."""
    places = np.flatnonzero(~are_ours)
    return float(cosines[places[0]]) if len(places) else -1.0
