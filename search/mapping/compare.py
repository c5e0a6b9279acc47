"""How well does each icon of one set stand for one of another? What pictures, names and both together say.

Four things speak for an icon, and each sees what another misses: the likeness of the pictures; the words of the name,
asked as a query; the likeness of picture and name fused; and how well the one icon's picture is told by the other's
name. A fifth holds the first against all other icons of the source set: a bare circle is like many icons, and most like
one. Likenesses are told in spreads of all pairs of the two sets, which makes them the same for any encoder and library.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from search.generation.opened import Opened
from search.mapping.sides import Side, encode_names
from search.ranking.asked import read_asked
from search.ranking.candidates import name_fits
from search.ranking.judging import added_up, evidence_for

SPREADS = 1.75
"""Log-odds that a spread of the pictures' likeness counts where sources compete for one target."""
_ROWS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and deviation of the cosines of all pairs of two sets of vectors."""

    mean: float
    deviation: float

    def of(self, cosines: Floats) -> Floats:
        """Tell cosines in spreads."""
        return np.asarray((cosines - np.float32(self.mean)) / np.float32(self.deviation), np.float32)


def spread_of(left: Floats, right: Floats) -> Spread:
    """Find it without the pairs: they may be fifty millions."""
    mean = float(left.mean(axis=0, dtype=np.float64) @ right.mean(axis=0, dtype=np.float64))
    square = float(np.sum((left.T @ left / len(left)) * (right.T @ right / len(right)), dtype=np.float64))
    return Spread(mean, max(square - mean * mean, 1e-12) ** 0.5)


@dataclass(frozen=True, slots=True)
class Compared:
    """What speaks for each icon of the target set to stand for one source icon; (n targets,) each."""

    pictures: Floats
    words: Floats
    fused: Floats
    told: Floats
    """How well the target's name tells the source's picture."""
    rivals: Floats
    """Log share of this source among all of its set that look like the target."""


class Target:
    """A set that stand-ins are looked for in, ready to be compared."""

    def __init__(self, opened: Opened, side: Side) -> None:
        self._opened = opened
        self.side = side
        self._names = encode_names(opened, side)
        self._of_set: dict[str, _OfSet] = {}

    def ready_for(self, source: Side) -> None:
        """Hold a source set against the target as a whole; needed once, before its icons are compared."""
        pictures = spread_of(source.pictures, self.side.pictures)
        self._of_set[source.set] = _OfSet(
            pictures,
            spread_of(source.fused, self.side.fused),
            spread_of(source.pictures, self._names),
            _crowd(pictures, source.pictures, self.side.pictures),
        )

    def compare(self, source: Side, rows: Sequence[int]) -> Iterator[Compared]:
        """Compare some icons of a source set, given by their rows, in their order."""
        of_set = self._of_set[source.set]
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = np.asarray(rows[first : first + _ROWS_AT_ONCE])
            spoken = self.spoken([source.rows[row].words for row in some.tolist()])
            pictures = of_set.pictures.of(source.pictures[some] @ self.side.pictures.T)
            fused = of_set.fused.of(source.fused[some] @ self.side.fused.T)
            told = of_set.told.of(source.pictures[some] @ self._names.T)
            rivals = np.float32(SPREADS) * pictures - of_set.crowd
            for number, words in enumerate(spoken):
                yield Compared(pictures[number], words, fused[number], told[number], rivals[number])

    def spoken(self, names: Sequence[str]) -> Iterator[Floats]:
        """Evidence of names as queries, (n targets,) each, in log-odds."""
        for first in range(0, len(names), _ROWS_AT_ONCE):
            yield from self._spoken(names[first : first + _ROWS_AT_ONCE])

    def _spoken(self, names: Sequence[str]) -> Iterator[Floats]:
        vectors = self._opened.encoder.encode_many_words(list(names))
        asked = [read_asked(self._opened, name, vector=vector) for name, vector in zip(names, vectors, strict=True)]
        # One product: on a busy machine the threads of a small one wait for each other longer than they compute.
        cosines = np.stack([one.vector for one in asked]) @ self.side.fused.T
        for one, of_one in zip(asked, cosines, strict=True):
            fits = name_fits(self._opened, one)
            yield added_up(evidence_for(self._opened, one, fits, self.side.ids, of_one))


@dataclass(frozen=True, slots=True)
class _OfSet:
    """What is known of a source set as a whole."""

    pictures: Spread
    fused: Spread
    told: Spread
    crowd: NDArray[np.float32]
    """(n targets,) log of all that looks like a target."""


def _crowd(spread: Spread, sources: Floats, targets: Floats) -> NDArray[np.float32]:
    total = np.zeros(len(targets), np.float64)
    for first in range(0, len(sources), _ROWS_AT_ONCE):
        likeness = spread.of(sources[first : first + _ROWS_AT_ONCE] @ targets.T)
        total += np.exp(SPREADS * likeness.astype(np.float64)).sum(axis=0)
    return np.asarray(np.log(total), np.float32)
