"""From a query to its answer: what is asked, which icons could answer, in what order, and what of it is shown."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.errors import IconsError
from search.deadline import refuse_late
from search.generation.opened import Opened
from search.query import MOST_COUNTED, Answer, Filters, Query, Window, pasted_svg
from search.ranking.asked import read_asked, read_avoided
from search.ranking.candidates import Candidates, Reach, by_both, by_keywords, by_picture, by_words
from search.ranking.hits import as_hits
from search.ranking.order import group, rank
from search.ranking.scores import GOOD_SCORE, good_enough

N_CANDIDATES = 1_000
"""Icons that the vectors are asked for at first: no more than what a refined index looks at in any case."""
PER_HIT = 4
"""Candidates for each wanted hit, at least; four times as many where variants use them up."""


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    only = opened.facets.select(filters)
    ask, spelled = _way_of_asking(opened, query)
    is_like_an_icon = query.icon is not None and not query.words.strip()  # some are always nearest
    wanted = window.offset + window.k
    n = max(N_CANDIDATES, PER_HIT * wanted)
    while True:
        refuse_late()
        found = ask(Reach(n, only))
        order = rank(found.ids, found.evidence, found.tiers)
        if query.icon is not None:
            order = order[~_is_own(opened, found.ids[order], query.icon, flat=window.flat)]
        places = good_enough(order, found.scores, window.min_score, is_never_empty=is_like_an_icon)
        kept = places if window.flat else places[_first_of_each(opened, found.ids[places])]
        if len(kept) >= wanted or found.is_all or len(places) < len(order):
            break
        n *= 4
    shown = kept[window.offset : wanted]
    facets = opened.facets.count(found.ids[kept[:MOST_COUNTED]]) if window.facets else None
    return Answer(
        hits=as_hits(opened, found, shown, flat=window.flat),
        n_found=min(MOST_COUNTED, len(kept)),
        facets=facets,
        spelled=spelled,
        is_doubtful=len(kept) > 0 and bool(found.scores[kept[0]] < GOOD_SCORE),
    )


def _way_of_asking(opened: Opened, query: Query) -> tuple[Callable[[Reach], Candidates], str | None]:
    """Choose how candidates are found; with the query as it was probably meant, where that is another one."""
    if query.keyword:
        _check_keywords(query)
        return partial(by_keywords, opened, query.words), None
    if query.picture is None and (svg := pasted_svg(query.words)):
        query = replace(query, words="", picture=svg)
    look = _look_of(opened, query)
    if look is not None and not query.words.strip():
        return partial(by_picture, opened, look, read_avoided(opened, *query.without)), None
    asked = read_asked(opened, query.words, prefer=query.prefer or ())
    avoided = read_avoided(opened, *asked.wording.without, *query.without)
    if look is None:
        return partial(by_words, opened, asked, avoided), asked.wording.spelled
    if not 0 <= query.picture_share <= 1:
        raise IconsError(f'picture_share is "{query.picture_share}"; give a number from 0 to 1')
    by_look_and_words = partial(by_both, opened, asked, look, avoided, picture_share=query.picture_share)
    return by_look_and_words, asked.wording.spelled


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
    from indexer.rendering.cutout import cut_out  # words need no decoder

    return opened.encoder.encode_picture(cut_out(query.picture, size=opened.encoder.image_size))


def _is_own(opened: Opened, ids: Ids, own: int, *, flat: bool) -> Mask:
    """Whether each of the icons is the one that was asked with, or in an answer of groups one of its variants."""
    if flat:
        return np.asarray(ids == own)
    rows, [row] = opened.facets.positions(ids), opened.facets.positions(np.array([own]))
    sets, names = opened.facets.column("set"), opened.facets.column("name")
    return np.asarray((sets[rows] == sets[row]) & (names[rows] == names[row]))


def _first_of_each(opened: Opened, ids: Ids) -> list[int]:
    """Places of the icons that are hits: one of each variant group and drawing."""
    rows = opened.facets.positions(ids)
    sets, names = opened.facets.column("set")[rows], opened.facets.column("name")[rows]
    variants = sets.astype(np.int64) << 32 | names.astype(np.int64)  # one number is hashed sooner than a pair
    return group(zip(variants.tolist(), opened.drawings[rows].tolist(), strict=True))
