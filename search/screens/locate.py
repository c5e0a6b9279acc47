"""Which icons are in a picture, and what they are called; many pictures, one after the other."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Pixels, Positions
from indexer.errors import IconsError, RenderError
from indexer.merging.calibration import Curve, CurveBySize
from indexer.merging.vector_index import Neighbours
from indexer.rendering.screenshot import cut_out_pixels
from indexer.reports.terminal import Progress
from indexer.screens.boxes import Boxes, PictureKind, picture_kind
from indexer.screens.located import NO_ICONS, LocatedIcons, open_locator
from search.deadline import refuse_late
from search.generation.backend import Selection
from search.generation.labels import SetPriority
from search.generation.opened import Opened, forgetful
from search.pictures import drawing, screenshot_of
from search.query import Filters
from search.ranking.candidates import Candidates, pictured
from search.ranking.details import as_hits, groups_of, shown_for_all
from search.ranking.order import group_many, least_score
from search.results import Hit
from search.screens.results import AsKind, Box, LocatedIcon, LocatedPicture

if TYPE_CHECKING:
    from indexer.rendering.draw_pool import DrawPool
    from indexer.rendering.screenshot import Screenshot

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
    curves: CurveBySize

    @property
    def n_images(self) -> int | None:
        """How many the filters leave; None for all."""
        return None if self.images is None else len(self.images)

    def may_answer(self, ids: Ids) -> Mask:
        """Which of some icons the filters leave."""
        return np.ones(len(ids), bool) if self.icons is None else self.icons.has(ids)


def name_crops(
    opened: Opened, vectors: Floats, filters: Filters, sets: SetPriority, *, k: int, min_score: float | None = None
) -> list[list[Hit]]:
    """Name what some vectors (n, dim) show: at most `k` hits each, best first.

    Raises:
        IconsError: a filter names what is not in this library.
    """
    among = _among(opened, filters)
    if not len(vectors) or (among.icons is not None and not len(among.icons)):
        return [[] for _ in vectors]
    distinct, numbers = np.unique(vectors, axis=0, return_inverse=True)
    found = _named(opened, distinct, among, k=k, min_score=min_score)
    shown = [shown_for_all(opened, sets, hits, taken, among.may_answer) for hits, taken in found]
    hits = as_hits(opened, _joined(shown), sets, flat=False)
    ends = np.cumsum([len(one.ids) for one in shown]).tolist()
    named = [hits[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [named[number] for number in numbers.reshape(-1).tolist()]


def _among(opened: Opened, filters: Filters) -> _Among:
    icons = opened.facets.select(filters)
    images = None if icons is None else icons.images()
    return _Among(icons, images, opened.manifest.calibration.pictures)


def _named(
    opened: Opened, vectors: Floats, among: _Among, *, k: int, min_score: float | None
) -> list[tuple[Candidates, Ids]]:
    """The hits of each vector, at most `k`, and the variant groups that they stand for."""
    n = max(N_NEAREST, 4 * k)
    nears = opened.pictures.search_many(vectors, k=n if among.images is None else 1)
    best = [among.curves.every.scores(near.scores[:1]).max() for near in nears]
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
            if len(kept) < k and n < _MOST_NEAREST and _reaches(near, least, among.curves.every):
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
    """The icons that show what is near to each crop."""
    icons = opened.facets.showing(np.unique(np.concatenate([near.ids for near in nears])))
    if among.icons is not None:
        icons = icons[among.icons.has(icons)]
    images = opened.images_of(icons)
    order = np.argsort(images, kind="stable")
    icons, images = icons[order], images[order]
    found = []
    for near in nears:
        starts, ends = np.searchsorted(images, near.ids), np.searchsorted(images, near.ids, side="right")
        counts = ends - starts
        rows = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        found.append(pictured(near, icons[rows], images[rows], among.curves, n_among=among.n_images))
    return found


def _joined(parts: list[Candidates]) -> Candidates:
    return parts[0].changed(lambda name: np.concatenate([getattr(part, name) for part in parts]))


@dataclass(frozen=True, slots=True)
class ShotFile:
    """A picture that is yet to be read."""

    name: str
    """What people call it."""
    read: Callable[[], bytes]
    """Raises an `IconsError` where it can't."""


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """What one file holds, or why that is not known."""

    name: str
    located: LocatedPicture | None = None
    seconds: float = 0.0
    png: bytes | None = None
    """The picture itself, where it is to be shown."""
    error: str | None = None


def locate_files(
    files: Sequence[ShotFile],
    look: Callable[["Screenshot"], LocatedPicture],
    *,
    size: int,
    shows: bool,
    progress: Progress,
) -> Iterable[LocatedFile]:
    """Look at some pictures, `size` is that of the encoder; with the pictures themselves where it `shows` them."""
    with drawing() as pool:
        for number, file in enumerate(files):
            progress("Looking for icons", number, len(files))
            try:
                yield _located(pool, file, look, size=size, shows=shows)
            except IconsError as error:
                yield LocatedFile(file.name, error=str(error))


def _located(
    pool: "DrawPool", file: ShotFile, look: Callable[["Screenshot"], LocatedPicture], *, size: int, shows: bool
) -> LocatedFile:
    content = file.read()
    started = time.perf_counter()
    found = look(screenshot_of(pool, content, name=file.name, size=size))
    seconds = time.perf_counter() - started
    png = None
    if shows:
        with suppress(RenderError):
            png = pool.png(content, size=max(found.width, found.height))
    return LocatedFile(file.name, found, seconds, png)


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
    ordered = [place for _, _, row in rows for place in sorted(row, key=lambda one: float(corners[one, 0]))]
    return np.array(ordered, np.intp)


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
    boxes = found.boxes.at(order)
    named = name_crops(opened, found.vectors[order], options.filters, sets, k=options.k, min_score=options.min_score)
    icons = [
        LocatedIcon(_box(corners), round(float(score), 4), hits)
        for corners, score, hits in zip(boxes.corners, boxes.scores, named, strict=True)
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
    return "icon", LocatedIcons(_whole(pixels), opened.encoder.encode_picture(seen)[None], 1)


def _whole(pixels: Pixels) -> Boxes:
    height, width = pixels.shape[:2]
    return Boxes(np.array([[0, 0, width, height]], np.float32), np.ones(1, np.float32))


def _box(corners: Floats) -> Box:
    """A box in whole pixels that holds all of it."""
    left, top = np.floor(corners[:2]).astype(int).tolist()
    right, bottom = np.ceil(corners[2:]).astype(int).tolist()
    return Box(left, top, right, bottom)


def located_json(located: LocatedPicture, *, file: str | None, generation: int, seconds: float) -> dict[str, Any]:
    """Spell it as one object; `file` is what the picture is called, if it has a name."""
    return {"file": file, **asdict(located), "generation": generation, "ms": round(1000 * seconds, 2)}


def file_json(file: LocatedFile, *, generation: int) -> dict[str, Any]:
    """Spell what a file holds, or the error that keeps it from being known."""
    if file.located is None:
        return {"file": file.name, "error": file.error}
    return located_json(file.located, file=file.name, generation=generation, seconds=file.seconds)
