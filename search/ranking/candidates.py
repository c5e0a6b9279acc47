"""Which icons could answer, and how similar is each? A function for each way of asking; no grouping, no windows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions, Tiers
from indexer.languages.words import normalise
from indexer.merging import calibration
from indexer.merging.calibration import TEMPERATURE, sigmoid
from indexer.merging.vector_index import Neighbours
from search.generation.backend import Ability, Selection
from search.generation.opened import Opened
from search.ranking.judging import (
    added_up,
    cosines_of,
    direct_answers,
    evidence_against,
    evidence_for,
    first_of_tiers,
    named_as_synonyms,
    tiers_of,
)
from search.ranking.order import NAMED, RELATED, rank, scores_of_words
from search.ranking.parsing import NOTHING, Avoided, ParsedQuery
from search.words.wording import read_keywords

N_DRAWN = 50
"""Icons that each customary drawing adds by its vector, and as many by names."""
N_LEXICAL = 400
"""Icons that names, and tags, each add to those that the vectors find."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates in no order."""

    ids: Ids
    tiers: Tiers
    similarities: Floats
    """Cosines with the query's vector; not a number where there is none."""
    evidence: Floats
    """What they are ranked by within a tier."""
    scores: Floats
    """0 to 1, the same whatever is filtered: by these hits differ from others."""
    confidence: Floats
    """0 to 1, as people see it: a picture's best match is less like it among the few that a filter leaves."""
    beyond: float
    """The best score that an icon which is none of them may have; 0 where there is none."""

    def at(self, places: Positions | Mask) -> Self:
        """Some of them, in the order of their places."""
        return self.changed(lambda name: getattr(self, name)[places])

    def changed(self, change: Callable[[str], NDArray[Any]]) -> Self:
        """The same with other arrays, `change` takes each field's name."""
        arrays: dict[str, Any] = {field.name: change(field.name) for field in fields(self) if field.name != "beyond"}
        return replace(self, **arrays)

    def best_first(self) -> Self:
        """The same in their order (`order.rank`)."""
        return self.at(rank(self.ids, self.evidence, self.tiers))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where candidates are looked for, and how far."""

    n: int
    """Icons, or pictures, that the vectors are asked for."""
    only: Selection | None = None
    """The icons that the filters leave; None for all."""


def by_words(opened: Opened, parsed: ParsedQuery, avoided: Avoided, scope: SearchScope) -> Candidates:
    """The icons that words find: by the similarity of their fused vectors, by their names and by their tags."""
    return _spoken(opened, parsed, avoided, scope, name_fits(opened, parsed))


def name_fits(opened: Opened, parsed: ParsedQuery) -> Floats:
    """How well each name fits what is asked."""
    return opened.lexicon.fits(parsed.wording.name, is_guess=parsed.wording.spelled is not None)


def _spoken(opened: Opened, parsed: ParsedQuery, avoided: Avoided, scope: SearchScope, fits: Floats) -> Candidates:
    nearest = opened.icons.nearest(parsed.vector, scope.n, scope.only)
    direct = {tier: _among(ids, scope.only) for tier, ids in direct_answers(opened, parsed).items()}
    lexical, unseen_fit = _best_named(opened, fits, scope)
    ids, similarities = nearest.ids, nearest.scores
    if len(ids) < len(opened.icons):
        more = np.setdiff1d(
            _distinct(lexical, *direct.values(), *_drawn(opened, parsed, scope), *_synonyms(opened, parsed, scope)),
            ids,
            assume_unique=True,
        )
        ids = np.concatenate([ids, more])
        similarities = np.concatenate([similarities, opened.icons.reconstruct(more) @ parsed.vector])
    against = evidence_against(opened, avoided, ids)
    found = added_up(evidence_for(opened, parsed, fits, ids, similarities)) + against
    tiers, curve = tiers_of(opened, ids, direct, avoided), opened.manifest.calibration.words
    if any(len(some) for some in direct.values()):
        found += first_of_tiers(opened, parsed, ids, tiers)
    scores = scores_of_words(curve, found, tiers, are_known=parsed.wording.are_known)
    beyond = _beyond(nearest, lambda likely: _unseen_scores(opened, parsed, likely, unseen_fit))
    return Candidates(ids, tiers, similarities, found, scores, scores, beyond)


def _drawn(opened: Opened, parsed: ParsedQuery, scope: SearchScope) -> Iterator[Ids]:
    """Icons that are called as what is customarily drawn, and those nearest to it."""
    for words, vector in zip(parsed.wording.drawn, parsed.drawn, strict=True):
        yield opened.icons.search(vector, k=N_DRAWN, only=scope.only).ids
        yield _among(opened.best_named(opened.lexicon.fits(words), most=N_DRAWN), scope.only)


def _synonyms(opened: Opened, parsed: ParsedQuery, scope: SearchScope) -> Iterator[Ids]:
    """Icons that bear a name of which other sets say what is asked."""
    for icons, _ in named_as_synonyms(opened, parsed):
        yield _among(icons, scope.only)


def _best_named(opened: Opened, fits: Floats, scope: SearchScope) -> tuple[Ids, float]:
    """Icons whose names fit best, and how well one may fit that is none of them."""
    most = max(N_LEXICAL, scope.n // 5)
    best = opened.best_named(fits, most=most if scope.only is None else 8 * most)
    lexical = _among(best, scope.only)[:most]
    is_cut = len(lexical) == most or (scope.only is not None and len(best) == 8 * most)
    last = (lexical if len(lexical) == most else best)[-1:]
    return lexical, float(fits[opened.name_rows(last)].max(initial=0)) if is_cut else 0.0


def by_picture(opened: Opened, vector: Floats, avoided: Avoided, scope: SearchScope) -> Candidates:
    """The icons that look like a picture."""
    images = None if scope.only is None else scope.only.images()
    nearest = opened.pictures.nearest(vector, scope.n, images)
    ids = _among(opened.facets.showing(nearest.ids), scope.only)
    order = np.argsort(nearest.ids)
    places = np.searchsorted(nearest.ids[order], opened.images_of(ids))
    similarities = nearest.scores[order][places]
    every = opened.manifest.calibration.pictures
    among = every.every if images is None else every.among(len(images))
    against = evidence_against(opened, avoided, ids)
    logits, sure = every.every.logits(similarities) + against, among.logits(similarities) + against
    beyond = _beyond(nearest, every.every.scores)
    return Candidates(ids, all_related(ids), similarities, logits, sigmoid(logits), sigmoid(sure), beyond)


def by_both(
    opened: Opened, parsed: ParsedQuery, picture: Floats, avoided: Avoided, scope: SearchScope, *, picture_share: float
) -> Candidates:
    """The icons that words or a picture find, by both; `picture` is the picture's vector.

    The two kinds of similarity have nothing in common but their curves, so what is added up are logits. Those of words
    are made as steep as those of pictures, which tell of the whole answer.
    """
    coverage = name_fits(opened, parsed)
    known = replace(parsed, wording=replace(parsed.wording, are_known=True))
    spoken = _spoken(opened, known, NOTHING, scope, coverage)
    shown = by_picture(opened, picture, NOTHING, scope)
    ids = np.union1d(spoken.ids, shown.ids)
    images, places = np.unique(opened.images_of(ids), return_inverse=True)
    looks = cosines_of(opened.pictures, picture[None], images)[0][places]
    meanings = cosines_of(opened.icons, parsed.vector[None], ids)[0]
    curves = opened.manifest.calibration
    meant = TEMPERATURE * curves.words.logits(added_up(evidence_for(opened, parsed, coverage, ids, meanings)))
    logits = picture_share * curves.pictures.every.logits(looks) + (1 - picture_share) * meant
    logits += evidence_against(opened, avoided, ids)
    similarities = picture_share * looks + (1 - picture_share) * meanings
    beyond = max(spoken.beyond, shown.beyond) if min(spoken.beyond, shown.beyond) else 0.0
    scores = sigmoid(logits)
    return Candidates(ids, all_related(ids), similarities, logits, scores, scores, beyond)


def by_keywords(opened: Opened, text: str, scope: SearchScope) -> Candidates:
    """The icons whose names, tags and categories say all that a keyword query wants; each of them is right.

    Raises:
        IconsError: the query only excludes.
    """
    opened.engine.require(Ability.KEYWORDS)
    match = read_keywords(text)
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    names, merits = opened.snapshot.matching(match, most=scope.n) if match else nothing
    icons = opened.lexicon.icons_of(names)
    ids = _among(np.sort(icons), scope.only)
    held = opened.facets.at(ids)["name"]
    order = np.argsort(names)
    fits = merits[order][np.searchsorted(names[order], held)] if len(ids) else merits[:0]
    tiers = np.where(np.isin(ids, opened.snapshot.named(normalise(text))), NAMED, RELATED).astype(np.int8)
    ones = np.ones(len(ids), np.float32)
    return Candidates(ids, tiers, np.full_like(ones, np.nan), fits, ones, ones, float(len(names) == scope.n))


def all_related(ids: Ids | Floats) -> Tiers:
    """Tiers of icons that no words tell apart."""
    return np.full(len(ids), RELATED, np.int8)


def _beyond(nearest: Neighbours, scores_of: Callable[[Floats], Floats]) -> float:
    """The best score that an icon may have which is not among the nearest; 0 where all are."""
    return float(scores_of(np.array([nearest.beyond], np.float32))[0]) if np.isfinite(nearest.beyond) else 0.0


def _unseen_scores(opened: Opened, parsed: ParsedQuery, similarities: Floats, fit: float) -> Floats:
    """Scores of icons of which it is known how similar they are at most, and how well their names fit at most."""
    curves, wording = opened.manifest.calibration, parsed.wording
    found = calibration.of_words(similarities, np.full(1, fit, np.float32), unit=curves.unit)
    found += np.float32(calibration.STYLE if wording.style else 0) + parsed.sets.evidence.max(initial=0)
    return scores_of_words(curves.words, found, all_related(found), are_known=wording.are_known)


def _distinct(*parts: Ids) -> Ids:
    """All ids, ascending, each once; `np.unique` would import numpy.ma, which a cold start waits 10 ms for."""
    ids = np.sort(np.concatenate(parts))
    return ids[np.diff(ids, prepend=ids[:1] - 1) > 0]


def _among(ids: Ids, only: Selection | None) -> Ids:
    """Those of `ids` that are in `only`, in their order."""
    return ids if only is None or not len(ids) else only.among(ids)
