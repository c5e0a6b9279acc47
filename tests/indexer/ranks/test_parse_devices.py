"""`--devices` counts the GPUs that CUDA_VISIBLE_DEVICES shows, and a rank gets the entry that was meant."""

import os
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from indexer.encoders.devices import Devices, first_devices, parse_devices
from indexer.errors import DeviceError
from indexer.ranks import Rank, Ranks, process_group

MASK = "CUDA_VISIBLE_DEVICES"
UUIDS = "GPU-5ee1, GPU-0c3b,GPU-9d00"
PARTS = "MIG-77aa,MIG-88bb"


def see(monkeypatch: pytest.MonkeyPatch, n: int, mask: str | None) -> None:
    """Have CUDA show `n` GPUs under a mask."""
    monkeypatch.setattr("indexer.encoders.devices.may_have_gpu", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n)
    monkeypatch.delenv(MASK, raising=False)
    if mask is not None:
        monkeypatch.setenv(MASK, mask)


@pytest.mark.parametrize(
    ("text", "expected"), [("cpu", Devices("cpu", 1)), ("cpu:3", Devices("cpu", 3)), ("auto", Devices("cpu", 1))]
)
def test_devices_are_read(text: str, expected: Devices) -> None:
    assert parse_devices(text) == expected


@pytest.mark.parametrize("text", ["gpu", "cpu:0", "-1", "0", "1", "0,1", "0,0,", "cpu:x", ""])
def test_devices_that_are_not_there_are_named(text: str) -> None:
    with pytest.raises(DeviceError, match=f'--devices "{text}"'):
        parse_devices(text)


@pytest.mark.parametrize(
    ("mask", "n", "text", "expected"),
    [
        (None, 4, "auto", Devices("cuda", 4)),
        (None, 4, "2", Devices("cuda", 2, "0,1")),
        (None, 4, "3,1", Devices("cuda", 2, "3,1", first=3)),
        ("4,5,6,7", 4, "auto", Devices("cuda", 4, "4,5,6,7")),
        ("4,5,6,7", 4, "2", Devices("cuda", 2, "4,5")),
        ("4,5,6,7", 4, "0,2", Devices("cuda", 2, "4,6")),
        ("4,5,6,7", 4, "3,", Devices("cuda", 1, "7", first=3)),
        (UUIDS, 3, "2,1", Devices("cuda", 2, "GPU-9d00,GPU-0c3b", first=2)),
        (PARTS, 1, "2", Devices("cuda", 2, PARTS)),
        (PARTS, 1, "auto", Devices("cuda", 2, PARTS)),
        ("", 0, "auto", Devices("cpu", 1)),
        (PARTS, 0, "auto", Devices("cpu", 1)),
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
