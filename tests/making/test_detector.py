"""The detector: tiles of screens, a net that is taught a few steps, its graph, and who judges its boxes."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from data.making.detector.judging import Matched, _fit, write_judges
from data.making.detector.render import ScreenWriter
from data.making.detector.tiles import SIDE, Screens
from data.making.detector.train import Recipe, export, normalised, read_average, train
from indexer.screens.boxes import Boxes, iou_matrix
from indexer.screens.located import ALONE, WITH_ENCODER, Detector, read_judge
from search.evaluation.screens import Screen, ScreenIcon


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
        writer.write(
            Screen(f"{number:05}.png", 480, 416, 1, "squares", "light", number, tuple(icons)), path.read_bytes()
        )
    return folder


def test_a_tile_follows_from_its_seed_and_its_boxes_move_with_its_pixels(screens: Path, tmp_path: Path) -> None:
    seen = Screens([screens], cache=tmp_path / "raw")
    assert (seen.tile(3, seed=1).pixels == seen.tile(3, seed=1).pixels).all()
    differences = []
    for tile in (seen.tile(number, seed=0) for number in range(40)):
        assert tile.pixels.shape == (SIDE, SIDE, 3)
        for left, top, right, bottom in tile.boxes.round().astype(int):
            inside, around = (
                tile.pixels[top + 2 : bottom - 2, left + 2 : right - 2],
                tile.pixels[top - 4 : top, left:right],
            )
            if inside.size and around.size:
                differences.append(np.abs(inside.mean((0, 1)) - around.mean((0, 1))).max())
    assert len(differences) > 20 and min(differences) > 30


@pytest.mark.slow
def test_a_run_that_was_cut_learns_on_and_its_graph_answers_as_torch(screens: Path, tmp_path: Path) -> None:
    for steps in (20, 60):
        train(
            [screens], tmp_path / "run", Recipe(steps=steps, batch=2, warm_up=10, save_every=20), told=lambda *_: None
        )
    net, facts = read_average(tmp_path / "run")
    assert facts["step"] == 60
    export(tmp_path / "run", tmp_path)
    assert (tmp_path / "icons.onnx").stat().st_size < 3_000_000
    with Image.open(screens / "00000.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    icons = json.loads((screens / "screens.jsonl").read_text().splitlines()[0])["icons"]
    found = Detector(tmp_path).detect(pixels, least_score=0.05).corners
    assert (
        iou_matrix(found, np.array([icon["box"] for icon in icons], np.float32)).max(axis=0, initial=0) > 0.3
    ).sum() >= 3
    drawn = np.random.default_rng(0).integers(0, 256, (1, 96, 160, 3), np.uint8)
    with torch.inference_mode():
        logits, sides = net(normalised(torch.from_numpy(drawn)))
    scores, distances = Detector(tmp_path)._net.run_all("pixels", drawn)
    peaks = scores[0] > 0
    assert scores[0][peaks] == pytest.approx(logits.sigmoid().numpy()[0][peaks], abs=0.02)
    assert distances[0] == pytest.approx(sides.numpy()[0], rel=0.05, abs=0.5)


@pytest.mark.slow
def test_what_the_encoder_sees_decides_and_judges_are_read_as_they_were_written(tmp_path: Path) -> None:
    lot = np.random.default_rng(0)
    is_icon = np.arange(400) % 2 == 0
    vectors = lot.normal(size=(400, 8)).astype(np.float32)
    vectors[:, 0] = np.where(is_icon, 1, -1)
    scores = np.clip(0.5 + 0.05 * is_icon + lot.normal(0, 0.2, 400), 0.01, 0.99).astype(np.float32)
    matched = Matched(
        Boxes(np.tile(np.array([0, 0, 20, 20], np.float32), (400, 1)), scores),
        vectors,
        np.zeros(400, int),
        is_icon,
        ~is_icon,
        np.array([200]),
    )
    judges = {WITH_ENCODER: _fit(matched, n_hidden=8), ALONE: _fit(matched, n_hidden=0)}
    right = {kind: ((judge.scores(matched.boxes, vectors) > 0.5) == is_icon).mean() for kind, judge in judges.items()}
    assert (right[ALONE] < 0.75, right[WITH_ENCODER] > 0.99) == (True, True)
    write_judges(judges, tmp_path, fingerprint="abc")
    read = read_judge("abc", tmp_path)
    assert (read.scores(matched.boxes, vectors) == judges[WITH_ENCODER].scores(matched.boxes, vectors)).all()
