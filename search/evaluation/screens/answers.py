"""What does each contender say of each screen? Boxes, the icons that they hold, and the names of those that count."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Mask, Pixels, Positions
from indexer.locating.boxes import Boxes
from search.engine import SearchEngine
from search.evaluation.screens.contenders import Contender
from search.evaluation.screens.matching import NO_ICON, best_first, match
from search.evaluation.screens.naming import Name, name_boxes
from search.evaluation.screens.truth import Truth

LOOSE, STRICT = 0.5, 0.75
"""Least intersection over union of a box with the icon that it holds."""


@dataclass(frozen=True)
class Answered:
    """What one contender found in one screen."""

    boxes: Boxes
    """Best first; the first `n_shown` of them reach the threshold."""
    icons: Positions
    """(n,): the icon that each box holds, by its row in the truth; `NO_ICON` for none."""
    icons_strictly: Positions
    """The same where a box has to fit closely."""
    n_shown: int
    names: Sequence[Name]
    """Of the boxes that are shown."""
    seconds: float
    """To find the boxes; naming them comes on top."""

    def shown_icons(self) -> Positions:
        """The icon that each shown box holds, (n_shown,)."""
        return self.icons[: self.n_shown]

    def is_found(self, truth: Truth) -> Mask:
        """Whether a shown box holds each icon of the screen."""
        found = np.zeros(len(truth.icons), bool)
        held = self.shown_icons()
        found[held[held != NO_ICON]] = True
        return found

    def is_named(self, truth: Truth) -> Mask:
        """Whether each icon of the screen is found and named rightly."""
        named = np.zeros(len(truth.icons), bool)
        for name, icon in zip(self.names, self.shown_icons().tolist(), strict=True):
            if icon != NO_ICON:
                named[icon] = name.rank(truth.icons[icon].right) == 1
        return named


@dataclass(frozen=True)
class AnsweredScreen:
    """One screen and all that was said of it."""

    truth: Truth
    true_names: Sequence[Name]
    """Of the icons inside their painted boxes: what naming reaches where nothing has to be found."""
    by_contender: Sequence[Answered]
    """In the order of the contenders."""


def ask_contenders(
    contenders: Sequence[Contender], truths: Sequence[Truth], engine: SearchEngine
) -> Iterator[AnsweredScreen]:
    """Have all contenders look at each screen, one screen in memory at a time."""
    for truth in truths:
        pixels = truth.read_pixels()
        names = name_boxes(engine, pixels, truth.corners, sets=truth.sets)
        yield AnsweredScreen(truth, names, [_answered(one, truth, pixels, engine) for one in contenders])


def _answered(contender: Contender, truth: Truth, pixels: Pixels, engine: SearchEngine) -> Answered:
    began = time.perf_counter()
    boxes = best_first(contender.detect(pixels))
    seconds = time.perf_counter() - began
    n_shown = int((boxes.scores >= contender.threshold).sum())
    return Answered(
        boxes=boxes,
        icons=match(boxes, truth.corners, least_iou=LOOSE),
        icons_strictly=match(boxes, truth.corners, least_iou=STRICT),
        n_shown=n_shown,
        names=name_boxes(engine, pixels, boxes.corners[:n_shown], sets=truth.sets),
        seconds=seconds,
    )
