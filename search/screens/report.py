"""Which icons of our set the screens use, what is not from our set, and what is drawn in several ways."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.reports.terminal import Progress
from search.engine import SearchEngine
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.query import Filters
from search.screens.opened import OWN_SET, UsageIndex
from search.screens.results import Use

Origin = Literal["ours", "foreign", "unknown"]
LEAST_SURE = 0.5
_NEAREST = 24
"""Pictures of the whole library that are looked at for each drawing."""
_AT_ONCE = 1_024
"""Drawings."""


class Named(NamedTuple):
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


class _Namer:
    """Judges drawings by their likeness with the pictures of some sets, which are ours, and with all others."""

    def __init__(self, index: UsageIndex, opened: Opened, sets: Sequence[str]) -> None:
        index.refuse_other_encoder(opened)
        self.index = index
        self.opened = opened
        self.facets = facets = opened.in_memory(Ability.USAGE)
        icons = facets.every(facets.select(Filters(sets=tuple(sets))))
        images, first = np.unique(opened.images_of(icons), return_index=True)
        self.ours: Ids = icons[first]
        """Icons of ours, one a picture."""
        self.vectors = opened.pictures.reconstruct(images)
        """Of their pictures."""
        self.drawings = np.unique(facets.at(icons)["drawing"])
        self.order = np.argsort(facets.column("image"), kind="stable")
        """Rows of all icons by their pictures."""
        self.words = opened.snapshot.all_words()

    def name(self, drawings: Ids) -> Iterator[Named]:
        """Tell what each drawing is taken for."""
        vectors, same, facets = self.index.vectors(drawings), self.index.manifest.same, self.facets
        cosines = vectors @ self.vectors.T
        best = cosines.argmax(axis=1)
        likes = self.ours[best].tolist()
        nears = self.opened.pictures.search_many(vectors, k=_NEAREST)
        images, every = facets.column("image")[self.order], facets.column("icon")
        shown = [np.asarray(every[self.order[np.searchsorted(images, near.ids)]], np.int64) for near in nears]
        are_foreign = [~np.isin(facets.at(icons)["drawing"], self.drawings) for icons in shown]
        others = [next(iter(near.scores[foreign]), -1.0) for near, foreign in zip(nears, are_foreign, strict=True)]
        own = cosines[np.arange(len(cosines)), best]
        is_ours = self.index.is_icon(own, np.array(others, np.float32), expected=OWN_SET)
        known = same.known.scores(np.array([near.scores[0] for near in nears], np.float32))
        are_own = (is_ours >= LEAST_SURE).tolist()
        icons = [like if is_own else int(found[0]) for like, is_own, found in zip(likes, are_own, shown, strict=True)]
        variants = self.opened.facets.variants(facets.at(np.array(icons, np.int64)))
        for row, drawing in enumerate(drawings.tolist()):
            yield Named(
                drawing,
                origin="ours" if are_own[row] else "foreign" if known[row] >= LEAST_SURE else "unknown",
                icon=icons[row],
                score=float(is_ours[row] if are_own[row] else known[row]),
                ours=likes[row],
                variant=int(variants[row]),
                meaning=self._meaning(shown[row], nears[row].scores),
            )

    def _meaning(self, icons: Ids, cosines: Floats) -> str:
        """Name what is shown, by the icons that are most like it, best first.

        Each set has one vote, for the name of the icon that it has nearest; it weighs as much as that is nearer.
        """
        known = self.facets.at(icons)
        names, (_, first) = known["name"], np.unique(known["set"], return_index=True)
        weights = np.exp(self.index.manifest.same.lead.slope * (cosines - cosines[0]))
        votes: dict[str, float] = defaultdict(float)
        for place in sorted(first.tolist()):
            votes[self.words[int(names[place])]] += float(weights[place])
        return max(votes, key=lambda words: (round(votes[words], 6), -len(words), words))


_EXAMPLES = 3
"""Uses that are named of each icon, on different screens where there are several."""
_SAME_WAY = 0.95
"""Cosine of two drawings that are one icon at two sizes or in two colours."""
_LONGEST_JOIN = 400
"""Ways of one meaning that are held against each other."""


@dataclass(frozen=True, slots=True)
class Used:
    """An icon, or what looks like it, and how often the screens show it."""

    icon: str
    """Key of the icon, the shortest of the variants that were met: of our set, or of that which has the likest one."""
    score: float
    """How sure that is, of the surest drawing."""
    n: int
    """Places."""
    n_screens: int
    ours: str
    """Key of the icon of our set that is most like it."""
    meaning: str
    examples: Sequence[Use]


@dataclass(frozen=True, slots=True)
class Meaning:
    """Something that the screens draw in several ways."""

    words: str
    n: int
    """Places of all ways."""
    ways: Sequence[Used]
    """The most frequent first."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What the screens show, held against our set; all most frequent first."""

    sets: tuple[str, ...]
    n_screens: int
    n_boxes: int
    n_icons_of_sets: int
    """Names of icons that our sets have."""
    used: Sequence[Used]
    foreign: Sequence[Used]
    """What is like an icon of another set, but none of ours."""
    unknown: Sequence[Used]
    """What is like nothing in the library: own drawings, logos, and what is no icon."""
    several: Sequence[Meaning]


def report(index: UsageIndex, engine: SearchEngine, sets: Sequence[str], *, progress: Progress) -> UsageReport:
    """Hold all that the screens show against some sets, which are ours.

    Raises:
        IconsError: a set is unknown here; the message names near ones.
        LibraryError: icons and screens were seen by two encoders.
    """
    keys = tuple(engine.set_keys(sets))

    def judge(opened: Opened) -> list[Named]:
        namer, named = _Namer(index, opened, keys), list[Named]()
        for start in range(0, index.n_drawings, _AT_ONCE):
            drawings = np.arange(start, min(start + _AT_ONCE, index.n_drawings), dtype=np.int64)
            named += namer.name(drawings)
            progress("Naming the drawings", len(named), index.n_drawings)
        return named

    named = engine.with_generation(judge)
    groups: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for one in named:
        groups[(one.origin, one.variant if one.origin != "unknown" else one.drawing)].append(one)
    ids = sorted({one.icon for one in named} | {one.ours for one in named})
    spelled = {hit.id: hit.key for hit in engine.hits(ids)}
    grouped = (_grouped(index, members, spelled) for members in groups.values())
    every = sorted(grouped, key=lambda group: (-group.used.n, group.used.icon))
    return UsageReport(
        sets=keys,
        n_screens=index.n_screens,
        n_boxes=len(index.shown),
        n_icons_of_sets=sum(len(engine.names_in(key)) for key in keys),
        used=[group.used for group in every if group.origin == "ours"],
        foreign=[group.used for group in every if group.origin == "foreign"],
        unknown=[group.used for group in every if group.origin == "unknown"],
        several=_several([group for group in every if group.origin != "unknown"]),
    )


class _Group(NamedTuple):
    """A `Used`, and the vector of its most frequent drawing."""

    origin: Origin
    used: Used
    vector: Floats


def _grouped(index: UsageIndex, members: Sequence[Named], spelled: dict[int, str]) -> _Group:
    most = max(members, key=lambda one: (len(index.uses(one.drawing)), one.score))
    boxes = np.sort(np.concatenate([index.uses(one.drawing) for one in members]))
    screens, first = np.unique(index.screens[boxes], return_index=True)
    key = min((spelled[one.icon] for one in members), key=lambda key: (len(key), key))
    chosen = boxes[first][:_EXAMPLES]
    scores = {one.drawing: one.score for one in members}
    examples = [
        index.use(box, score=scores[int(index.shown[box])], icon=None if most.origin == "unknown" else key)
        for box in chosen.tolist()
    ]
    score = max(one.score for one in members)
    used = Used(key, round(score, 4), len(boxes), len(screens), spelled[most.ours], most.meaning, examples)
    return _Group(most.origin, used, index.vectors(np.array([most.drawing]))[0])


def _several(groups: Sequence[_Group]) -> list[Meaning]:
    """Meanings that have more than one way, the most frequent first, of groups in this order.

    What is drawn like a more frequent way is none: the same icon at another size may be named otherwise.
    """
    by_meaning: dict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        by_meaning[group.used.meaning].append(group)
    found = []
    for words, members in by_meaning.items():
        kept: list[_Group] = []
        for group in members[:_LONGEST_JOIN]:
            if all(float(group.vector @ other.vector) < _SAME_WAY for other in kept):
                kept.append(group)
        if len(kept) > 1:
            found.append(Meaning(words, sum(way.used.n for way in kept), [way.used for way in kept]))
    return sorted(found, key=lambda meaning: (-meaning.n, meaning.words))
