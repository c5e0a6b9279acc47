"""Which other icons bear the drawing of a hit, and which of them is shown for all?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions
from search.generation.opened import Opened
from search.generation.standing import Standing
from search.ranking.candidates import Candidates
from search.ranking.scores import RELATED


def others_bearing(opened: Opened, sets: Standing, ids: Ids) -> list[Ids]:
    """For each icon those with the same drawing, its variants apart; of the sets that stand best first."""
    facets, rows = opened.facets, opened.facets.positions(ids)
    alike = opened.alike(rows)
    of_hit = np.repeat(np.arange(len(ids)), [len(some) for some in alike])
    every = np.concatenate([rows[:0], *alike])
    is_other = facets.variants(every) != facets.variants(rows)[of_hit]
    every, of_hit = every[is_other], of_hit[is_other]
    order = np.lexsort((*_standing_of(opened, sets, every), of_hit))
    return np.split(facets.column("icon")[every[order]], np.searchsorted(of_hit, np.arange(1, len(ids))))


def shown_for_all(
    opened: Opened, sets: Standing, hits: Candidates, taken: Ids, may_answer: Callable[[Ids], Mask]
) -> Candidates:
    """Put the icon of a preferred set in the place of a hit with the same drawing, and an own one in that of a sample.

    `taken` are the variants that other hits stand for: none comes twice.
    """
    facets, ids, tiers = opened.facets, hits.ids.copy(), hits.tiers.copy()
    rows = facets.positions(ids)
    sources = sets.sources[facets.column("set")[rows]]
    for place in np.flatnonzero(sources < sets.sources.max(initial=0)).tolist():
        [alike] = opened.alike(rows[[place]])
        alike = alike[sets.sources[facets.column("set")[alike]] > sources[place]]
        alike = alike[np.isin(facets.variants(alike), taken, invert=True)]
        alike = alike[may_answer(facets.column("icon")[alike])]
        for best in alike[np.lexsort(_standing_of(opened, sets, alike))][:1]:
            ids[place], tiers[place] = facets.column("icon")[best], RELATED
            taken = np.append(taken, facets.variants(best))
    return replace(hits, ids=ids, tiers=tiers)


def _standing_of(opened: Opened, sets: Standing, rows: Positions) -> tuple[Floats, Ids]:
    """What puts some rows into the order in which their sets stand, the last key first as `np.lexsort` wants it."""
    of_sets = opened.facets.column("set")[rows]
    return -sets.evidence[of_sets], -sets.sources[of_sets]
