from pathlib import Path

import numpy as np
import pytest

from indexer.arrays import Floats
from indexer.detector.judging import _fit, threshold_of, write_judges
from indexer.detector.matching import Matched, icons_among
from indexer.errors import IconsError
from indexer.locating.boxes import Boxes
from indexer.locating.evidence import ALONE, WEIGHTS, WITH_ENCODER, Judge, read_judge
from indexer.screens.stored import Screen, ScreenIcon


def _matched(scores: Floats, vectors: Floats, is_icon: Floats, *, screens: list[int], n_icons: list[int]) -> Matched:
    boxes = Boxes(np.tile(np.array([0, 0, 20, 20], np.float32), (len(scores), 1)), scores)
    icons = is_icon.astype(bool)
    return Matched(boxes, vectors, np.array(screens), icons, ~icons, np.array(n_icons))


@pytest.fixture
def matched() -> Matched:
    """Boxes whose score says little of them, and whose vector says all."""
    lot = np.random.default_rng(0)
    is_icon = np.arange(400) % 2 == 0
    vectors = lot.normal(size=(400, 8)).astype(np.float32)
    vectors[:, 0] = np.where(is_icon, 1, -1)
    scores = np.clip(0.5 + 0.05 * is_icon + lot.normal(0, 0.2, 400), 0.01, 0.99).astype(np.float32)
    return _matched(scores, vectors, is_icon, screens=[0] * 400, n_icons=[200])


def test_what_the_encoder_sees_decides_where_the_score_does_not(matched: Matched) -> None:
    judged = {
        kind: _fit(matched, n_hidden=n).scores(matched.boxes, matched.vectors) for kind, n in (("a", 0), ("b", 8))
    }
    right = {kind: ((scores > 0.5) == matched.is_icon).mean() for kind, scores in judged.items()}
    assert right["a"] < 0.75
    assert right["b"] > 0.99


def test_the_threshold_has_the_best_f1() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5], np.float32)
    is_icon = np.array([1, 1, 0, 1, 0])
    matched = _matched(scores, np.zeros((5, 1), np.float32), is_icon, screens=[0] * 5, n_icons=[3, 0])
    assert threshold_of(scores, matched, most_false=1.5) == pytest.approx(0.6)


def test_the_threshold_leaves_few_boxes_on_screens_without_icons() -> None:
    scores = np.array([0.9, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7], np.float32)
    is_icon = np.array([1, 0, 0, 0, 1, 1, 1])
    matched = _matched(scores, np.zeros((7, 1), np.float32), is_icon, screens=[0, 1, 1, 1, 0, 0, 0], n_icons=[4, 0])
    assert threshold_of(scores, matched, most_false=1.5) > 0.75


def test_judges_are_read_as_they_were_written_and_only_for_their_encoder(matched: Matched, tmp_path: Path) -> None:
    judges = {
        WITH_ENCODER: _fit(matched, n_hidden=8)._replace(threshold=0.4),
        ALONE: _fit(matched, n_hidden=0)._replace(threshold=0.3),
    }
    write_judges(judges, tmp_path, fingerprint="abc")
    same, other = read_judge("abc", tmp_path), read_judge("xyz", tmp_path)
    assert (same.threshold, other.threshold) == (0.4, 0.3)
    for read, written in ((same, judges[WITH_ENCODER]), (other, judges[ALONE])):
        assert (read.scores(matched.boxes, matched.vectors) == written.scores(matched.boxes, matched.vectors)).all()


def test_a_damaged_judge_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS).write_bytes(b"nothing")
    with pytest.raises(IconsError, match="evidence"):
        read_judge("abc", tmp_path)


def test_each_icon_has_one_box_and_what_lies_beside_is_false() -> None:
    icons = tuple(ScreenIcon(box, "set:a", "inline") for box in ((0, 0, 20, 20), (40, 0, 60, 20)))
    screen = Screen("0.png", 100, 100, 1, "t", "light", 0, icons)
    corners = np.array([[0, 0, 20, 20], [1, 1, 21, 21], [50, 0, 70, 20], [80, 80, 90, 90]], np.float32)
    is_icon, is_false = icons_among(Boxes(corners, np.array([0.9, 0.8, 0.7, 0.6], np.float32)), screen)
    assert is_icon.tolist() == [True, False, False, False]
    assert is_false.tolist() == [False, False, False, True]


def test_a_judge_with_one_layer_is_a_logistic_curve() -> None:
    none = np.zeros(0, np.float32)
    judge = Judge(0.5, np.array([1, 0, 0, 0], np.float32), np.zeros(1, np.float32), none.reshape(4, 0), none, none)
    boxes = Boxes(np.array([[0, 0, 10, 30]] * 2, np.float32), np.array([0.2, 0.9], np.float32))
    assert judge.scores(boxes, np.zeros((2, 0), np.float32)).tolist() == pytest.approx([0.2, 0.9])
