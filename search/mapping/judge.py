"""Which icons of the target stand best for one, and how likely is the first one right?

The weights were found on another pair of sets than the one that is reported: 215 Bootstrap icons and their Tabler ones,
told by hand. The curve was found there too, with the right icons taken away once: then whatever comes first is wrong.
docs/mapping.md has the figures.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Mask
from search.mapping.compare import Compared
from search.mapping.sides import Side
from search.ranking.order import stand_ins

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


def best_of(evidence: Floats, side: Side, surety: Surety, *, look: str | None = None, name: str | None = None) -> Best:
    """Take the best few of the target's icons, by their evidence.

    Of variants it is the one of a look, else the plain one, and of the names of one drawing that of the source, if it
    is among them.
    """
    chosen: list[int] = []
    for row in _descending(evidence):
        if not any(_is_same(side, row, other) for other in chosen):
            chosen.append(row)
        if len(chosen) == N_CANDIDATES:
            break
    first = float(evidence[chosen[0]])
    lead = first - float(evidence[chosen[1]]) if len(chosen) > 1 else 0.0
    may_stand = _stand_ins(side, look)
    rows = (_named_best(side, _variant(evidence, side, row, may_stand), name) for row in chosen)
    return Best(tuple(rows), surety.probability(first, lead))


def _descending(evidence: Floats) -> Iterator[int]:
    n = min(_LOOKED_AT, len(evidence))
    nearest = np.argpartition(-evidence, n - 1)[:n]
    yield from nearest[np.argsort(-evidence[nearest], kind="stable")].tolist()


def _is_same(side: Side, row: int, other: int) -> bool:
    """Whether two are one drawing, or variants of one name."""
    return side.drawings[row] == side.drawings[other] or side.rows[row].words == side.rows[other].words


def _stand_ins(side: Side, look: str | None) -> Mask:
    """Pictures alone would mix filled and outline icons, which a set of one style never meant."""
    is_asked = np.array([look is not None and one == look for one in side.looks], bool)
    return stand_ins(side.variant_groups, is_asked, side.is_plain)


def _variant(evidence: Floats, side: Side, row: int, may_stand: Mask) -> int:
    return max((one for one in side.variants(row) if may_stand[one]), key=lambda one: float(evidence[one]))


def _named_best(side: Side, row: int, name: str | None) -> int:
    """The icon of a drawing that is called as the source is, else by the name that its set has now.

    A former name has no tags, and Iconify lists it behind the others: of 1,402 stand-ins for Font Awesome's in Lucide
    55 had former names where the shortest was taken, 8 where the first is, which are those that the source has.
    """
    alike = np.flatnonzero(side.drawings == side.drawings[row]).tolist()
    return int(min(alike, key=lambda one: (side.rows[one].name != name, not side.is_tagged[one], one)))
