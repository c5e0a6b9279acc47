"""What all that speaks for an icon is worth: one sum to rank by, and the score that it stands for."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from indexer.arrays import Floats
from indexer.merging.lexicon import says_all
from indexer.merging.manifest import TEMPERATURE, Calibration, CurveBySize, sigmoid
from search.ranking import weights
from search.ranking.features import SIGNALS, Rows, rows_of
from search.ranking.order import CALLED, NAMED, RELATED, STATED
from search.ranking.retrieve import Question, Retrieved


def added_up(rows: Rows, calibration: Calibration) -> Floats:
    """All evidence of words, in log-odds."""
    values = {"vectors": 1 / calibration.unit, **SIGNALS}
    return np.asarray(sum(np.float32(weight) * rows[name] for name, weight in values.items()), np.float32)


def best_stated(rows: Rows, calibration: Calibration) -> float:
    """Evidence of the best icon that a tag alone speaks for; infinity where there is none."""
    evidence = added_up(rows.compress(rows["tier"] == STATED), calibration)
    return float(evidence.max()) if len(evidence) else np.inf


def weigh(question: Question, rows: Rows, *, n_among: int | None = None, stated: float = np.inf) -> Rows:
    """Fill in what rows are worth; `n_among` is how many pictures a filter leaves, None for all.

    A tag alone is no better than what name and picture say all the more than of the best one that is `stated`: a
    shopping bag stands before a shirt for "shopping".

    Words and pictures have nothing in common but their curves, so what is added up are logits. Those of words are made
    as steep as those of pictures, which tell of the whole answer.
    """
    calibration = question.opened.manifest.calibration
    share, parsed = np.float32(question.picture_share), question.parsed
    if parsed is None:
        return weigh_looks(rows, calibration.pictures, n_among=n_among)
    if question.look is None:
        rows["similarity"], rows["evidence"] = rows["vectors"], added_up(rows, calibration)
        is_better = (rows["evidence"] >= stated + weights.BEYOND_TAGS) & says_all(rows["words"])
        rows["tier"][is_better & (rows["tier"] == RELATED)] = STATED
        cost = 0 if parsed.wording.are_known else weights.UNKNOWN_COST
        logits = calibration.words.logits(rows["evidence"]) - cost + weights.CERTAINTY * (rows["tier"] < RELATED)
        least = np.where(rows["tier"] < RELATED, np.float32(weights.GOOD_SCORE), 0)
        rows["score"] = rows["confidence"] = np.maximum(sigmoid(logits), least)
        return rows
    against = np.float32(weights.WITHOUT) * rows["left out"]
    meant = TEMPERATURE * calibration.words.logits(added_up(rows, calibration) - against)
    rows["similarity"] = share * rows["look"] + (1 - share) * rows["vectors"]
    rows["evidence"] = share * calibration.pictures.every.logits(rows["look"]) + (1 - share) * meant + against
    rows["score"] = rows["confidence"] = sigmoid(rows["evidence"])
    return rows


def weigh_looks(rows: Rows, curves: CurveBySize, *, n_among: int | None) -> Rows:
    """Fill in what rows are worth by their pictures alone; the best match among few is less like what was asked."""
    against = np.float32(weights.WITHOUT) * rows["left out"]
    shown = curves.every if n_among is None else curves.among(n_among)
    rows["similarity"], rows["evidence"] = rows["look"], curves.every.logits(rows["look"]) + against
    rows["score"], rows["confidence"] = sigmoid(rows["evidence"]), sigmoid(shown.logits(rows["look"]) + against)
    return rows


def best_unseen(question: Question, found: Retrieved, *, stated: float) -> float:
    """The score of an icon as good as one can be that was not found, as far as the vectors are exact; 0: none is left.

    It is as near as the last one, its name fits as well as one may and is the most usual, and its set stands first.
    """
    nears = [near.beyond for near in (found.cosines, found.looks) if near]
    if question.keywords is not None or not np.isfinite(nears).all():  # what one of both has not found the other has
        return float(found.is_cut)
    row = rows_of(np.zeros(1, np.int64))
    row["vectors"] = found.cosines.beyond if found.cosines else 0
    row["look"] = found.looks.beyond if found.looks else 0
    row["words"] = found.words
    row["set"] = question.sets.evidence.max(initial=0)
    row["usual"] = question.opened.lexicon.usual.max(initial=0)
    return float(weigh(question, row, stated=stated)["score"][0])


@dataclass(frozen=True, slots=True)
class ScoreCutoff:
    """From which score on an icon is a hit of a query."""

    best: float
    """Score of the best one."""
    least: float
    floors: Floats
    """Least score of an icon of each tier: what the best one of a later tier has."""

    @classmethod
    def of(cls, rows: Rows, min_score: float | None, *, is_never_empty: bool) -> Self:
        """The cutoff that some rows set."""
        best = float(rows["score"].max(initial=0))
        least = least_score(best, is_never_empty=is_never_empty) if min_score is None else min_score
        floors = [rows["score"][rows["tier"] > tier].max(initial=0) for tier in (CALLED, NAMED, STATED)]
        return cls(best, least, np.array([*floors, 0], np.float32))

    def hits(self, rows: Rows) -> Rows:
        """Those rows that are hits, none with a better score than one of a tier before its own."""
        for name in ("score", "confidence"):
            rows[name] = np.maximum(rows[name], self.floors[rows["tier"]])
        return rows.compress(rows["score"] >= self.least)


def least_score(best: float, *, is_never_empty: bool = False) -> float:
    """Say from which score on an icon is a hit where the best one has a score; infinity where the answer is empty.

    An answer that `is_never_empty` goes by the share of the best score alone.
    """
    if is_never_empty:
        return weights.SHARE_OF_BEST * best
    return max(weights.LEAST_SCORE, weights.SHARE_OF_BEST * best) if best >= weights.LEAST_SCORE else np.inf
