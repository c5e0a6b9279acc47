"""What do the ranks of all right answers say of a ranker? R@k, MRR, mAP and nDCG with intervals. Pure functions."""

from collections.abc import Sequence

import numpy as np

from indexer.reports.measures import DEPTH, Figure, Ranks, Scores, first_rank_scores, means

CUTS = (1, 5, 10, 30)
NDCG_DEPTH = 10
MEASURES = (*(f"R@{cut}" for cut in CUTS), f"MRR@{DEPTH}", "mAP", f"nDCG@{NDCG_DEPTH}")


def measure(ranks: Sequence[Ranks], *, seed: int = 0) -> dict[str, Figure]:
    """Figures of one ranker, in the order of MEASURES, from each query's ranks as `right_ranks` gives them.

    R@k: share of queries with any right answer among the first k. MRR@50: mean of 1 / rank of the first one, else 0.
    mAP and nDCG@10 look at every right answer: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008,
    section 8.4; gains are binary, and what a ranker does not rank adds nothing.
    """
    scores = first_rank_scores(np.array([found[0] for found in ranks], np.int64), cuts=CUTS)
    scores["mAP"] = np.array([average_precision(found) for found in ranks])
    scores[f"nDCG@{NDCG_DEPTH}"] = np.array([ndcg(found) for found in ranks])
    return means(scores, seed=seed)


def average_precision(ranks: Ranks) -> float:
    """Mean precision at the ranks (m,) of all right answers of a query, ascending; an unranked one counts as 0."""
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())  # UNRANKED is so large that it adds nothing


def ndcg(ranks: Ranks) -> float:
    """Discounted gain of the right answers among the first 10, as a share of what the best order would gain."""
    ideal = (1 / np.log2(np.arange(2, 2 + min(len(ranks), NDCG_DEPTH)))).sum()
    gained: Scores = 1 / np.log2(1 + ranks[ranks <= NDCG_DEPTH])
    return float(gained.sum() / ideal)
