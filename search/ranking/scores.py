"""What is the evidence for a hit worth to people, and from which score on is it shown? Pure functions.

A score is the chance that a hit is right, by the curve of its library (`publishing.calibration`). `icons evaluate`
measures how often the limits err, docs/evaluation.md shows it.
"""

import numpy as np

from indexer.arrays import Floats, Positions, Tiers
from indexer.publishing.curves import Curve, sigmoid

CALLED, NAMED, STATED, RELATED = range(4)
"""Tiers: an icon that the query calls as code does, one whose name is the query, one with a tag that is, any other."""
TIERS = ("called", "named", "stated", "related")
CERTAINTY = np.array([3.0, 2.0, 1.0, 0.0], np.float32)
"""Log-odds that each tier adds to what the vectors and words say."""
UNKNOWN_COST = 1.2
"""Log-odds lost where neither the library nor the encoder knows a word of the query: true of every made-up word, and of
one in eight queries of the benchmark."""
BEST_SCORE = 0.1
"""Where not even the best hit reaches this score, the answer is empty."""
LEAST_SCORE = 0.1
SHARE_OF_BEST = 0.25
"""Other hits of an answer have at least the former, and this share of the best one's score."""
GOOD_SCORE = 0.5
"""Where the best hit has less, nothing may be right: whoever shows the answer says so."""


def scores_of_words(curve: Curve, evidence: Floats, tiers: Tiers, *, are_known: bool) -> Floats:
    """Score what words found, 0 to 1; no hit has a better score than one of a tier before its own.

    What is called so, named so or tagged so is a good hit, however little the encoder knows of the words.
    """
    scores = sigmoid(curve.logits(evidence) - (0 if are_known else UNKNOWN_COST) + CERTAINTY[tiers])
    scores[tiers < RELATED] = np.maximum(scores[tiers < RELATED], GOOD_SCORE)
    for tier in (STATED, NAMED, CALLED):
        if (of_tier := tiers == tier).any():
            scores[of_tier] = np.maximum(scores[of_tier], scores[tiers > tier].max(initial=0))
    return scores


def least_score(scores: Floats, *, is_never_empty: bool = False) -> float:
    """Say from which score on a candidate is a hit, by the limits above; infinity where the answer is empty.

    An answer that `is_never_empty` goes by the share of the best score alone.
    """
    best = float(scores.max(initial=0))
    if is_never_empty:
        return SHARE_OF_BEST * best
    return max(LEAST_SCORE, SHARE_OF_BEST * best) if best >= BEST_SCORE else np.inf


def good_enough(
    order: Positions, scores: Floats, min_score: float | None, *, is_never_empty: bool = False
) -> Positions:
    """Keep of some places, best first, those whose scores suffice: `min_score`, or the limits above."""
    in_order = scores[order]
    if min_score is None:
        min_score = least_score(in_order, is_never_empty=is_never_empty)
    return order[in_order >= min_score]
