"""Icons stand in order, and scores tell good hits from less good ones."""

import numpy as np
import pytest

from search.ranking.combine import ScoreCutoff, least_score
from search.ranking.features import rows_of
from search.ranking.order import ranked
from search.ranking.weights import LEAST_SCORE, SHARE_OF_BEST


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
        ([LEAST_SCORE + 0.01, LEAST_SCORE + 0.01, LEAST_SCORE - 0.01], False, 2),
        ([LEAST_SCORE - 0.01, 0.08], False, 0),
        ([], False, 0),
        ([0.08, 0.03, 0.01], True, 2),
    ],
)
def test_an_answer_holds_what_is_good_enough(scores: list[float], is_never_empty: bool, kept: int) -> None:
    found = np.array(scores, np.float32)
    assert (found >= least_score(max(scores, default=0), is_never_empty=is_never_empty)).sum() == kept
