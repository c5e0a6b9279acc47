"""Which icons of our set the screens use, what is not from our set, and what is drawn in several ways."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats
from indexer.reports.terminal import Progress
from search.engine import SearchEngine
from search.screens.asking import use_at
from search.screens.judging import Named, name_drawings
from search.screens.opened import UsageIndex
from search.screens.results import Use

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
    named = engine.with_generation(lambda opened: list(name_drawings(index, opened, keys, progress=progress)))
    groups: dict[tuple[str, int], list[Named]] = defaultdict(list)
    for one in named:
        groups[(one.origin, one.variant if one.origin != "unknown" else one.drawing)].append(one)
    ids = sorted({one.icon for one in named} | {one.ours for one in named})
    spelled = {hit.id: hit.key for hit in engine.hits(ids)}
    used: dict[str, list[_Group]] = {"ours": [], "foreign": [], "unknown": []}
    for (origin, _), members in groups.items():
        used[origin].append(_grouped(index, members, spelled))
    for groups_of_origin in used.values():
        groups_of_origin.sort(key=_by_frequency)
    return UsageReport(
        sets=keys,
        n_screens=index.n_screens,
        n_boxes=len(index.shown),
        n_icons_of_sets=sum(len(engine.names_in(key)) for key in keys),
        used=[group.used for group in used["ours"]],
        foreign=[group.used for group in used["foreign"]],
        unknown=[group.used for group in used["unknown"]],
        several=_several(index, [*used["ours"], *used["foreign"]]),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """A `Used`, and the vector of its most frequent drawing."""

    used: Used
    vector: Floats


def _by_frequency(group: _Group) -> tuple[int, str]:
    return -group.used.n, group.used.icon


def _grouped(index: UsageIndex, members: Sequence[Named], spelled: dict[int, str]) -> _Group:
    most = max(members, key=lambda one: (index.n_uses[one.drawing], one.score))
    boxes = np.sort(np.concatenate([index.uses(one.drawing) for one in members]))
    screens, first = np.unique(index.screens(boxes), return_index=True)
    key = min((spelled[one.icon] for one in members), key=lambda key: (len(key), key))
    chosen = boxes[first][:_EXAMPLES]
    scores = {one.drawing: one.score for one in members}
    examples = [
        use_at(index, box, score=scores[int(index.shown[box])], icon=None if most.origin == "unknown" else key)
        for box in chosen.tolist()
    ]
    score = max(one.score for one in members)
    used = Used(key, round(score, 4), len(boxes), len(screens), spelled[most.ours], most.meaning, examples)
    return _Group(used, index.vectors(np.array([most.drawing]))[0])


def _several(index: UsageIndex, groups: Sequence[_Group]) -> list[Meaning]:
    """Meanings that have more than one way, the most frequent first."""
    by_meaning: dict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        by_meaning[group.used.meaning].append(group)
    found = []
    for words, members in by_meaning.items():
        members.sort(key=_by_frequency)
        ways = _ways(members[:_LONGEST_JOIN])
        if len(ways) > 1:
            found.append(Meaning(words, sum(way.n for way in ways), ways))
    return sorted(found, key=lambda meaning: (-meaning.n, meaning.words))


def _ways(groups: Sequence[_Group]) -> list[Used]:
    """Leave out what is drawn like a more frequent way: the same icon at another size may be named otherwise."""
    kept: list[_Group] = []
    for group in groups:
        if all(float(group.vector @ other.vector) < _SAME_WAY for other in kept):
            kept.append(group)
    return [group.used for group in kept]
