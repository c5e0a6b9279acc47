"""Precision over recall: the fast way against a slow and obvious one."""

import numpy as np
import pytest

from indexer.arrays import Mask
from indexer.reports.measures import RESAMPLES
from search.evaluation.screens.curves import (
    RankedBoxes,
    average_precision,
    best_threshold,
    curve,
    false_on_empty,
    precision_at,
    ranked,
)


def boxes_by_lot(seed: int) -> tuple[list[np.ndarray], list[Mask], list[int]]:
    """Boxes of eight screens, some of equal scores; two screens have no icons."""
    random = np.random.default_rng(seed)
    n_icons = [0, 0, *random.integers(1, 9, 6).tolist()]
    scores, rights = [], []
    for n in n_icons:
        own = np.round(random.random(int(random.integers(0, 14))), 1 if seed % 2 else 6)
        right = np.zeros(len(own), bool)
        right[: int(random.integers(0, min(n, len(own)) + 1))] = True
        order = random.permutation(len(own))
        scores.append(own[order])
        rights.append(right[order])
    return scores, rights, n_icons


def slow_average_precision(scores: list[np.ndarray], rights: list[Mask], n_icons: list[int]) -> float:
    """The mean, over all icons, of the best precision at which so many icons are found."""
    flat = [(s, r) for own, right in zip(scores, rights, strict=True) for s, r in zip(own, right, strict=True)]
    points = []
    for threshold in {score for score, _ in flat}:
        above = [right for score, right in flat if score >= threshold]
        points.append((sum(above), sum(above) / len(above)))
    every = sum(n_icons)
    best = [max((p for found, p in points if found >= n), default=0.0) for n in range(1, every + 1)]
    return float(sum(best)) / every


@pytest.mark.parametrize("seed", range(12))
def test_average_precision_is_the_mean_best_precision_over_all_icons(seed: int) -> None:
    boxes = boxes_by_lot(seed)
    found = average_precision(ranked(*boxes), seed=0)
    assert found.value == pytest.approx(slow_average_precision(*boxes), abs=1e-4)
    assert found.low <= found.value <= found.high


def test_the_interval_is_that_of_screens_drawn_with_replacement() -> None:
    scores, rights, n_icons = boxes_by_lot(3)
    slow = []
    for drawn in np.random.default_rng(5).integers(len(n_icons), size=(RESAMPLES, len(n_icons))):
        own = drawn.tolist()
        slow.append(
            slow_average_precision([scores[n] for n in own], [rights[n] for n in own], [n_icons[n] for n in own])
        )
    found = average_precision(ranked(scores, rights, n_icons), seed=5)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(slow, (2.5, 97.5))), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_boxes_of_one_score_decides_nothing(seed: int) -> None:
    scores, rights, n_icons = boxes_by_lot(seed)
    mirrored = ranked([own[::-1] for own in scores], [own[::-1] for own in rights], n_icons)
    assert average_precision(mirrored, seed=0) == average_precision(ranked(scores, rights, n_icons), seed=0)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_threshold_is_the_one_of_the_best_f1(seed: int) -> None:
    scores, rights, n_icons = boxes_by_lot(seed)
    every, right = np.concatenate(scores), np.concatenate(rights)

    def f1(threshold: float) -> float:
        above = every >= threshold
        return 2 * float((right & above).sum()) / (float(above.sum()) + sum(n_icons))

    of = curve(ranked(scores, rights, n_icons))
    best = best_threshold(of)
    assert best is not None
    assert f1(best) == pytest.approx(max(f1(score) for score in every))
    assert of.f1.tolist() == pytest.approx([f1(score) for score in of.scores])


def test_boxes_on_icon_free_screens_are_counted_by_threshold() -> None:
    scores = [np.array([0.9, 0.5]), np.array([0.4]), np.array([0.9, 0.8, 0.7])]
    boxes = ranked(scores, [np.zeros(len(own), bool) for own in scores], [0, 0, 4])
    assert false_on_empty(boxes, [0.95, 0.9, 0.5, 0.1]) == [0, 0.5, 1, 1.5]


def test_precision_is_the_best_at_a_recall_or_beyond_and_ends_where_recall_does() -> None:
    of = curve(ranked([np.array([0.9, 0.8, 0.7])], [np.array([True, False, True])], [4]))
    assert precision_at(of, [0, 0.25, 0.3, 0.5, 0.75]) == pytest.approx([1, 1, 2 / 3, 2 / 3])


def test_nothing_found_is_no_precision_at_all() -> None:
    nothing: RankedBoxes = ranked([np.zeros(0)] * 3, [np.zeros(0, bool)] * 3, [2, 0, 1])
    assert average_precision(nothing, seed=0).value == 0
    assert best_threshold(curve(nothing)) is None
    assert false_on_empty(nothing, [0.5]) == [0]
    assert precision_at(curve(nothing), [0, 0.5]) == []
