"""Answers: the hits of a query, or icons that are browsed; and why an icon stands where it stands."""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids
from indexer.errors import IconsError, UnsupportedError
from indexer.languages.words import normalise_tag
from search.answering.details import as_hits, hits_of
from search.generation.backend import Ability
from search.generation.facets import in_order
from search.generation.opened import Opened
from search.query import MOST_HITS, Filters, Query, Sort, Window, refuse_late
from search.ranking import weights
from search.ranking.features import SIGNALS, Rows
from search.ranking.order import TIERS, first_of_groups, grouped, groups_of, set_priority
from search.ranking.parsing import encode
from search.ranking.results import Results
from search.ranking.retrieve import Question, question_of
from search.results import MOST_COUNTED, Answer, Explanation, FacetCount, Judged


def answer(opened: Opened, query: Query, filters: Filters, window: Window) -> Answer:
    """Answer a query from one generation; errors as `SearchEngine.ask`."""
    if query.is_empty:
        return _browse(opened, query.prefer or (), filters, window)
    window.refuse_deep()
    question = question_of(opened, query)
    results, parsed = Results(question, filters, window), question.parsed
    hits = _in_order(results, question, window, window.offset + window.k)
    return Answer(
        hits=as_hits(opened, hits[window.offset : window.offset + window.k], question.sets, flat=window.flat),
        n_found=results.n,
        is_more=results.is_more,
        facets=results.count() if window.facets else None,
        spelled=parsed.wording.spelled if parsed else None,
        read_as=parsed.read_as if parsed else None,
        is_doubtful=len(results.hits) > 0 and bool(results.hits["confidence"][0] < weights.GOOD_SCORE),
    )


def _in_order(results: Results, question: Question, window: Window, n: int) -> Rows:
    """The first `n` hits as they are shown, or more; by relevance no hit has a better score than one before it."""
    opened = question.opened
    if window.sort != "relevance":
        hits = results.at_least(MOST_COUNTED)[:MOST_COUNTED]
        hits = hits[np.argsort(hits["icon"])]
        return hits[in_order(opened.facets, opened.snapshot, hits["icon"], window.sort)]
    hits = results.at_least(n).copy()
    hits["confidence"] = np.minimum.accumulate(hits["confidence"])
    return hits


N_REMEMBERED = 8
"""Orders that a generation keeps: who turns pages asks for the same one again."""
Arranged = NDArray[np.int32]
"""Ids of hits in their order: half the memory, and no library comes near the end of its numbers."""
Counts = dict[str, list[FacetCount]]


def _browse(opened: Opened, prefer: tuple[str, ...], filters: Filters, window: Window) -> Answer:
    """Show the icons that the filters leave, by set and name if nothing else is asked.

    Raises:
        UnsupportedError: the window lies beyond those that the engine has put in order.
    """
    sort = "set" if window.sort == "relevance" else window.sort
    counts: Counts | None = None
    if filters == Filters() and (planned := opened.facets.precomputed_order(sort, flat=window.flat)):
        hits, n_found, counts = np.array(planned.first, np.int32), planned.n, planned.counts
        if len(hits) < min(n_found, window.offset + window.k):
            opened.engine.require(Ability.SORTED_LIBRARY)
    else:
        hits = cast(Arranged, _remembered(opened, "arranged", _arrange)(filters, sort, window.flat))
        n_found = len(hits)
        if window.facets:
            counts = cast(Counts, _remembered(opened, "counted", _count)(filters, sort, window.flat))
    shown = hits[window.offset : window.offset + window.k].astype(np.int64)
    return Answer(
        hits=hits_of(opened, shown, sets=set_priority(opened, prefer), flat=window.flat),
        n_found=n_found,
        is_more=False,
        facets=counts if window.facets else None,
        spelled=None,
        read_as=None,
        is_doubtful=False,
    )


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
    return opened.facets.count(ids, choose=None if flat else first_of_groups(*groups_of(opened, ids)))


def _ordered(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    """Ids of the icons that the filters leave: kept, since hits are counted once they are shown."""
    return cast(Ids, _remembered(opened, "ordered", _put_in_order, most=1)(filters, sort))


def _put_in_order(opened: Opened, filters: Filters, sort: Sort) -> Ids:
    refuse_late()
    ids = opened.facets.every(opened.facets.select(filters))
    return ids[in_order(opened.facets, opened.snapshot, ids, sort)]


def explain(opened: Opened, query: Query, icon: int, filters: Filters, window: Window) -> Explanation:
    """Tell what a query of words makes of an icon, whether it finds it or not.

    Raises:
        IconsError: the query holds a picture or keywords, or no words.
        UnknownIconError: no icon has this id.
    """
    opened.snapshot.icon(icon)
    question = question_of(opened, query)
    if (parsed := question.parsed) is None or question.look is not None:
        raise IconsError("only a query of words alone can be explained")
    results = Results(question, filters, window)
    row, is_hit = results.judged(icon)
    with suppress(UnsupportedError):  # it may lie deeper than the engine looks
        while is_hit and window.sort == "relevance" and not results.has_seen(icon) and len(results.hits) < MOST_HITS:
            results.at_least(len(results.hits) + 1)
    hits = _in_order(results, question, window, 1)
    wording = parsed.wording
    return Explanation(
        typed=wording.typed,
        name=wording.name,
        style=wording.style,
        parts=wording.parts,
        drawn=wording.drawn,
        synonyms=tuple(name for name, _ in wording.synonyms),
        without=question.avoided.words,
        spelled=wording.spelled,
        read_as=parsed.read_as,
        icon=_judge(question, row, hits),
        first=_judge(question, results.judged(int(hits["icon"][0]))[0], hits) if len(hits) else None,
        shown=_shown(opened, results, row, hits, is_hit=is_hit),
    )


def _judge(question: Question, row: Rows, hits: Rows) -> Judged:
    """What is known of an icon, whose row is the only one, and where it stands among the hits."""
    opened, icon = question.opened, int(row["icon"][0])
    known, vector = opened.snapshot.icon(icon), question.parsed.vector if question.parsed else row["vectors"]
    [name], [picture] = encode(opened, (known.words,)), opened.pictures.reconstruct(np.array([known.image_id]))
    cosines = {"picture": float(picture @ vector), "name": float(name @ vector)}
    if tags := tuple(filter(None, dict.fromkeys(map(normalise_tag, opened.snapshot.facts(icon)["tags"])))):
        mean = encode(opened, tags).mean(axis=0)
        cosines["tags"] = float(mean @ vector / np.linalg.norm(mean))
    cosines["fused"] = float(row["vectors"][0])
    places = np.flatnonzero(hits["icon"] == icon)
    own = {"vectors": 1 / opened.manifest.calibration.unit, **SIGNALS}
    features = {name: float(row[name][0]) for name in own if row[name][0] or name == "vectors"}
    [hit] = as_hits(opened, hits[places] if len(places) else row, question.sets, flat=False)
    return Judged(
        hit=hit,
        rank=int(places[0]) + 1 if len(places) else None,
        tier=TIERS[row["tier"][0]],
        cosines={arm: round(value, 4) for arm, value in cosines.items()},
        features={name: round(value, 4) for name, value in features.items()},
        weights={name: round(own[name], 4) for name in features},
        evidence={name: round(value * own[name], 3) for name, value in features.items()},
    )


def _shown(opened: Opened, results: Results, row: Rows, hits: Rows, *, is_hit: bool) -> str:
    """Whether an icon is a hit; of a hit what brought it to its place, else what keeps it from one."""
    [icon], [score], cutoff = *(row[name].tolist() for name in ("icon", "score")), results.cutoff
    for judged in hits["judged"][hits["icon"] == icon].tolist():
        variants, _ = groups_of(opened, np.array([icon, judged]))
        why = "its variant" if variants[0] == variants[1] else "which has its drawing, in a set that comes later"
        return (
            "a hit" if judged == icon else f"a hit, in the place of {hits_of(opened, np.array([judged]))[0].key}, {why}"
        )
    if is_hit:
        return _stood_for(opened, row, hits)
    if score >= cutoff.least:
        return "not a hit: the filters leave it out"
    if cutoff.best < weights.LEAST_SCORE:
        return f"not a hit: no icon has a score of {weights.LEAST_SCORE}, the best one has {cutoff.best:.3f}"
    return f"not a hit: its score {score:.3f} is below {cutoff.least:.3f}"


def _stood_for(opened: Opened, row: Rows, hits: Rows) -> str:
    """Say which hit stands for an icon: one of its variants, else one that shows its drawing."""
    for of_icon, of_hits, how in zip(
        groups_of(opened, row["icon"]),
        groups_of(opened, hits["icon"]),
        ("its variant", "which has its drawing"),
        strict=True,
    ):
        for place in np.flatnonzero(of_hits == of_icon)[:1].tolist():
            key = hits_of(opened, hits["icon"][[place]])[0].key
            return f"no hit of its own: {key}, {how}, stands for it as number {place + 1}"
    return f"a hit, behind the first {len(hits):,}"
