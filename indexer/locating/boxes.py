"""Boxes around icons in a picture: what they are, how far they overlap, which of two stays."""

from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats, Positions


class Boxes(NamedTuple):
    """Boxes in pixels of a picture, in no order."""

    corners: Floats
    """(n, 4): left, top, right, bottom; right and bottom are outside."""
    scores: Floats
    """(n,): how surely each holds an icon, 0 to 1."""

    def at(self, rows: Positions) -> "Boxes":
        """Some of them, in the order of `rows`."""
        return Boxes(self.corners[rows], self.scores[rows])


NO_BOXES = Boxes(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))


def areas(corners: Floats) -> Floats:
    """Pixels in each box, (n,)."""
    return np.asarray((corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1]), np.float32)


def shared_areas(one: Floats, other: Floats) -> Floats:
    """Pixels that each box of `one` shares with each of `other`, (n, m)."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    sides = np.maximum(high - low, 0)
    return np.asarray(sides[..., 0] * sides[..., 1], np.float32)


def iou_matrix(one: Floats, other: Floats) -> Floats:
    """Intersection over union of each box of `one` with each of `other`, (n, m)."""
    shared = shared_areas(one, other)
    union = areas(one)[:, None] + areas(other)[None, :] - shared
    return np.asarray(shared / np.maximum(union, 1e-9), np.float32)


def without_overlaps(boxes: Boxes, *, most_shared: float) -> Positions:
    """Rows of the boxes that stay, best first: each shares at most `most_shared` of the smaller area with a better one.

    The smaller area counts, not the union, so a box inside another one goes, too.
    """
    order = np.argsort(-boxes.scores, kind="stable")
    corners = boxes.corners[order]
    sizes = areas(corners)
    goes = np.zeros(len(order), bool)
    for place in range(len(order)):
        if goes[place]:
            continue
        rest = slice(place + 1, None)
        shared = shared_areas(corners[place : place + 1], corners[rest])[0]
        goes[rest] |= shared > most_shared * np.minimum(sizes[place], sizes[rest])
    return order[~goes]
