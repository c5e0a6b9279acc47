"""Devices as asked for and as they are."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from click.testing import CliRunner
from conftest import give_export
from rich.console import Console

from indexer.embedding.progress import EmbeddingProgress, RankProgress, RankView, Reporter, cells
from indexer.encoders import devices
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, Devices, Machine, choose_sooner, first_devices, operations, parse_devices
from indexer.errors import DeviceError
from indexer.finetune.options import TrainingProgress
from indexer.library.folder import Library
from indexer.ranks import Gauge, Rank, Ranks, peak_memory, process_group
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
    said = StringIO()
    Console(file=said, width=60).print(table)
    assert "107   107       7  late: 70 s at" in said.getvalue(), "what one is at gives way, the figures do not"


def test_watched_devices_are_told_line_by_line_where_no_terminal_is(
    library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu", "--watch-devices"]
    give_export(library, tiny_model)
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


MASK = "CUDA_VISIBLE_DEVICES"
UUIDS = "GPU-5ee1, GPU-0c3b,GPU-9d00"
PARTS = "MIG-77aa,MIG-88bb"


def see(monkeypatch: pytest.MonkeyPatch, n: int, mask: str | None, *, cuda: int = 99, **free: Any) -> None:
    """Have a driver tell of `n` GPUs of 80 GB, but those that are named otherwise ("gpu3"), under a mask."""

    def ask(entries: Sequence[str] | None) -> tuple[int, dict[str, Any]]:
        shown = map(str, range(n)) if entries is None else entries
        return cuda, {entry: free.get(f"gpu{entry}", 80e9) for entry in shown}

    monkeypatch.setattr(devices, "may_have_gpu", lambda: True)
    monkeypatch.setattr(devices, "ask_driver", ask)
    monkeypatch.delenv(MASK, raising=False)
    if mask is not None:
        monkeypatch.setenv(MASK, mask)


@pytest.mark.parametrize("text", ["gpu", "cpu:0", "-1", "0", "1", "0,1", "0,0,", "cpu:x", ""])
def test_devices_that_are_not_there_are_named(text: str) -> None:
    with pytest.raises(DeviceError, match=f'--devices "{text}"'):
        parse_devices(text)


@pytest.mark.parametrize(
    ("mask", "n", "text", "expected"),
    [
        (None, 0, "cpu", Devices("cpu", 1)),
        (None, 0, "cpu:3", Devices("cpu", 3)),
        (None, 0, "auto", Devices("cpu", 1)),
        (None, 4, "auto", Devices("cuda", 4, "0,1,2,3")),
        (None, 4, "2", Devices("cuda", 2, "0,1")),
        (None, 4, "3,1", Devices("cuda", 2, "3,1", first=3)),
        ("4,5,6,7", 4, "auto", Devices("cuda", 4, "4,5,6,7")),
        ("4,5,6,7", 4, "2", Devices("cuda", 2, "4,5")),
        ("4,5,6,7", 4, "0,2", Devices("cuda", 2, "4,6")),
        ("4,5,6,7", 4, "3,", Devices("cuda", 1, "7", first=3)),
        (UUIDS, 3, "2,1", Devices("cuda", 2, "GPU-9d00,GPU-0c3b", first=2)),
        (PARTS, 1, "2", Devices("cuda", 2, PARTS)),
        (PARTS, 1, "auto", Devices("cuda", 2, PARTS)),
        ("", 1, "auto", Devices("cpu", 1, why='CUDA_VISIBLE_DEVICES is ""')),
    ],
)
def test_gpus_are_those_that_the_mask_shows(
    monkeypatch: pytest.MonkeyPatch, mask: str | None, n: int, text: str, expected: Devices
) -> None:
    see(monkeypatch, n, mask)
    assert parse_devices(text) == expected


def test_a_gpu_beyond_the_mask_is_refused_with_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    see(monkeypatch, 2, "4,5")
    with pytest.raises(DeviceError, match='asks for GPU 2, CUDA_VISIBLE_DEVICES "4,5" shows 2'):
        parse_devices("3")


@pytest.mark.parametrize(
    ("played", "auto", "refusal"),
    [
        ({"mask": ""}, Devices("cpu", 1), 'CUDA_VISIBLE_DEVICES "" shows 0, CUDA_VISIBLE_DEVICES is ""'),
        ({"mask": "-1"}, Devices("cpu", 1), 'CUDA_VISIBLE_DEVICES is "-1"'),
        ({"cuda": 9}, Devices("cpu", 1), r"the driver knows CUDA 9, torch is built for \d+; install"),
        ({"gpu0": 1e9}, Devices("cpu", 1), None),
        ({"gpu0": "GPU is lost"}, Devices("cpu", 1), None),
        ({"n": 3, "gpu1": 1e9}, Devices("cuda", 2, "0,2"), None),
    ],
)
def test_a_gpu_that_can_not_be_used_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, played: dict[str, Any], auto: Devices, refusal: str | None
) -> None:
    see(monkeypatch, **{"n": 1, "mask": None, **played})
    found = parse_devices("auto")
    assert replace(found, why="") == auto and found.why
    if refusal is None:  # who names it may try
        assert parse_devices("1") == Devices("cuda", 1, "0")
        assert re.fullmatch(r'GPU "\d" (has 1.0 GB free|does not answer: GPU is lost)', found.why)
    else:
        with pytest.raises(DeviceError, match=f"{refusal}.*; try --devices cpu"):
            parse_devices("1")


def test_a_driver_that_does_not_answer_says_so_and_others_are_asked_through_torch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(_: object) -> None:
        raise DeviceError("the driver does not answer: Driver/library version mismatch")

    see(monkeypatch, 1, None)
    monkeypatch.setattr(devices, "ask_driver", fail)
    assert parse_devices("auto").why.endswith("version mismatch; `nvidia-smi` says more")
    monkeypatch.setattr(devices, "ask_driver", lambda _: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert parse_devices("auto") == Devices("cuda", 2, "0,1")
    monkeypatch.setattr(devices, "_LISTED", tmp_path)
    (tmp_path / "0000:01:00.0").mkdir()
    assert parse_devices("auto") == Devices("cuda", 1, "0")


BUNDLED, LARGE = (1.6e8, 5.2e7), (1.56e11, 1.4e9)
"""Operations of a picture and a name: the bundled model's, and ViT-L-14's."""


@pytest.mark.parametrize(
    ("n_images", "of_each", "machine", "n_gpus", "expected"),
    [
        (2_176, BUNDLED, Machine(16), 1, "On the CPU: 2,176 pictures take about 2 s there, a GPU starts in 15 s"),
        (2_176, LARGE, Machine(16), 1, "On the GPU: 2,176 pictures take about 18 s there, 215 s on the CPU"),
        (50_000, BUNDLED, Machine(16), 1, "On the CPU: 50,000 pictures"),
        (400_000, BUNDLED, Machine(16), 1, "On the GPU: 400,000 pictures"),
        (400_000, BUNDLED, Machine(64), 1, "On the CPU"),
        (2_176, BUNDLED, Machine(16, gpu_start_seconds=1), 1, "On the GPU"),
        (20, LARGE, Machine(16), 1, "On the CPU: 20 pictures"),
        (2_000, LARGE, Machine(16, core_rate=4e12), 1, "On the CPU"),
        (400_000, LARGE, Machine(64), 8, "On 8 GPUs: 400,000 pictures take about 93 s there"),
        (0, BUNDLED, Machine(2), 1, "On the CPU: 500 names"),
    ],
)
def test_auto_takes_the_way_that_is_done_sooner(
    n_images: int, of_each: tuple[float, float], machine: Machine, n_gpus: int, expected: str
) -> None:
    gpus = Devices("cuda", n_gpus)
    chosen, line = choose_sooner(gpus, machine, n_images=n_images, n_names=n_images // 2 or 500, of_each=of_each)
    assert (line[: len(expected)], chosen) == (expected, Devices("cpu", 1) if "On the CPU" in line else gpus)


def test_operations_are_those_of_the_towers(tiny_model: Path) -> None:
    found = operations(find_checkpoint(ModelChoice.bundled()))
    assert found == pytest.approx(BUNDLED, rel=0.05), "resnet10t at 64 px has .185 GFLOP, by torch's counter"
    assert 0 < operations(find_checkpoint(ModelChoice(f"local-dir:{tiny_model}")))[0] < found[0]


def test_a_single_rank_in_this_process_counts_as_this_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    see(monkeypatch, 4, "4,5,6,7")
    assert [parse_devices(text).own() for text in ("3,", "1", "cpu")] == ["cuda:3", "cuda:0", "cpu"]
    assert first_devices("cuda", 2) == Devices("cuda", 2, "4,5"), "those of a benchmark"
    assert first_devices("cpu", 2) == Devices("cpu", 2)


def test_a_rank_on_a_part_of_a_gpu_sees_its_own_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    see(monkeypatch, 1, PARTS)
    assert Rank(1, 1, 2).device("cuda") == "cuda:0"
    assert os.environ[MASK] == "MIG-88bb"
    monkeypatch.setenv(MASK, PARTS)
    with pytest.raises(DeviceError, match='no GPU for local rank "2"'):
        Rank(2, 2, 3).device("auto")


@pytest.mark.parametrize(
    ("backend", "bound"),
    [("gloo", None), ("nccl", torch.device("cuda", 1)), ("cpu:gloo,cuda:nccl", torch.device("cuda", 1))],
)
def test_a_rank_takes_its_gpu_before_it_meets_others_and_binds_only_nccl_to_it(
    monkeypatch: pytest.MonkeyPatch, backend: str, bound: torch.device | None
) -> None:
    done: list[object] = []
    monkeypatch.setattr(torch.cuda, "set_device", done.append)
    monkeypatch.setattr(dist, "init_process_group", lambda *given, **named: done.extend([*given, named["device_id"]]))
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    gpu = torch.device("cuda", 1)
    with process_group(Rank(1, 1, 2), backend=backend, device=gpu):
        assert done == [gpu, backend, bound]
    with process_group(Rank(), backend=backend, device=gpu):
        assert done[3:] == [gpu]


PROGRAM = """
import os, signal, sys
from indexer.errors import EmbedError
from indexer.ranks import Rank, run_as_rank

def work(rank: Rank) -> None:
    if rank.index == 1:
        {ending}
    if "{ending}" != "pass":
        signal.pause()

run_as_rank(work)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ("pass", None),
        ("raise EmbedError('no room on cuda:1')", "rank 1: no room on cuda:1"),
        ("raise ValueError('17')", "rank 1: ValueError: 17"),
        ("os.kill(os.getpid(), 9)", 'rank 1 was killed by SIGKILL, see "{log}"'),
        ("os._exit(7)", 'rank 1 ended with exit code 7, see "{log}"'),
    ],
)
def test_the_first_rank_to_end_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, cause: str | None
) -> None:
    (tmp_path / "ending_rank.py").write_text(PROGRAM.format(ending=ending))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with Ranks("ending_rank", devices=Devices("cpu", 2), folder=tmp_path) as ranks:
        found = ranks.follow()
        assert found == (cause and cause.format(log=ranks.log))
        assert "Traceback" in ranks.log.read_text() or "ValueError" not in ending
