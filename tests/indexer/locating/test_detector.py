from pathlib import Path

import numpy as np
import pytest

from indexer.errors import IconsError
from indexer.screens import located
from indexer.screens.boxes import Boxes, iou_matrix
from indexer.screens.located import Detector, Judge


def _marks(shape: tuple[int, int], places: list[tuple[int, int]], side: int) -> np.ndarray:
    """Crosses in rings: what looks like an icon."""
    screen = np.full((*shape, 3), 250, np.uint8)
    rows, columns = np.mgrid[:side, :side] - (side - 1) / 2
    far = np.hypot(rows, columns) / side
    ink = ((far < 0.5) & (far > 0.41)) | ((far < 0.5) & ((np.abs(rows) < side / 20) | (np.abs(columns) < side / 20)))
    for left, top in places:
        screen[top : top + side, left : left + side][ink] = 40
    return screen


@pytest.mark.parametrize("side", [16, 24, 40, 96])
def test_icons_are_framed_to_a_pixel_or_two(side: int) -> None:
    places = [(60, 40), (200, 150), (330, 60)]
    found = Detector().detect(_marks((300, 480), places, side), least_score=0.3)
    wanted = np.array([[left, top, left + side, top + side] for left, top in places], np.float32)
    assert (iou_matrix(found.corners, wanted).max(axis=0, initial=0) > 0.75).all()


def test_a_large_picture_is_looked_at_in_parts_and_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    places = [(left, top) for left in range(30, 560, 90) for top in (40, 150, 250)]
    screen = _marks((320, 600), places, 20)
    whole = Detector().detect(screen, least_score=0.3)
    monkeypatch.setattr(located, "_BAND", 256)
    parts = Detector().detect(screen, least_score=0.3)
    assert len(parts.scores) == len(whole.scores) >= len(places)
    assert (iou_matrix(parts.corners, whole.corners).max(axis=0) > 0.8).all()


def test_a_damaged_detector_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "icons.onnx").write_bytes(b"no graph")
    with pytest.raises(IconsError, match="can't be read"):
        Detector(tmp_path)


def test_a_judge_with_one_layer_is_a_logistic_curve() -> None:
    none = np.zeros(0, np.float32)
    judge = Judge(0.5, np.array([1, 0, 0, 0], np.float32), np.zeros(1, np.float32), none.reshape(4, 0), none, none)
    boxes = Boxes(np.array([[0, 0, 10, 30]] * 2, np.float32), np.array([0.2, 0.9], np.float32))
    assert judge.scores(boxes, np.zeros((2, 0), np.float32)).tolist() == pytest.approx([0.2, 0.9])
