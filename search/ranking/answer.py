"""From a query to its answer: what is asked, which icons could answer, in what order, and what of it is shown."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats, Ids, Positions
from indexer.errors import IconsError
from search.generation.facets import in_order
from search.generation.opened import Opened
from search.query import Filters, Query, Sort, Window, pasted_svg
from search.ranking.asked import Asked, read_asked, read_avoided
from search.ranking.browsing import browse
from search.ranking.candidates import Candidates, Reach, by_both, by_keywords, by_picture, by_words
from search.ranking.details import as_hits
from search.ranking.gathering import Gathering, Limit, Question, Shown
from search.ranking.order import GOOD_SCORE, mix
from search.results import MOST_COUNTED, Answer


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    if query.is_empty:
        return browse(opened, query.prefer or (), filters, window)
    window.refuse_deep()
    way = _way_of_asking(opened, query)
    asked = way.asked
    question = Question(
        opened=opened,
        ask=way.ask,
        own=query.icon,
        flat=window.flat,
        is_never_empty=query.icon is not None and not query.words.strip(),  # some are always nearest
        shown=way.shown,
    )
    hits = _hits(question, filters, window)
    kept = hits.reach(window.offset + window.k if window.sort == "relevance" else MOST_COUNTED)
    is_doubtful = len(kept) > 0 and bool(hits.found.confidence[kept[0]] < GOOD_SCORE)
    if window.sort != "relevance":
        kept = _sorted(opened, hits.found.ids, kept[:MOST_COUNTED], window.sort)
    elif query.words.strip() and not (query.keyword or window.flat):
        kept = mix(kept, hits.found.tiers, hits.found.evidence, _sets_to_mix(opened, query, hits.found.ids))
    sets = opened.standing(query.prefer or ())
    shown = hits.shown(kept[window.offset : window.offset + window.k], sets)
    return Answer(
        hits=as_hits(opened, shown, sets, flat=window.flat),
        n_found=hits.n,
        is_more=hits.is_more,
        facets=hits.count() if window.facets else None,
        spelled=asked.wording.spelled if asked else None,
        read_as=asked.read_as if asked else None,
        is_doubtful=is_doubtful,
    )


def _sorted(opened: Opened, ids: Ids, kept: Positions, sort: Sort) -> Positions:
    """Places of the best hits by name, set or age."""
    kept = kept[np.argsort(ids[kept])]
    return kept[in_order(opened.facets, opened.snapshot, ids[kept], sort)]


def _sets_to_mix(opened: Opened, query: Query, ids: Ids) -> Ids:
    """Codes of the sets of some icons, -1 for what the user prefers: that may come as often as it will."""
    sets = opened.facets.at(ids)["set"]
    return np.where(opened.standing(query.prefer or ()).is_preferred[sets], -1, sets)


def _hits(question: Question, filters: Filters, window: Window) -> Gathering:
    """The hits that the filters leave of a query's; where they leave none, the nearest of what they leave."""
    only = question.opened.facets.select(filters)
    nearest = question.nearest()
    limit = Limit.of(nearest, window.min_score, is_never_empty=question.is_never_empty)
    if only is None:
        return Gathering(question, limit, None, nearest)
    fitting = question.nearest(only)
    hits = Gathering(question, limit, only, fitting)
    if hits.n or window.min_score is not None:
        return hits
    own = Limit.of(fitting, None, is_never_empty=question.is_never_empty)
    return Gathering(question, own, only, fitting)


class _Way(NamedTuple):
    """How a query is asked."""

    ask: Callable[[Reach], Candidates]
    asked: Asked | None
    """Its words as they were read, where words are asked."""
    shown: Shown | None
    """Which variant is shown; None where a picture is asked with: then the one that is most like it."""


def _way_of_asking(opened: Opened, query: Query) -> _Way:
    """Choose how candidates are found."""
    if query.keyword:
        _check_keywords(query)
        return _Way(partial(by_keywords, opened, query.words), None, Shown())
    if query.picture is None and (svg := pasted_svg(query.words)):
        query = replace(query, words="", picture=svg)
    look = _look_of(opened, query)
    if look is not None and not query.words.strip():
        return _Way(partial(by_picture, opened, look, read_avoided(opened, query)), None, None)
    asked = read_asked(opened, query.words, prefer=query.prefer or (), languages=query.languages)
    avoided = read_avoided(opened, query, asked)
    if look is None:
        return _Way(partial(by_words, opened, asked, avoided), asked, Shown(asked.wording.style, avoided.words))
    if not 0 <= query.picture_share <= 1:
        raise IconsError(f'picture_share is "{query.picture_share}"; give a number from 0 to 1')
    by_look_and_words = partial(by_both, opened, asked, look, avoided, picture_share=query.picture_share)
    return _Way(by_look_and_words, asked, None)


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
