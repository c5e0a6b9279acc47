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
    variants, drawings = (np.unique(numbers, return_inverse=True)[1] for numbers in groups_of(opened, ids))
    bits = len(ids).bit_length()

    def choose(places: Positions, codes: Ids) -> Positions:
        of_codes = codes.astype(np.int64) << bits
        return group_many(of_codes | variants[places], of_codes | drawings[places])

    return choose
