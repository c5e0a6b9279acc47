"""Which boxes that a locator proposes are icons of their screens, and which are false?"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Mask
from indexer.encoders.query_encoder import QueryEncoder
from indexer.locating.boxes import Boxes, iou_matrix
from indexer.locating.located import Locator
from indexer.reports.bars import Progress
from search.evaluation.prepared_screens import Screen, read_pixels, read_screens

_SAME = 0.5
"""IoU from which a box is an icon's."""
_APART = 0.3
"""IoU below which it is false; what lies between both counts neither way."""


class Matched(NamedTuple):
    """Proposed boxes of some screens, one screen after another."""

    boxes: Boxes
    vectors: Floats
    """(n, dim): what the encoder sees in each."""
    screens: NDArray[np.int64]
    """(n,): which screen each is of."""
    is_icon: Mask
    is_false: Mask
    n_icons: NDArray[np.int64]
    """Icons of each screen."""


def match(folders: Sequence[Path], locator: Locator, encoder: QueryEncoder, *, progress: Progress) -> Matched:
    """Ask a locator for all boxes of the screens of some folders."""
    screens = [(folder, screen) for folder in folders for screen in read_screens(folder)]
    boxes, vectors, is_icon, is_false = [], [], [], []
    for place, (folder, screen) in enumerate(screens, 1):
        found = locator.candidates(read_pixels(folder, screen), encoder)
        right, wrong = icons_among(found.boxes, screen)
        boxes.append(found.boxes)
        vectors += [found.vectors] if len(found.vectors) else []
        is_icon.append(right)
        is_false.append(wrong)
        progress("Judging boxes", place, len(screens))
    return Matched(
        Boxes(*map(np.concatenate, zip(*boxes, strict=True))),
        np.concatenate(vectors),
        np.repeat(np.arange(len(screens)), [len(found.scores) for found in boxes]),
        np.concatenate(is_icon),
        np.concatenate(is_false),
        np.array([len(screen.icons) for _, screen in screens]),
    )


def icons_among(boxes: Boxes, screen: Screen) -> tuple[Mask, Mask]:
    """Which boxes, best first, are icons of a screen, each icon once; and which are false."""
    wanted = np.array([icon.box for icon in screen.icons], np.float32).reshape(-1, 4)
    overlaps = iou_matrix(boxes.corners, wanted)
    is_false = overlaps.max(axis=1, initial=0) < _APART
    is_icon = np.zeros(len(boxes.scores), bool)
    for row in range(len(boxes.scores)) if len(wanted) else ():
        icon = int(overlaps[row].argmax())
        if overlaps[row, icon] >= _SAME:
            is_icon[row] = True
            overlaps[:, icon] = 0
    return is_icon, is_false
