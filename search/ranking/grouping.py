"""Which icons are one hit: variants of a name in a set, and equal drawings? And which of the variants is shown?"""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.naming.looks import asked_style
from indexer.publishing.facets import NO_STYLE
from search.generation.facets import Choice
from search.generation.opened import Opened
from search.ranking.candidates import Candidates
from search.ranking.judging import in_style
from search.ranking.order import before_variants, firsts_of, group_many, rank, stand_ins


@dataclass(frozen=True, slots=True)
class Shown:
    """Which variant of an icon is shown for all: the plain one, unless another is asked for."""

    style: str | None = None
    """That is asked, as `naming.looks.asked_style` spells it."""
    without: tuple[str, ...] = ()
    """What is to be left out; a variant in such a style stands for no other."""


def groups_of(opened: Opened, ids: Ids) -> tuple[Ids, Ids]:
    """A number for the variant group of each icon, and one for its drawing."""
    rows = opened.facets.positions(ids)
    return opened.facets.variants(rows), opened.drawings[rows]


def grouped(opened: Opened, ids: Ids, *, flat: bool) -> Positions:
    """Places of the hits among some icons: all of them, or the first one of each variant group and drawing."""
    return np.arange(len(ids)) if flat else group_many(*groups_of(opened, ids))


def first_of_each(opened: Opened, ids: Ids) -> Choice:
    """Which pairs of a place in `ids` and a code are hits: of those with the same code one of each group."""
    variants, drawings = (np.unique(numbers, return_inverse=True)[1] for numbers in groups_of(opened, ids))
    bits = len(ids).bit_length()

    def choose(places: Positions, codes: Ids) -> Positions:
        of_codes = codes.astype(np.int64) << bits
        return group_many(of_codes | variants[places], of_codes | drawings[places])

    return choose


def in_order(opened: Opened, found: Candidates, shown: Shown | None) -> tuple[Positions, Positions]:
    """Places of candidates, best first, what is shown before its variants; None: the best one is shown.

    Returns the order, and for each place in it the candidate whose scores count there.
    """
    order = rank(found.ids, found.evidence, found.tiers)
    if shown is None:
        return order, order
    rows = opened.facets.positions(found.ids)
    is_out = np.zeros(len(rows), bool)
    for words in shown.without:
        is_out |= in_style(opened, found.ids, asked_style(words))
    is_asked = in_style(opened, found.ids, shown.style or "") & ~is_out
    is_plain = (opened.facets.column("states")[rows] == NO_STYLE) & ~is_out
    variants = opened.facets.variants(rows)
    may_stand = stand_ins(firsts_of(variants), is_asked, is_plain)
    return before_variants(order, variants, may_stand, found.tiers)
