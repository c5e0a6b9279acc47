"""What is wrong with a box that holds no icon? And which icons did a contender miss, name wrongly, or make up?"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from indexer.locating.boxes import iou_matrix
from search.evaluation.screens.answers import LOOSE, Answered, AnsweredScreen
from search.evaluation.screens.matching import NO_ICON
from search.evaluation.screens.truth import Truth

NEAR = 0.1
"""Least intersection over union of a box with an icon that it fits badly."""
DOUBLE, BADLY, ELSEWHERE, EMPTY = "second box of an icon", "fits badly", "no icon there", "on an icon-free screen"
KINDS = (DOUBLE, BADLY, ELSEWHERE, EMPTY)


def false_boxes(answered: Answered, truth: Truth) -> list[tuple[int, str]]:
    """Rows of the shown boxes that hold no icon, best first, and what is wrong with each."""
    rows = np.flatnonzero(answered.shown_icons() == NO_ICON)
    if not truth.icons:
        return [(row, EMPTY) for row in rows.tolist()]
    overlaps = iou_matrix(answered.boxes.corners[rows], truth.corners).max(axis=1)
    return [(row, _kind(overlap)) for row, overlap in zip(rows.tolist(), overlaps.tolist(), strict=True)]


def _kind(overlap: float) -> str:
    if overlap >= LOOSE:
        return DOUBLE
    return BADLY if overlap >= NEAR else ELSEWHERE


def count_false(own: Sequence[Answered], screens: Sequence[AnsweredScreen]) -> dict[str, int]:
    """Count the false boxes of one contender by what is wrong with them."""
    pairs = zip(own, screens, strict=True)
    counts = Counter(kind for one, screen in pairs for _, kind in false_boxes(one, screen.truth))
    return {kind: counts[kind] for kind in KINDS}


def missed_icons(answered: Answered, truth: Truth) -> list[tuple[int, float]]:
    """Rows of the icons that no shown box holds, and the score of the box below the threshold that does; 0 for none."""
    scores = dict(zip(answered.icons.tolist(), answered.boxes.scores.tolist(), strict=True))
    return [(row, scores.get(row, 0.0)) for row in np.flatnonzero(~answered.is_found(truth)).tolist()]


def wrongly_named(answered: Answered, truth: Truth) -> list[int]:
    """Rows of the shown boxes that hold an icon of the library and bear another name."""
    is_found, is_named = answered.is_found(truth) & truth.is_held, answered.is_named(truth)
    wrong = is_found & ~is_named
    return [row for row, icon in enumerate(answered.shown_icons().tolist()) if icon != NO_ICON and wrong[icon]]


def n_faults(answered: Answered, truth: Truth) -> int:
    """Icons missed, boxes that hold none, and wrong names."""
    n_missed = int((~answered.is_found(truth)).sum())
    return n_missed + len(false_boxes(answered, truth)) + len(wrongly_named(answered, truth))
