"""From what was said of each screen to figures with intervals over screens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.reports.measures import Figure, Scores, means, shares
from search.evaluation.screens.answers import Answered, AnsweredScreen
from search.evaluation.screens.contenders import Contender
from search.evaluation.screens.curves import (
    Curve,
    RankedBoxes,
    average_precision,
    best_threshold,
    curve,
    false_on_empty,
    precision_at,
    ranked,
)
from search.evaluation.screens.faults import count_false
from search.evaluation.screens.findings import (
    RECALLS,
    THRESHOLDS,
    ContenderRow,
    Naming,
    Quality,
    ThresholdRow,
)
from search.evaluation.screens.matching import NO_ICON

NOTHING_SHOWN = 1.01
"""Threshold of a contender that finds nothing."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What counts in each screen, (screens,) each."""

    right: Scores
    boxes: Scores
    icons: Scores

    def quality(self, threshold: float, *, seed: int) -> Quality:
        """Precision, recall and F1 over all screens together."""
        over = {"precision": self.boxes, "recall": self.icons, "f1": (self.boxes + self.icons) / 2}
        return Quality(threshold, **shares(dict.fromkeys(over, self.right), of=over, seed=seed))


def contender_row(contender: Contender, number: int, screens: Sequence[AnsweredScreen], *, seed: int) -> ContenderRow:
    """Figures of the contender with this number in every screen's answers."""
    own = [screen.by_contender[number] for screen in screens]
    loose = rank_boxes(own, screens)
    of = curve(loose)
    best = best_threshold(of)
    return ContenderRow(
        contender=contender.name,
        ap50=average_precision(loose, seed=seed),
        ap75=average_precision(rank_boxes(own, screens, strictly=True), seed=seed),
        best=_above(NOTHING_SHOWN if best is None else best, own, screens, seed=seed),
        fixed=_above(contender.threshold, own, screens, seed=seed),
        false_on_empty=_false_on_empty(own, screens, seed=seed),
        end_to_end=end_to_end(contender.threshold, own, screens, seed=seed),
        seconds=round(float(np.mean([one.seconds for one in own])), 4),
        precisions=[round(value, 4) for value in precision_at(of, RECALLS)],
        thresholds=_thresholds(loose, of),
        false_kinds=count_false(own, screens),
    )


def rank_boxes(own: Sequence[Answered], screens: Sequence[AnsweredScreen], *, strictly: bool = False) -> RankedBoxes:
    """Rank what one contender found in all screens."""
    held = [one.icons_strictly if strictly else one.icons for one in own]
    n_icons = [len(screen.truth.icons) for screen in screens]
    return ranked([one.boxes.scores for one in own], [icons != NO_ICON for icons in held], n_icons)


def end_to_end(
    threshold: float, own: Sequence[Answered], screens: Sequence[AnsweredScreen], *, seed: int
) -> Quality | None:
    """Count as right what is found and named; icons that the library lacks and the boxes on them are left aside."""
    right, boxes, icons = [], [], []
    for one, screen in zip(own, screens, strict=True):
        held = one.shown_icons()
        lacking = np.append(~screen.truth.is_held, False)[held]  # `NO_ICON` is the last
        right.append(one.is_named(screen.truth).sum())
        boxes.append(one.n_shown - lacking.sum())
        icons.append(screen.truth.is_held.sum())
    if not sum(icons):
        return None
    return Counts(*(np.array(counts, np.float64) for counts in (right, boxes, icons))).quality(threshold, seed=seed)


def naming(screens: Sequence[AnsweredScreen], *, seed: int) -> Naming | None:
    """How often the library's own names are right where boxes are; None where it holds none of these icons."""
    held = np.array([screen.truth.is_held.sum() for screen in screens], np.float64)
    if not held.sum():
        return None
    within = {f"top_{most}": _named_within(screens, most) for most in (1, 5)}
    return Naming(int(held.sum()), **shares(within, of=dict.fromkeys(within, held), seed=seed))


def _named_within(screens: Sequence[AnsweredScreen], most: int) -> Scores:
    return np.array([true_ranks(screen)[true_ranks(screen) <= most].size for screen in screens], np.float64)


def true_ranks(screen: AnsweredScreen) -> Scores:
    """Place of each icon's first right name among those of its true box, infinite where none is right."""
    pairs = zip(screen.true_names, screen.truth.icons, strict=True)
    return np.array([name.rank(icon.right) or np.inf for name, icon in pairs], np.float64)


def _above(threshold: float, own: Sequence[Answered], screens: Sequence[AnsweredScreen], *, seed: int) -> Quality:
    shown = [one.boxes.scores >= threshold for one in own]
    right = [(one.icons[rows] != NO_ICON).sum() for one, rows in zip(own, shown, strict=True)]
    counts = (right, [rows.sum() for rows in shown], [len(screen.truth.icons) for screen in screens])
    return Counts(*(np.array(each, np.float64) for each in counts)).quality(threshold, seed=seed)


def _false_on_empty(own: Sequence[Answered], screens: Sequence[AnsweredScreen], *, seed: int) -> Figure | None:
    shown = [one.n_shown for one, screen in zip(own, screens, strict=True) if not screen.truth.icons]
    return means({"false": np.array(shown, np.float64)}, seed=seed)["false"] if shown else None


def _thresholds(boxes: RankedBoxes, of: Curve) -> list[ThresholdRow]:
    rows = []
    for threshold, false in zip(THRESHOLDS, false_on_empty(boxes, THRESHOLDS), strict=True):
        n_above = int(np.searchsorted(-of.scores, -threshold, side="right"))
        precision, recall, f1 = (
            round(float(each[n_above - 1]), 4) if n_above else 0.0 for each in (of.precision, of.recall, of.f1)
        )
        rows.append(ThresholdRow(threshold, precision, recall, f1, round(false, 3)))
    return rows
