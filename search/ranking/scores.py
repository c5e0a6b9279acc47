"""What is a similarity worth to people, and from which score on is a hit shown? Pure functions.

A curve (`calibration`) tells queries that have an answer from those that have none. Whether one hit of an
answer is right is less certain, and a query of words that nobody knows rarely has one; both are put in here.
`icons evaluate` measures how often the two limits err, docs/evaluation.md shows it.
"""

import numpy as np

from indexer.arrays import Floats, Mask, Positions
from indexer.publishing.curves import Curve, sigmoid

TEMPERATURE = 2.5
"""How much less a similarity says of one hit than of the whole answer: over the open benchmark, log-odds of the first
ten hits to be right rise by 15 a unit of similarity, the curve of that library by 38."""
UNKNOWN_COST = 3.0
"""Log-odds lost where neither the library nor the encoder knows a word of the query: true of every made-up word, and of
one in eight queries of the benchmark."""
BEST_SCORE = 0.15
"""Where not even the best hit reaches this score, the answer is empty."""
LEAST_SCORE = 0.1
SHARE_OF_BEST = 0.25
"""Other hits of an answer have at least the former, and this share of the best one's score."""
GOOD_SCORE = 0.5
"""Where the best hit has less, nothing may be right: whoever shows the answer says so."""


def scores_of_words(curve: Curve, similarities: Floats, exact: Mask, *, are_known: bool) -> Floats:
    """Score what words found, 0 to 1.

    A name that is the query closes half of what is missing to 1, and no other hit has a better score.
    """
    logits = curve.logits(similarities) - (0 if are_known else UNKNOWN_COST)
    scores = sigmoid(logits / TEMPERATURE)
    best_other = scores[~exact].max(initial=0)
    return np.where(exact, np.maximum((1 + scores) / 2, best_other), scores)


def good_enough(
    order: Positions, scores: Floats, min_score: float | None, *, is_never_empty: bool = False
) -> Positions:
    """Keep of some places, best first, those whose scores suffice: `min_score`, or the limits above.

    An answer that `is_never_empty` goes by the share of the best score alone.
    """
    in_order = scores[order]
    best = in_order.max(initial=0)
    if min_score is None:
        min_score = SHARE_OF_BEST * best
        if not is_never_empty:
            min_score = max(LEAST_SCORE, min_score) if best >= BEST_SCORE else np.inf
    return order[in_order >= min_score]
