"""From a query to its answer: what is asked, the hits in steps, in what order, what of them is shown, and why.

What is counted depends on the query and its filters alone, never on the window that is asked for:

- An icon has the same score whatever is filtered, and is a hit from the same `ScoreCutoff` on: that of the query
  without filters. So a filter leaves those hits that the menu counted for it.
- Counting ends where more than `MOST_COUNTED` hits are found, where no icon beyond can be a hit, or at `N_SURE`.
- Windows may lie deeper. What a deeper step finds stands behind what was found before, so that pages follow each other.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Mask
from indexer.errors import IconsError
from indexer.languages.words import asked_style, normalise_tag
from indexer.merging.facets import NO_STYLE
from search.generation.backend import Ability
from search.generation.facets import in_order
from search.generation.opened import Opened
from search.query import MOST_HITS, Filters, Query, Sort, Window, refuse_late
from search.ranking import weights
from search.ranking.combine import ScoreCutoff, best_unseen, weigh
from search.ranking.details import as_hits, first_of_groups, grouped, groups_of, hits_of
from search.ranking.features import SIGNALS, Rows, features, of_keywords
from search.ranking.order import (
    CHOSEN,
    MIXED_AMONG,
    TIERS,
    before_variants,
    firsts_of,
    mixed,
    ranked,
    replaced,
    set_priority,
    stand_ins,
)
from search.ranking.parsing import encode
from search.ranking.retrieve import N_CANDIDATES, Question, question_of, retrieve
from search.results import MOST_COUNTED, Answer, Explanation, FacetCount, Judged

STEP = 4
"""How many times as many are asked for with each step."""
N_SURE = 50_000
"""Among so many icons, or fewer, hits are counted up to `MOST_COUNTED` however deep they lie. Among more the vectors
are asked once, since nobody should wait for a count: "488+" is said then."""


class Results:
    """The hits of a question among the icons that filters leave, as far as they are known, best first.

    Where the filters leave no hit, the nearest of what they leave are hits.
    """

    def __init__(self, question: Question, filters: Filters, window: Window) -> None:
        self._question, self._flat = question, window.flat
        self._only = question.opened.facets.select(filters)
        self._n_images = None if self._only is None or question.look is None else len(self._only.images())
        self._n, self._beyond = N_CANDIDATES, 0.0
        self._seen = np.empty(0, np.int64)
        """Icons that were looked at."""
        self._standing = self._seen
        """Hits, and those that are shown in their place."""
        measure = partial(ScoreCutoff.of, min_score=window.min_score, is_never_empty=question.is_never_empty)
        first, fits, is_measured = self._look(self._n)
        self.cutoff = measure(first[is_measured])
        self._rows = self.cutoff.hits(first[fits])
        if not len(self._rows) and self._only is not None and window.min_score is None:
            self.cutoff = measure(first[fits])
            self._rows = self.cutoff.hits(first[fits])
        n_among = len(question.opened.facets) if self._only is None else len(self._only)
        hits = self._arranged(self._rows)
        while self._can_find_more and len(hits) <= MOST_COUNTED and n_among <= N_SURE:
            self._rows = np.concatenate([self._rows, self._deeper(STEP * self._n)])
            hits = self._arranged(self._rows)
        self.hits = self._with_preferred(hits)
        self.n = min(MOST_COUNTED, len(self.hits))
        """Hits, counted up to `MOST_COUNTED`."""
        self.is_more = len(self.hits) > MOST_COUNTED or self._has_more
        """Whether there are, or may be, more hits than `n`."""

    def at_least(self, n: int) -> Rows:
        """Look for `n` hits or more, if there are as many; all that are known.

        Raises:
            UnsupportedError: there may be as many, and the engine does not look so deep.
        """
        while self._can_find_more and len(self.hits) < n:
            new = self._deeper(STEP * self._n)
            self._rows = np.concatenate([self._rows, new])
            self.hits = self._followed_by(self._arranged(new))
        if self._has_more and len(self.hits) < n:
            self._question.opened.engine.require(Ability.DEEP)
        return self.hits

    def judged(self, icon: int) -> tuple[Rows, bool]:
        """The row of one icon, wherever it lies, and whether it is a hit: shown, or stood for by another one."""
        ids = np.array([icon])
        row = weigh(self._question, features(self._question, ids), n_among=self._n_images)
        return row, len(self.cutoff.hits(row)) > 0 and bool(self._may_answer(ids)[0])

    def has_seen(self, icon: int) -> bool:
        """Whether an icon was looked at, or there is no other one to look at."""
        return icon in self._seen or not self._can_find_more

    def count(self) -> dict[str, list[FacetCount]]:
        """Count how many hits each value of a filter would leave, over all hits among the `N_SURE` nearest icons."""
        opened = self._question.opened
        if self._can_find_more and self._n < N_SURE:
            self._rows = np.concatenate([self._rows, self._deeper(N_SURE)])
        ids = self._best_first(self._rows)["icon"]
        return opened.facets.count(ids, choose=None if self._flat else first_of_groups(*groups_of(opened, ids)))

    @property
    def _has_more(self) -> bool:
        """Whether an icon that was not found may be a hit."""
        return self._beyond > 0 and self._beyond >= self.cutoff.least

    @property
    def _can_find_more(self) -> bool:
        """Whether one may be found by looking deeper."""
        return self._has_more and self._n < self._question.opened.icons.most

    def _look(self, n: int) -> tuple[Rows, Mask, Mask]:
        """Look at the icons among `n` that were not looked at; which of them may answer, and which set the cutoff."""
        question, is_first = self._question, not len(self._seen)
        self._n = min(n, question.opened.icons.most)
        found = retrieve(question, self._n, self._only, is_first=is_first)
        is_new = np.isin(found.ids, self._seen, invert=True) & (found.fits | is_first)
        ids = found.ids[is_new]
        self._seen = np.concatenate([self._seen, ids])
        self._beyond = best_unseen(question, found)
        if question.keywords is None:
            rows = weigh(question, features(question, ids, found), n_among=self._n_images)
        else:
            rows = of_keywords(question, question.keywords, found)[is_new]
        may_answer = ~self._is_own(ids)
        return rows, found.fits[is_new] & may_answer, found.is_first[is_new] & may_answer

    def _deeper(self, n: int) -> Rows:
        """The hits among `n` that were not found before."""
        rows, fits, _ = self._look(n)
        return self.cutoff.hits(rows[fits])

    def _is_own(self, ids: Ids) -> Mask:
        """Which of some icons are the one that is asked with, or stand for it."""
        if self._flat or self._question.own is None:
            return np.asarray(ids == (self._question.own or -1))
        facets = self._question.opened.facets
        [variants] = facets.variants(facets.at(np.array([self._question.own])))
        return np.asarray(facets.variants(facets.at(ids)) == variants)

    def _may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave and are not asked with."""
        fits = np.ones(len(ids), bool) if self._only is None else self._only.has(ids)
        return fits & ~self._is_own(ids)

    def _arranged(self, rows: Rows) -> Rows:
        """Hits best first: all of them, or one of each variant group and drawing."""
        rows = self._best_first(rows)
        return rows[grouped(self._question.opened, rows["icon"], flat=self._flat)]

    def _best_first(self, rows: Rows) -> Rows:
        """Rows in order; where words are asked, what is shown before its variants: in the style asked, else plain."""
        question, rows = self._question, ranked(rows)
        if self._flat or question.look is not None:
            return rows
        facets, ids = question.opened.facets, rows["icon"]
        known, style = facets.at(ids), question.parsed.wording.style if question.parsed else None
        is_in = np.ones(len(rows), bool)
        for words in question.avoided.words:
            is_in &= ~facets.in_style(ids, asked_style(words))
        is_asked = is_in & facets.in_style(ids, style or "")
        # "arrow filled": a plain arrow that is filled, too, is not what was named
        is_plain = is_in & (known["states"] == NO_STYLE) & (style is None)
        variants = facets.variants(known)
        return before_variants(rows, variants, stand_ins(firsts_of(variants), is_asked, is_plain))

    def _followed_by(self, new: Rows) -> Rows:
        """The hits, and behind them those of others that are no variants of theirs and show other drawings."""
        if not self._flat:
            of_hits, of_new = (groups_of(self._question.opened, ids) for ids in (self._standing, new["icon"]))
            new = new[~(np.isin(of_new[0], of_hits[0]) | np.isin(of_new[1], of_hits[1]))]
        return np.concatenate([self.hits, self._with_preferred(new)])

    def _with_preferred(self, hits: Rows) -> Rows:
        """The same hits, of icons with one drawing that of the set which stands best; no variants come twice."""
        opened = self._question.opened
        self._standing = np.concatenate([self._standing, hits["icon"]])
        if not self._flat:
            variants, _ = groups_of(opened, self._standing)
            hits = replaced(opened, self._question.sets, hits, variants, self._may_answer)
            self._standing = np.concatenate([self._standing, hits["icon"]])
        return hits


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
    """The first `n` hits as they are shown, or more: mixed, or sorted."""
    opened = question.opened
    if window.sort != "relevance":
        hits = results.at_least(MOST_COUNTED)[:MOST_COUNTED]
        hits = hits[np.argsort(hits["icon"])]
        return hits[in_order(opened.facets, opened.snapshot, hits["icon"], window.sort)]
    if question.parsed is None or window.flat:
        return results.at_least(n)
    hits = results.at_least(max(n, MIXED_AMONG))
    of_sets = opened.facets.at(hits["icon"][:MIXED_AMONG])["set"]
    return mixed(hits, np.where(question.sets.sources[of_sets] == CHOSEN, -1, of_sets))


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
    hits = _in_order(results, question, window, 1)
    while is_hit and not results.has_seen(icon) and len(hits) < MOST_HITS:
        hits = _in_order(results, question, window, len(hits) + 1)
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
    [icon], [score] = row["icon"].tolist(), row["score"].tolist()
    if not is_hit and score >= results.cutoff.least:
        return "not a hit: the filters leave it out"
    if not is_hit and results.cutoff.best < weights.BEST_SCORE:
        return f"not a hit: no icon has a score of {weights.BEST_SCORE}, the best one has {results.cutoff.best:.3f}"
    if not is_hit:
        return f"not a hit: its score {score:.3f} is below {results.cutoff.least:.3f}"
    places = np.flatnonzero(hits["icon"] == icon)
    if not len(places):
        return _stood_for(opened, row, hits)
    place, [judged] = int(places[0]), hits["judged"][places].tolist()
    before = int(np.flatnonzero(results.hits["icon"] == icon)[0])
    shares_name = groups_of(opened, np.array([icon]))[0] == groups_of(opened, np.array([judged]))[0]
    why = "its variant" if shares_name[0] else "which has the same drawing, in a set that comes later"
    said = [
        "a hit",
        *([f"in the place of {hits_of(opened, np.array([judged]))[0].key}, {why}"] if judged != icon else []),
    ]
    return "; ".join([*said, *([f"number {before + 1} by evidence alone"] if before != place else [])])


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
