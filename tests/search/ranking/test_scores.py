"""Do scores tell good hits from less good ones, and do the limits hide what they should?"""

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.merging.calibration import Curve
from search.ranking.order import (
    BEST_SCORE,
    CALLED,
    CERTAINTY,
    LEAST_SCORE,
    NAMED,
    RELATED,
    SHARE_OF_BEST,
    STATED,
    UNKNOWN_COST,
    good_enough,
    rank,
    scores_of_words,
)

CURVE = Curve(slope=0.5, centre=10)


def _scores(*evidence: float, tiers: tuple[int, ...] = (), are_known: bool = True) -> NDArray[np.float32]:
    of_each = np.array(tiers or [RELATED] * len(evidence), np.int8)
    return scores_of_words(CURVE, np.array(evidence, np.float32), of_each, are_known=are_known)


def test_good_hits_are_told_from_better_ones_to_the_second_digit() -> None:
    scores = _scores(15, 14, 13, 12, 10)
    assert len({f"{score:.2f}" for score in scores}) == 5
    assert scores[0] < 0.99
    assert scores[-1] == pytest.approx(0.5)


def test_a_tier_is_worth_so_many_log_odds() -> None:
    scores = _scores(10, 10, 10, 10, tiers=(CALLED, NAMED, STATED, RELATED))
    assert np.log(scores / (1 - scores)) == pytest.approx(CERTAINTY, abs=1e-4)
    assert CERTAINTY.tolist() == [3, 2, 1, 0]


def test_no_hit_has_a_better_score_than_one_of_a_tier_before_its_own() -> None:
    scores = _scores(18, 5, 7, 11, 3, tiers=(RELATED, NAMED, STATED, STATED, RELATED))
    assert scores[1] == scores[2] == scores[3] == scores[0] > scores[4]
    scores = _scores(5, 14, 8, tiers=(NAMED, STATED, RELATED))
    assert scores[0] == scores[1] > scores[2]


def test_scores_fall_in_the_order_of_the_answer_whatever_the_evidence() -> None:
    random = np.random.default_rng(0)
    for n in range(1, 60):
        evidence, tiers = random.normal(10, 6, n).astype(np.float32), random.integers(0, 4, n).astype(np.int8)
        order = rank(np.arange(n), evidence, tiers)
        of_each = scores_of_words(CURVE, evidence, tiers, are_known=True)
        best_after = np.maximum.accumulate(of_each[order][::-1])[::-1]
        is_last_of_tier = np.diff(tiers[order], append=4) > 0
        assert (np.diff(tiers[order]) >= 0).all()
        for place in np.flatnonzero(is_last_of_tier[:-1]):
            assert of_each[order][: place + 1].min() >= best_after[place + 1]


def test_words_that_nobody_knows_need_more_evidence() -> None:
    assert _scores(10, are_known=False)[0] == pytest.approx(_scores(10 - UNKNOWN_COST / CURVE.slope)[0])


@pytest.mark.parametrize(
    ("scores", "min_score", "kept"),
    [
        ([0.9, SHARE_OF_BEST * 0.9 + 0.01, SHARE_OF_BEST * 0.9 - 0.01], None, [0, 1]),
        ([BEST_SCORE + 0.01, LEAST_SCORE + 0.01, LEAST_SCORE - 0.01], None, [0, 1]),
        ([BEST_SCORE - 0.01, 0.08], None, []),
        ([0.14, 0.12, 0.0], 0, [0, 1, 2]),
        ([0.14, 0.12, 0.0], 0.13, [0]),
        ([], None, []),
    ],
)
def test_an_answer_holds_what_is_good_enough(scores: list[float], min_score: float | None, kept: list[int]) -> None:
    order = np.arange(len(scores))
    assert good_enough(order, np.array(scores, np.float32), min_score).tolist() == kept


def test_what_is_never_empty_goes_by_the_best() -> None:
    scores = np.array([0.08, 0.03, 0.01], np.float32)
    assert good_enough(np.arange(3), scores, None, is_never_empty=True).tolist() == [0, 1]
