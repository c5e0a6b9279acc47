"""The styles of each icon: what is stated, and one of four looks, seen in its picture.

A picture alone leaves much open: an arrow is the same, outlined or filled. But icons of one set that state the same
styles look alike, and what is clear of the others decides. Shares of looks in such a group are estimated as Saerens,
Latinne and Decaestecker do (2002, "Adjusting the outputs of a classifier to new a priori probabilities").
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Numbers, Positions
from indexer.languages.names import LOOKS, stated_look, with_look
from indexer.library.traits import NOT_KNOWN, Ink

_WEIGHTS = np.array(
    [
        [-20.2, -2.5, -9.4, 20.1, 4.2, 5.5, -1.3, -0.8, -1.7, 21.2, 8.3, 8.4, -22.5, 0.1, 6.4, -0.7, -1.0, -1.1],
        [-11.8, 23.4, 3.0, 7.1, 4.3, -7.1, -2.2, 15.6, 9.4, 2.3, -10.1, -0.9, 2.1, -6.3, 17.8, -0.2, 9.5, 15.4],
        [-37.5, 27.8, 0.7, 11.4, 2.3, 5.9, -16.9, 19.2, 29.9, 18.6, -16.9, 3.2, -5.2, 7.6, -1.5, 13.0, 7.9, 3.0],
    ],
    np.float32,
)
"""Of the roots of all measures, then of themselves, for each look but the first, which they are held against."""
_CONSTANTS = np.array([0.3, -5.2, -5.2], np.float32)
_SCALES = np.array([5 if measure == "n_hues" else 100 for measure in Ink._fields], np.float32)


def likelihoods(ink: NDArray[np.int8]) -> Floats:
    """How well each of `LOOKS` explains what was measured (`library.traits.Ink`), (n, 9) -> (n, 4).

    Rows add up to 1; where nothing was measured they are 0. What shows no colour has none.
    """
    shares = np.maximum(ink, 0) / _SCALES
    logits = np.zeros((len(ink), len(LOOKS)), np.float32)
    logits[:, 1:] = np.concatenate([np.sqrt(shares), shares], axis=1) @ _WEIGHTS.T + _CONSTANTS
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely[ink[:, Ink._fields.index("coloured")] == 0, LOOKS.index("color")] = 0
    likely /= likely.sum(axis=1, keepdims=True)
    likely[ink[:, 0] == NOT_KNOWN] = 0
    return np.asarray(likely, np.float32)


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
