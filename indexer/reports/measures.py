"""How good a ranking is: ranks of right answers -> figures with bootstrap intervals. Pure functions.

A figure is a mean over queries. Its interval is the 95 % percentile bootstrap over queries (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, ch. 13): the same mean over `RESAMPLES` draws of as many queries, with replacement.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexer.arrays import Floats

Scores = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

UNRANKED = np.iinfo(np.int64).max
"""Rank of what a ranker does not rank at all: its score is minus infinity."""
CUTS = (1, 5, 10)
DEPTH = 50
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over queries with its bootstrap 95 % interval."""

    value: float
    low: float
    high: float


def right_ranks(scores: npt.NDArray[np.floating], right: Sequence[int] | Ranks) -> Ranks:
    """Ranks (1 is best) of all right answers of one query, ascending, from the scores (n,) of everything.

    Of equal scores the wrong ones come first, so that a ranker that says the same of everything scores nothing. A score
    that is no number ranks nothing: it would compare as the best of all.
    """
    places = np.asarray(right, np.int64)
    others = np.where(np.isnan(scores), -np.inf, scores)
    found = -np.sort(-others[places])
    others[places] = -np.inf
    ahead = np.sort(others[others >= found[-1]])
    ranks: Ranks = np.arange(1, len(found) + 1) + (len(ahead) - np.searchsorted(ahead, found, side="left"))
    return np.where(np.isneginf(found), UNRANKED, ranks)


def first_ranks(queries: Floats, corpus: Floats, relevant: Sequence[Sequence[int]]) -> Ranks:
    """Rank (1 is best) of the first right answer of each query, by inner product, exact, fp32; ties as above."""
    return np.array([right_ranks(corpus @ queries[row], right)[0] for row, right in enumerate(relevant)], np.int64)


def figures(ranks: Ranks, *, seed: int = 0) -> dict[str, Figure]:
    """R@1, R@5, R@10 and MRR@50 of the first right answers' ranks (n,), with intervals."""
    return means(first_rank_scores(ranks, cuts=CUTS), seed=seed)


def first_rank_scores(ranks: Ranks, *, cuts: Sequence[int]) -> dict[str, Scores]:
    """Score each query by the rank of its first right answer: a hit at each cut, and its reciprocal down to DEPTH."""
    scores: dict[str, Scores] = {f"R@{cut}": (ranks <= cut).astype(np.float64) for cut in cuts}
    scores[f"MRR@{DEPTH}"] = np.where(ranks <= DEPTH, 1 / ranks, 0.0)
    return scores


def means(scores: Mapping[str, Scores], *, seed: int = 0) -> dict[str, Figure]:
    """Average each measure's scores (n,), n > 0, over queries, to four digits; all measures see the same draws."""
    table = np.stack(list(scores.values()))
    return _with_intervals(scores, table.mean(axis=1), _resampled(table, seed))


def shares(scores: Mapping[str, Scores], *, of: Mapping[str, Scores], seed: int = 0) -> dict[str, Figure]:
    """Each measure's mean as a share of its mean `of` others, on the same queries (n,), n > 0; 0 of nothing.

    A query is drawn with both of its scores, so that intervals are those of the share.
    """
    table = np.stack([*scores.values(), *(of[name] for name in scores)])
    ours, theirs = np.split(table.mean(axis=1), 2)
    return _with_intervals(scores, _ratios(ours, theirs), _ratios(*np.split(_resampled(table, seed), 2)))


def _resampled(table: Scores, seed: int) -> Scores:
    """Means (measures, draws) of the scores (measures, n) over queries that are drawn with replacement."""
    generator, n = np.random.default_rng(seed), table.shape[1]
    return np.stack([table[:, generator.integers(n, size=n)].mean(axis=1) for _ in range(RESAMPLES)], axis=1)


def _ratios(ours: Scores, theirs: Scores) -> Scores:
    ratios: Scores = np.divide(ours, theirs, out=np.zeros_like(ours), where=theirs > 0)
    return ratios


def _with_intervals(names: Iterable[str], values: Scores, resampled: Scores) -> dict[str, Figure]:
    low, high = np.percentile(resampled, (2.5, 97.5), axis=1)
    return {
        name: Figure(round(float(value), 4), round(float(low[row]), 4), round(float(high[row]), 4))
        for row, (name, value) in enumerate(zip(names, values, strict=True))
    }


def short(value: float) -> str:
    """Spell a share with three digits, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def spell(figure: Figure, with_interval: bool = False, written: Callable[[float], str] = short) -> str:
    """Spell a share as .345, or with its interval as .345 (.329-.360); other quantities as `written` says."""
    if not with_interval:
        return written(figure.value)
    return f"{written(figure.value)} ({written(figure.low)}-{written(figure.high)})"
