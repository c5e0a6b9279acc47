"""Icons in pictures: what the detector finds, what stands apart, how crops are cut, and what a picture is."""

from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from data.making.eval.components import connected_components
from indexer.arrays import Mask, Pixels
from indexer.errors import IconsError
from indexer.screens import located
from indexer.screens.boxes import NO_BOXES, Boxes, component_corners, iou_matrix, picture_kind, without_overlaps
from indexer.screens.located import Detector, Judge, crops


def _flooded(mask: Mask) -> list[tuple[int, ...]]:
    """The slow obvious way: each pixel takes the highest number around it until all of a component have one."""
    numbers = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    for _ in range(mask.size):
        numbers = np.where(mask, sliding_window_view(np.pad(numbers, 1), (3, 3)).max(axis=(2, 3)), 0)
    places = (np.nonzero(numbers == number)[::-1] for number in np.unique(numbers[mask]))
    return sorted((*(int(at.min()) for at in axes), *(int(at.max()) + 1 for at in axes)) for axes in places)


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


def _boxes(n: int) -> Boxes:
    return Boxes(np.tile(np.array([0, 0, 20, 20], np.float32), (n, 1)), np.ones(n, np.float32))


def _page(*, n_words: int) -> Pixels:
    """A large page with two squares, and some words: bars that stand apart."""
    page = np.full((800, 1280, 3), 250, np.uint8)
    page[40:60, 40:60] = page[40:60, 1200:1220] = 30
    for word in range(n_words):
        left, top = 60 + 110 * (word % 10), 120 + 40 * (word // 10)
        page[top : top + 10, left : left + 70] = 90
    return page


@pytest.mark.parametrize(("n_icons", "kind"), [(2, "screen"), (0, "neither")])
def test_a_page_of_words_with_few_icons_is_no_icon(n_icons: int, kind: str) -> None:
    assert picture_kind(_page(n_words=60), _boxes(n_icons)) == kind


def test_one_large_drawing_on_an_even_ground_is_an_icon() -> None:
    drawing = np.full((500, 500, 3), 20, np.uint8)
    drawing[100:400, 100:130] = drawing[100:130, 100:400] = drawing[300:400, 300:400] = 240
    assert picture_kind(drawing, _boxes(2)) == "icon"
    assert picture_kind(drawing, _boxes(9)) == "screen"


def test_a_photograph_is_neither() -> None:
    ramp = np.linspace(0, 255, 600).astype(np.uint8)
    photograph = np.stack(np.broadcast_arrays(ramp[:, None], ramp[None, :], ramp[::-1, None]), axis=-1)
    assert picture_kind(np.ascontiguousarray(photograph), NO_BOXES) == "neither"
