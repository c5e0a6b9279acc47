"""What the product reports becomes figures: against a slow obvious count, and with real processes in small."""

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexer.bench.processes import busy_seconds, machine_cores, on_cores, run_icons, run_module
from indexer.bench.runs import Bench, Reports, gather, make_lesson, png_files, steady_from, train
from indexer.embedding.progress import EmbeddingProgress
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Devices
from indexer.errors import BenchError
from indexer.reports.terminal import Bars

HERE = Bench("cpu", machine_cores()[:1], limit=300)


def _progress(rank: int, began: float, seconds: float, images: int, **facts: Any) -> EmbeddingProgress:
    return EmbeddingProgress(rank, 2, images=images, began_at=began, seconds=seconds, **facts)


def test_the_first_fifth_of_the_pictures_is_left_out_of_every_rate(tmp_path: Path) -> None:
    """Two ranks: 100 a second from 0 on, for 10 s, after 500 that were there at once; and 50 a second from 5 on."""
    fast = [_progress(0, 100.0, s, 500 + 100 * s, waited_seconds=0.1 * s, busy_seconds=0.8 * s) for s in range(1, 11)]
    slow = [_progress(1, 105.0, s, 50 * s, waited_seconds=0.3 * s, busy_seconds=0.4 * s) for s in range(1, 6)]
    busy = [(100.0 + s, 1.5 * s) for s in range(-1, 12)]
    reports = Reports(tmp_path, defaultdict(list, {0: fast, 1: slow}), busy)
    found = reports.figures(n_cores=2)
    started = 350 / 600  # a fifth of all 1,750 is there before the first report, which says 600
    assert found["images/s"] == pytest.approx(0.8 * 1750 / (10 - started))
    assert found["seconds"] == 10.0
    assert found["waits"] == pytest.approx((0.1 * (10 - started) + 0.3 * 5) / 2 / (10 - started))
    assert found["device busy"] == pytest.approx((0.8 * (10 - started) + 0.4 * 5) / 2 / (10 - started))
    assert found["cores busy"] == pytest.approx(1.5 / 2)
    assert (found["pictures"], "failed" in found) == (1750, False)


def test_ranks_that_embed_nothing_say_so(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="no picture was embedded"):
        Reports(tmp_path).figures(1)


def test_steps_are_counted_once_three_in_a_row_are_as_fast_as_the_later_ones() -> None:
    taken = [9.0, 5.0, 1.0, 1.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.05, 1.0, 1.0]
    assert steady_from(np.cumsum(taken).tolist(), most=10) == 8
    assert steady_from(np.cumsum(taken).tolist(), most=7) == 7, "at most so many are left out"


def test_pictures_are_chosen_evenly_and_taken_again_where_there_are_too_few(tmp_path: Path, icon_folder: Path) -> None:
    pictures = gather(tmp_path, icon_folder, choice=ModelChoice.bundled(), n=30)
    assert (pictures.n_distinct, len({job.address.digest for job in pictures.jobs})) == (11, 11)
    assert [job.id for job in pictures.jobs] == list(range(30))
    assert len(gather(tmp_path, icon_folder, choice=ModelChoice.bundled(), n=4).jobs) == 4
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchError, match=r'no pictures in ".*empty"'):
        gather(tmp_path, tmp_path / "empty", choice=ModelChoice.bundled(), n=4)
    files = png_files(gather(tmp_path, icon_folder, choice=ModelChoice.bundled(), n=4), workers=0)
    assert [file.name for file in sorted(files.iterdir())] == [f"{n:07d}.png" for n in range(4)]


@pytest.mark.slow
def test_a_training_is_read_from_its_own_log(tmp_path: Path, start: Path, icons: Path) -> None:
    choice = ModelChoice(f"local-dir:{start}")
    with Bars() as bars:
        lesson = make_lesson(tmp_path, icons, choice=choice, kind="cpu", steps=2, bars=bars)
    assert lesson.n_icons == 64
    alone = train({"devices": 1, "batch": 8}, lesson, HERE)
    assert alone["images/s"] == pytest.approx(8 * alone["steps/s"])
    assert alone["loss"] > 0 and alone["communication"] == 0 < alone["compute"] <= 1
    both = train({"devices": 2, "batch": 8, "bucket_cap_mb": 1.0}, lesson, HERE)
    assert both["communication"] > 0
    assert both["loss"] == pytest.approx(alone["loss"], abs=0.05), "the same icons in the same order"
    with pytest.raises(BenchError, match="1024"):
        train({"devices": 1, "batch": 1024}, lesson, HERE)


def test_a_module_that_fails_or_hangs_says_so_and_is_ended(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"No module named indexer.nothing"):
        run_module("indexer.nothing", devices=Devices("cpu", 1), folder=tmp_path)
    with pytest.raises(BenchError, match=r"took longer than 0 s"):
        sleeping = ("-n1", "-r1", "import time; time.sleep(100)")
        run_module("timeit", *sleeping, devices=Devices("cpu", 1), folder=tmp_path, limit=0.2)


def test_a_command_that_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"`icons index` failed: .*nowhere.* does not exist"):
        run_icons("index", str(tmp_path / "nowhere"), "--library", str(tmp_path / "library"))


def test_cores_are_narrowed_for_a_block_and_keep_count_of_their_work() -> None:
    before, busy = os.sched_getaffinity(0), busy_seconds()
    with on_cores(machine_cores()[:1]):
        assert os.sched_getaffinity(0) == {machine_cores()[0]}
        sum(n * n for n in range(2_000_000))
    assert os.sched_getaffinity(0) == before
    assert busy_seconds() > busy
