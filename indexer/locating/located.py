"""From the pixels of a screen to its icons: boxes, how sure each is, and what the encoder sees in it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.encoders.query_encoder import QueryEncoder
from indexer.library.bundled import bundled
from indexer.locating.boxes import NO_BOXES, Boxes
from indexer.locating.crops import crops
from indexer.locating.detector import GRAPH, Detector
from indexer.locating.evidence import FLOOR, MOST_CANDIDATES, WEIGHTS, Judge, read_judge
from indexer.process import cores
from indexer.sources.records import content_digest

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
