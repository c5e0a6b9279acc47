"""Does a real GPU do what is only played or simulated elsewhere? `pytest -m gpu` on a machine that has one.

On a bare machine: `pytest -o addopts= --noconftest -m gpu tests/gpu`; docs/gpu.md lists the few wheels that it needs,
and the tests of other folders that have the same mark.
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from indexer.bench.alone import encode_all
from indexer.bench.gpu import Parts, Setting, tiny
from indexer.bench.knobs import EMBED, TRAIN, parse_setting
from indexer.bench.report import Row
from indexer.embedding.cuda_device import CudaDevice, page_locked
from indexer.embedding.device import Batch
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import MANY
from indexer.encoders.torch_encoder import Encoder
from indexer.rendering.pool import Settings, Slots, shared_memory
from indexer.reports.terminal import Bars

N_GPUS = torch.cuda.device_count()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(N_GPUS == 0, reason="asks a real GPU; torch sees none on this machine"),
]
many = pytest.mark.skipif(N_GPUS < 2, reason=f"asks two GPUs; torch sees {N_GPUS} on this machine")


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return replace(tiny(tmp_path), kind="cuda", n_pictures=2000, n_compared=64, batches=(64,), steps=2)


def measured(setting: Setting, name: str) -> list[Row]:
    """Rows of one part of `icons lab bench gpu`, or of what is turned in one: "embed bundled: precision=fp32"."""
    of, _, chosen = name.partition(": ")
    table = TRAIN if of == "training" else EMBED
    config = dict(parse_setting(table, text) for text in chosen.split(", ") if "=" in text)
    with Bars() as bars:
        parts = Parts(setting, bars)
        if config and table is TRAIN:
            base = {"devices": setting.n_devices, "batch": setting.train_batch}
            part = parts._train({**base, **config}, base)
        elif config:
            part = parts._embed("bundled", **config)
        else:
            (part,) = (part for part in parts.all() if part.name == name)
        rows = part.measure()
    assert [row.error for row in rows] == [None] * len(rows)
    return rows


@pytest.fixture
def shared() -> Iterator[Any]:
    """Pixels in memory without a name, as renderers draw into: noise, (512, 64, 64, 3)."""
    settings = Settings(size=64, chunk=32, n_slots=16, seconds_per_item=10.0, memory_bytes=0)
    with shared_memory(settings) as file:
        pixels = Slots.map(settings, file.fileno()).pixels
        pixels[:] = np.random.default_rng(0).integers(0, 256, pixels.shape, np.uint8)
        yield pixels


def opened(pixels: Any, *, batch_size: int | None) -> CudaDevice:
    gc.collect()
    torch.cuda.empty_cache()
    return CudaDevice(
        Encoder(find_checkpoint(ModelChoice.bundled()), device=torch.device("cuda:0")), pixels, batch_size=batch_size
    )


def in_batches(pixels: Any) -> Iterator[Any]:
    return (pixels[start : start + 32] for start in range(0, len(pixels), 32))


def cosines(found: Any, expected: Any) -> Any:
    return (found * expected).sum(axis=1) / (np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1))


def test_vectors_are_those_of_the_cpu_with_graphs_and_without(setting: Setting) -> None:
    rows = measured(setting, "parity bundled")
    assert [row.name for row in rows] == [
        *("bf16, pass by pass", "bf16, captured graphs", "fp16, pass by pass", "fp16, captured graphs")
    ]
    assert min(row.runs[0]["least cosine"] for row in rows) >= 0.999


def test_shared_memory_is_pinned_for_torch_until_it_is_released(shared: Any) -> None:
    torch.cuda.init()
    assert not torch.from_numpy(shared).is_pinned()
    with page_locked(shared, torch.device("cuda:0")):
        assert torch.from_numpy(shared).is_pinned() and torch.from_numpy(shared[100:200]).is_pinned()
    assert not torch.from_numpy(shared).is_pinned()


def test_copies_from_the_renderers_memory_do_not_wait(setting: Setting) -> None:
    locked = measured(setting, "links")[-1]
    assert (locked.name, locked.runs[0]["locked"], locked.runs[0]["copies wait"]) == (
        "the renderers' memory",
        "yes",
        "no",
    )


@pytest.mark.parametrize("has_graphs", [False, True])
def test_batches_under_way_are_never_overwritten(shared: Any, has_graphs: bool) -> None:
    with opened(shared, batch_size=32) as device:
        one_by_one = np.concatenate([device.enqueue(shared[at : at + 32])() for at in range(0, 512, 32)])
        if has_graphs:
            device.prepare(n_images=MANY, largest=32)
            assert device.not_captured is None
        for _ in range(5):
            assert cosines(encode_all(device, in_batches(shared)), one_by_one.astype(np.float32)).min() > 0.9999


def test_the_first_batch_of_a_place_is_whole(shared: Any) -> None:
    """The place is filled with white on another stream than the pixels are copied on."""
    with opened(shared, batch_size=32) as device:
        again = device.enqueue(shared[:32])().astype(np.float32)
        for _ in range(20):
            device.clear()
            assert cosines(device.enqueue(shared[:32])().astype(np.float32), again).min() > 0.9999


def test_batches_are_halved_where_there_is_no_room(shared: Any) -> None:
    many_pixels = np.concatenate([shared] * 8)
    with opened(None, batch_size=32) as device:
        expected = encode_all(device, in_batches(many_pixels))
    with opened(many_pixels, batch_size=len(many_pixels)) as device:
        taken, there = torch.cuda.memory_reserved(), torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction((taken + (300 << 20)) / there)
        try:
            found = device.begin(Batch((), many_pixels, many_pixels))()
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        assert 1 <= device.batch_size < len(many_pixels) and cosines(found.astype(np.float32), expected).min() > 0.999


def test_a_batch_size_is_found_and_its_graphs_are_captured(shared: Any) -> None:
    with opened(shared, batch_size=None) as device:
        device.prepare(n_images=100_000, largest=512)
        while device.tries_sizes:
            encode_all(device, [shared[: device.batch_size]])
        assert device.batch_size in (64, 128, 256, 512) and device.not_captured is None and device.busy_seconds > 0.0
        assert all(place.graph is not None for place in device._places)


WAYS = ["precision=fp32", "precision=fp16", "program=plain", "program=plain, pinned=on"]
WAYS_OF_TWO = ["program=plain, devices=2, strategy=data-parallel"]


@pytest.mark.parametrize(
    "name",
    [
        *(f"training: precision={precision}" for precision in ("fp32", "bf16", "fp16")),
        *(f"embed bundled: {way}" for way in WAYS),
        "limit bundled",
    ],
)
def test_every_way_to_embed_and_to_learn_runs(setting: Setting, name: str) -> None:
    for row in measured(setting, name):
        assert 0 < row.runs[0].get("MFU", 0.5) < 1


@many
@pytest.mark.parametrize(
    "name",
    [
        *(f"training: {way}" for way in ("base", "strategy=fsdp", "backend=gloo", "nccl_high_priority=on")),
        *(f"embed bundled: {way}" for way in WAYS_OF_TWO),
        "all-reduce",
    ],
)
def test_every_way_of_two_gpus_runs(setting: Setting, name: str) -> None:
    assert all(row.runs for row in measured(replace(setting, n_devices=2), name))


def test_batches_of_fixed_sizes_are_embedded(setting: Setting) -> None:
    (found,), (fixed,) = (measured(setting, f"embed bundled: {name}") for name in ("base", "batch=64"))
    assert (found.runs[0]["pictures"], fixed.runs[0]["pictures"], fixed.runs[0]["batch"]) == (2000, 500, 64)
    assert 0 < found.runs[0]["device busy"] <= 1


def losses_of_two_ranks(folder: Path, device: str, strategy: str) -> list[float]:
    script, here = Path(__file__).with_name("training_ranks.py"), Path(__file__).parents[1]
    paths = [*sys.path, str(here), str(here / "indexer" / "finetune")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    done = subprocess.run(
        [*launch, str(folder), device, strategy],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "losses.json").read_text())


def test_two_ranks_of_ddp_learn_on_one_gpu(tmp_path: Path) -> None:
    assert losses_of_two_ranks(tmp_path, "cuda:0", "ddp") == pytest.approx(
        losses_of_two_ranks(tmp_path, "cpu", "ddp"), abs=0.1
    )


@many
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_ranks_learn_on_a_gpu_each(tmp_path: Path, strategy: str) -> None:
    on_cpu, losses = losses_of_two_ranks(tmp_path, "cpu", strategy), losses_of_two_ranks(tmp_path, "cuda", strategy)
    assert losses == pytest.approx(on_cpu, abs=0.1)
    assert losses[-1] == pytest.approx(losses[-2], abs=0.01), "the last step again, from a checkpoint"


@many
def test_each_of_two_gpus_embeds_as_many_pictures(setting: Setting) -> None:
    (alone,), (both,) = (
        measured(replace(setting, n_devices=2), f"devices bundled, as much for each: {name}")
        for name in ("base", "devices=2")
    )
    assert (alone.runs[0]["pictures"], both.runs[0]["pictures"]) == (2000, 4000)
    assert 0 < both.runs[0]["device busy"] <= 1
