"""What a device does can be watched: each rank's rate, waiting, memory and load."""

import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner
from conftest import exported_once

from indexer.embedding import rank_view
from indexer.embedding.progress import Gauge, RankProgress, Reporter
from indexer.embedding.rank_view import cells
from indexer.finetune.watch import TrainingProgress, TrainingView
from indexer.library.folder import Library
from search.cli import main


def test_a_gauge_tells_a_busy_process_from_an_idle_one() -> None:
    gauge = Gauge(torch.device("cpu"), cores=1)
    time.sleep(0.3)
    _, idle, _ = gauge.read()
    started = time.process_time()
    while time.process_time() - started < 0.4:  # however little of a core there is for it
        pass
    n_bytes, busy, watts = gauge.read()
    assert n_bytes > 50e6 and watts is None
    assert idle is not None and busy is not None
    assert busy > idle + 0.02


class _RefusedError(Exception):
    pass


@pytest.mark.parametrize(("milliwatts", "watts"), [(612_400, 612.4), (None, None)])
def test_a_gpu_is_read_through_nvml_with_its_power_where_it_tells_it(
    monkeypatch: pytest.MonkeyPatch, milliwatts: int | None, watts: float | None
) -> None:
    def power(handle: str) -> int:
        if milliwatts is None:
            raise _RefusedError
        return milliwatts

    nvml = SimpleNamespace(
        NVMLError=_RefusedError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=3_000_000_000),
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=98),
        nvmlDeviceGetPowerUsage=power,
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="1f"))
    gauge = Gauge(torch.device("cuda", 0), cores=1)
    assert gauge.read() == (3_000_000_000, 0.98, watts)
    progress = TrainingProgress(0, 1)
    Reporter(lambda _: None, progress, gauge).read_gauge()
    assert (progress.memory_bytes, progress.utilisation, progress.power_watts) == (3_000_000_000, 0.98, watts)


def test_a_watched_training_tells_the_rate_since_the_last_look(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rank_view, "WATCH_SECONDS", 0.0)
    view = TrainingView(watch_devices=True)
    ranks = [TrainingProgress(rank, 2, device=f"cuda:{rank}", images=1000, seconds=10.0) for rank in range(2)]
    view.trained([TrainingProgress(0, 2, note="opening model and corpus")])
    view.trained(ranks)
    for rank in ranks:
        rank.images, rank.seconds, rank.power_watts = 1600, 12.0, 300.0
    monkeypatch.setattr(rank_view, "WATCH_SECONDS", 5.0)
    view.trained(ranks)  # too soon
    monkeypatch.setattr(rank_view, "WATCH_SECONDS", 0.0)
    view.trained(ranks)
    for rank in ranks:
        rank.finished = True
    for _ in range(2):  # the end is told once
        view.trained(ranks)
    told = [line for line in capsys.readouterr().err.splitlines() if "device cuda:1" in line]
    assert [re.findall(r"images/s (\d+)", line)[0] for line in told] == ["100", "300", "133"]
    assert "power 300 W" in told[1]


def test_a_rank_is_spelled_with_what_it_waits_for() -> None:
    rank = RankProgress(1, 2, images=100, seconds=2.0, waited_seconds=0.5, device="cuda:1", memory_bytes=3_000_000_000)
    assert cells(rank, rate=40) == ("1", "cuda:1", "40", "25%", "3.00 GB", "-", "-")
    rank.utilisation, rank.power_watts = 0.98, 612.4
    assert cells(rank, rate=40)[-2:] == ("98%", "612 W")


def test_watched_devices_are_told_line_by_line_where_no_terminal_is(
    library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu", "--watch-devices"]
    with exported_once(library, tiny_model):
        done = CliRunner().invoke(main, ["index", str(icon_folder), "--library", str(library.root), *options])
    assert done.exit_code == 0, done.output
    told = re.findall(
        r"rank 0, device cpu, images/s [\d,]+, waits \d+%, memory (\S+) GB, busy \d+%, power -", done.stderr
    )
    assert float(told[-1]) > 0.05
