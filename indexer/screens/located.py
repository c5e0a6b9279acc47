"""From the pixels of a screen to its icons: boxes, crops as the encoder sees icons, vectors."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from indexer.arrays import Floats, Mask, Pixels
from indexer.encoders.query_encoder import QueryEncoder
from indexer.library.bundled import bundled
from indexer.process import cores
from indexer.screens.boxes import NO_BOXES, Boxes
from indexer.screens.detector import FLOOR, GRAPH, MOST_CANDIDATES, WEIGHTS, Detector, Judge, read_judge
from indexer.sources.records import content_digest

_CONTRAST = 24
"""Of 255: least difference between neighbours at an edge."""
GAP = 5
"""Pixels, odd: edges nearer than that are one component."""


def count_components(pixels: Pixels) -> int:
    """How many pieces of a picture stand apart from each other, whatever their size."""
    return len(component_corners(touching_pieces(pixels)))


def touching_pieces(pixels: Pixels) -> Mask:
    """Edges, and what lies between near ones."""
    edges = Image.fromarray(_edges(pixels).astype(np.uint8) * 255)
    return np.asarray(edges.filter(ImageFilter.MaxFilter(GAP))) > 0


def _edges(pixels: Pixels) -> Mask:
    """Pixels that differ from the one before them in their row or column."""
    values = pixels.astype(np.int16)
    edges = np.zeros(pixels.shape[:2], bool)
    edges[:, 1:] |= np.abs(np.diff(values, axis=1)).max(axis=2) >= _CONTRAST
    edges[1:] |= np.abs(np.diff(values, axis=0)).max(axis=2) >= _CONTRAST
    return edges


def component_corners(mask: Mask) -> NDArray[np.int64]:
    """Left, top, right, bottom of each 8-connected component, (n, 4), by union-find over runs of rows."""
    rows, starts, ends = _runs(mask)
    parents = np.arange(len(rows))
    for upper, lower in zip(*_touching(rows, starts, ends), strict=True):
        one, other = _root(parents, upper), _root(parents, lower)
        parents[max(one, other)] = min(one, other)
    roots = np.array([_root(parents, run) for run in range(len(rows))], np.int64)
    _, numbers = np.unique(roots, return_inverse=True)
    n = int(numbers.max()) + 1 if len(numbers) else 0
    corners = np.zeros((n, 4), np.int64)
    corners[:, :2] = np.iinfo(np.int64).max
    np.minimum.at(corners[:, 0], numbers, starts)
    np.minimum.at(corners[:, 1], numbers, rows)
    np.maximum.at(corners[:, 2], numbers, ends)
    np.maximum.at(corners[:, 3], numbers, rows + 1)
    return corners


def _runs(mask: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Row, first column and column after the last of each stretch that is set, by row and column."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    return rows, starts, np.nonzero(steps == -1)[1]


def _touching(
    rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of runs of neighbouring rows that touch, corners included: the upper ones, the lower ones."""
    width = int(ends.max(initial=0)) + 2
    first = np.searchsorted(rows * width + ends, (rows - 1) * width + starts, side="left")
    last = np.searchsorted(rows * width + starts, (rows - 1) * width + ends, side="right")
    counts = np.maximum(last - first, 0)
    lower = np.repeat(np.arange(len(rows)), counts)
    offsets = np.arange(len(lower)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(first, counts) + offsets, lower


def _root(parents: NDArray[np.int64], run: int) -> int:
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = int(parents[run])
    return run


MARGIN = 0.2
"""Of ground around a box, of its longer side. Icons named rightly from true boxes, with .1, .2 and .3: of 556 on real
products .797, .865, .863; of 2,634 on rendered screens .852, .849, .838."""


def crops(pixels: Pixels, corners: Floats, *, size: int) -> Pixels:
    """Cut boxes (n, 4) out of a picture (height, width, 3): uint8 (n, size, size, 3).

    What is drawn around an icon is no part of it: outside its box stands the ground, the median of the box's rim.
    """
    cut = np.empty((len(corners), size, size, 3), np.uint8)
    for row, box in enumerate(corners):
        cut[row] = _crop(pixels, box, size=size)
    return cut


def _crop(pixels: Pixels, box: Floats, *, size: int) -> Pixels:
    height, width = pixels.shape[:2]
    left, top = np.clip(np.floor(box[:2]).astype(int), 0, [width - 1, height - 1])
    right, bottom = np.clip(np.ceil(box[2:]).astype(int), [left + 1, top + 1], [width, height])
    inside = pixels[top:bottom, left:right]
    side = round(max(inside.shape[:2]) * (1 + 2 * MARGIN))
    square = np.empty((side, side, 3), np.uint8)
    square[:] = _ground(pixels, int(left), int(top), int(right), int(bottom))
    row, column = (side - inside.shape[0]) // 2, (side - inside.shape[1]) // 2
    square[row : row + inside.shape[0], column : column + inside.shape[1]] = inside
    return np.asarray(Image.fromarray(square).resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0))


def _ground(pixels: Pixels, left: int, top: int, right: int, bottom: int) -> Pixels:
    """Median colour of the pixels around a box, one pixel wide; of its own rim where the picture ends there."""
    height, width = pixels.shape[:2]
    above, below = max(top - 1, 0), min(bottom, height - 1)
    before, behind = max(left - 1, 0), min(right, width - 1)
    rim = np.concatenate(
        [
            pixels[above, before : behind + 1],
            pixels[below, before : behind + 1],
            pixels[above : below + 1, before],
            pixels[above : below + 1, behind],
        ]
    )
    return np.asarray(np.median(rim, axis=0), np.uint8)


MOST_ICONS = 1_000
"""Of one picture: the surest ones."""
_BATCH = 16
"""Crops that are encoded at once: more take memory, and no less time."""


class LocatedIcons(NamedTuple):
    """Icons of one picture, the surest first."""

    boxes: Boxes
    vectors: Floats
    """(n, dim), of unit length."""
    n_found: int
    """How many there are; `boxes` are `MOST_ICONS` of them at most."""


NO_ICONS = LocatedIcons(NO_BOXES, np.zeros((0, 0), np.float32), 0)


class Locator(NamedTuple):
    """What finds icons: something that proposes boxes, best first, and who judges them by what the encoder sees."""

    detect: Callable[[Pixels], Boxes]
    judge: Judge | None
    """None: whatever is proposed is an icon."""

    def locate(self, pixels: Pixels, encoder: QueryEncoder) -> LocatedIcons:
        """Find the icons of a picture, RGB (height, width, 3)."""
        found = self.candidates(pixels, encoder)
        is_icon = found.boxes.scores >= (self.judge.threshold if self.judge else 0)
        rows = np.flatnonzero(is_icon)
        rows = rows[np.argsort(-found.boxes.scores[rows], kind="stable")][:MOST_ICONS]
        return LocatedIcons(found.boxes.at(rows), found.vectors[rows], int(is_icon.sum()))

    def candidates(self, pixels: Pixels, encoder: QueryEncoder) -> LocatedIcons:
        """Judge all that is proposed, whatever its score; as `locate` otherwise."""
        proposed = self.detect(pixels)
        proposed = proposed.at(np.argsort(-proposed.scores, kind="stable")[:MOST_CANDIDATES])
        if not len(proposed.scores):
            return NO_ICONS
        vectors = seen_in(pixels, proposed.corners, encoder)
        scores = self.judge.scores(proposed, vectors) if self.judge else proposed.scores
        return LocatedIcons(Boxes(proposed.corners, scores), vectors, len(scores))


@lru_cache(maxsize=4)
def open_locator(fingerprint: str | None) -> Locator:
    """Open the detector that ships with `icons`, judged by an encoder of this fingerprint.

    Raises:
        IconsError: it can't be read.
    """
    return Locator(partial(Detector.open().detect, least_score=FLOOR), read_judge(fingerprint))


@lru_cache(maxsize=1)
def detector_version() -> str:
    """What stands for the detector that ships with `icons`: other files of it may find other boxes."""
    folder = bundled("detector")
    return content_digest(b"".join((folder / name).read_bytes() for name in (GRAPH, WEIGHTS))).hex()[:12]


def seen_in(pixels: Pixels, corners: Floats, encoder: QueryEncoder) -> Floats:
    """What an encoder sees in some boxes (n, 4), (n, dim); equal crops are encoded once, and have one vector."""
    cut = crops(pixels, corners, size=encoder.image_size)
    _, firsts, numbers = np.unique(cut.reshape(len(cut), -1), axis=0, return_index=True, return_inverse=True)
    batches = [cut[firsts[start : start + _BATCH]] for start in range(0, len(firsts), _BATCH)]
    with ThreadPoolExecutor(cores()) as threads:
        encoded = list(threads.map(encoder.encode_many_pictures, batches))
    return np.concatenate(encoded)[numbers.reshape(-1)]
