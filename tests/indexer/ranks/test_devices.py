"""What a device does can be watched: each rank's rate, waiting, memory and load."""

import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner
from conftest import exported_once

from indexer.embedding.progress import EmbeddingProgress, RankProgress, Reporter
from indexer.embedding.rank_view import RankView, cells
from indexer.encoders.devices import HOST
from indexer.finetune.progress import TrainingProgress
from indexer.library.folder import Library
from indexer.ranks import Gauge, peak_memory
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


def test_a_rank_is_spelled_with_what_it_waits_for() -> None:
    rank = RankProgress(1, 2, images=100, seconds=2.0, waited_seconds=0.5, device="cuda:1", memory_bytes=3_000_000_000)
    assert cells(rank, rate=40) == ("1", "cuda:1", "40", "25%", "3.00 GB", "-", "-")
    rank.utilisation, rank.power_watts = 0.98, 612.4
    assert cells(rank, rate=40)[-2:] == ("98%", "612 W")


def test_a_table_of_many_workers_begins_with_who_is_late_and_stays_short() -> None:
    workers = [EmbeddingProgress(0, 1, f"host-{n}", images=100, failed=n, seconds=1.0, at="a") for n in range(40)]
    workers[7].note, view = "late: 70 s at a picture", RankView()
    view.live = True
    view.look(workers)
    [table] = view.beneath()
    first, *_, last = zip(*(column.cells for column in table.columns), strict=True)
    assert list(map(str, first)) == ["host-7", "", "107", "107", "7", "late: 70 s at a picture"]
    assert (len(table.rows), str(last[0])) == (17, "and 24 more")


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


TELL = """
from indexer.encoders.devices import HOST
from indexer.ranks import peak_memory
print(peak_memory(HOST))
"""


def test_what_a_process_took_does_not_begin_at_what_its_parent_took() -> None:
    large = bytearray(b"x") * 400_000_000
    assert peak_memory(HOST) > len(large)
    child = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, check=True)
    assert 10_000_000 < int(child.stdout) < 200_000_000
