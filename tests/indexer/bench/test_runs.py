"""What the product reports becomes figures, and what its parts take by themselves; with real processes in small."""

import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from indexer.bench import alone
from indexer.bench.processes import ask_alone, busy_seconds, machine_cores, on_cores, run_icons, run_module
from indexer.bench.runs import Bench, Reports, gather, make_lesson, png_files, train
from indexer.embedding.progress import EmbeddingProgress
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Devices
from indexer.errors import BenchError
from indexer.process import cores
from indexer.reports.terminal import Bars

HERE = Bench("cpu", machine_cores()[:1], limit=300)


def test_rates_are_of_all_pictures_by_what_ranks_report_at_last(tmp_path: Path) -> None:
    """Two ranks: 150 pictures a second from 0 on, for 10 s; and 50 a second from 5 on."""
    fast = EmbeddingProgress(0, 2, images=1500, began_at=100.0, seconds=10.0, waited_seconds=1.0, busy_seconds=8.0)
    slow = EmbeddingProgress(1, 2, images=250, began_at=105.0, seconds=5.0, waited_seconds=1.5, busy_seconds=2.0)
    busy = [(100.0 + s, 1.5 * s) for s in range(-1, 12)]
    found = Reports(tmp_path, {0: fast, 1: slow}, busy).figures(n_cores=2)
    expected = {
        "images/s": 175,
        "seconds": 10,
        "waits": 0.125,
        "device busy": 0.5,
        "cores busy": 0.75,
        "pictures": 1750,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected) and "failed" not in found
    with pytest.raises(BenchError, match="no picture was embedded"):
        Reports(tmp_path).figures(1)


def test_pictures_are_chosen_evenly_and_taken_again_where_there_are_too_few(tmp_path: Path, icon_folder: Path) -> None:
    pictures = gather(tmp_path, icon_folder, choice=ModelChoice.bundled(), n=30)
    assert (pictures.n_distinct, len({job.address.digest for job in pictures.jobs})) == (11, 11)
    assert [job.id for job in pictures.jobs] == list(range(30))
    few = gather(tmp_path, icon_folder, choice=ModelChoice.bundled(), n=4)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchError, match=r'no pictures in ".*empty"'):
        gather(tmp_path, tmp_path / "empty", choice=ModelChoice.bundled(), n=4)
    files = png_files(few, workers=0)
    assert [file.name for file in sorted(files.iterdir())] == [f"{n:07d}.png" for n in range(4)]


@pytest.mark.slow
def test_a_training_is_read_from_its_own_log(tmp_path: Path, start: Path, icons: Path) -> None:
    choice = ModelChoice(f"local-dir:{start}")
    with Bars() as bars:
        lesson = make_lesson(tmp_path, icons, choice=choice, kind="cpu", steps=2, bars=bars)
    assert lesson.n_icons == 64
    alone = train({"devices": 1, "batch": 8}, lesson, HERE)
    assert alone["images/s"] == pytest.approx(8 * alone["steps/s"])
    assert alone["loss"] > 0 and alone["communication"] == 0 < alone["optimiser"] < alone["compute"] <= 1
    both = train({"devices": 2, "batch": 8, "bucket_cap_mb": 1.0}, lesson, HERE)
    assert 0 < both["communication"] < 1
    assert both["loss"] == pytest.approx(alone["loss"], abs=0.05), "the same icons in the same order"
    with pytest.raises(BenchError, match="1024"):
        train({"devices": 1, "batch": 1024}, lesson, HERE)


def test_a_module_that_fails_or_hangs_says_so_and_is_ended(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"No module named indexer.nothing"):
        run_module("indexer.nothing", devices=Devices("cpu", 1), folder=tmp_path)
    with pytest.raises(BenchError, match=r"took longer than 0 s"):
        run_module(
            "timeit",
            "-n1",
            "-r1",
            "import time; time.sleep(100)",
            devices=Devices("cpu", 1),
            folder=tmp_path,
            limit=0.2,
        )


def test_a_command_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"`icons index` failed: .*nowhere.* does not exist"):
        run_icons("index", str(tmp_path / "nowhere"), "--library", str(tmp_path / "library"))


def test_cores_are_narrowed_for_a_block_and_keep_count_of_their_work() -> None:
    before, busy = os.sched_getaffinity(0), busy_seconds()
    with on_cores(machine_cores()[:1]):
        assert len(os.sched_getaffinity(0)) == 1
        sum(n * n for n in range(2_000_000))
    assert (os.sched_getaffinity(0), busy_seconds() > busy) == (before, True)


def test_operations_are_counted_and_a_ceiling_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(alone._SIDES, "cpu", 64)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.Flatten(), nn.Linear(4 * 8 * 8, 10, bias=False))
    tower = partial(lambda net, pixels: net(pixels.permute(0, 3, 1, 2).float()), net)
    encoder = SimpleNamespace(image_tower=tower, image_size=8, device=torch.device("cpu"), precision="fp32")
    flops, ceiling = alone._roofline(encoder)
    assert flops == 2 * (8 * 8 * 4 * 3 * 3 * 3) + 2 * (4 * 8 * 8 * 10) and ceiling > 1e6


def _asked(model: Path) -> dict[str, Any]:
    return {"choice": ModelChoice(f"local-dir:{model}").to_json(), "kind": "cpu"}


def test_passes_are_timed_by_the_size_of_the_batch(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(alone._SIDES, "cpu", 64)
    rows = list(alone.limit(**_asked(tiny_model), batches=(4, 2), seconds=0.01))
    assert [row["name"] for row in rows] == ["batch 2, pass by pass", "batch 4, pass by pass"]
    assert all(row["images/s"] > 0 and row["ms of a core"] > 0 and row["MFU"] > 0 for row in rows)
    monkeypatch.setattr(alone, "_LONGEST_SECONDS", 0.0)
    assert len(list(alone.limit(**_asked(tiny_model), batches=(2, 4), seconds=0.01))) == 1, "larger ones take longer"


@pytest.mark.slow
def test_vectors_of_a_precision_are_held_against_exact_ones(tiny_model: Path) -> None:
    exact, rounded = alone.parity(**_asked(tiny_model), precisions=("fp32", "bf16"))
    assert (exact["name"], rounded["name"]) == ("fp32, pass by pass", "bf16, pass by pass")
    assert exact["least cosine"] > 0.99999 > rounded["least cosine"] > 0.99


def test_drawing_is_timed_alone(icon_folder: Path) -> None:
    (row,) = alone.drawing(source=str(icon_folder), n=80, size=16, workers=1)
    assert row["name"] == "1 renderers" and min(row["images/s"], row["ms of a core"]) > 0


def test_a_machine_is_described() -> None:
    (found,) = ask_alone("machine")
    assert (found["cores"], "gpus" in found) == (cores(), False)
    assert torch.__version__.startswith(found["packages"]["torch"])
