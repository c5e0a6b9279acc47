"""Which variant of an icon is shown for all of them? Candidates are put in order accordingly."""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Positions
from indexer.naming.looks import asked_style
from indexer.publishing.facets import NO_STYLE
from search.generation.opened import Opened
from search.ranking.candidates import Candidates
from search.ranking.judging import in_style
from search.ranking.order import before_variants, firsts_of, rank, stand_ins


@dataclass(frozen=True, slots=True)
class Shown:
    """Which variant of an icon is shown for all: the plain one, unless another is asked for."""

    style: str | None = None
    """That is asked, as `naming.looks.asked_style` spells it."""
    without: tuple[str, ...] = ()
    """What is to be left out; a variant in such a style stands for no other."""


def in_order(opened: Opened, found: Candidates, shown: Shown | None) -> tuple[Positions, Positions]:
    """Places of candidates, best first, what is shown before its variants; None: the best one is shown.

    Returns the order, and for each place in it the candidate whose scores count there.
    """
    order = rank(found.ids, found.evidence, found.tiers)
    if shown is None:
        return order, order
    rows = opened.facets.at(found.ids)
    is_out = np.zeros(len(rows), bool)
    for words in shown.without:
        is_out |= in_style(opened, found.ids, asked_style(words))
    is_asked = in_style(opened, found.ids, shown.style or "") & ~is_out
    is_plain = (rows["states"] == NO_STYLE) & ~is_out
    is_plain &= shown.style is None  # "arrow filled": a plain arrow that is filled, too, is not what was named
    variants = opened.facets.variants(rows)
    may_stand = stand_ins(firsts_of(variants), is_asked, is_plain)
    return before_variants(order, variants, may_stand, found.tiers)
