"""Which icons are one hit: variants of a name in a set, and equal drawings?"""

import numpy as np

from indexer.arrays import Ids, Positions
from search.generation.icon_table import Choice
from search.generation.opened import Opened
from search.ranking.order import group_many


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
    """The same, given numbers of the groups. What is alone in both is a hit, whatever its code: most icons are."""
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
