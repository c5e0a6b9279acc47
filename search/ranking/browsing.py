"""Nothing is looked for: which icons do the filters leave, in what order? Neither words nor vectors are asked."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids
from search.deadline import refuse_late
from search.generation.backend import Ability
from search.generation.facets import in_order
from search.generation.opened import Opened
from search.query import Filters, Sort, Window
from search.ranking.details import hits_of
from search.ranking.grouping import first_of_each, grouped
from search.results import Answer, FacetCount

N_REMEMBERED = 8
"""Orders that a generation keeps: who turns pages asks for the same one again."""
Arranged = NDArray[np.int32]
"""Ids of hits in their order: half the memory, and no library comes near the end of its numbers."""
Counts = dict[str, list[FacetCount]]


def browse(opened: Opened, prefer: tuple[str, ...], filters: Filters, window: Window) -> Answer:
    """Show the icons that the filters leave, by set and name if nothing else is asked; errors as `SearchEngine.ask`."""
    sort = "set" if window.sort == "relevance" else window.sort
    order = _order(opened, filters, sort, window)
    shown = order.first[window.offset : window.offset + window.k].astype(np.int64)
    return Answer(
        hits=hits_of(opened, shown, sets=opened.set_priority(prefer), flat=window.flat),
        n_found=order.n,
        is_more=False,
        facets=order.counts if window.facets else None,
        spelled=None,
        read_as=None,
        is_doubtful=False,
    )


class _Order(NamedTuple):
    """Hits in the order in which they are browsed."""

    first: Arranged
    n: int
    counts: Counts | None


def _order(opened: Opened, filters: Filters, sort: Sort, window: Window) -> _Order:
    """All hits; of an engine that has them precomputed the first ones.

    Raises:
        UnsupportedError: the window lies beyond these.
    """
    planned = opened.facets.precomputed_order(sort, flat=window.flat) if filters == Filters() else None
    if planned is not None:
        if len(planned.first) < min(planned.n, window.offset + window.k):
            opened.engine.require(Ability.SORTED_LIBRARY)
        return _Order(np.array(planned.first, np.int32), planned.n, planned.counts)
    hits = cast(Arranged, _remembered(opened, "arranged", _arrange)(filters, sort, window.flat))
    count = _remembered(opened, "counted", _count)
    return _Order(hits, len(hits), cast(Counts, count(filters, sort, window.flat)) if window.facets else None)


def browse_all(opened: Opened, filters: Filters, sort: Sort, *, flat: bool) -> tuple[Arranged, Counts]:
    """Ids of all hits that the filters leave, in an order, and how many each value of a filter would leave."""
    return _arrange(opened, filters, sort, flat), _count(opened, filters, sort, flat)


def _remembered(
    opened: Opened, name: str, make: Callable[..., object], *, most: int = N_REMEMBERED
) -> Callable[..., object]:
    """The last answers of a function of this generation."""
    kept: Callable[..., object] = opened.facets.keep(name, lambda: lru_cache(maxsize=most)(partial(make, opened)))
    return kept


def _arrange(opened: Opened, filters: Filters, sort: Sort, flat: bool) -> Arranged:
    """Ids of all hits; one stands for its variants and for equal drawings, the first in this order."""
    ids = _ordered(opened, filters, sort)
    return cast(Arranged, ids[grouped(opened, ids, flat=flat)].astype(np.int32))


def _count(opened: Opened, filters: Filters, sort: Sort, flat: bool) -> Counts:
    """How many hits each value of a filter would leave: which icons are one hit is decided in the same order."""
    ids = _ordered(opened, filters, sort)
    return opened.facets.count(ids, choose=None if flat else first_of_each(opened, ids))


def _ordered(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    """Ids of the icons that the filters leave: kept, since hits are counted once they are shown."""
    return cast(Ids, _remembered(opened, "ordered", _put_in_order, most=1)(filters, sort))


def _put_in_order(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    refuse_late()
    ids = opened.facets.every(opened.facets.select(filters))
    return ids[in_order(opened.facets, opened.snapshot, ids, sort)]
