"""Which icons could answer, and how similar is each? A function for each way of asking; no grouping, no windows."""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.naming.looks import canonical_style
from indexer.naming.names import normalise
from indexer.publishing.curves import sigmoid
from search.deadline import refuse_late
from search.generation.opened import Opened
from search.ranking.scores import scores_of_words
from search.words.keywords import read_keywords
from search.words.lexical import LEXICAL_WEIGHT
from search.words.wording import Wording, read

N_LEXICAL = 400
"""Icons that the lexical arm adds to those that the vectors find."""
STYLE_WEIGHT = 0.05
"""What the style that was asked for adds to a similarity."""
WITHOUT_WEIGHT = 0.3
"""What it costs to be all that was asked to leave out."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates in no order: whether the name of each is the query, what it is ranked by, its score from 0 to 1."""

    ids: Ids
    exact: Mask
    similarities: Floats
    scores: Floats
    is_all: bool
    """Whether there are no more to be had by asking for more."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where candidates are looked for, and how far."""

    n: int
    """Icons, or pictures, that the vectors are asked for."""
    only: Ids | None = None
    """The icons that the filters leave, ascending; None for all."""
    without: tuple[str, ...] = ()
    """What counts against a candidate."""


def by_words(opened: Opened, wording: Wording, vector: Floats, reach: Reach) -> Candidates:
    """The icons that words find: by the similarity of their fused vectors, and by their names."""
    return _spoken(opened, wording, vector, reach, opened.lexical.coverage(wording.name))


def _spoken(opened: Opened, wording: Wording, vector: Floats, reach: Reach, coverage: Floats) -> Candidates:
    nearest = opened.icons.search(vector, k=reach.n, only=reach.only, per_hit=1)
    named = _exact(opened, wording, reach.only)
    lexical = opened.lexical.best_icons(coverage, most=N_LEXICAL if reach.only is None else 8 * N_LEXICAL)
    more = _distinct(_among(lexical, reach.only)[:N_LEXICAL], named)
    more = np.setdiff1d(more, nearest.ids, assume_unique=True)
    ids = np.concatenate([nearest.ids, more])
    similarities = nearest.scores
    if len(more):
        similarities = np.concatenate([similarities, opened.icons.reconstruct(more) @ vector])
    similarities = similarities + _bonus(opened, wording, coverage, ids) - _penalty(opened, ids, reach.without)
    exact = np.isin(ids, named)
    scores = scores_of_words(opened.manifest.calibration.words, similarities, exact, are_known=wording.are_known)
    return Candidates(ids, exact, similarities, scores, is_all=len(nearest.ids) < reach.n)


def by_picture(opened: Opened, vector: Floats, reach: Reach) -> Candidates:
    """The icons that look like a picture."""
    images = None if reach.only is None else np.unique(opened.images_of(reach.only))
    nearest = opened.pictures.search(vector, k=reach.n, only=images, per_hit=1)
    ids = _among(opened.facets.showing(nearest.ids), reach.only)
    order = np.argsort(nearest.ids)
    places = np.searchsorted(nearest.ids[order], opened.images_of(ids))
    similarities = nearest.scores[order][places] - _penalty(opened, ids, reach.without)
    scores = opened.manifest.calibration.pictures.scores(similarities)
    return Candidates(ids, np.zeros(len(ids), bool), similarities, scores, is_all=len(nearest.ids) < reach.n)


def by_both(
    opened: Opened, wording: Wording, vectors: tuple[Floats, Floats], reach: Reach, *, picture_share: float
) -> Candidates:
    """The icons that words or a picture find, by both; `vectors` are those of the words and of the picture.

    The two kinds of similarity have nothing in common but their curves, so what is added up are logits.
    """
    words, picture = vectors
    anything = Reach(reach.n, reach.only)
    coverage = opened.lexical.coverage(wording.name)
    spoken = _spoken(opened, wording, words, anything, coverage)
    shown = by_picture(opened, picture, anything)
    ids = np.union1d(spoken.ids, shown.ids)
    images, places = np.unique(opened.images_of(ids), return_inverse=True)
    penalty = _penalty(opened, ids, reach.without)
    looks = (opened.pictures.reconstruct(images) @ picture)[places] - penalty
    meanings = opened.icons.reconstruct(ids) @ words + _bonus(opened, wording, coverage, ids) - penalty
    curves = opened.manifest.calibration
    logits = picture_share * curves.pictures.logits(looks) + (1 - picture_share) * curves.words.logits(meanings)
    return Candidates(ids, np.zeros(len(ids), bool), logits, sigmoid(logits), is_all=spoken.is_all and shown.is_all)


def by_keywords(opened: Opened, text: str, reach: Reach) -> Candidates:
    """The icons whose names, tags and categories say all that a keyword query wants; each of them is right.

    Raises:
        IconsError: the query only excludes.
    """
    match = read_keywords(text)
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    names, merits = opened.snapshot.matching(match, most=reach.n) if match else nothing
    icons = opened.lexical.icons_of(names)
    ids = _among(np.sort(icons), reach.only)
    held = opened.facets.column("name")[opened.facets.positions(ids)]
    order = np.argsort(names)
    similarities = merits[order][np.searchsorted(names[order], held)] if len(ids) else merits[:0]
    named = opened.snapshot.named(normalise(text))
    return Candidates(
        ids, np.isin(ids, named), similarities, np.ones(len(ids), np.float32), is_all=len(names) < reach.n
    )


def _distinct(*parts: Ids) -> Ids:
    """All ids, ascending, each once; `np.unique` would import numpy.ma, which a cold start waits 10 ms for."""
    ids = np.sort(np.concatenate(parts))
    return ids[np.diff(ids, prepend=ids[:1] - 1) > 0]


def _exact(opened: Opened, wording: Wording, only: Ids | None) -> Ids:
    """Icons whose name is the query, or its name in the style that it asks for."""
    named = opened.snapshot.named(wording.typed)
    if wording.spelled:
        named = _distinct(named, opened.snapshot.named(wording.spelled))
    if wording.style:
        of_name = opened.snapshot.named(wording.name)
        named = _distinct(named, of_name[_in_style(opened, of_name, wording.style)])
    return _among(named, only)


def _bonus(opened: Opened, wording: Wording, coverage: Floats, ids: Ids) -> Floats:
    """What their names and styles add to the similarities of some icons; `coverage` is that of every name."""
    bonus = LEXICAL_WEIGHT * coverage[opened.name_rows(ids)]
    if wording.style:
        bonus = bonus + STYLE_WEIGHT * _in_style(opened, ids, wording.style)
    return np.asarray(bonus, np.float32)


def _penalty(opened: Opened, ids: Ids, without: tuple[str, ...]) -> Floats:
    """What being like each of some words costs: as much as they are found with a good score, or in that style."""
    penalty = np.zeros(len(ids), np.float32)
    avoided = list(filter(None, dict.fromkeys(map(read, without))))
    if not avoided or not len(ids):
        return penalty
    meanings = opened.encoder.encode_many_words(avoided) @ opened.icons.reconstruct(ids).T
    for words, meaning in zip(avoided, meanings, strict=True):
        refuse_late()
        similarities = meaning + LEXICAL_WEIGHT * opened.lexical.coverage(words)[opened.name_rows(ids)]
        likeness = opened.manifest.calibration.words.scores(similarities)
        style, _ = canonical_style(words)
        in_style = _in_style(opened, ids, style) if style else np.zeros(len(ids), bool)
        penalty = np.maximum(penalty, np.where(in_style, 1, likeness))
    return np.asarray(WITHOUT_WEIGHT * penalty, np.float32)


def _in_style(opened: Opened, ids: Ids, style: str) -> Mask:
    """Whether each icon's style has all words of `style`: "sharp filled" is "filled"."""
    wanted = set(style.split())
    fitting = [wanted <= set(value.split()) for value in opened.facets.labels("style").values]
    of_codes = np.array([*fitting, False])  # code -1 is "none"
    return np.asarray(of_codes[opened.facets.column("style")[opened.facets.positions(ids)]])


def _among(ids: Ids, only: Ids | None) -> Ids:
    """Those of `ids` that are in `only`, which ascends, in their order."""
    if only is None or not len(ids):
        return ids
    if not len(only):
        return ids[:0]
    places = np.searchsorted(only, ids)
    return np.asarray(ids[only[np.minimum(places, len(only) - 1)] == ids])
