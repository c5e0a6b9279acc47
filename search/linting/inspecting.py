"""What is there to be seen of each icon? Icons are read and parsed, drawn in processes of their own, and embedded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Pixels
from indexer.errors import ChangedError, SourceError
from indexer.process import cores
from indexer.rendering.pool import Job, RenderPool
from indexer.reports.bars import Progress
from indexer.sources.pictures import reason_of
from indexer.sources.source import read_picture
from search.linting.gathering import Gathered
from search.linting.ink import GRID, Boxes, Masks, boxes_of, depth_of, masks_of
from search.linting.reading.drawing import Drawing, read_drawing
from search.linting.reading.markup import MarkupError
from search.linting.seeing import Seer

_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Icon:
    """One icon, and what its file says."""

    found: Gathered
    n_bytes: int
    drawing: Drawing | None
    """None where it is no SVG, or one that can't be parsed."""
    error: str | None
    """Why it can't be parsed or drawn."""
    is_blank: bool
    is_on_dark: bool
    """Whether it vanishes on white."""

    @property
    def name(self) -> str:
        """As its file has it."""
        return self.found.name

    @property
    def words(self) -> str:
        """What its name says."""
        return self.found.words


@dataclass(frozen=True, slots=True)
class Inspection:
    """Icons of one set; arrays have a row for each, all zero where nothing could be drawn."""

    icons: Sequence[Icon]
    masks: Masks
    boxes: Boxes
    drawn: NDArray[np.int64]
    """A digest of the pixels: those that show the same have the same; 0 where nothing could be drawn."""
    vectors: Floats
    """(n, dim); (n, 0) where nobody looked."""


def inspect(icons: Sequence[Gathered], *, seer: Seer | None, progress: Progress) -> Inspection:
    """Look at the icons of one set, with an encoder where vectors are wanted."""
    n = len(icons)
    read = list(_read_all(icons, progress))
    masks = np.zeros((n, GRID, GRID // 8), np.uint8)
    boxes, drawn = np.zeros((n, 4), np.float32), np.zeros(n, np.int64)
    vectors: list[tuple[NDArray[np.int64], Floats]] = []
    failures: dict[int, str] = {}
    on_dark: set[int] = set()
    side = GRID if seer is None else max(GRID, seer.image_size)
    with RenderPool(size=side, workers=max(1, cores() - 1), chunk=_CHUNK) as pool:
        n_done = 0
        for chunk in pool.render([_jobs(icons)]):
            rows = chunk.ids
            if len(rows):
                pixels = chunk.pixels
                depth, is_dark = depth_of(_shrunk(pixels, GRID))
                on_dark.update(rows[is_dark].tolist())
                masks[rows], boxes[rows], drawn[rows] = masks_of(depth), boxes_of(depth), chunk.traits["drawing"]
                if seer is not None:
                    vectors.append((rows, seer.pictures(_shrunk(pixels, seer.image_size))))
            failures.update({failure.id: failure.reason for failure in chunk.failures})
            n_done += len(rows) + len(chunk.failures)
            progress("Drawing icons", n_done, n)
    return Inspection(
        [
            _icon(found, facts, failures.get(row), is_on_dark=row in on_dark)
            for row, (found, facts) in enumerate(zip(icons, read, strict=True))
        ],
        masks,
        boxes,
        drawn,
        _gathered(n, vectors),
    )


_Facts = tuple[int, Drawing | None, str | None]


def _read_all(icons: Sequence[Gathered], progress: Progress) -> Iterator[_Facts]:
    for number, icon in enumerate(icons):
        progress("Reading icons", number, len(icons))
        try:
            content = read_picture(icon.kind, Path(icon.location), icon.path, icon.member, digest=icon.digest)
        except (OSError, SourceError, ChangedError) as error:
            yield 0, None, f"can't be read: {reason_of(error)}"
            continue
        try:
            yield len(content), read_drawing(content), None
        except MarkupError as error:
            yield len(content), None, str(error)


def _icon(found: Gathered, facts: _Facts, failure: str | None, *, is_on_dark: bool) -> Icon:
    from indexer.rendering.grounds import BLANK

    n_bytes, drawing, error = facts
    is_blank = failure == BLANK
    return Icon(found, n_bytes, drawing, None if is_blank else failure or error, is_blank, is_on_dark)


def _jobs(icons: Sequence[Gathered]) -> list[Job]:
    return [Job(row, icon.kind, icon.location, icon.path, icon.member, icon.digest) for row, icon in enumerate(icons)]


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    """Pictures on a smaller side, by the mean of whole blocks where they fit, else by the nearest pixel."""
    n, have = pixels.shape[:2]
    if side == have:
        return pixels
    if have % side:
        nearest = (np.arange(side) * have) // side
        return np.ascontiguousarray(pixels[:, nearest][:, :, nearest])
    by = have // side
    total = np.zeros((n, side, side, 3), np.uint16)
    for down in range(by):
        for across in range(by):
            total += pixels[:, down::by, across::by]
    return np.asarray((total + by * by // 2) // (by * by), np.uint8)


def _gathered(n: int, parts: Sequence[tuple[NDArray[np.int64], Floats]]) -> Floats:
    vectors = np.zeros((n, parts[0][1].shape[1] if parts else 0), np.float32)
    for rows, some in parts:
        vectors[rows] = some
    return vectors
