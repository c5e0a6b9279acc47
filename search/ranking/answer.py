"""From a query to its answer: what is asked, the hits in steps, in what order, what of them is shown, and why.

What is counted depends on the query and its filters alone, never on the window that is asked for:

- An icon has the same score whatever is filtered, and is a hit from the same `ScoreCutoff` on: that of the query
  without filters. So a filter leaves those hits that the menu counted for it.
- Counting ends where more than `MOST_COUNTED` hits are found, where no icon beyond can be a hit, or at `N_SURE`.
- Windows may lie deeper. What a deeper step finds stands behind what was found before, so that pages follow each other.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions
from indexer.errors import IconsError
from indexer.languages.words import asked_style, normalise_tag
from indexer.merging.facets import NO_STYLE
from search.generation.backend import Ability, Selection
from search.generation.facets import in_order
from search.generation.labels import CHOSEN, SetPriority
from search.generation.opened import Opened
from search.query import Filters, Query, Sort, Window, pasted_svg, refuse_late
from search.ranking.candidates import (
    Candidates,
    SearchScope,
    all_related,
    by_both,
    by_keywords,
    by_picture,
    by_words,
    evidence_against,
    evidence_for,
    first_of_tiers,
    name_fits,
)
from search.ranking.details import as_hits, first_of_groups, grouped, groups_of, hits_of, shown_for_all
from search.ranking.order import (
    BEST_SCORE,
    CALLED,
    GOOD_SCORE,
    NAMED,
    STATED,
    TIERS,
    before_variants,
    firsts_of,
    least_score,
    mix,
    rank,
    stand_ins,
)
from search.ranking.parsing import Avoided, ParsedQuery, encode, parse_avoided, parse_query
from search.results import MOST_COUNTED, Answer, Explanation, FacetCount, Judged


@dataclass(frozen=True, slots=True)
class Shown:
    """Which variant of an icon is shown for all: the plain one, unless another is asked for."""

    style: str | None = None
    """That is asked, as `naming.looks.asked_style` spells it."""
    without: tuple[str, ...] = ()
    """What is to be left out; a variant in such a style stands for no other."""


def shown_order(opened: Opened, found: Candidates, shown: Shown | None) -> tuple[Positions, Positions]:
    """Places of candidates, best first, what is shown before its variants; None: the best one is shown.

    Returns the order, and for each place in it the candidate whose scores count there.
    """
    order = rank(found.ids, found.evidence, found.tiers)
    if shown is None:
        return order, order
    rows = opened.facets.at(found.ids)
    is_in = np.ones(len(rows), bool)
    for words in shown.without:
        is_in &= ~opened.facets.in_style(found.ids, asked_style(words))
    is_asked = is_in & opened.facets.is_like(found.ids, shown.style or "")
    looks = opened.facets.labels("look").values
    has_no_other = np.array([*(look == shown.style for look in looks), False])[rows["look"]]
    is_plain = is_in & (has_no_other if shown.style else rows["states"] == NO_STYLE)
    variants = opened.facets.variants(rows)
    may_stand = stand_ins(firsts_of(variants), is_asked, is_plain)
    return before_variants(order, variants, may_stand, found.tiers)


N_CANDIDATES = 1_000
"""Icons that the vectors are asked for at first: what a refined index looks at in any case."""
STEP = 4
"""How many times as many are asked for with each step."""
N_SURE = 50_000
"""Among so many icons, or fewer, hits are counted up to `MOST_COUNTED` however deep they lie. Among more the vectors
are asked once, since nobody should wait for a count: "488+" is said then."""
_SCORED = ("evidence", "scores", "confidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query as it is put, perhaps several times: deeper, or among fewer icons."""

    opened: Opened
    ask: Callable[[SearchScope], Candidates]
    own: int | None
    """Icon that is asked with, which does not answer; nor do its variants, where icons are grouped."""
    flat: bool
    is_never_empty: bool = False
    shown: Shown | None = None
    """Which variant of an icon is shown, where icons are grouped; None: the best one."""
    parsed: ParsedQuery | None = None
    """Its words, where words are asked."""

    def candidates(self, n: int, only: Selection | None) -> Candidates:
        """Ask for the `n` nearest among some icons, None for all."""
        refuse_late()
        found = self.ask(SearchScope(n, only))
        return found if self.own is None else found.at(~self.is_own(found.ids))

    def is_own(self, ids: Ids) -> Mask:
        """Which of some icons are the one that is asked with, or stand for it."""
        if self.flat:
            return np.asarray(ids == self.own)
        facets = self.opened.facets
        [variants] = facets.variants(facets.at(np.array([self.own])))
        return np.asarray(facets.variants(facets.at(ids)) == variants)


@dataclass(frozen=True, slots=True)
class ScoreCutoff:
    """From which score on an icon is a hit of a query."""

    least: float
    floors: Floats
    """Least score of an icon of each tier: what the best one of a later tier has."""

    @classmethod
    def of(cls, found: Candidates, min_score: float | None, *, is_never_empty: bool) -> Self:
        """The cutoff that the first candidates of a query set."""
        least = least_score(found.scores, is_never_empty=is_never_empty) if min_score is None else min_score
        best_after = [found.scores[found.tiers > tier].max(initial=0) for tier in (CALLED, NAMED, STATED)]
        return cls(least, np.array([*best_after, 0], np.float32))

    def hits(self, found: Candidates) -> Candidates:
        """Those candidates that are hits, by their scores."""
        floors = self.floors[found.tiers]
        scores, confidence = np.maximum(found.scores, floors), np.maximum(found.confidence, floors)
        return replace(found, scores=scores, confidence=confidence).at(scores >= self.least)


class ResultPager:
    """The hits of a question among some icons, as far as they are known: `found` best first, `kept` one a group."""

    def __init__(self, question: Question, cutoff: ScoreCutoff, only: Selection | None, first: Candidates) -> None:
        self._question, self._cutoff, self._only = question, cutoff, only
        self._n = N_CANDIDATES
        self._beyond = first.beyond
        self.found = self._best_first(cutoff.hits(first))
        self.kept = self._grouped(self.found.ids)
        n_among = len(question.opened.facets) if only is None else len(only)
        while self._can_find_more and len(self.kept) <= MOST_COUNTED and n_among <= N_SURE:
            self.found = self._best_first(self._with(STEP * self._n))
            self.kept = self._grouped(self.found.ids)
        self.n = min(MOST_COUNTED, len(self.kept))
        """Hits, counted up to `MOST_COUNTED`."""
        self.is_more = len(self.kept) > MOST_COUNTED or self._has_more
        """Whether there are, or may be, more hits than `n`."""

    def at_least(self, n: int) -> Positions:
        """Look for `n` hits or more, if there are as many; places in `found` of all that are known, best first.

        Raises:
            UnsupportedError: there may be as many, and the engine does not look so deep.
        """
        while self._can_find_more and len(self.kept) < n:
            self.found = self._with(STEP * self._n)
            self.kept = self._grouped(self.found.ids)
        if self._has_more and len(self.kept) < n:
            self._question.opened.engine.require(Ability.DEEP)
        return self.kept

    def shown(self, places: Positions, sets: SetPriority) -> Candidates:
        """The hits at some places of `found`; of icons with one drawing that of the set which stands best."""
        hits = self.found.at(places)
        if self._question.flat:
            return hits
        taken, _ = groups_of(self._question.opened, self.found.ids[self.kept])
        return shown_for_all(self._question.opened, sets, hits, taken, self._may_answer)

    def count(self) -> dict[str, list[FacetCount]]:
        """Count how many hits each value of a filter would leave, over all hits among the `N_SURE` nearest icons."""
        opened, flat = self._question.opened, self._question.flat
        every = self._with(N_SURE) if self._can_find_more and self._n < N_SURE else self.found
        ids = self._best_first(every).ids
        return opened.facets.count(ids, choose=None if flat else first_of_groups(*groups_of(opened, ids)))

    @property
    def _has_more(self) -> bool:
        """Whether an icon that was not found may be a hit."""
        return self._beyond > 0 and self._beyond >= self._cutoff.least

    @property
    def _can_find_more(self) -> bool:
        """Whether one may be found by looking deeper."""
        return self._has_more and self._n < self._question.opened.icons.most

    def _may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave and are not asked with."""
        fits = np.ones(len(ids), bool) if self._only is None else self._only.has(ids)
        return fits if self._question.own is None else fits & ~self._question.is_own(ids)

    def _with(self, n: int) -> Candidates:
        """The hits that were found, and behind them those among `n` candidates that are new, best first."""
        n = min(n, self._question.opened.icons.most)
        deeper = self._question.candidates(n, self._only)
        self._n, self._beyond = n, deeper.beyond
        hits = self._cutoff.hits(deeper)
        new = self._best_first(hits.at(np.isin(hits.ids, self.found.ids, invert=True)))
        return new.changed(lambda name: np.concatenate([getattr(self.found, name), getattr(new, name)]))

    def _best_first(self, found: Candidates) -> Candidates:
        question = self._question
        order, counted = shown_order(question.opened, found, None if question.flat else question.shown)
        return found.changed(lambda name: getattr(found, name)[counted if name in _SCORED else order])

    def _grouped(self, ids: Ids) -> Positions:
        """Places of the hits among some icons: all of them, or one of each variant group and drawing."""
        return grouped(self._question.opened, ids, flat=self._question.flat)


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
        kept = kept[:MOST_COUNTED]
        kept = kept[np.argsort(hits.found.ids[kept])]
        kept = kept[in_order(opened.facets, opened.snapshot, hits.found.ids[kept], window.sort)]
    elif query.words.strip() and not (query.keyword or window.flat):
        of_sets = opened.facets.at(hits.found.ids)["set"]
        kept = mix(kept, hits.found.tiers, hits.found.evidence, np.where(sets.sources[of_sets] == CHOSEN, -1, of_sets))
    page = slice(window.offset, window.offset + window.k)
    shown = hits.shown(kept[page], sets)
    if (
        window.sort == "relevance"
    ):  # a hit of another set that comes in between has no better score than those before it
        shown = replace(shown, confidence=np.minimum.accumulate(hits.found.confidence[kept])[page])
    return Answer(
        hits=as_hits(opened, shown, sets, flat=window.flat),
        n_found=hits.n,
        is_more=hits.is_more,
        facets=hits.count() if window.facets else None,
        spelled=parsed.wording.spelled if parsed else None,
        read_as=parsed.read_as if parsed else None,
        is_doubtful=is_doubtful,
    )


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
        if query.picture is not None or query.icon is not None or query.without:
            raise IconsError("a keyword query takes words alone; write -word for what must not be there")
        if not query.words.strip():
            raise IconsError('the query is empty; try `icons search --keyword "arrow*"`')
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
        hits=hits_of(opened, shown, sets=opened.set_priority(prefer), flat=window.flat),
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


N_EXPLAINED = 10_000
"""Icons that are ranked."""


def explain(opened: Opened, query: Query, icon: int) -> Explanation:
    """Tell what a query of words makes of an icon, whether it finds it or not.

    Raises:
        IconsError: the query holds a picture or keywords, or no words.
        UnknownIconError: no icon has this id.
    """
    if query.picture is not None or query.icon is not None or query.keyword or pasted_svg(query.words):
        raise IconsError("only a query of words alone can be explained")
    opened.snapshot.icon(icon)
    parsed = parse_query(opened, query.words, prefer=query.prefer or (), languages=query.languages)
    avoided = parse_avoided(opened, query, parsed)
    found = by_words(opened, parsed, avoided, SearchScope(N_EXPLAINED))
    order = rank(found.ids, found.evidence, found.tiers)
    shown, _ = shown_order(opened, found, Shown(parsed.wording.style, avoided.words))
    kept = order[found.scores[order] >= least_score(found.scores)]
    wording = parsed.wording
    return Explanation(
        typed=wording.typed,
        name=wording.name,
        style=wording.style,
        parts=wording.parts,
        drawn=wording.drawn,
        synonyms=tuple(name for name, _ in wording.synonyms),
        without=avoided.words,
        spelled=wording.spelled,
        read_as=parsed.read_as,
        icon=_judge(opened, parsed, avoided, found, order, icon),
        first=_judge(opened, parsed, avoided, found, order, int(found.ids[shown[0]])) if len(kept) else None,
        shown=_shown(opened, found, kept, icon),
    )


def _judge(
    opened: Opened, parsed: ParsedQuery, avoided: Avoided, found: Candidates, order: Positions, icon: int
) -> Judged:
    ids, row, vector = np.array([icon]), opened.snapshot.icon(icon), parsed.vector
    [name], [picture] = encode(opened, (row.words,)), opened.pictures.reconstruct(np.array([row.image_id]))
    cosines = {"picture": float(picture @ vector), "name": float(name @ vector)}
    tags = tuple(filter(None, dict.fromkeys(map(normalise_tag, opened.snapshot.facts(icon)["tags"]))))
    if tags:
        mean = encode(opened, tags).mean(axis=0)
        cosines["tags"] = float(mean @ vector / np.linalg.norm(mean))
    fused = np.array([opened.icons.reconstruct(ids)[0] @ vector], np.float32)
    cosines["fused"] = float(fused[0])
    speaks = evidence_for(opened, parsed, name_fits(opened, parsed), ids, fused)
    speaks["left out"] = evidence_against(opened, avoided, ids)
    place = next(iter(np.flatnonzero(found.ids == icon).tolist()), None)
    tiers = all_related(ids) if place is None else found.tiers[[place]]
    speaks["set"] = speaks["set"] + first_of_tiers(opened, parsed, ids, tiers)
    [hit] = hits_of(opened, ids)
    score = 0.0 if place is None else float(found.scores[place])
    return Judged(
        hit=replace(hit, score=round(score, 4), similarity=round(cosines["fused"], 4)),
        rank=None if place is None else int(np.flatnonzero(order == place)[0]) + 1,
        tier=TIERS[tiers[0]],
        cosines={arm: round(value, 4) for arm, value in cosines.items()},
        evidence={what: round(float(value[0]), 3) for what, value in speaks.items() if value[0] or what == "vectors"},
    )


def _shown(opened: Opened, found: Candidates, kept: Positions, icon: int) -> str:
    if icon not in found.ids:
        return f"not a hit: {N_EXPLAINED:,} icons are nearer"
    [place] = np.flatnonzero(found.ids == icon)
    if place not in kept:
        best = float(found.scores.max())
        if best < BEST_SCORE:
            return f"not a hit: no icon has a score of {BEST_SCORE}, the best one has {best:.3f}"
        return f"not a hit: its score {found.scores[place]:.3f} is below {least_score(found.scores):.3f}"
    return "a hit"
