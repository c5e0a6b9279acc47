import numpy as np
import pytest

from data.making.eval.components import connected_components
from indexer.arrays import Mask
from indexer.screens.boxes import Boxes, component_corners, iou_matrix, without_overlaps
from indexer.screens.located import crops


def _flooded(mask: Mask) -> list[tuple[int, int, int, int]]:
    """The slow obvious way: fill from each pixel that no component has yet."""
    left, found = {(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)}, []
    while left:
        waiting, seen = [left.pop()], []
        while waiting:
            row, column = waiting.pop()
            seen.append((row, column))
            near = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= near
            waiting += near
        rows, columns = zip(*seen, strict=True)
        found.append((min(columns), min(rows), max(columns) + 1, max(rows) + 1))
    return sorted(found)


@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.5, 1])
def test_components_are_those_of_a_flood_fill(share: float) -> None:
    mask = np.random.default_rng(1).random((30, 41)) < share
    assert sorted(map(tuple, component_corners(mask).tolist())) == _flooded(mask)


def test_a_square_mark_is_found_and_a_line_of_text_is_not() -> None:
    screen = np.full((100, 200, 3), 255, np.uint8)
    screen[20:40, 20:40] = 0
    screen[60:70, 20:180:4] = 0
    assert connected_components(screen).corners == pytest.approx(np.array([[20, 20, 40, 40]]), abs=1)


def test_a_box_within_a_better_one_goes() -> None:
    corners = np.array([[0, 0, 20, 20], [5, 5, 10, 10], [18, 18, 40, 40]], np.float32)
    boxes = Boxes(corners, np.array([0.9, 0.8, 0.7], np.float32))
    assert without_overlaps(boxes, most_shared=0.5).tolist() == [0, 2]
    assert iou_matrix(corners[:1], corners)[0].tolist() == pytest.approx([1, 25 / 400, 4 / (400 + 484 - 4)])


def test_a_crop_has_its_icon_in_the_middle_and_ground_around() -> None:
    screen = np.full((60, 60, 3), 200, np.uint8)
    screen[:, 45:] = 10  # a neighbour
    screen[20:40, 25:35] = 0
    (crop,) = crops(screen, np.array([[25, 20, 35, 40]], np.float32), size=48)
    assert crop[0].tolist() == [[200] * 3] * 48
    dark = np.argwhere(crop[..., 0] < 100)
    assert dark.min(0).tolist() == pytest.approx([7, 15], abs=1)
    assert dark.max(0).tolist() == pytest.approx([40, 32], abs=1)
