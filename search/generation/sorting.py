"""In what order do icons stand that are browsed: by name, by set, or the newest first?

Names sort as people count: arrow-2 stands before arrow-10. All names of a large library take a second to sort, once;
the few that a filter leaves are sorted by themselves until then.
"""

import re

import numpy as np

from indexer.arrays import Ids, Positions
from search.generation.facets import Facets
from search.generation.icon_table import IconTable
from search.generation.snapshot import Snapshot
from search.query import Sort

MOST_APART = 30_000
"""Icons whose names are sorted by themselves, if those of all icons are not sorted yet."""
_NUMBER = re.compile("[0-9]+")
_ONE_GAP = str.maketrans("_-", "  ")
_RANKS = "ranks of names"


def in_order(facets: IconTable, snapshot: Snapshot, ids: Ids, sort: Sort) -> Positions:
    """Places of some icons, whose ids ascend, in the order that is wanted; "relevance" is told by nothing here."""
    if sort == "newest":
        return np.arange(len(ids))[::-1]
    names = _name_ranks(facets, snapshot, ids)
    sets = _set_ranks(facets)[facets.at(ids)["set"]]
    return np.lexsort((ids, sets, names) if sort == "name" else (ids, names, sets))


def natural(name: str) -> tuple[str, str]:
    """What a name is compared by: numbers by their size, letters without case, gaps alike; then as it is spelt."""
    return _NUMBER.sub(_by_size, name.casefold().translate(_ONE_GAP)), name


def _by_size(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"{len(digits):06}{digits}"


def _name_ranks(facets: IconTable, snapshot: Snapshot, ids: Ids) -> Ids:
    """A number for the name of each icon, which grows as names do."""
    is_small = len(ids) <= MOST_APART and not facets.keeps(_RANKS)
    if is_small or not isinstance(facets, Facets):
        return _ranks(snapshot.names_of(ids))
    ranks: Ids = facets.keep(_RANKS, lambda: _ranks(snapshot.names_of()))
    return ranks[facets.positions(ids)]


def _ranks(names: list[str]) -> Ids:
    ranks = {name: rank for rank, name in enumerate(sorted(set(names), key=natural))}
    return np.fromiter((ranks[name] for name in names), np.int64, len(names))


def _set_ranks(facets: IconTable) -> Ids:
    """A number for each set, by its code, which grows as keys do."""
    ranks: Ids = facets.keep("ranks of sets", lambda: _ranks(list(facets.labels("set").values)))
    return ranks
