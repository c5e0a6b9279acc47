"""Which other icons bear the drawing of a hit, and which of them is shown for all?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from search.generation.opened import Opened
from search.generation.standing import Standing
from search.ranking.candidates import Candidates
from search.ranking.scores import RELATED


def others_bearing(opened: Opened, sets: Standing, ids: Ids) -> list[Ids]:
    """For each icon those with the same drawing, its variants apart; of the sets that stand best first."""
    facets, alike = opened.facets, opened.facets.alike(ids)
    of_hit = np.repeat(np.arange(len(ids)), [len(some) for some in alike])
    every = np.concatenate([ids[:0], *alike])
    is_other = facets.variants(facets.at(every)) != facets.variants(facets.at(ids))[of_hit]
    every, of_hit = every[is_other], of_hit[is_other]
    order = np.lexsort((*_standing_of(opened, sets, every), of_hit))
    return np.split(every[order], np.searchsorted(of_hit, np.arange(1, len(ids))))


def shown_for_all(
    opened: Opened, sets: Standing, hits: Candidates, taken: Ids, may_answer: Callable[[Ids], Mask]
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
        for best in better[np.lexsort(_standing_of(opened, sets, better))][:1]:
            ids[place], tiers[place] = best, RELATED
            taken = np.append(taken, facets.variants(facets.at(np.array([best]))))
    return replace(hits, ids=ids, tiers=tiers)


def _standing_of(opened: Opened, sets: Standing, ids: Ids) -> tuple[Floats, Ids]:
    """What puts some icons into the order in which their sets stand, the last key first as `np.lexsort` wants it."""
    of_sets = opened.facets.at(ids)["set"]
    return -sets.evidence[of_sets], -sets.sources[of_sets]
