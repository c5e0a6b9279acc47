"""Which icons are in a picture, and what are they called? One generation answers."""

from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.errors import IconsError
from indexer.locating.boxes import Boxes
from indexer.locating.kind import PictureKind, picture_kind
from indexer.locating.located import NO_ICONS, LocatedIcons, open_locator
from indexer.rendering.cutout import cut_out_pixels
from search.generation.opened import Opened
from search.generation.remembering import forgetful
from search.generation.standing import Standing
from search.locating.naming import name_crops
from search.locating.results import AsKind, Box, LocatedIcon, LocatedPicture
from search.locating.rows import reading_order
from search.query import Filters

MOST_NAMES = 100
"""Hits of one icon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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


def locate_icons(opened: Opened, pixels: Pixels, icon: Pixels | None, wanted: Wanted, sets: Standing) -> LocatedPicture:
    """Find and name the icons of a picture, RGB (height, width, 3); `icon` is the whole of it as the encoder sees it.

    Raises:
        IconsError: a filter names what is not in this library.
        RenderError: the picture is of one colour.
    """
    kind, found = _found(opened, pixels, icon, wanted.as_kind)
    order = reading_order(found.boxes.corners)
    boxes = found.boxes.at(order)
    named = name_crops(opened, found.vectors[order], wanted.filters, sets, k=wanted.k, min_score=wanted.min_score)
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
