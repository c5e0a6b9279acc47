"""How good a ranking of boxes is: precision over recall, the area beneath it, the best F1. Pure functions.

Average precision is the area under the curve with precision made monotone, at every recall that is reached (PASCAL VOC
since 2010, "all points"), not COCO's mean over 101 recalls. Boxes of one score come together: a curve has no point
among them, so the order in which they were found decides nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Mask
from indexer.reports.figures import RESAMPLES, Figure

Values = NDArray[np.float64]
_VALUES_AT_ONCE = 4_000_000


class RankedBoxes(NamedTuple):
    """Boxes of many screens, the highest score first."""

    scores: Values
    """(n,)."""
    screens: NDArray[np.intp]
    """(n,): the number of each box's screen."""
    is_right: Mask
    """(n,): whether it holds an icon."""
    n_icons: NDArray[np.int64]
    """(screens,)."""


class Curve(NamedTuple):
    """What stands above each score: (points,), scores descending."""

    scores: Values
    n_right: Values
    n_boxes: Values
    n_icons: float

    @property
    def precision(self) -> Values:
        """Share of the boxes that hold an icon."""
        return _ratio(self.n_right, self.n_boxes)

    @property
    def recall(self) -> Values:
        """Share of the icons that a box holds."""
        return _ratio(self.n_right, np.full_like(self.n_right, self.n_icons))

    @property
    def f1(self) -> Values:
        """Harmonic mean of both."""
        return _ratio(2 * self.n_right, self.n_boxes + self.n_icons)


def ranked(scores: Sequence[NDArray[np.floating]], rights: Sequence[Mask], n_icons: Sequence[int]) -> RankedBoxes:
    """Rank the boxes of all screens, given a screen at a time."""
    screens = np.repeat(np.arange(len(scores)), [len(own) for own in scores])
    every = np.concatenate([*scores, np.zeros(0)]).astype(np.float64)
    order = np.argsort(-every, kind="stable")
    right = np.concatenate([*rights, np.zeros(0, bool)])
    return RankedBoxes(every[order], screens[order], right[order], np.array(n_icons, np.int64))


def curve(boxes: RankedBoxes) -> Curve:
    """Count what stands above each distinct score."""
    ends = _ends(boxes.scores)
    n_right = np.cumsum(boxes.is_right, dtype=np.float64)[ends]
    return Curve(boxes.scores[ends], n_right, (ends + 1).astype(np.float64), float(boxes.n_icons.sum()))


def best_threshold(of: Curve) -> float | None:
    """The score with the highest F1; None where nothing is found."""
    return float(of.scores[of.f1.argmax()]) if len(of.scores) else None


def average_precision(boxes: RankedBoxes, *, seed: int) -> Figure:
    """Area under the curve, with its bootstrap interval over screens (`indexer.reports.figures`)."""
    n_screens = len(boxes.n_icons)
    [value] = _average_precisions(boxes, np.ones((1, n_screens)))
    draws = np.random.default_rng(seed).integers(n_screens, size=(RESAMPLES, n_screens))
    at_once = max(1, _VALUES_AT_ONCE // max(len(boxes.scores), 1))
    resampled = []
    for start in range(0, RESAMPLES, at_once):
        weights = np.stack([np.bincount(drawn, minlength=n_screens) for drawn in draws[start : start + at_once]])
        resampled.append(_average_precisions(boxes, weights.astype(np.float64)))
    low, high = np.percentile(np.concatenate(resampled), (2.5, 97.5))
    return Figure(round(float(value), 4), round(float(low), 4), round(float(high), 4))


def false_at(boxes: RankedBoxes, thresholds: Sequence[float]) -> list[float]:
    """Boxes of at least each score on an icon-free screen, on average; 0 where every screen has icons."""
    is_empty = boxes.n_icons == 0
    scores = np.sort(boxes.scores[is_empty[boxes.screens]])
    above = len(scores) - np.searchsorted(scores, thresholds, side="left")
    return [float(n) / max(int(is_empty.sum()), 1) for n in above]


def precision_at(of: Curve, recalls: Sequence[float]) -> list[float]:
    """The best precision with at least each of some recalls, ascending; it ends with the last that is reached."""
    best = _monotone(of.precision)
    places = np.searchsorted(of.recall, recalls, side="left")
    return [float(best[place]) for place in places.tolist() if place < len(best)]


def _average_precisions(boxes: RankedBoxes, weights: Values) -> Values:
    """Areas (draws,) where each screen counts as often as `weights` (draws, screens) says."""
    ends = _ends(boxes.scores)
    if not len(ends):
        return np.zeros(len(weights))
    own = weights[:, boxes.screens]
    n_right = np.cumsum(own * boxes.is_right, axis=1)[:, ends]
    precision = _monotone(_ratio(n_right, np.cumsum(own, axis=1)[:, ends]))
    n_icons = weights @ boxes.n_icons
    areas = (np.diff(n_right, axis=1, prepend=0) * precision).sum(axis=1)
    return _ratio(areas, n_icons)


def _ends(scores: Values) -> NDArray[np.intp]:
    """Last place of each stretch of equal scores."""
    return np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) if len(scores) else np.zeros(0, np.intp)


def _monotone(precision: Values) -> Values:
    """The best precision at a recall or beyond."""
    return np.asarray(np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1])


def _ratio(some: Values, of: Values) -> Values:
    return np.divide(some, of, out=np.zeros_like(some), where=of > 0)
