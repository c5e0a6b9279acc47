"""In what order do icons stand that are browsed: by name, by set, or the newest first?"""

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.publishing.places import Places, natural_ranks, places_by_name
from search.generation.facets import Facets
from search.generation.icon_table import IconTable
from search.generation.snapshot import Snapshot
from search.query import Sort


def in_order(facets: IconTable, snapshot: Snapshot, ids: Ids, sort: Sort) -> Positions:
    """Places of some icons, whose ids ascend, in the order that is wanted; "relevance" is told by nothing here."""
    if sort == "newest":
        return np.arange(len(ids))[::-1]
    places = _places(facets, snapshot, ids)
    if sort == "name":
        return np.argsort(places)
    return np.lexsort((places, natural_ranks(facets.labels("set").values)[facets.at(ids)["set"]]))


def _places(facets: IconTable, snapshot: Snapshot, ids: Ids) -> Places:
    """A number for each icon, which grows by name: as the merge has written it, or among these alone."""
    if isinstance(facets, Facets) and facets.places is not None:
        return facets.places[facets.positions(ids)]
    return places_by_name(snapshot.names_of(ids), facets.labels("set").values, facets.at(ids)["set"])
