"""From a query to its answer: what is asked, which icons could answer, in what order, and what of it is shown."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Positions
from indexer.errors import IconsError
from search.deadline import refuse_late
from search.generation.backend import Ability
from search.generation.facets import in_order
from search.generation.opened import Opened
from search.query import Filters, Query, Sort, Window, pasted_svg
from search.ranking.candidates import by_both, by_keywords, by_picture, by_words
from search.ranking.details import as_hits, first_of_each, grouped, hits_of
from search.ranking.order import GOOD_SCORE, mix
from search.ranking.paging import N_CANDIDATES, Question, ResultPager, ScoreCutoff, Shown
from search.ranking.parsing import parse_avoided, parse_query
from search.results import MOST_COUNTED, Answer, FacetCount


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    if query.is_empty:
        return _browse(opened, query.prefer or (), filters, window)
    window.refuse_deep()
    question = _question(opened, query, flat=window.flat)
    parsed, sets = question.parsed, opened.set_priority(query.prefer or ())
    hits = _hits(question, filters, window)
    kept = hits.at_least(window.offset + window.k if window.sort == "relevance" else MOST_COUNTED)
    is_doubtful = len(kept) > 0 and bool(hits.found.confidence[kept[0]] < GOOD_SCORE)
    if window.sort != "relevance":
        kept = _sorted(opened, hits.found.ids, kept[:MOST_COUNTED], window.sort)
    elif query.words.strip() and not (query.keyword or window.flat):
        of_sets = opened.facets.at(hits.found.ids)["set"]
        kept = mix(kept, hits.found.tiers, hits.found.evidence, np.where(sets.is_preferred[of_sets], -1, of_sets))
    shown = hits.shown(kept[window.offset : window.offset + window.k], sets)
    return Answer(
        hits=as_hits(opened, shown, sets, flat=window.flat),
        n_found=hits.n,
        is_more=hits.is_more,
        facets=hits.count() if window.facets else None,
        spelled=parsed.wording.spelled if parsed else None,
        read_as=parsed.read_as if parsed else None,
        is_doubtful=is_doubtful,
    )


def _sorted(opened: Opened, ids: Ids, kept: Positions, sort: Sort) -> Positions:
    """Places of the best hits by name, set or age."""
    kept = kept[np.argsort(ids[kept])]
    return kept[in_order(opened.facets, opened.snapshot, ids[kept], sort)]


def _hits(question: Question, filters: Filters, window: Window) -> ResultPager:
    """The hits that the filters leave of a query's; where they leave none, the nearest of what they leave."""
    only = question.opened.facets.select(filters)
    nearest = question.candidates(N_CANDIDATES, None)
    cutoff = ScoreCutoff.of(nearest, window.min_score, is_never_empty=question.is_never_empty)
    if only is None:
        return ResultPager(question, cutoff, None, nearest)
    fitting = question.candidates(N_CANDIDATES, only)
    hits = ResultPager(question, cutoff, only, fitting)
    if hits.n or window.min_score is not None:
        return hits
    own = ScoreCutoff.of(fitting, None, is_never_empty=question.is_never_empty)
    return ResultPager(question, own, only, fitting)


def _question(opened: Opened, query: Query, *, flat: bool) -> Question:
    """Choose how candidates are found."""
    put = partial(Question, opened=opened, own=query.icon, flat=flat)
    if query.keyword:
        _check_keywords(query)
        return put(ask=partial(by_keywords, opened, query.words), shown=Shown())
    if query.picture is None and (svg := pasted_svg(query.words)):
        query = replace(query, words="", picture=svg)
    look = _look_of(opened, query)
    if look is not None and not query.words.strip():
        ask = partial(by_picture, opened, look, parse_avoided(opened, query))
        return put(ask=ask, is_never_empty=query.icon is not None)  # some are always nearest
    parsed = parse_query(opened, query.words, prefer=query.prefer or (), languages=query.languages)
    avoided = parse_avoided(opened, query, parsed)
    if look is None:
        shown = Shown(parsed.wording.style, avoided.words)
        return put(ask=partial(by_words, opened, parsed, avoided), parsed=parsed, shown=shown)
    if not 0 <= query.picture_share <= 1:
        raise IconsError(f'picture_share is "{query.picture_share}"; give a number from 0 to 1')
    by_look_and_words = partial(by_both, opened, parsed, look, avoided, picture_share=query.picture_share)
    return put(ask=by_look_and_words, parsed=parsed)


def _check_keywords(query: Query) -> None:
    if query.picture is not None or query.icon is not None or query.without:
        raise IconsError("a keyword query takes words alone; write -word for what must not be there")
    if not query.words.strip():
        raise IconsError('the query is empty; try `icons search --keyword "arrow*"`')


def _look_of(opened: Opened, query: Query) -> Floats | None:
    """Vector of the picture that is asked with, or of an icon's; None where words alone are asked."""
    if query.icon is not None:
        if query.picture is not None:
            raise IconsError("the query holds a picture and an icon; ask with one of them")
        image = opened.snapshot.icon(query.icon).image_id
        return np.asarray(opened.pictures.reconstruct(np.array([image]))[0])
    if query.picture is None:
        return None
    if not isinstance(query.picture, bytes):
        return opened.encoder.encode_picture(query.picture)
    from indexer.rendering.screenshot import cut_out  # words need no decoder

    return opened.encoder.encode_picture(cut_out(query.picture, size=opened.encoder.image_size))


N_REMEMBERED = 8
"""Orders that a generation keeps: who turns pages asks for the same one again."""
Arranged = NDArray[np.int32]
"""Ids of hits in their order: half the memory, and no library comes near the end of its numbers."""
Counts = dict[str, list[FacetCount]]


def _browse(opened: Opened, prefer: tuple[str, ...], filters: Filters, window: Window) -> Answer:
    """Show the icons that the filters leave, by set and name if nothing else is asked."""
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
