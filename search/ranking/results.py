"""The hits of a query in steps, in their order, as many as are asked for.

What is counted depends on the query and its filters alone, never on the window that is asked for:

- An icon has the same score whatever is filtered, and is a hit from the same `ScoreCutoff` on: that of the query
  without filters. So a filter leaves those hits that the menu counted for it; a few more, or fewer, where something is
  customarily drawn: that counts for the icons of a first look, which a filter has others of.
- Counting ends where more than `MOST_COUNTED` hits are found, or where no icon beyond can be a hit; in a library of
  more than `N_SURE` icons after the first look.
- Windows may lie deeper. What a deeper step finds stands behind what was found before, so that pages follow each other.
"""

from functools import lru_cache

import numpy as np

from indexer.arrays import Ids, Mask, firsts_of, is_in
from indexer.languages.words import asked_style
from indexer.merging.browsing import first_of_groups
from indexer.merging.facets import A_LOOK, NO_STYLE
from search.generation.backend import Ability
from search.query import MOST_COUNTED, FacetCount, Filters, Window
from search.ranking import retrieve
from search.ranking.combine import ScoreCutoff, best_stated, best_unseen, weigh
from search.ranking.features import Rows, features, of_keywords, rows_of
from search.ranking.order import (
    before_variants,
    cleanest,
    grouped,
    groups_of,
    ranked,
    replaced,
    stand_ins,
)
from search.ranking.retrieve import Question

STEP = 4
"""How many times as many are asked for with each step."""
N_SURE = 50_000
"""In a library of so many icons hits are counted up to `MOST_COUNTED` however deep they lie: vectors are compared
exactly there. Else these are asked once, since nobody should wait for a count: "488+" is said then."""
N_COUNTED = 16_384
"""Among so many of the nearest icons the hits are that a menu counts: of all of Iconify these hold the hits of all but
the broadest words (arrow, circle)."""

_N_SELECTIONS = 4
"""Filters whose icons are remembered: who filters asks several questions under one."""


class Results:
    """The hits of a question among the icons that filters leave, as far as they are known, best first.

    Where the filters leave no hit, the nearest of what they leave are hits.
    """

    def __init__(self, question: Question, filters: Filters, window: Window) -> None:
        self._question, self.is_flat = question, window.flat
        facets = question.opened.facets
        self._only = facets.keep("selections", lambda: lru_cache(maxsize=_N_SELECTIONS)(facets.select))(filters)
        self._n_images = None if self._only is None or question.look is None else len(self._only.images)
        self._n, self._beyond, self._stated = retrieve.N_CANDIDATES, 0.0, np.inf
        self._seen = np.empty(0, np.int64)
        """Icons that were looked at."""
        self.hits = rows_of(self._seen)
        """Best first, as they are shown."""
        # Some icons are always nearest to one.
        is_never_empty = question.own is not None and question.parsed is None
        self._first, fits, is_measured = self._look(self._n)
        self.cutoff = ScoreCutoff.of(self._first.compress(is_measured), window.min_score, is_never_empty=is_never_empty)
        self._rows = self.cutoff.hits(self._first.compress(fits))
        if not len(self._rows) and self._only is not None and window.min_score is None:
            self.cutoff = ScoreCutoff.of(self._first.compress(fits), None, is_never_empty=is_never_empty)
            self._rows = self.cutoff.hits(self._first.compress(fits))
        hits = self._arranged(self._rows)
        while self._can_find_more and len(hits) <= MOST_COUNTED and len(facets) <= N_SURE:
            self._deeper(STEP * self._n)
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
            self.hits = self._followed_by(self._deeper(STEP * self._n))
        if self._has_more and len(self.hits) < n:
            self._question.opened.engine.require(Ability.DEEP)
        return self.hits

    def judged(self, ids: Ids) -> Rows:
        """The rows of some icons, wherever they lie."""
        first = self._first.compress(np.isin(self._first["icon"], ids))
        others = np.setdiff1d(ids, first["icon"])
        rows = features(self._question, others, retrieve.Retrieved(others, np.zeros(len(others), bool)))
        rows = np.concatenate([first, weigh(self._question, rows, n_among=self._n_images, stated=self._stated)])
        self.cutoff.hits(rows)  # which sets their scores in place: none is better than one of a tier before its own
        return rows

    def are_hits(self, rows: Rows) -> Mask:
        """Which of some rows are hits: shown, or stood for by others."""
        return np.asarray((rows["score"] >= self.cutoff.least) & self.may_answer(rows["icon"]))

    def have_seen(self, ids: Ids) -> bool:
        """Whether some icons were looked at, or there are no others to look at."""
        return not self._can_find_more or bool(np.isin(ids, self._seen).all())

    def count(self) -> dict[str, list[FacetCount]]:
        """Count how many hits each value of a filter would leave, over all hits among the `N_COUNTED` nearest icons."""
        opened = self._question.opened
        if self._can_find_more and self._n < N_COUNTED:
            self._deeper(N_COUNTED)
        ids = self._best_first(self._rows)["icon"]
        return opened.facets.count(ids, choose=None if self.is_flat else first_of_groups(*groups_of(opened, ids)))

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
        found = retrieve.retrieve(question, self._n, self._only, is_first=is_first)
        fits = self.may_answer(found.ids)
        is_new = ~is_in(self._seen, found.ids) & (fits | found.is_first)
        ids = found.ids[is_new]
        self._seen = np.sort(np.concatenate([self._seen, ids]), kind="stable")  # which is quick where both ascend
        if question.keywords is None:
            rows = features(question, ids, found)
            self._stated = best_stated(rows, question.opened.manifest.calibration) if is_first else self._stated
            rows = weigh(question, rows, n_among=self._n_images, stated=self._stated)
        else:
            rows = of_keywords(question.opened, question.keywords.name, found)[is_new]
        self._beyond = best_unseen(question, found, stated=self._stated)
        return rows, fits[is_new], found.is_first[is_new] & ~self._is_own(ids)

    def _deeper(self, n: int) -> Rows:
        """The hits among `n` that were not found before."""
        rows, fits, _ = self._look(n)
        new = self.cutoff.hits(rows.compress(fits))
        self._rows = np.concatenate([self._rows, new])
        return new

    def _is_own(self, ids: Ids) -> Mask:
        """Which of some icons are the one that is asked with, or stand for it."""
        if self.is_flat or self._question.own is None:
            return np.asarray(ids == (self._question.own or -1))
        facets = self._question.opened.facets
        [variants] = facets.variants(facets.at(np.array([self._question.own])))
        return np.asarray(facets.variants(facets.at(ids)) == variants)

    def may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave and are not asked with."""
        fits = np.ones(len(ids), bool) if self._only is None else self._only.has(ids)
        return fits & ~self._is_own(ids)

    def _arranged(self, rows: Rows) -> Rows:
        """Hits best first: all of them, or one of each variant group and drawing."""
        rows = self._best_first(rows)
        return rows.take(grouped(self._question.opened, rows["icon"], flat=self.is_flat))

    def _best_first(self, rows: Rows) -> Rows:
        """Rows in order; where words are asked, what is shown before its variants: in the style asked, else plain."""
        question, rows = self._question, ranked(rows)
        if self.is_flat or question.look is not None:
            return rows
        facets, ids = question.opened.facets, rows["icon"]
        known, style = facets.at(ids), question.parsed.wording.style if question.parsed else None
        is_in = np.ones(len(rows), bool)
        for words in question.avoided.words:
            is_in &= ~facets.in_style(ids, asked_style(words))
        wanted = [is_in, is_in & (known["states"] == (A_LOOK if style else NO_STYLE))]
        if style:
            has_no_other = np.array([*(look == style for look in facets.labels("look").values), False])[known["look"]]
            wanted[:1] = [is_in & facets.is_like(ids, style), is_in & has_no_other]
        firsts = firsts_of(facets.variants(known))
        return before_variants(rows, firsts, cleanest(firsts, known["roughness"], stand_ins(firsts, *wanted)))

    def _followed_by(self, new: Rows) -> Rows:
        """The hits, and behind them those of others that are no variants of theirs and show other drawings."""
        if not self.is_flat:
            of_hits, of_judged, of_new = (
                groups_of(self._question.opened, ids) for ids in (self.hits["icon"], self.hits["judged"], new["icon"])
            )
            new = new[~(np.isin(of_new[0], [of_hits[0], of_judged[0]]) | np.isin(of_new[1], of_hits[1]))]
        return np.concatenate([self.hits, self._with_preferred(self._arranged(new))])

    def _with_preferred(self, hits: Rows) -> Rows:
        """The same hits, of icons with one drawing that of the set which stands best; no variants come twice."""
        if self.is_flat or len(set(self._question.sets.sources.tolist())) < 2:  # no set stands before another
            return hits
        opened, ids = self._question.opened, [rows[name] for rows in (self.hits, hits) for name in ("icon", "judged")]
        return replaced(opened, self._question.sets, hits, groups_of(opened, np.concatenate(ids))[0], self.may_answer)
