"""Which styles has each icon? What is stated, and one of four looks, seen in its picture and in the habits of its set.

A picture alone leaves much open: an arrow is the same, outlined or filled. But icons of one set that state the same
styles look alike, and what is clear of the others decides. Shares of looks in such a group are estimated as Saerens,
Latinne and Decaestecker do (2002, "Adjusting the outputs of a classifier to new a priori probabilities").
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Numbers, Positions
from indexer.naming.looks import LOOKS, stated_look, with_look
from indexer.publishing.seen_looks import likelihoods

_HABIT = np.array([0.75, 0.75, 0.6, 0.6], np.float32)
"""Share of each look in a group from which on it is the group's habit: a quarter of all filled icons are thin as lines
are, and many duotone ones have nothing that a second tone could fill. Chosen on the half that was learnt from."""
_CLEAR = 0.98
"""A picture that is as sure as this by itself looks as it looks, whatever its group does."""
_ROUNDS = 25
_SMOOTHING = 0.5
"""Pictures that every group is taken to have of each look."""
UNSEEN = -1


def name_styles(stated: Sequence[str | None], sets: NDArray[np.integer], ink: NDArray[np.int8]) -> list[str | None]:
    """Name the styles of icons: what each states, with the look that it states or that is seen; None where no look is.

    `sets` (n,) number their sets, `ink` (n, 9) are measures of their pictures (`library.traits.Ink`).
    """
    looks = see_looks(likelihoods(ink), group(stated, sets))
    pairs = Numbers[tuple[str | None, int]]()
    of_icons = pairs.of(zip(stated, looks.tolist(), strict=True)).tolist()
    seen = [(styles, LOOKS[look] if look != UNSEEN else None) for styles, look in pairs]
    named = [with_look(styles, stated_look(styles) or look) for styles, look in seen]
    return [named[pair] for pair in of_icons]


def group(stated: Sequence[str | None], sets: NDArray[np.integer]) -> NDArray[np.int32]:
    """Number groups of icons that are of one set and state the same styles, (n,)."""
    return Numbers[tuple[int, str | None]]().of(zip(sets.tolist(), stated, strict=True))


def see_looks(likely: Floats, groups: NDArray[np.integer]) -> NDArray[np.int8]:
    """Number the look of each icon in `LOOKS`, (n,), by its picture (n, 4) and group; `UNSEEN` without measures."""
    looks = np.full(len(likely), UNSEEN, np.int8)
    for members in _members(groups, np.flatnonzero(likely.any(axis=1))):
        looks[members] = _looks_of_group(likely[members])
    return looks


def _members(groups: NDArray[np.integer], icons: Positions) -> Iterator[Positions]:
    """Yield the icons of each group that has some of them."""
    ordered = icons[np.argsort(groups[icons], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[ordered])) + 1
    yield from np.split(ordered, starts) if len(ordered) else ()


def _looks_of_group(likely: Floats) -> NDArray[np.intp]:
    """See pictures of one group: the likeliest look, and the group's habit, if it has one, where that is not clear."""
    shares = np.full(len(LOOKS), 1 / len(LOOKS), np.float32)
    for _ in range(_ROUNDS):
        sure = likely * shares
        sure /= sure.sum(axis=1, keepdims=True)
        shares = (sure.sum(axis=0) + _SMOOTHING) / (len(sure) + _SMOOTHING * len(LOOKS))
    habit = int((shares - _HABIT).argmax())
    if shares[habit] < _HABIT[habit]:
        return np.asarray(sure.argmax(axis=1))
    is_open = (likely.max(axis=1) < _CLEAR) & (likely[:, habit] > 0)
    return np.where(is_open, habit, likely.argmax(axis=1))
