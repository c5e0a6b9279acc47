"""Which icons could answer, and how similar is each? A function for each way of asking; no grouping, no windows."""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Tiers
from indexer.naming.looks import canonical_style
from indexer.naming.names import normalise
from indexer.publishing import evidence
from indexer.publishing.curves import sigmoid
from search.deadline import refuse_late
from search.generation.opened import Opened
from search.ranking.scores import NAMED, RELATED, STATED, scores_of_words
from search.words.keywords import read_keywords
from search.words.wording import Wording, read

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
    without: tuple[str, ...] = ()
    """What counts against a candidate."""


def by_words(opened: Opened, wording: Wording, vector: Floats, reach: Reach) -> Candidates:
    """The icons that words find: by the similarity of their fused vectors, and by their names."""
    return _spoken(opened, wording, vector, reach, opened.lexicon.coverage(wording.name))


def _spoken(opened: Opened, wording: Wording, vector: Floats, reach: Reach, coverage: Floats) -> Candidates:
    nearest = opened.icons.search(vector, k=reach.n, only=reach.only, per_hit=1)
    named, stated = _named(opened, wording, reach.only), _stated(opened, wording, reach.only)
    lexical = opened.lexicon.best_icons(coverage, most=N_LEXICAL if reach.only is None else 8 * N_LEXICAL)
    more = _distinct(_among(lexical, reach.only)[:N_LEXICAL], named, stated)
    more = np.setdiff1d(more, nearest.ids, assume_unique=True)
    ids = np.concatenate([nearest.ids, more])
    similarities = nearest.scores
    if len(more):
        similarities = np.concatenate([similarities, opened.icons.reconstruct(more) @ vector])
    found = _evidence(opened, wording, coverage, ids, similarities) + _cost(opened, ids, reach.without)
    tiers = np.where(np.isin(ids, named), NAMED, np.where(np.isin(ids, stated), STATED, RELATED)).astype(np.int8)
    scores = scores_of_words(opened.manifest.calibration.words, found, tiers, are_known=wording.are_known)
    return Candidates(ids, tiers, similarities, found, scores, is_all=len(nearest.ids) < reach.n)


def by_picture(opened: Opened, vector: Floats, reach: Reach) -> Candidates:
    """The icons that look like a picture."""
    images = None if reach.only is None else np.unique(opened.images_of(reach.only))
    nearest = opened.pictures.search(vector, k=reach.n, only=images, per_hit=1)
    ids = _among(opened.facets.showing(nearest.ids), reach.only)
    order = np.argsort(nearest.ids)
    places = np.searchsorted(nearest.ids[order], opened.images_of(ids))
    similarities = nearest.scores[order][places]
    logits = opened.manifest.calibration.pictures.logits(similarities) + _cost(opened, ids, reach.without)
    return Candidates(ids, untold(ids), similarities, logits, sigmoid(logits), is_all=len(nearest.ids) < reach.n)


def by_both(
    opened: Opened, wording: Wording, vectors: tuple[Floats, Floats], reach: Reach, *, picture_share: float
) -> Candidates:
    """The icons that words or a picture find, by both; `vectors` are those of the words and of the picture.

    The two kinds of similarity have nothing in common but their curves, so what is added up are logits.
    """
    words, picture = vectors
    anything = Reach(reach.n, reach.only)
    coverage = opened.lexicon.coverage(wording.name)
    spoken = _spoken(opened, wording, words, anything, coverage)
    shown = by_picture(opened, picture, anything)
    ids = np.union1d(spoken.ids, shown.ids)
    images, places = np.unique(opened.images_of(ids), return_inverse=True)
    looks = (opened.pictures.reconstruct(images) @ picture)[places]
    meanings = opened.icons.reconstruct(ids) @ words
    curves = opened.manifest.calibration
    meant = curves.words.logits(_evidence(opened, wording, coverage, ids, meanings))
    logits = picture_share * curves.pictures.logits(looks) + (1 - picture_share) * meant
    logits += _cost(opened, ids, reach.without)
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


def _named(opened: Opened, wording: Wording, only: Ids | None) -> Ids:
    """Icons whose name is the query, or its name in the style that it asks for."""
    named = opened.snapshot.named(wording.typed)
    if wording.spelled:
        named = _distinct(named, opened.snapshot.named(wording.spelled))
    if wording.style:
        of_name = opened.snapshot.named(wording.name)
        named = _distinct(named, of_name[_in_style(opened, of_name, wording.style)])
    return _among(named, only)


def _stated(opened: Opened, wording: Wording, only: Ids | None) -> Ids:
    """Icons with a tag that is the query."""
    tag = opened.snapshot.tag_code(wording.typed)
    return _among(opened.facets.stating(tag), only) if tag is not None else np.empty(0, np.int64)


def _evidence(opened: Opened, wording: Wording, coverage: Floats, ids: Ids, similarities: Floats) -> Floats:
    """What vectors, names and styles say for some icons; `coverage` is that of every name."""
    covered = coverage[opened.name_rows(ids)]
    found = evidence.of_words(similarities, covered, unit=opened.manifest.calibration.unit)
    if wording.style:
        found += np.float32(evidence.STYLE) * _in_style(opened, ids, wording.style)
    return found


def _cost(opened: Opened, ids: Ids, without: tuple[str, ...]) -> Floats:
    """Log-odds that being like each of some words takes off: by how good a hit of theirs it is, or by its style."""
    most = np.zeros(len(ids), np.float32)
    avoided = list(filter(None, dict.fromkeys(map(read, without))))
    if not avoided or not len(ids):
        return most
    meanings = opened.encoder.encode_many_words(avoided) @ opened.icons.reconstruct(ids).T
    for words, meaning in zip(avoided, meanings, strict=True):
        refuse_late()
        covered = opened.lexicon.coverage(words)[opened.name_rows(ids)]
        curves = opened.manifest.calibration
        likeness = curves.words.scores(evidence.of_words(meaning, covered, unit=curves.unit))
        style, _ = canonical_style(words)
        in_style = _in_style(opened, ids, style) if style else np.zeros(len(ids), bool)
        most = np.maximum(most, np.where(in_style, 1, likeness))
    return np.asarray(evidence.WITHOUT * most, np.float32)


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
