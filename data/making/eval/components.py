"""The baseline that the detector is compared with: what stands apart in a picture, by edges alone."""

import numpy as np

from indexer.arrays import Pixels
from indexer.screens.boxes import GAP, NO_BOXES, Boxes, component_corners, touching_pieces

_SIDES = (8, 72)
_RATIOS = (0.6, 1.67)
"""Width by height."""


def connected_components(pixels: Pixels) -> Boxes:
    """Find what may be icons in a picture, RGB (height, width, 3); every score is 1."""
    corners = component_corners(touching_pieces(pixels))
    margin = GAP // 2
    corners += np.array([margin, margin, -margin, -margin])
    sides = corners[:, 2:] - corners[:, :2]
    ratios = sides[:, 0] / np.maximum(sides[:, 1], 1)
    fits = (sides >= _SIDES[0]).all(1) & (sides <= _SIDES[1]).all(1) & (ratios >= _RATIOS[0]) & (ratios <= _RATIOS[1])
    if not fits.any():
        return NO_BOXES
    return Boxes(corners[fits].astype(np.float32), np.ones(int(fits.sum()), np.float32))
