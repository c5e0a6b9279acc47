"""Which box holds which icon."""

import numpy as np
import pytest

from indexer.locating.boxes import Boxes
from search.evaluation.screens.matching import NO_ICON, best_first, match


def boxes_by_lot(random: np.random.Generator, n: int) -> np.ndarray:
    left_top = random.integers(0, 40, (n, 2))
    return np.concatenate([left_top, left_top + random.integers(6, 30, (n, 2))], axis=1).astype(np.float32)


def slow_iou(one: np.ndarray, other: np.ndarray) -> float:
    """Counts pixels."""
    marks = np.zeros((2, 80, 80), bool)
    for mark, (left, top, right, bottom) in zip(marks, (one.astype(int), other.astype(int)), strict=True):
        mark[top:bottom, left:right] = True
    return float((marks[0] & marks[1]).sum() / (marks[0] | marks[1]).sum())


def slow_match(boxes: Boxes, icons: np.ndarray, least_iou: float) -> list[int]:
    taken: set[int] = set()
    found = []
    for box in boxes.corners:
        free = [(slow_iou(box, icon), -row) for row, icon in enumerate(icons) if row not in taken]
        overlap, row = max(free, default=(0.0, 1))
        found.append(-row if overlap >= least_iou else NO_ICON)
        taken.add(found[-1])
    return found


@pytest.mark.parametrize("seed", range(20))
def test_boxes_take_icons_as_a_slow_count_of_pixels_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    icons = boxes_by_lot(random, 8)
    near = icons[random.integers(0, 8, 12)] + random.integers(-3, 4, (12, 4))
    corners = np.concatenate([near.astype(np.float32), boxes_by_lot(random, 6)])
    boxes = best_first(Boxes(np.clip(corners, 0, 79), random.random(18).astype(np.float32)))
    for least_iou in (0.5, 0.75):
        assert match(boxes, icons, least_iou=least_iou).tolist() == slow_match(boxes, icons, least_iou)


def test_what_is_found_above_a_threshold_does_not_depend_on_what_is_below() -> None:
    random = np.random.default_rng(1)
    icons = boxes_by_lot(random, 10)
    corners = np.concatenate([icons + 1, icons - 1, icons])
    boxes = best_first(Boxes(corners, random.random(30).astype(np.float32)))
    above = boxes.at(np.arange(12))
    assert match(above, icons, least_iou=0.5).tolist() == match(boxes, icons, least_iou=0.5)[:12].tolist()


def test_where_no_icon_is_no_box_holds_one() -> None:
    boxes = Boxes(np.array([[0, 0, 9, 9]], np.float32), np.ones(1, np.float32))
    assert match(boxes, np.zeros((0, 4), np.float32), least_iou=0.5).tolist() == [NO_ICON]
    assert match(boxes.at(np.zeros(0, np.intp)), boxes.corners, least_iou=0.5).tolist() == []
