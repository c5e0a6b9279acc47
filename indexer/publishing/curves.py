"""What score is a similarity worth? Logistic curves, and how one is fitted. Pure functions; no FAISS."""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats

_STEPS = 50
_LEAST_SLOPE = 1.0
"""An encoder that takes nonsense for sense still has its order kept."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Score = 1 / (1 + exp(-slope * (similarity - centre)))."""

    slope: float
    centre: float

    def scores(self, similarities: Floats) -> Floats:
        """Turn similarities into scores from 0 to 1."""
        return sigmoid(self.logits(similarities))

    def logits(self, similarities: Floats) -> Floats:
        """The same before the sigmoid: of different curves these can be added up."""
        return np.asarray(self.slope * (similarities - self.centre), np.float32)


@dataclass(frozen=True, slots=True)
class CurveBySize:
    """Curves by how many things are looked among: the best of few is less similar than the best of many."""

    few: Curve
    n_few: int
    every: Curve
    n_every: int

    def among(self, n: int) -> Curve:
        """The curve of the best of `n`, between both by the logarithm of their numbers."""
        if self.n_every <= self.n_few:
            return self.every
        share = min(1.0, max(0.0, log(max(n, 1) / self.n_few) / log(self.n_every / self.n_few)))
        slope = self.few.slope + share * (self.every.slope - self.few.slope)
        return Curve(slope, self.few.centre + share * (self.every.centre - self.few.centre))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What evidence is worth in one generation."""

    unit: float
    """Cosine with the vector of words that is worth one log-odd."""
    words: Curve
    """Of the evidence for an icon that was asked for with words (`publishing.evidence`)."""
    pictures: CurveBySize
    """Of the cosine with the vector of a picture."""


def fit(good: Floats, bad: Floats) -> Curve:
    """Fit a curve to the similarities of both kinds, by Newton's method.

    Where both are apart, no finite slope is best; so nothing is taken for quite certain (Platt, Probabilistic outputs
    for support vector machines, 1999).
    """
    similarities = np.concatenate([good, bad]).astype(np.float64)
    targets = np.repeat([(len(good) + 1) / (len(good) + 2), 1 / (len(bad) + 2)], [len(good), len(bad)])
    weights = np.repeat([0.5 / len(good), 0.5 / len(bad)], [len(good), len(bad)])
    middle, spread_ = similarities.mean(), max(similarities.std(), 1e-6)
    inputs = np.stack([(similarities - middle) / spread_, np.ones(len(similarities))])
    values = np.zeros(2)
    for _ in range(_STEPS):
        predicted = sigmoid(values @ inputs)
        slopes = inputs @ (weights * (predicted - targets)) + 1e-4 * values
        bends = (inputs * (weights * predicted * (1 - predicted))) @ inputs.T + 1e-4 * np.eye(2)
        values -= np.linalg.solve(bends, slopes)
    slope = max(values[0] / spread_, _LEAST_SLOPE)
    return Curve(round(float(slope), 4), round(float(middle - values[1] / slope), 4))


def sigmoid(values: NDArray[np.floating]) -> Floats:
    """Logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))), np.float32)
