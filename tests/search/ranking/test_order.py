"""Candidates stand in order, sets are mixed, and scores tell good hits from less good ones."""

import numpy as np
import pytest

from search.ranking.combine import ScoreCutoff, least_score
from search.ranking.features import rows_of
from search.ranking.order import MIXED, MIXED_AMONG, NAMED, RELATED, mixed, ranked
from search.ranking.weights import AGAIN, BEST_SCORE, LEAST_SCORE, SHARE_OF_BEST


def _mixed(evidence: list[float], sets: list[int], tiers: list[int] | None = None) -> list[int]:
    rows = rows_of(np.arange(len(evidence)))
    rows["evidence"], rows["tier"] = evidence, tiers or RELATED
    return [int(icon) for icon in mixed(rows, np.array(sets))["icon"]]


def test_a_set_that_is_there_already_stands_a_little_lower() -> None:
    assert _mixed([5.0, 4.9, 4.8, 4.7], [1, 1, 1, 2]) == [0, 3, 1, 2]
    much = 5.0 - AGAIN - 0.1
    assert _mixed([5.0, 4.9, much], [1, 1, 2]) == [0, 1, 2]


def test_a_tier_is_never_left_for_another_set() -> None:
    assert _mixed([5.0, 4.9, 9.0], [1, 1, 2], [NAMED, NAMED, RELATED]) == [0, 1, 2]


def test_what_a_user_prefers_comes_as_often_as_it_will() -> None:
    assert _mixed([5.0, 4.9, 4.85, 4.8], [-1, -1, -1, 2]) == [0, 1, 2, 3]


def test_only_the_first_hits_are_mixed_and_none_is_lost() -> None:
    n = MIXED_AMONG + 10
    mixed = _mixed([5 - 0.001 * place for place in range(n)], [place // 8 for place in range(n)])
    assert sorted(mixed) == list(range(n))
    assert mixed[MIXED_AMONG:] == list(range(MIXED_AMONG, n))
    assert len({place // 8 for place in mixed[:MIXED]}) == 4


def test_scores_fall_in_the_order_of_the_answer_whatever_the_evidence() -> None:
    random = np.random.default_rng(0)
    for n in range(1, 60):
        rows = rows_of(np.arange(n))
        rows["evidence"], rows["tier"] = random.normal(10, 6, n), random.integers(0, 4, n)
        rows["score"] = random.random(n)
        hits = ranked(ScoreCutoff.of(rows, 0, is_never_empty=False).hits(rows))
        best_after = np.maximum.accumulate(hits["score"][::-1])[::-1]
        is_last_of_tier = np.diff(hits["tier"], append=4) > 0
        assert (np.diff(hits["tier"]) >= 0).all()
        for place in np.flatnonzero(is_last_of_tier[:-1]):
            assert hits["score"][: place + 1].min() >= best_after[place + 1]


@pytest.mark.parametrize(
    ("scores", "is_never_empty", "kept"),
    [
        ([0.9, SHARE_OF_BEST * 0.9 + 0.01, SHARE_OF_BEST * 0.9 - 0.01], False, 2),
        ([BEST_SCORE + 0.01, LEAST_SCORE + 0.01, LEAST_SCORE - 0.01], False, 2),
        ([BEST_SCORE - 0.01, 0.08], False, 0),
        ([], False, 0),
        ([0.08, 0.03, 0.01], True, 2),
    ],
)
def test_an_answer_holds_what_is_good_enough(scores: list[float], is_never_empty: bool, kept: int) -> None:
    found = np.array(scores, np.float32)
    assert (found >= least_score(max(scores, default=0), is_never_empty=is_never_empty)).sum() == kept
