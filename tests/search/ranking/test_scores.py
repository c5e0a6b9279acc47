"""Do scores tell good hits from less good ones, and do the limits hide what they should?"""

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.publishing.curves import Curve
from search.ranking.scores import LEAST_SCORE, good_enough, scores_of_words

CURVE = Curve(slope=40, centre=0.6)


def _scores(*similarities: float, exact: tuple[int, ...] = (), are_known: bool = True) -> NDArray[np.float32]:
    named = np.isin(np.arange(len(similarities)), exact)
    return scores_of_words(CURVE, np.array(similarities, np.float32), named, are_known=are_known)


def test_good_hits_are_told_from_better_ones_to_the_second_digit() -> None:
    scores = _scores(0.85, 0.8, 0.75, 0.7, 0.6)
    assert len({f"{score:.2f}" for score in scores}) == 5
    assert scores[0] < 0.99
    assert scores[-1] == pytest.approx(0.5)


def test_no_hit_has_a_better_score_than_an_exact_name() -> None:
    scores = _scores(0.9, 0.5, 0.7, exact=(1, 2))
    assert scores[1] == scores[0]
    assert _scores(0.9, exact=(0,))[0] > _scores(0.9)[0]


def test_words_that_nobody_knows_need_more_similarity() -> None:
    assert _scores(0.6, are_known=False)[0] == pytest.approx(_scores(0.6 - 3 / 40)[0])


@pytest.mark.parametrize(
    ("scores", "min_score", "kept"),
    [
        ([0.9, 0.3, 0.2], None, [0, 1]),  # a quarter of the best
        ([0.16, 0.12, LEAST_SCORE - 0.01], None, [0, 1]),
        ([0.14, 0.12], None, []),
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
