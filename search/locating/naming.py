"""Which icons of the library do many crops show? All asked together, each answered as a picture query is.

Crops of equal pixels have equal vectors: they are asked once, and have the same hits.
"""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.publishing.curves import Curve
from indexer.publishing.vector_index import Neighbours
from search.deadline import refuse_late
from search.generation.backend import Selection
from search.generation.opened import Opened
from search.generation.standing import Standing
from search.query import Filters
from search.ranking.bearers import shown_for_all
from search.ranking.candidates import Candidates, untold
from search.ranking.grouping import groups_of
from search.ranking.hits import as_hits
from search.ranking.order import group_many
from search.ranking.scores import least_score
from search.results import Hit

N_NEAREST = 64
"""Pictures that are looked at for each crop at first."""
STEP = 8
"""How many times as many are looked at where these are too few hits."""
_MOST_NEAREST = 4_096


@dataclass(frozen=True, slots=True)
class _Among:
    """Where names are looked for."""

    icons: Selection | None
    """Those that the filters leave; None for all."""
    images: Selection | None
    every: Curve
    """By which hits are told from others, whatever is filtered."""
    shown: Curve
    """By which scores are shown."""

    def may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave."""
        return np.ones(len(ids), bool) if self.icons is None else self.icons.has(ids)


def name_crops(
    opened: Opened, vectors: Floats, filters: Filters, sets: Standing, *, k: int, min_score: float | None = None
) -> list[list[Hit]]:
    """Name what some vectors (n, dim) show: at most `k` hits each, best first.

    Raises:
        IconsError: a filter names what is not in this library.
    """
    among = _among(opened, filters)
    if not len(vectors) or (among.icons is not None and not len(among.icons)):
        return [[] for _ in vectors]
    distinct, numbers = np.unique(vectors, axis=0, return_inverse=True)
    found = _found(opened, distinct, among, k=k, min_score=min_score)
    shown = [shown_for_all(opened, sets, hits, taken, among.may_answer) for hits, taken in found]
    hits = as_hits(opened, _joined(shown), sets, flat=False)
    ends = np.cumsum([len(one.ids) for one in shown]).tolist()
    named = [hits[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [named[number] for number in numbers.reshape(-1).tolist()]


def _among(opened: Opened, filters: Filters) -> _Among:
    curves = opened.manifest.calibration.pictures
    icons = opened.facets.select(filters)
    if icons is None:
        return _Among(None, None, curves.every, curves.every)
    images = icons.images()
    return _Among(icons, images, curves.every, curves.among(len(images)))


def _found(
    opened: Opened, vectors: Floats, among: _Among, *, k: int, min_score: float | None
) -> list[tuple[Candidates, Ids]]:
    """The hits of each vector, at most `k`, and the variant groups that they stand for."""
    n = max(N_NEAREST, 4 * k)
    nears = opened.pictures.search_many(vectors, k=n if among.images is None else 1)
    best = [among.every.scores(near.scores[:1]).max() for near in nears]
    if among.images is not None:
        nears = opened.pictures.search_many(vectors, k=n, only=among.images)
    found: dict[int, tuple[Candidates, Ids]] = {}
    left = list(range(len(vectors)))
    while left:
        refuse_late()
        places, left = left, []
        for place, near, every in zip(places, nears, _candidates(opened, nears, among), strict=True):
            least = _least(every, best[place], min_score)
            hits = every.at(every.scores >= least).best_first()
            variants, drawings = groups_of(opened, hits.ids)
            kept = group_many(variants, drawings)[:k]
            found[place] = hits.at(kept), variants[kept]
            if len(kept) < k and n < _MOST_NEAREST and _reaches(near, least, among.every):
                left.append(place)
        n = min(_MOST_NEAREST, STEP * n)
        nears = opened.pictures.search_many(vectors[left], k=n, only=among.images) if left else []
    return [found[place] for place in range(len(vectors))]


def _reaches(near: Neighbours, least: float, curve: Curve) -> bool:
    """Whether there may be others than the nearest of a score or more."""
    return bool(np.isfinite(near.beyond) and (not len(near.ids) or curve.scores(near.scores[-1:])[0] >= least))


def _least(found: Candidates, best: float, min_score: float | None) -> float:
    """From which score on an icon is a hit: by the best of all icons, else by the best that the filters leave."""
    if min_score is not None:
        return min_score
    least = least_score(np.array([best], np.float32))
    return least if found.scores.max(initial=0) >= least else least_score(found.scores)


def _candidates(opened: Opened, nears: list[Neighbours], among: _Among) -> list[Candidates]:
    """The icons that show what is near to each crop, as `ranking.candidates.by_picture` weighs them."""
    wanted = np.unique(np.concatenate([near.ids for near in nears]))
    icons = opened.facets.showing(wanted)
    if among.icons is not None:
        icons = among.icons.among(icons)
    shown = opened.images_of(icons)
    order = np.argsort(shown, kind="stable")
    icons, shown = icons[order], shown[order]
    return [_of_one(near, icons, shown, among) for near in nears]


def _of_one(near: Neighbours, icons: Ids, shown: Ids, among: _Among) -> Candidates:
    starts, ends = np.searchsorted(shown, near.ids), np.searchsorted(shown, near.ids, side="right")
    counts = ends - starts
    offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = icons[np.repeat(starts, counts) + offsets]
    similarities = np.repeat(near.scores, counts)
    logits = among.every.logits(similarities)
    sure = among.shown.scores(similarities)
    return Candidates(ids, untold(ids), similarities, logits, among.every.scores(similarities), sure, 0.0)


def _joined(parts: list[Candidates]) -> Candidates:
    return parts[0].changed(lambda name: np.concatenate([getattr(part, name) for part in parts]))
