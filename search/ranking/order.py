"""The order of candidates, and the score that their evidence is worth. Pure functions."""

from collections.abc import Hashable, Iterable

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions, Tiers
from indexer.merging.manifest import Curve, sigmoid

MIXED, MIXED_AMONG = 10, 30
"""The first hits, and the best ones that they are chosen among."""
AGAIN, MOST_AGAIN = 0.3, 3
"""Log-odds that a hit loses for each one of its set before it, and for how many at most."""
_BITS = 63
"""Of a number that is 0 or more."""


def rank(ids: Ids, evidence: Floats, tiers: Tiers) -> Positions:
    """Order candidates best first: by tier, then by evidence; ties by id, so order is stable. Returns their places."""
    return np.lexsort((ids, -evidence, tiers))


def mix(kept: Positions, tiers: Tiers, evidence: Floats, sets: Ids) -> Positions:
    """Let the first hits come from more than one set: those of a set that is there already stand a little lower.

    `kept` are places of hits, best first; `sets` a number for the set of each candidate, -1 where it does not matter.
    """
    among = kept[:MIXED_AMONG]
    of_tiers, of_sets = tiers[among], sets[among]
    n_before, rest = np.zeros(len(among)), np.ones(len(among), bool)
    first: list[int] = []
    for _ in range(min(MIXED, len(among))):
        of_tier = rest & (of_tiers == of_tiers[rest.argmax()])
        best = int(np.where(of_tier, evidence[among] - AGAIN * np.minimum(MOST_AGAIN, n_before), -np.inf).argmax())
        first.append(best)
        rest[best] = False
        n_before += (of_sets == of_sets[best]) & (of_sets >= 0)
    return np.concatenate([among[first], among[rest], kept[MIXED_AMONG:]])


def stand_ins(firsts: Positions, is_asked: Mask, is_plain: Mask) -> Mask:
    """Which icons may stand for their variants: those in the style that is asked, and of these the plain ones.

    `firsts` tell variants, as `firsts_of` does. Where none of them is in that style, or none is plain, all the others
    may.
    """
    may = _if_any(firsts, is_asked)
    return may & _if_any(firsts, may & is_plain)


def _if_any(firsts: Positions, chosen: Mask) -> Mask:
    """Those of each group that are chosen; all of a group where none is."""
    has_any = np.zeros(len(firsts), bool)
    has_any[firsts[chosen]] = True
    return chosen | ~has_any[firsts]


def before_variants(order: Positions, variants: Ids, may_stand: Mask, tiers: Tiers) -> tuple[Positions, Positions]:
    """Put the best icon that may stand for its variants before all of them, unless they answer in an earlier tier.

    Returns the new order, and for each place in it the candidate whose evidence counts there: of an icon that stands
    for others that of the best one.
    """
    firsts = firsts_of(variants[order])
    may = np.flatnonzero(may_stand[order])
    chosen = np.arange(len(order))
    chosen[firsts[may][::-1]] = may[::-1]  # of several the last one written stays, which is the best
    bests = np.flatnonzero(firsts == np.arange(len(order)))
    bests = bests[tiers[order[chosen[bests]]] == tiers[order[bests]]]
    places, counted = np.arange(len(order), dtype=np.float64), order.copy()
    counted[chosen[bests]] = order[bests]
    places[chosen[bests]] = bests - 0.5
    moved = np.argsort(places, kind="stable")
    return order[moved], counted[moved]


def group(keys: Iterable[tuple[Hashable, Hashable]], *, k: int | None = None) -> list[int]:
    """Keep the best of each variant group and of each drawing, at most `k`, in their order.

    `keys` are (group, drawing) of each candidate; returns the places of those kept.
    """
    kept: list[int] = []
    groups: set[Hashable] = set()
    drawings: set[Hashable] = set()
    for place, (variants, drawing) in enumerate(keys):
        if variants in groups or drawing in drawings:
            continue
        groups.add(variants)
        drawings.add(drawing)
        kept.append(place)
        if len(kept) == k:
            break
    return kept


def group_many(variants: Ids, drawings: Ids) -> Positions:
    """Keep the same places as `group`, ascending; for many candidates; numbers are 0 or more.

    In each round those stay that come first in their group and in their drawing, and take what shares either with them.
    """
    kept: list[Positions] = []
    rest = np.arange(len(variants))
    while len(rest):
        firsts = firsts_of(variants[rest]), firsts_of(drawings[rest])
        stays = (firsts[0] == np.arange(len(rest))) & (firsts[1] == np.arange(len(rest)))
        kept.append(rest[stays])
        rest = rest[~(stays[firsts[0]] | stays[firsts[1]])]
    return np.sort(np.concatenate(kept)) if kept else rest


def firsts_of(numbers: Ids) -> Positions:
    """For each of some numbers the place where it comes first.

    Sorted together with their places they are sorted in a tenth of the time of a stable sort.
    """
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > _BITS:
        numbers = np.unique(numbers, return_inverse=True)[1]
    order = np.sort(numbers << bits | np.arange(len(numbers)))
    places, in_order = order & (1 << bits) - 1, order >> bits
    is_first = np.ones(len(numbers), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    firsts = np.empty(len(numbers), np.int64)
    firsts[places] = places[is_first][np.cumsum(is_first) - 1]
    return firsts


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
