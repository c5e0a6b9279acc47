"""The hits of a query, collected in steps, the nearest first; and which variant is shown for all.

What is counted depends on the query and its filters alone, never on the window that is asked for:

- An icon has the same score whatever is filtered, and is a hit from the same `ScoreCutoff` on: that of the query
  without filters. So a filter leaves those hits that the menu counted for it.
- Counting ends where more than `MOST_COUNTED` hits are found, where no icon beyond can be a hit, or at `N_SURE`.
- Windows may lie deeper. What a deeper step finds stands behind what was found before, so that pages follow each other.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions
from indexer.languages.names import asked_style
from indexer.merging.facets import NO_STYLE
from search.deadline import refuse_late
from search.generation.backend import Ability, Selection
from search.generation.labels import SetPriority
from search.generation.opened import Opened
from search.ranking.candidates import Candidates, SearchScope, in_style
from search.ranking.details import first_of_each, grouped, groups_of, shown_for_all
from search.ranking.order import CALLED, NAMED, STATED, before_variants, firsts_of, least_score, rank, stand_ins
from search.ranking.parsing import ParsedQuery
from search.results import MOST_COUNTED, FacetCount


@dataclass(frozen=True, slots=True)
class Shown:
    """Which variant of an icon is shown for all: the plain one, unless another is asked for."""

    style: str | None = None
    """That is asked, as `naming.looks.asked_style` spells it."""
    without: tuple[str, ...] = ()
    """What is to be left out; a variant in such a style stands for no other."""


def in_order(opened: Opened, found: Candidates, shown: Shown | None) -> tuple[Positions, Positions]:
    """Places of candidates, best first, what is shown before its variants; None: the best one is shown.

    Returns the order, and for each place in it the candidate whose scores count there.
    """
    order = rank(found.ids, found.evidence, found.tiers)
    if shown is None:
        return order, order
    rows = opened.facets.at(found.ids)
    is_out = np.zeros(len(rows), bool)
    for words in shown.without:
        is_out |= in_style(opened, found.ids, asked_style(words))
    is_asked = in_style(opened, found.ids, shown.style or "") & ~is_out
    is_plain = (rows["states"] == NO_STYLE) & ~is_out
    is_plain &= shown.style is None  # "arrow filled": a plain arrow that is filled, too, is not what was named
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
        facets = self._question.opened.facets
        every = self._with(N_SURE) if self._can_find_more and self._n < N_SURE else self.found
        ids = self._best_first(every).ids
        return facets.count(ids, choose=None if self._question.flat else first_of_each(self._question.opened, ids))

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
        order, counted = in_order(question.opened, found, None if question.flat else question.shown)
        return found.changed(lambda name: getattr(found, name)[counted if name in _SCORED else order])

    def _grouped(self, ids: Ids) -> Positions:
        """Places of the hits among some icons: all of them, or one of each variant group and drawing."""
        return grouped(self._question.opened, ids, flat=self._question.flat)
