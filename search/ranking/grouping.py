"""Which icons are one hit: variants of a name in a set, and equal drawings."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions
from search.generation.icon_table import Choice
from search.generation.opened import Opened
from search.generation.set_priority import SetPriority
from search.ranking.candidates import Candidates
from search.ranking.order import RELATED, group_many


def groups_of(opened: Opened, ids: Ids) -> tuple[Ids, Ids]:
    """A number for the variant group of each icon, and one for its drawing."""
    rows = opened.facets.at(ids)
    return opened.facets.variants(rows), rows["drawing"]


def grouped(opened: Opened, ids: Ids, *, flat: bool) -> Positions:
    """Places of the hits among some icons: all of them, or the first one of each variant group and drawing."""
    return np.arange(len(ids)) if flat else group_many(*groups_of(opened, ids))


def first_of_each(opened: Opened, ids: Ids) -> Choice:
    """Which pairs of a place in `ids` and a code are hits: of those with the same code one of each group."""
    return first_of_groups(*groups_of(opened, ids))


def first_of_groups(variants: Ids, drawings: Ids) -> Choice:
    """The same, from the numbers of the groups. What is alone in both is a hit, whatever its code: most icons are."""
    variants, drawings = (np.unique(numbers, return_inverse=True)[1] for numbers in (variants, drawings))
    is_alone = (np.bincount(variants)[variants] == 1) & (np.bincount(drawings)[drawings] == 1)
    bits = len(variants).bit_length()

    def choose(places: Positions, codes: Ids) -> Positions:
        is_hit = is_alone[places]
        others = np.flatnonzero(~is_hit)
        of_codes = codes[others].astype(np.int64) << bits
        is_hit[others[group_many(of_codes | variants[places[others]], of_codes | drawings[places[others]])]] = True
        return np.flatnonzero(is_hit)

    return choose


def others_bearing(opened: Opened, sets: SetPriority, ids: Ids) -> list[Ids]:
    """For each icon those with the same drawing, its variants apart; of the sets that stand best first."""
    facets, alike = opened.facets, opened.facets.alike(ids)
    of_hit = np.repeat(np.arange(len(ids)), [len(some) for some in alike])
    every = np.concatenate([ids[:0], *alike])
    is_other = facets.variants(facets.at(every)) != facets.variants(facets.at(ids))[of_hit]
    every, of_hit = every[is_other], of_hit[is_other]
    order = np.lexsort((*_order_of_sets(opened, sets, every), of_hit))
    return np.split(every[order], np.searchsorted(of_hit, np.arange(1, len(ids))))


def shown_for_all(
    opened: Opened, sets: SetPriority, hits: Candidates, taken: Ids, may_answer: Callable[[Ids], Mask]
) -> Candidates:
    """Put the icon of a preferred set in the place of a hit with the same drawing, and an own one in that of a sample.

    `taken` are the variants that other hits stand for: none comes twice.
    """
    facets, ids, tiers = opened.facets, hits.ids.copy(), hits.tiers.copy()
    sources = sets.sources[facets.at(ids)["set"]]
    places = np.flatnonzero(sources < sets.sources.max(initial=0))
    for place, alike in zip(places.tolist(), facets.alike(ids[places]), strict=True):
        rows = facets.at(alike)
        better = alike[(sets.sources[rows["set"]] > sources[place]) & ~np.isin(facets.variants(rows), taken)]
        better = better[may_answer(better)]
        for best in better[np.lexsort(_order_of_sets(opened, sets, better))][:1]:
            ids[place], tiers[place] = best, RELATED
            taken = np.append(taken, facets.variants(facets.at(np.array([best]))))
    return replace(hits, ids=ids, tiers=tiers)


def _order_of_sets(opened: Opened, sets: SetPriority, ids: Ids) -> tuple[Floats, Ids]:
    """What puts some icons into the order in which their sets stand, the last key first as `np.lexsort` wants it."""
    of_sets = opened.facets.at(ids)["set"]
    return -sets.evidence[of_sets], -sets.sources[of_sets]
