"""Which icons of the target stand best for one, and how likely is the first one right?

The weights were found on another pair of sets than the one that is reported: 215 Bootstrap icons and their Tabler ones,
told by hand. The curve was found there too, with the right icons taken away once: then whatever comes first is wrong.
docs/mapping.md has the figures.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats
from search.mapping.compare import Compared
from search.mapping.sides import Side

_PICTURES, _WORDS, _FUSED, _TOLD, _RIVALS = 0.8, 0.8, 1.3, 1.3, 0.3
N_CANDIDATES = 4
"""The best one, and three that come next."""
_LOOKED_AT = 64
"""Icons among which these are found: variants and other names of one drawing stand beside each other."""


@dataclass(frozen=True, slots=True)
class Surety:
    """How likely the first is right, by its evidence and by how far it is before the next."""

    of_evidence: float
    of_lead: float
    none: float

    def probability(self, evidence: float, lead: float) -> float:
        """0 to 1."""
        logit = self.of_evidence * evidence + self.of_lead * lead + self.none
        return float(1 / (1 + np.exp(-logit)))


BY_BOTH = Surety(0.34, 0.32, -7.87)
BY_WORDS = Surety(0.51, 1.39, -5.26)
DOUBTFUL = 0.8
"""Below this probability a stand-in is marked: of 11 wrong ones among those 215, 9 lie below it."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best stand-ins for one icon."""

    rows: tuple[int, ...]
    """Of the target's side, best first, a drawing and a name each once."""
    probability: float
    """That the first is right."""


def evidence_of(compared: Compared) -> Floats:
    """All that speaks for each target, (n targets,)."""
    return np.asarray(
        _PICTURES * compared.pictures
        + _WORDS * compared.words
        + _FUSED * compared.fused
        + _TOLD * compared.told
        + _RIVALS * compared.rivals,
        np.float32,
    )


def best_of(evidence: Floats, side: Side, surety: Surety, *, look: str | None = None) -> Best:
    """Take the best few of the target's icons, by their evidence; of variants the one of a look, else the plain one."""
    chosen: list[int] = []
    for row in _descending(evidence):
        if not any(_is_same(side, row, other) for other in chosen):
            chosen.append(row)
        if len(chosen) == N_CANDIDATES:
            break
    first = float(evidence[chosen[0]])
    lead = first - float(evidence[chosen[1]]) if len(chosen) > 1 else 0.0
    rows = (_first_name(side, _variant(evidence, side, row, look)) for row in chosen)
    return Best(tuple(rows), surety.probability(first, lead))


def _descending(evidence: Floats) -> Iterator[int]:
    n = min(_LOOKED_AT, len(evidence))
    nearest = np.argpartition(-evidence, n - 1)[:n]
    yield from nearest[np.argsort(-evidence[nearest], kind="stable")].tolist()


def _is_same(side: Side, row: int, other: int) -> bool:
    """Whether two are one drawing, or variants of one name."""
    return side.drawings[row] == side.drawings[other] or side.rows[row].words == side.rows[other].words


def _variant(evidence: Floats, side: Side, row: int, look: str | None) -> int:
    """Pictures alone would mix filled and outline icons, which a set of one style never meant."""
    variants = side.variants(row)
    of_look = [one for one in variants if look is not None and side.looks[one] == look]
    plain = [one for one in of_look or variants if side.is_plain[one]]
    return max(plain or of_look or [row], key=lambda one: float(evidence[one]))


def _first_name(side: Side, row: int) -> int:
    """The icon of a drawing that its set names first: what comes later are names that it had before."""
    return int(np.flatnonzero(side.drawings == side.drawings[row])[0])
