"""From the pixels of a screen to its icons: boxes, and what the encoder sees in each."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.encoders.query_encoder import QueryEncoder
from indexer.locating.boxes import NO_BOXES, Boxes
from indexer.locating.crops import crops

MOST_ICONS = 1_000
"""Of one picture: the surest ones."""
_BATCH = 64
"""Crops that are encoded at once: more take memory, and no less time."""

Detect = Callable[[Pixels], Boxes]
"""Says where icons are in a picture, RGB (height, width, 3)."""


class LocatedIcons(NamedTuple):
    """Icons of one picture, the surest first."""

    boxes: Boxes
    vectors: Floats
    """(n, dim), of unit length."""
    n_found: int
    """How many there are; `boxes` are `MOST_ICONS` of them at most."""


NO_ICONS = LocatedIcons(NO_BOXES, np.zeros((0, 0), np.float32), 0)


def locate(pixels: Pixels, *, detect: Detect, encoder: QueryEncoder) -> LocatedIcons:
    """Find the icons of a picture, RGB (height, width, 3)."""
    found = detect(pixels)
    boxes = found.at(np.argsort(-found.scores, kind="stable")[:MOST_ICONS])
    return LocatedIcons(boxes, _vectors(pixels, boxes.corners, encoder), len(found.scores))


def _vectors(pixels: Pixels, corners: Floats, encoder: QueryEncoder) -> Floats:
    """What the encoder sees in some boxes; equal crops are encoded once, and have one vector."""
    if not len(corners):
        return np.empty((0, 0), np.float32)
    cut = crops(pixels, corners, size=encoder.image_size)
    _, firsts, numbers = np.unique(cut.reshape(len(cut), -1), axis=0, return_index=True, return_inverse=True)
    distinct = cut[firsts]
    batches = [distinct[start : start + _BATCH] for start in range(0, len(distinct), _BATCH)]
    return np.concatenate([encoder.encode_many_pictures(batch) for batch in batches])[numbers.reshape(-1)]
