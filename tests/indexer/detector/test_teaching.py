import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from indexer.arrays import Floats
from indexer.detector.export import export
from indexer.detector.loss import boxes_of, loss_of, targets_of
from indexer.detector.net import Net
from indexer.detector.tiles import SIDE, Screens
from indexer.detector.train import Recipe, normalised, read_average, train
from indexer.errors import IconsError
from indexer.locating.boxes import iou_matrix
from indexer.locating.detector import STRIDE, Detector
from indexer.screens.stored import Screen, ScreenIcon, ScreenWriter


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six screens of dark squares, which are the icons, and of thin lines, which are not."""
    folder = tmp_path_factory.mktemp("screens")
    writer = ScreenWriter(folder)
    for number in range(6):
        lot = np.random.default_rng(number)
        pixels = np.full((416, 480, 3), 245, np.uint8)
        icons = []
        for row in range(5):
            left, top, side = int(lot.integers(20, 400)), 20 + 80 * row, int(lot.integers(12, 40))
            pixels[top : top + side, left : left + side] = lot.integers(0, 90, 3)
            pixels[top + 60 : top + 62, 20:400] = 120
            icons.append(ScreenIcon((left, top, left + side, top + side), "set:square", "inline"))
        path = folder / "aside.png"
        Image.fromarray(pixels).save(path)
        screen = Screen(f"{number:05}.png", 480, 416, 1, "squares", "light", number, tuple(icons))
        writer.write(screen, path.read_bytes())
    return folder


@pytest.fixture(scope="module")
def run(screens: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was cut once, and went on."""
    out = tmp_path_factory.mktemp("run")
    for steps in (20, 60):
        train([screens], out, Recipe(steps=steps, batch=2, warm_up=10, save_every=20), told=lambda *_: None)
    return out


def test_a_tile_follows_from_its_seed_and_number(screens: Path, tmp_path: Path) -> None:
    seen = Screens([screens], cache=tmp_path / "raw")
    one, again, other = seen.tile(3, seed=1), seen.tile(3, seed=1), seen.tile(4, seed=1)
    assert (one.pixels == again.pixels).all()
    assert (one.boxes == again.boxes).all()
    assert not np.array_equal(one.pixels, other.pixels)
    assert one.pixels.shape == (SIDE, SIDE, 3)


def test_boxes_move_with_their_pixels(screens: Path, tmp_path: Path) -> None:
    seen = Screens([screens], cache=tmp_path / "raw")
    checked = 0
    for number in range(40):
        tile = seen.tile(number, seed=0)
        for left, top, right, bottom in tile.boxes.round().astype(int):
            inside = tile.pixels[top + 2 : bottom - 2, left + 2 : right - 2].astype(int)
            around = tile.pixels[max(top - 4, 0), left:right].astype(int)
            if inside.size and top >= 6:
                assert np.abs(inside.mean((0, 1)) - around.mean(0)).max() > 30
                checked += 1
    assert checked > 20


def test_cells_near_the_middle_answer_for_an_icon_and_cut_icons_are_not_asked() -> None:
    boxes = torch.tensor([[8.0, 8.0, 24.0, 24.0]])
    targets = targets_of([boxes], [torch.tensor([[40.0, 40.0, 60.0, 60.0]])], cells=(16, 16))
    rows, columns = targets.is_middle[0].nonzero(as_tuple=True)
    middles = (torch.stack([columns, rows], 1) + 0.5) * STRIDE
    assert ((middles - 16).abs() <= 1.5 * STRIDE).all()
    assert len(rows) == 16
    assert targets.box[0, :, rows[0], columns[0]].tolist() == [8, 8, 24, 24]
    assert not targets.counts[0, 12, 12]
    assert targets.counts[0, 8, 1]


def test_a_right_answer_costs_less_than_a_shifted_one() -> None:
    boxes = torch.tensor([[8.0, 8.0, 24.0, 24.0]])
    targets = targets_of([boxes], [torch.zeros(0, 4)], cells=(16, 16))
    corners = boxes_of(torch.zeros(1, 4, 16, 16))
    right = torch.stack([corners[:, 0] - 8, corners[:, 1] - 8, 24 - corners[:, 2], 24 - corners[:, 3]], 1)
    logits = torch.where(targets.is_middle, 6.0, -6.0)
    of_scores, of_boxes = loss_of(logits, right, targets)
    assert of_boxes.item() == pytest.approx(0, abs=1e-5)
    assert of_scores.item() < 0.01
    shifted = right + torch.tensor([-3.0, 0, 3.0, 0])[None, :, None, None]
    assert loss_of(logits, shifted, targets)[1].item() > 0.3


def _found(run: Path, screens: Path, tmp_path: Path) -> tuple[Floats, Floats]:
    export(run, tmp_path / "detector")
    with Image.open(screens / "00000.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    wanted = json.loads((screens / "screens.jsonl").read_text().splitlines()[0])["icons"]
    boxes = Detector.open(tmp_path / "detector").detect(pixels, least_score=0.05)
    return boxes.corners, np.array([icon["box"] for icon in wanted], np.float32)


@pytest.mark.slow
def test_a_run_that_was_cut_learns_on_and_what_it_learnt_is_exported(run: Path, screens: Path, tmp_path: Path) -> None:
    assert read_average(run)[1]["step"] == 60
    found, wanted = _found(run, screens, tmp_path)
    assert (iou_matrix(found, wanted).max(axis=0, initial=0) > 0.3).sum() >= 3
    assert (tmp_path / "detector" / "icons.onnx").stat().st_size < 3_000_000


@pytest.mark.slow
def test_the_graph_answers_as_torch_at_any_size(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path)
    net, _ = read_average(run)
    pixels = np.random.default_rng(0).integers(0, 256, (1, 96, 160, 3), np.uint8)
    with torch.inference_mode():
        logits, sides = net(normalised(torch.from_numpy(pixels)))
    scores, found = Detector.open(tmp_path)._net.run_all("pixels", pixels)
    peaks = scores[0] > 0
    assert scores[0][peaks] == pytest.approx(logits.sigmoid().numpy()[0][peaks], abs=0.02)
    assert found[0] == pytest.approx(sides.numpy()[0], rel=0.05, abs=0.5)


def test_a_damaged_detector_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text("{}")
    (tmp_path / "icons.onnx").write_bytes(b"no graph")
    with pytest.raises(IconsError, match="can't be read"):
        Detector.open(tmp_path)


def test_an_untrained_net_finds_next_to_nothing() -> None:
    with torch.inference_mode():
        logits, _ = Net().eval()(torch.zeros(1, 3, 64, 64))
    assert logits.sigmoid().max().item() < 0.05
