"""Which icons of the library do many crops show? All asked together, each answered as a picture query is.

Crops of equal pixels have equal vectors: they are asked once, and have the same hits.
"""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask
from indexer.publishing.curves import Curve
from search.deadline import refuse_late
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
_FEW = 32_768
"""Pictures that a filter leaves: so many, or fewer, are all compared, in blocks of so many values."""
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Near:
    """The pictures that come nearest to one crop, best first."""

    images: Ids
    similarities: Floats
    is_all: bool
    """Whether there are no others."""

    def reaches(self, least: float, curve: Curve) -> bool:
        """Whether there may be others of a score or more."""
        return not self.is_all and (not len(self.images) or bool(curve.scores(self.similarities[-1:])[0] >= least))


@dataclass(frozen=True, slots=True)
class _Among:
    """Where names are looked for."""

    icons: Ids | None
    """Those that the filters leave, ascending; None for all."""
    images: Ids | None
    every: Curve
    """By which hits are told from others, whatever is filtered."""
    shown: Curve
    """By which scores are shown."""

    def may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave."""
        return np.ones(len(ids), bool) if self.icons is None else np.isin(ids, self.icons)


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
    images = np.unique(opened.images_of(icons))
    return _Among(icons, images, curves.every, curves.among(len(images)))


def _found(
    opened: Opened, vectors: Floats, among: _Among, *, k: int, min_score: float | None
) -> list[tuple[Candidates, Ids]]:
    """The hits of each vector, at most `k`, and the variant groups that they stand for."""
    best = [among.every.scores(near.similarities[:1]).max() for near in nearest(opened, vectors, None, n=1)]
    found: dict[int, tuple[Candidates, Ids]] = {}
    left, n = list(range(len(vectors))), max(N_NEAREST, 4 * k)
    while left:
        refuse_late()
        nears, places, left = nearest(opened, vectors[left], among.images, n=n), left, []
        for place, near, every in zip(places, nears, _candidates(opened, nears, among), strict=True):
            least = _least(every, best[place], min_score)
            hits = every.at(every.scores >= least).best_first()
            variants, drawings = groups_of(opened, hits.ids)
            kept = group_many(variants, drawings)[:k]
            found[place] = hits.at(kept), variants[kept]
            if len(kept) < k and n < _MOST_NEAREST and near.reaches(least, among.every):
                left.append(place)
        n = min(_MOST_NEAREST, STEP * n)
    return [found[place] for place in range(len(vectors))]


def _least(found: Candidates, best: float, min_score: float | None) -> float:
    """From which score on an icon is a hit: by the best of all icons, else by the best that the filters leave."""
    if min_score is not None:
        return min_score
    least = least_score(np.array([best], np.float32))
    return least if found.scores.max(initial=0) >= least else least_score(found.scores)


def nearest(opened: Opened, vectors: Floats, images: Ids | None, *, n: int) -> list[Near]:
    """The `n` pictures nearest to each of some vectors, among some where given, which ascend."""
    index = opened.pictures
    if images is None:
        found = index.search_many(vectors, k=n)
        return [Near(one.ids, one.scores, n >= len(index)) for one in found]
    if len(images) <= _FEW:
        return _compared(vectors, index.reconstruct(images), images, n=n)
    wide = n * -(-2 * len(index) // len(images))  # twice as many as hold `n` of those if they lie evenly
    return [
        near if len(near.images) >= n else _searched(opened, vector, images, n=n)
        for vector, near in zip(vectors, _kept(nearest(opened, vectors, None, n=wide), images, n=n), strict=True)
    ]


def _searched(opened: Opened, vector: Floats, images: Ids, *, n: int) -> Near:
    found = opened.pictures.search(vector, k=n, only=images)
    return Near(found.ids, found.scores, n >= len(images))


def _kept(nears: list[Near], images: Ids, *, n: int) -> list[Near]:
    """Those of the nearest that are among some."""
    kept = []
    for near in nears:
        is_kept = np.isin(near.images, images, assume_unique=True)
        kept.append(Near(near.images[is_kept][:n], near.similarities[is_kept][:n], is_all=False))
    return kept


def _compared(vectors: Floats, held: Floats, images: Ids, *, n: int) -> list[Near]:
    """The nearest of a few, whose vectors are all at hand."""
    nears = []
    rows = max(1, _BLOCK // len(images))
    for start in range(0, len(vectors), rows):
        cosines = vectors[start : start + rows] @ held.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :n]
        nears += [Near(images[at], of_one[at], n >= len(images)) for of_one, at in zip(cosines, order, strict=True)]
    return nears


def _candidates(opened: Opened, nears: list[Near], among: _Among) -> list[Candidates]:
    """The icons that show what is near to each crop, as `ranking.candidates.by_picture` weighs them."""
    wanted = np.unique(np.concatenate([near.images for near in nears]))
    icons = opened.facets.showing(wanted)
    if among.icons is not None:
        icons = icons[np.isin(icons, among.icons, assume_unique=True)]
    shown = opened.images_of(icons)
    order = np.argsort(shown, kind="stable")
    icons, shown = icons[order], shown[order]
    return [_of_one(near, icons, shown, among) for near in nears]


def _of_one(near: Near, icons: Ids, shown: Ids, among: _Among) -> Candidates:
    starts, ends = np.searchsorted(shown, near.images), np.searchsorted(shown, near.images, side="right")
    counts = ends - starts
    offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = icons[np.repeat(starts, counts) + offsets]
    similarities = np.repeat(near.similarities, counts)
    logits = among.every.logits(similarities)
    sure = among.shown.scores(similarities)
    return Candidates(ids, untold(ids), similarities, logits, among.every.scores(similarities), sure, 0.0)


def _joined(parts: list[Candidates]) -> Candidates:
    return parts[0].changed(lambda name: np.concatenate([getattr(part, name) for part in parts]))
