"""Where is the ink of a picture, and how far apart are two pictures at most? Pixels -> masks, boxes and distances."""

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Pixels

GRID = 128
"""Side of a mask: five pixels a unit of an icon of 24."""
Masks = NDArray[np.uint8]
"""Packed, a bit a pixel: (n, GRID, GRID / 8)."""
Boxes = NDArray[np.float32]
"""(n, 4): left, top, right and bottom of the ink as shares of the canvas; all 0 where there is none."""
_HALF = 128
"""Of 255: darkest ink counts as 255, so a pale icon is measured as a black one."""


def depth_of(pixels: Pixels) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """How much each pixel differs from the ground, (n, side, side), and whether that is black and not white, (n,).

    The ground is what most of the rim shows; where an icon covers the whole rim, what it shows is ink.
    """
    rim = np.concatenate([pixels[:, 0], pixels[:, -1], pixels[:, :, 0], pixels[:, :, -1]], axis=1)
    n_white, n_black = ((rim == shade).all(axis=2).sum(axis=1) for shade in (255, 0))
    red, green, blue = (pixels[..., channel] for channel in range(3))  # by channels: thrice as fast as along an axis
    depth = 255 - np.minimum(np.minimum(red, green), blue)
    is_dark = n_black > n_white
    depth[is_dark] = np.maximum(np.maximum(red[is_dark], green[is_dark]), blue[is_dark])
    top = depth.max(axis=(1, 2))
    depth[top == 0] = 255
    pale = (top > 0) & (top < 255)
    depth[pale] = depth[pale] * (255 / top[pale, None, None])
    return np.asarray(depth, np.uint8), is_dark


def masks_of(depth: NDArray[np.uint8]) -> Masks:
    """Which pixels are ink, packed; from depths of a side of `GRID`."""
    return np.packbits(depth >= _HALF, axis=2)


def boxes_of(depth: NDArray[np.uint8]) -> Boxes:
    """Boxes around the ink. A pixel at its edge counts by how much ink it has, so they are finer than pixels."""
    across, down = depth.max(axis=1), depth.max(axis=2)
    (left, right), (top, bottom) = _ends(across), _ends(down)
    return np.stack([left, top, right, bottom], axis=1).astype(np.float32)


def _ends(profile: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where ink begins and ends along an axis, (n, side) -> shares of the side."""
    n, side = profile.shape
    has_ink = profile > 8
    first = has_ink.argmax(axis=1)
    last = side - 1 - has_ink[:, ::-1].argmax(axis=1)
    rows = np.arange(n)
    begins = first + 1 - profile[rows, first] / 255
    ends = last + profile[rows, last] / 255
    is_empty = ~has_ink.any(axis=1)
    begins[is_empty] = ends[is_empty] = 0
    return begins / side, ends / side


def unpacked(masks: Masks) -> NDArray[np.bool_]:
    """Masks as arrays of pixels, (n, GRID, GRID)."""
    return np.unpackbits(masks, axis=-1).astype(bool)


def grown(mask: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """A mask with all pixels that are within `by` pixels of it, about as a disc: in steps, square and cross in turn."""
    for step in range(by):
        wider = mask.copy()
        wider[1:] |= mask[:-1]
        wider[:-1] |= mask[1:]
        source = wider.copy() if step % 2 else mask
        wider[:, 1:] |= source[:, :-1]
        wider[:, :-1] |= source[:, 1:]
        mask = wider
    return mask


def strays(one: NDArray[np.bool_], other: NDArray[np.bool_], *, by: int) -> int:
    """Count the pixels of either picture, ink or ground, that have none of their kind within `by` pixels in the other.

    Ground counts as ink does: a hole that is missing is a difference, however small the distance to ink.
    """
    n = 0
    for first, second in ((one, other), (other, one), (~one, ~other), (~other, ~one)):
        n += int((first & ~grown(second, by)).sum())
    return n
