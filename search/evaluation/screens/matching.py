"""Which of the boxes that were found holds which icon? One icon a box, one box an icon, better boxes first."""

import numpy as np

from indexer.arrays import Floats, Positions
from indexer.locating.boxes import Boxes, iou_matrix

NO_ICON = -1


def best_first(boxes: Boxes) -> Boxes:
    """Sort boxes by their scores; equal ones stay in their order."""
    return boxes.at(np.argsort(-boxes.scores, kind="stable"))


def match(boxes: Boxes, icons: Floats, *, least_iou: float) -> Positions:
    """Row of the icon (m, 4) that each of some boxes holds, best first; `NO_ICON` where it holds none.

    Each box takes the icon that it overlaps most among those that no better box has taken, as COCO matches. So what
    holds above a threshold is the same whatever was found below it.
    """
    found = np.full(len(boxes.scores), NO_ICON, np.intp)
    if not len(icons):
        return found
    overlaps = iou_matrix(boxes.corners, icons)
    for row, overlap in enumerate(overlaps):
        icon = int(overlap.argmax())
        if overlap[icon] >= least_iou:
            found[row] = icon
            overlaps[:, icon] = NO_ICON
    return found
