"""Which icons are in a picture, and what they are called; many pictures, one after the other."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Pixels, Positions
from indexer.errors import IconsError, RenderError
from indexer.library.named import read_named
from indexer.merging.browsing import group_many
from indexer.merging.vector_index import Neighbours
from indexer.rendering.screenshot import Screenshot, cut_out_pixels
from indexer.reports.terminal import Progress, with_progress
from indexer.screens.boxes import Boxes, PictureKind, picture_kind
from indexer.screens.located import NO_ICONS, LocatedIcons, open_locator
from search.answering.answer import as_hits
from search.generation.opened import Opened, forgetful
from search.pictures import MAX_BYTES, drawing, screenshot_of
from search.query import Filters, Hit, refuse_late
from search.ranking import weights
from search.ranking.combine import least_score, weigh_looks
from search.ranking.features import Rows, rows_of
from search.ranking.order import SetPriority, groups_of, ranked, replaced
from search.screens.results import AsKind, Box, LocatedIcon, LocatedPicture

N_NEAREST = 64
"""Pictures that are looked at for each crop at first."""
STEP = 8
"""How many times as many are looked at where these are too few hits."""
_MOST_NEAREST = 4_096


def name_crops(
    opened: Opened, vectors: Floats, filters: Filters, sets: SetPriority, *, k: int, min_score: float | None = None
) -> list[list[Hit]]:
    """Name what some vectors (n, dim) show: at most `k` hits each, best first.

    Raises:
        IconsError: a filter names what is not in this library.
    """
    naming = _Naming(opened, filters)
    if not len(vectors) or (naming.icons is not None and not len(naming.icons)):
        return [[] for _ in vectors]
    distinct, numbers = np.unique(vectors, axis=0, return_inverse=True)
    shown = [
        replaced(opened, sets, hits, taken, naming.may_answer)
        for hits, taken in naming.named(distinct, k=k, min_score=min_score)
    ]
    hits = as_hits(opened, np.concatenate(shown), sets, flat=False)
    ends = np.cumsum([len(one) for one in shown]).tolist()
    named = [hits[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [named[number] for number in numbers.reshape(-1).tolist()]


class _Naming:
    """Looks for names among the icons that filters leave."""

    def __init__(self, opened: Opened, filters: Filters) -> None:
        self.opened = opened
        self.icons = opened.facets.select(filters)
        """None for all."""
        self.images = None if self.icons is None else self.icons.images
        self.curves = opened.manifest.calibration.pictures

    def may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave."""
        return np.ones(len(ids), bool) if self.icons is None else self.icons.has(ids)

    def named(self, vectors: Floats, *, k: int, min_score: float | None) -> list[tuple[Rows, Ids]]:
        """The hits of each vector, at most `k`, and the variant groups that they stand for."""
        opened, only, curve = self.opened, self.images, self.curves.every
        n = max(N_NEAREST, 4 * k)
        nears = opened.pictures.search_many(vectors, k=n if only is None else 1)
        best = [curve.scores(near.scores[:1]).max() for near in nears]
        if only is not None:
            nears = opened.pictures.search_many(vectors, k=n, only=only)
        found: dict[int, tuple[Rows, Ids]] = {}
        left, candidates = list(range(len(vectors))), self._candidates(nears)
        expected = self._expected(candidates)
        while left:
            refuse_late()
            places, left = left, []
            for place, near, every in zip(places, nears, candidates, strict=True):
                least = _least(every, best[place], min_score)
                every["evidence"] += expected[opened.facets.at(every["icon"])["set"]]
                hits = ranked(every[every["score"] >= least])
                hits["confidence"] = np.minimum.accumulate(hits["confidence"])
                variants, drawings = groups_of(opened, hits["icon"])
                kept = group_many(variants, drawings)[:k]
                found[place] = hits[kept], variants[kept]
                # There may be others than the nearest of a score or more.
                reaches = not len(near.ids) or curve.scores(near.scores[-1:])[0] >= least
                if len(kept) < k and n < _MOST_NEAREST and reaches and np.isfinite(near.beyond):
                    left.append(place)
            n = min(_MOST_NEAREST, STEP * n)
            nears = opened.pictures.search_many(vectors[left], k=n, only=only) if left else []
            candidates = self._candidates(nears) if left else []
        return [found[place] for place in range(len(vectors))]

    def _expected(self, candidates: Sequence[Rows]) -> Floats:
        """What speaks for each set's icons beforehand: for those of the set that most of several crops agree on."""
        best = [rows["evidence"].max(initial=-np.inf) - weights.PREFERRED for rows in candidates]
        near = [rows["icon"][rows["evidence"] >= least] for rows, least in zip(candidates, best, strict=True)]
        agreed = [np.unique(self.opened.facets.at(icons)["set"]) for icons in near]
        votes = np.bincount(np.concatenate(agreed), minlength=len(self.opened.facets.labels("set").values))
        is_agreed = (votes == votes.max()) & (votes > max(1, len(candidates) / 2))
        return np.where(np.cumsum(is_agreed) * is_agreed == 1, np.float32(weights.PREFERRED), np.float32(0))

    def _candidates(self, nears: list[Neighbours]) -> list[Rows]:
        """The icons that show what is near to each crop."""
        icons = self.opened.facets.showing(np.unique(np.concatenate([near.ids for near in nears])))
        if self.icons is not None:
            icons = icons[self.icons.has(icons)]
        images = self.opened.facets.at(icons)["image"]
        order = np.argsort(images, kind="stable")
        icons, images = icons[order], images[order]
        n_among = None if self.images is None else len(self.images)
        found = []
        for near in nears:
            starts, ends = np.searchsorted(images, near.ids), np.searchsorted(images, near.ids, side="right")
            counts = ends - starts
            rows = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            shown = rows_of(icons[rows])
            shown["look"] = np.repeat(near.scores, counts)
            found.append(weigh_looks(shown, self.curves, n_among=n_among))
        return found


def _least(found: Rows, best: float, min_score: float | None) -> float:
    """From which score on an icon is a hit: by the best of all icons, else by the best that the filters leave."""
    least, own = least_score(best), float(found["score"].max(initial=0))
    return min_score if min_score is not None else least if own >= least else least_score(own)


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """What one file holds, or why that is not known."""

    name: str
    located: LocatedPicture | None = None
    seconds: float = 0.0
    png: bytes | None = None
    """The picture itself, where it is to be shown."""
    error: str | None = None
    generation: int | None = None
    """That answered."""


def locate_files(
    names: Sequence[str],
    look: Callable[[Screenshot], tuple[LocatedPicture, int]],
    *,
    size: int,
    shows: bool,
    progress: Progress,
) -> Iterable[LocatedFile]:
    """Look at some pictures, `size` is that of the encoder; with the pictures themselves where it `shows` them.

    `look` also tells the number of the generation that answered.
    """
    with drawing() as pool:
        for name in with_progress(names, "Looking for icons", progress):
            try:
                content = read_named(Path(name), limit=MAX_BYTES)
                started = time.perf_counter()
                found, generation = look(screenshot_of(pool, content, name=name, size=size))
            except IconsError as error:
                yield LocatedFile(name, error=str(error))
                continue
            seconds, png = time.perf_counter() - started, None
            with suppress(RenderError):
                png = pool.png(content, size=max(found.width, found.height)) if shows else None
            yield LocatedFile(name, found, seconds, png, generation=generation)


_SHARED = 0.5
"""Of its height, or that of the row, a box shares with a row that it stands in."""


def reading_order(corners: Floats) -> Positions:
    """Places of some boxes (n, 4) in the order of reading: a row begins with the highest box that none has yet."""
    rows: list[tuple[float, float, list[int]]] = []  # top and bottom of the box that began it; its boxes
    for place in np.lexsort((corners[:, 0], corners[:, 1])).tolist():
        top, bottom = float(corners[place, 1]), float(corners[place, 3])
        for upper, lower, row in reversed(rows):
            if min(bottom, lower) - max(top, upper) >= _SHARED * min(bottom - top, lower - upper):
                row.append(place)
                break
        else:
            rows.append((top, bottom, [place]))
    return np.array([place for _, _, row in rows for place in sorted(row, key=lambda one: corners[one, 0])], np.intp)


MOST_NAMES = 100
"""Hits of one icon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateOptions:
    """What is asked about a picture."""

    filters: Filters
    """Which icons of the library may answer."""
    k: int
    """Hits of each icon."""
    as_kind: AsKind | None
    """What the picture is, where that is known."""
    min_score: float | None
    """Least score of a hit; None: the library's own default."""

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MOST_NAMES:
            raise IconsError(f'k is "{self.k}"; ask for 1 to {MOST_NAMES} names an icon')


def locate_icons(
    opened: Opened, pixels: Pixels, icon: Pixels | None, options: LocateOptions, sets: SetPriority
) -> LocatedPicture:
    """Find and name the icons of a picture, RGB (height, width, 3); `icon` is the whole of it as the encoder sees it.

    Raises:
        IconsError: a filter names what is not in this library.
        RenderError: the picture is of one colour.
    """
    kind, found = _found(opened, pixels, icon, options.as_kind)
    order = reading_order(found.boxes.corners)
    named = name_crops(opened, found.vectors[order], options.filters, sets, k=options.k, min_score=options.min_score)
    icons = [
        LocatedIcon(Box.around(corners), round(float(score), 4), hits)
        for corners, score, hits in zip(found.boxes.corners[order], found.boxes.scores[order], named, strict=True)
    ]
    height, width = pixels.shape[:2]
    return LocatedPicture(width, height, kind, icons, found.n_found, found.n_found > len(icons))


def _found(
    opened: Opened, pixels: Pixels, icon: Pixels | None, as_kind: AsKind | None
) -> tuple[PictureKind, LocatedIcons]:
    """What a picture is, and its icons: of one icon the whole, of a picture that is neither, none."""
    if as_kind != "icon":
        found = open_locator(opened.manifest.fingerprint).locate(pixels, forgetful(opened.encoder))
        kind = as_kind or picture_kind(pixels, found.boxes)
        if kind != "icon":
            return kind, found if kind == "screen" else NO_ICONS
    seen = cut_out_pixels(pixels, size=opened.encoder.image_size) if icon is None else icon
    height, width = pixels.shape[:2]
    return "icon", LocatedIcons(
        Boxes(np.array([[0, 0, width, height]], np.float32), np.ones(1, np.float32)),
        opened.encoder.encode_picture(seen)[None],
        1,
    )
