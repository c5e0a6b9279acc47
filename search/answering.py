"""From a query to its answer: what is asked, which icons could answer, in what order, and what of it is shown."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError
from search.candidates import Found, Reach, by_both, by_keywords, by_picture, by_words
from search.hits import as_hits
from search.opened import Opened
from search.query import MOST_COUNTED, Answer, Filters, Query, Window
from search.ranking import group, rank
from search.wording import read_words

Floats = NDArray[np.float32]
Places = NDArray[np.intp]

N_CANDIDATES = 1_000
"""Icons that the vectors are asked for at first: no more than what a refined index looks at in any case."""
PER_HIT = 4
"""Candidates for each wanted hit, at least; four times as many where variants use them up."""
BEST_SCORE = 0.1
"""Where not even the best hit reaches this score, nothing good was found. Of 100 queries without an answer 0.1 lets
25 to 43 through, 0.5 ten; of 100 of Lucide's tags whose icon is among the first ten it hides 5, 0.5 14."""
LEAST_SCORE = 0.05
"""Other hits of an answer have at least this score."""


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    only = opened.facets.select(filters)
    ask, spelled = _way_of_asking(opened, query)
    wanted = window.offset + window.k
    n = max(N_CANDIDATES, PER_HIT * wanted)
    while True:
        found = ask(Reach(n, only, query.without))
        places = _good(found, rank(found.ids, found.similarities, found.exact), window.min_score)
        kept = _kept(opened, found, places, flat=window.flat, own=query.icon)
        if len(kept) >= wanted or found.is_all or len(places) < len(found.ids):
            break
        n *= 4
    shown = kept[window.offset : wanted]
    facets = opened.facets.count(found.ids[kept[:MOST_COUNTED]]) if window.facets else None
    return Answer(
        hits=as_hits(opened, found, shown, flat=window.flat),
        n_found=min(MOST_COUNTED, len(kept)),
        facets=facets,
        spelled=spelled,
    )


def _way_of_asking(opened: Opened, query: Query) -> tuple[Callable[[Reach], Found], str | None]:
    """Choose how candidates are found; with the query as it was probably meant, where that is another one."""
    if query.keyword:
        _check_keywords(query)
        return partial(by_keywords, opened, query.words), None
    look = _look_of(opened, query)
    if look is not None and not query.words.strip():
        return partial(by_picture, opened, look), None
    wording = read_words(query.words, opened.speller)
    words = opened.encoder.encode_words(wording.typed)
    if look is None:
        return partial(by_words, opened, wording, words), wording.spelled
    if not 0 <= query.picture_share <= 1:
        raise IconsError(f'picture_share is "{query.picture_share}"; give a number from 0 to 1')
    return partial(by_both, opened, wording, (words, look), picture_share=query.picture_share), wording.spelled


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
    from indexer.cutout import cut_out  # words need no decoder

    return opened.encoder.encode_picture(cut_out(query.picture, size=opened.encoder.image_size))


def _good(found: Found, order: Places, min_score: float | None) -> Places:
    """Places of the candidates that are good enough, best first."""
    scores = np.where(found.exact, 1, found.scores)[order]
    if min_score is not None:
        return order[scores >= min_score]
    return order[scores >= LEAST_SCORE] if scores.max(initial=0) >= BEST_SCORE else order[:0]


def _kept(opened: Opened, found: Found, places: Places, *, flat: bool, own: int | None) -> Places:
    """Those of the places that are hits: one of each variant group and drawing, and none of the group asked with."""
    rows = opened.facets.positions(found.ids[places])
    sets, names = opened.facets.column("set")[rows], opened.facets.column("name")[rows]
    if own is not None:
        row = int(opened.facets.positions(np.array([own]))[0])
        is_own = found.ids[places] == own
        if not flat:
            is_own = (sets == opened.facets.column("set")[row]) & (names == opened.facets.column("name")[row])
        places, rows, sets, names = (values[~is_own] for values in (places, rows, sets, names))
    if flat:
        return places
    variants = sets.astype(np.int64) << 32 | names.astype(np.int64)  # one number is hashed sooner than a pair
    return places[group(zip(variants.tolist(), opened.drawings[rows].tolist(), strict=True))]
