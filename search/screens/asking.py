"""Where on the screens something is used: an icon, what some words mean, what a picture shows."""

import re
from dataclasses import dataclass, replace

import numpy as np

from indexer.arrays import Floats, Ids, Pixels
from search.engine import SearchEngine
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.query import Filters, Query, Window, refuse_empty
from search.screens.judging import OWN_SET, is_icon
from search.screens.opened import UsageIndex
from search.screens.results import Use, Uses

LEAST_SCORE = 0.5
"""From which an icon is said to be used, where nothing else was asked for."""
_NEAR = 2_000
"""Drawings that are looked at for an icon."""
_NEAR_EACH = 200
"""For each of the icons that answer some words."""
_N_ANSWERS = 300
"""Icons that words may mean."""
_LEAST_ANSWER = 0.3
"""Score of such an icon."""
_N_RIVALS = 64
"""Pictures of the library among which another meaning of a drawing is looked for."""


_ASKED = re.compile(
    r"^\s*(?:where|on which (?:screens|screenshots|pages)) (?:do|does|did|is|are)\b\s*(?:(?:we|you|they|i)\b\s*)?"
    r"(?:(?:show|use|have|see|find)\b\s*)?(?:(?:an?|the|any)\b\s*)?(?P<what>.*?)(?:\s+(?:used|shown))?[\s?]*$",
    re.IGNORECASE,
)
"""A whole question: what is asked for stands in the middle of it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Drawings that may be what was asked for."""

    drawings: Ids
    scores: Floats
    icons: Ids
    """What each is taken for; -1 for nothing of the library."""


def uses_of_icon(
    index: UsageIndex, engine: SearchEngine, icon: int, *, k: int = 20, least: float = LEAST_SCORE
) -> Uses:
    """Find where an icon of the library, or a variant of it, is used; what is more like another icon is that one.

    Raises:
        UnknownIconError: no icon has this id.
        LibraryError: icons and screens were seen by two encoders.
    """
    engine.hits([icon])  # refuses one that is not there
    judged = engine.with_generation(lambda opened: _judge_icon(index, opened, icon))
    return _uses(index, engine, judged, k=k, least=least)


def _judge_icon(index: UsageIndex, opened: Opened, icon: int) -> Judged:
    index.refuse_other_encoder(opened)
    facets = opened.in_memory(Ability.USAGE)
    row = facets.positions(np.array([icon]))
    sets, names, shown = facets.column("set"), facets.column("name"), facets.drawings
    is_own = ((sets == sets[row]) & (names == names[row])) | (shown == shown[row])
    is_rival = (sets == sets[row]) & ~is_own
    variants = np.flatnonzero(is_own)
    images = facets.column("image")
    drawings, cosines = index.near(opened.pictures.reconstruct(images[variants]), k=_NEAR)
    in_set = _best(index.vectors(drawings), opened, np.unique(images[is_rival]))
    elsewhere = _rivals(index, opened, drawings, images[variants])
    likeness, same = cosines.max(axis=1, initial=-1), index.manifest.same
    scores = np.minimum(is_icon(likeness, in_set, same), is_icon(likeness, elsewhere, same, expected=OWN_SET))
    best = cosines.argmax(axis=1)
    return Judged(drawings, scores, facets.column("icon")[variants[best]])


def _best(vectors: Floats, opened: Opened, images: Ids) -> Floats:
    """The highest cosine of each of some vectors with any of some pictures; -1 where there are none."""
    if not len(images) or not len(vectors):
        return np.full(len(vectors), -1, np.float32)
    return np.asarray((vectors @ opened.pictures.reconstruct(images).T).max(axis=1), np.float32)


def uses_of_words(
    index: UsageIndex,
    engine: SearchEngine,
    query: Query,
    *,
    filters: Filters | None = None,
    k: int = 20,
    least: float = LEAST_SCORE,
) -> Uses:
    """Find where icons are used that some words mean, by the icons that answer them; most of all by their names.

    Raises:
        IconsError: the query is empty, or a filter names what is not in this library.
        LibraryError: icons and screens were seen by two encoders.
    """
    refuse_empty(query.words)
    query = replace(query, words=asked_for(query.words))
    answer = engine.ask(query, filters=filters or Filters(), window=Window(k=_N_ANSWERS, flat=True))
    hits = [hit for hit in answer.hits if hit.score >= _LEAST_ANSWER]
    images = np.array([hit.image for hit in hits], np.int64)
    icons = np.array([hit.id for hit in hits], np.int64)
    scores = np.array([hit.score for hit in hits], np.float32)
    judged = engine.with_generation(lambda opened: _judge_words(index, opened, icons, images, scores))
    return _uses(index, engine, judged, k=k, least=least)


def asked_for(words: str) -> str:
    """What a question asks for: "where do we show a warning?" wants warnings; other words stay as they are."""
    asked = _ASKED.match(words)
    return (asked and asked["what"]) or words


def _judge_words(index: UsageIndex, opened: Opened, icons: Ids, images: Ids, scores: Floats) -> Judged:
    index.refuse_other_encoder(opened)
    if not len(images):
        return Judged(images, scores, icons)
    drawings, cosines = index.near(opened.pictures.reconstruct(images), k=_NEAR_EACH)
    rivals = _rivals(index, opened, drawings, images)
    found = scores * is_icon(cosines, rivals[:, None], index.manifest.same)
    best = found.argmax(axis=1)
    return Judged(drawings, found[np.arange(len(found)), best], icons[best])


def _rivals(index: UsageIndex, opened: Opened, drawings: Ids, images: Ids) -> Floats:
    """The highest cosine of each drawing with a picture of the library that is none of some, nor looks the same."""
    facets = opened.in_memory(Ability.USAGE)
    order = np.argsort(facets.column("image"), kind="stable")
    sorted_images, shown = facets.column("image")[order], facets.drawings[order]
    own = np.unique(shown[np.searchsorted(sorted_images, images)])
    best = np.full(len(drawings), -1, np.float32)
    for row, near in enumerate(opened.pictures.search_many(index.vectors(drawings), k=_N_RIVALS)):
        is_other = ~np.isin(shown[np.searchsorted(sorted_images, near.ids)], own)
        if is_other.any():
            best[row] = near.scores[is_other][0]
    return best


def uses_of_picture(
    index: UsageIndex, engine: SearchEngine, pixels: Pixels, *, k: int = 20, least: float = LEAST_SCORE
) -> Uses:
    """Find where a picture is used, which `cutout.cut_out` draws at the encoder's size.

    Raises:
        LibraryError: icons and screens were seen by two encoders.
    """

    def judge(opened: Opened) -> Judged:
        index.refuse_other_encoder(opened)
        drawings, cosines = index.near(opened.encoder.encode_picture(pixels)[None], k=_NEAR)
        return Judged(drawings, index.manifest.same.known.scores(cosines[:, 0]), np.full(len(drawings), -1))

    return _uses(index, engine, engine.with_generation(judge), k=k, least=least)


def _uses(index: UsageIndex, engine: SearchEngine, judged: Judged, *, k: int, least: float) -> Uses:
    """All boxes that show what was found, the surest first; equally sure ones by file and place."""
    order = [row for row in np.argsort(-judged.scores, kind="stable").tolist() if judged.scores[row] >= least]
    boxes = [index.uses(int(judged.drawings[row])) for row in order]
    screens = np.unique(index.screens(np.concatenate(boxes))) if boxes else ()
    found = [(row, box) for row, shown in zip(order, boxes, strict=True) for box in shown.tolist()]
    taken = sorted(found, key=lambda one: (-round(float(judged.scores[one[0]]), 2), index.place(one[1])))[:k]
    icons = sorted({int(judged.icons[row]) for row, _ in taken} - {-1})
    keys = {hit.id: hit.key for hit in engine.hits(icons)}
    uses = [
        use_at(index, box, score=float(judged.scores[row]), icon=keys.get(int(judged.icons[row]))) for row, box in taken
    ]
    return Uses(uses, sum(map(len, boxes)), len(screens), round(float(judged.scores.max(initial=0)), 4))


def use_at(index: UsageIndex, box: int, *, score: float, icon: str | None) -> Use:
    """Tell of one box."""
    screen = int(index.screens(np.array([box]))[0])
    file, *also = index.files[screen]
    width, height = index.sizes[screen].tolist()
    return Use(file, tuple(also), width, height, index.box(box), round(score, 4), icon, int(index.shown[box]))
