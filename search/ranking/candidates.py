"""Which icons could answer, and how similar is each? A function for each way of asking; no grouping, no windows."""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Tiers
from indexer.naming.names import normalise
from indexer.publishing.calibration import TEMPERATURE
from indexer.publishing.curves import sigmoid
from search.generation.opened import Opened
from search.ranking.asked import NOTHING, Asked, Avoided
from search.ranking.judging import added_up, direct_answers, evidence_against, evidence_for, first_of_tiers, tiers_of
from search.ranking.scores import NAMED, RELATED, scores_of_words
from search.words.keywords import read_keywords

N_LEXICAL = 400
"""Icons that names, and tags, each add to those that the vectors find."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates in no order."""

    ids: Ids
    tiers: Tiers
    similarities: Floats
    """Cosines with the query's vector; where there is none, how well the words fit."""
    evidence: Floats
    """What they are ranked by within a tier."""
    scores: Floats
    """0 to 1."""
    is_all: bool
    """Whether there are no more to be had by asking for more."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where candidates are looked for, and how far."""

    n: int
    """Icons, or pictures, that the vectors are asked for."""
    only: Ids | None = None
    """The icons that the filters leave, ascending; None for all."""


def by_words(opened: Opened, asked: Asked, avoided: Avoided, reach: Reach) -> Candidates:
    """The icons that words find: by the similarity of their fused vectors, by their names and by their tags."""
    return _spoken(opened, asked, avoided, reach, name_fits(opened, asked))


def name_fits(opened: Opened, asked: Asked) -> Floats:
    """How well each name fits what is asked."""
    return opened.lexicon.fits(asked.wording.name, is_guess=asked.wording.spelled is not None)


def _spoken(opened: Opened, asked: Asked, avoided: Avoided, reach: Reach, coverage: Floats) -> Candidates:
    nearest = opened.icons.search(asked.vector, k=reach.n, only=reach.only, per_hit=1)
    direct = {tier: _among(ids, reach.only) for tier, ids in direct_answers(opened, asked).items()}
    lexical = opened.lexicon.best_icons(coverage, most=N_LEXICAL if reach.only is None else 8 * N_LEXICAL)
    more = _distinct(_among(lexical, reach.only)[:N_LEXICAL], *direct.values())
    more = np.setdiff1d(more, nearest.ids, assume_unique=True)
    ids = np.concatenate([nearest.ids, more])
    similarities = nearest.scores
    if len(more):
        similarities = np.concatenate([similarities, opened.icons.reconstruct(more) @ asked.vector])
    against = evidence_against(opened, avoided, ids)
    evidence = added_up(evidence_for(opened, asked, coverage, ids, similarities)) + against
    tiers, curve = tiers_of(ids, direct, against), opened.manifest.calibration.words
    evidence += first_of_tiers(opened, asked, ids, tiers)
    scores = scores_of_words(curve, evidence, tiers, are_known=asked.wording.are_known)
    return Candidates(ids, tiers, similarities, evidence, scores, is_all=len(nearest.ids) < reach.n)


def by_picture(opened: Opened, vector: Floats, avoided: Avoided, reach: Reach) -> Candidates:
    """The icons that look like a picture."""
    images = None if reach.only is None else np.unique(opened.images_of(reach.only))
    nearest = opened.pictures.search(vector, k=reach.n, only=images, per_hit=1)
    ids = _among(opened.facets.showing(nearest.ids), reach.only)
    order = np.argsort(nearest.ids)
    places = np.searchsorted(nearest.ids[order], opened.images_of(ids))
    similarities = nearest.scores[order][places]
    curve = opened.manifest.calibration.pictures.among(len(opened.pictures) if images is None else len(images))
    logits = curve.logits(similarities) + evidence_against(opened, avoided, ids)
    return Candidates(ids, untold(ids), similarities, logits, sigmoid(logits), is_all=len(nearest.ids) < reach.n)


def by_both(
    opened: Opened, asked: Asked, picture: Floats, avoided: Avoided, reach: Reach, *, picture_share: float
) -> Candidates:
    """The icons that words or a picture find, by both; `picture` is the picture's vector.

    The two kinds of similarity have nothing in common but their curves, so what is added up are logits. Those of words
    are made as steep as those of pictures, which tell of the whole answer.
    """
    coverage = name_fits(opened, asked)
    spoken = _spoken(opened, asked, NOTHING, reach, coverage)
    shown = by_picture(opened, picture, NOTHING, reach)
    ids = np.union1d(spoken.ids, shown.ids)
    images, places = np.unique(opened.images_of(ids), return_inverse=True)
    looks = (opened.pictures.reconstruct(images) @ picture)[places]
    meanings = opened.icons.reconstruct(ids) @ asked.vector
    curves = opened.manifest.calibration
    meant = TEMPERATURE * curves.words.logits(added_up(evidence_for(opened, asked, coverage, ids, meanings)))
    n_images = len(opened.pictures) if reach.only is None else len(np.unique(opened.images_of(reach.only)))
    logits = picture_share * curves.pictures.among(n_images).logits(looks) + (1 - picture_share) * meant
    logits += evidence_against(opened, avoided, ids)
    similarities = picture_share * looks + (1 - picture_share) * meanings
    is_all = spoken.is_all and shown.is_all
    return Candidates(ids, untold(ids), similarities, logits, sigmoid(logits), is_all=is_all)


def by_keywords(opened: Opened, text: str, reach: Reach) -> Candidates:
    """The icons whose names, tags and categories say all that a keyword query wants; each of them is right.

    Raises:
        IconsError: the query only excludes.
    """
    match = read_keywords(text)
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    names, merits = opened.snapshot.matching(match, most=reach.n) if match else nothing
    icons = opened.lexicon.icons_of(names)
    ids = _among(np.sort(icons), reach.only)
    held = opened.facets.column("name")[opened.facets.positions(ids)]
    order = np.argsort(names)
    fits = merits[order][np.searchsorted(names[order], held)] if len(ids) else merits[:0]
    tiers = np.where(np.isin(ids, opened.snapshot.named(normalise(text))), NAMED, RELATED).astype(np.int8)
    return Candidates(ids, tiers, fits, fits, np.ones(len(ids), np.float32), is_all=len(names) < reach.n)


def untold(ids: Ids) -> Tiers:
    """Tiers of icons that no words tell apart."""
    return np.full(len(ids), RELATED, np.int8)


def _distinct(*parts: Ids) -> Ids:
    """All ids, ascending, each once; `np.unique` would import numpy.ma, which a cold start waits 10 ms for."""
    ids = np.sort(np.concatenate(parts))
    return ids[np.diff(ids, prepend=ids[:1] - 1) > 0]


def _among(ids: Ids, only: Ids | None) -> Ids:
    """Those of `ids` that are in `only`, which ascends, in their order."""
    if only is None or not len(ids):
        return ids
    if not len(only):
        return ids[:0]
    places = np.searchsorted(only, ids)
    return np.asarray(ids[only[np.minimum(places, len(only) - 1)] == ids])
