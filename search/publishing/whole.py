"""What can only be told by going through all icons of a generation, worked out before it is published."""

from collections.abc import Callable

import numpy as np

from search.generation.facets import Facets
from search.generation.icon_table import FIELDS, KINDS, Order
from search.generation.milvus.connection import MOST
from search.generation.milvus.facts import Facts, order_key
from search.generation.opened import Opened
from search.query import Filters, Sort
from search.ranking.browsing import browse_all
from search.ranking.set_cards import set_facts

SORTS: tuple[Sort, ...] = ("set", "name", "newest")


def tell_whole(opened: Opened, facets: Facets, *, stage: Callable[[str], None] = lambda _: None) -> Facts:
    """Go through all icons: counts, sets, and the orders in which they are browsed."""
    stage("Sorting and counting all icons")
    ids = facets.every(None)
    orders = {}
    for flat in (False, True):
        for sort in SORTS if len(ids) > MOST else ():  # of fewer a server hands out all
            found, counts = browse_all(opened, Filters(), sort, flat=flat)
            orders[order_key(sort, flat=flat)] = Order(tuple(found[:MOST].tolist()), len(found), counts)
    tallies = {kind: facets.whole_tally(kind)[2].tolist() for kind in KINDS if kind not in FIELDS}
    return Facts(
        last=int(ids[-1]),
        last_name=int(facets.column("name").max()),
        sizes=tuple(np.setdiff1d(facets.column("size"), [-1]).tolist()),
        tallies=tallies,
        sets=tuple(set_facts(opened, facets)),
        orders=orders,
    )
