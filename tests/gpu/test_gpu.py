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

from indexer.bench.gpu.embedding import embed_on_all, embed_whole, two_ranks_on_one
from indexer.bench.gpu.encoding import compare_with_cpu, encode_all, measure_limit
from indexer.bench.gpu.links import measure_links, measure_reduction
from indexer.bench.gpu.parts import Part, measure
from indexer.bench.gpu.setting import Setting
from indexer.embedding.batches import Batch
from indexer.embedding.cuda_device import CudaDevice
from indexer.embedding.page_lock import page_locked
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder
from indexer.rendering.slots import Settings, Slots, shared_memory

N_GPUS = torch.cuda.device_count()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(N_GPUS == 0, reason="asks a real GPU; torch sees none on this machine"),
]
many = pytest.mark.skipif(N_GPUS < 2, reason=f"asks two GPUs; torch sees {N_GPUS} on this machine")


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(
        tmp_path,
        models=("bundled",),
        n_compared=64,
        batch_sizes=(64,),
        n_images=2000,
        n_varied=2000,
        seconds=0.2,
        steps=2,
        train={"batch": 16},
    )


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
    checkpoint = find_checkpoint(ModelChoice.bundled())
    return CudaDevice(Encoder(checkpoint, device=torch.device("cuda:0")), pixels, batch_size=batch_size)


def cosines(found: Any, expected: Any) -> Any:
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return (found * expected).sum(axis=1) / lengths


def test_vectors_are_those_of_the_cpu_with_graphs_and_without(setting: Setting) -> None:
    rows = list(compare_with_cpu(setting, "bundled"))
    assert [row["way"] for row in rows] == ["pass by pass", "captured graphs"] * 2
    assert {row["precision"] for row in rows} == {"bf16", "fp16"}
    assert min(row["least cosine"] for row in rows) >= 0.999


def test_shared_memory_is_pinned_for_torch_until_it_is_released(shared: Any) -> None:
    torch.cuda.init()
    assert not torch.from_numpy(shared).is_pinned()
    with page_locked(shared, torch.device("cuda:0")):
        assert torch.from_numpy(shared).is_pinned()
        assert torch.from_numpy(shared[100:200]).is_pinned()
    assert not torch.from_numpy(shared).is_pinned()


def test_copies_from_the_renderers_memory_do_not_wait(setting: Setting) -> None:
    locked = list(measure_links(setting))[-1]
    assert locked["torch calls it pinned"]
    assert not locked["copies wait"]


@pytest.mark.parametrize("has_graphs", [False, True])
def test_batches_under_way_are_never_overwritten(shared: Any, has_graphs: bool) -> None:
    with opened(shared, batch_size=32) as device:
        one_by_one = np.concatenate([device.enqueue(shared[at : at + 32])() for at in range(0, 512, 32)])
        if has_graphs:
            device.settle(n_images=512, largest=32)
            assert device.not_captured is None
        for _ in range(5):
            found = encode_all(device, shared)
            assert cosines(found, one_by_one.astype(np.float32)).min() > 0.9999


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
        expected = encode_all(device, many_pixels)
    with opened(many_pixels, batch_size=len(many_pixels)) as device:
        taken, there = torch.cuda.memory_reserved(), torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction((taken + (300 << 20)) / there)
        try:
            found = device.begin(Batch((), many_pixels, many_pixels))()
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        assert 1 <= device.batch_size < len(many_pixels)
        assert cosines(found.astype(np.float32), expected).min() > 0.999


def test_a_batch_size_is_found_and_its_graphs_are_captured(shared: Any) -> None:
    with opened(shared, batch_size=None) as device:
        device.settle(n_images=100_000, largest=512)
        assert device.batch_size in (64, 128, 256, 512)
        assert device.not_captured is None
        assert device.busy_seconds == 0.0
        encode_all(device, shared)
        assert device.busy_seconds > 0.0


def test_passes_alone_stay_below_the_ceiling(setting: Setting) -> None:
    rows = list(measure_limit(setting, "bundled"))
    assert [row["way"] for row in rows] == ["pass by pass", "captured graph"]
    assert all(0 < row["MFU"] < 1 for row in rows)


def test_two_ranks_share_a_gpu(setting: Setting) -> None:
    alone, both = two_ranks_on_one(setting, "bundled")
    assert alone["images"] == both["images"] == 2000
    assert both["least cosine to one rank"] >= 0.999


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_a_model_learns(setting: Setting, precision: str) -> None:
    chosen = replace(setting, train={"batch": 16, "precision": precision}, sweeps=(("accumulate", (2,)),))
    rows = list(measure(chosen, Part("training", "accumulate")))
    assert [row["error"] for row in rows] == [None, None]


@pytest.mark.parametrize("group", ["precision", "copy", "pinned", "cudnn_benchmark"])
def test_every_way_to_embed_runs(setting: Setting, group: str) -> None:
    rows = list(measure(setting, Part("knobs", group)))
    assert len(rows) > 1
    assert [row["error"] for row in rows] == [None] * len(rows)


def test_batches_of_fixed_sizes_are_embedded(setting: Setting) -> None:
    found, fixed = embed_whole(setting, "bundled")
    assert (found["images"], fixed["images"]) == (2000, 500)
    assert fixed["batch"] == 64
    assert 0 < found["device busy"] <= 1


def losses_of_two_ranks(folder: Path, device: str, strategy: str) -> list[float]:
    script, here = Path(__file__).with_name("training_ranks.py"), Path(__file__).parents[1]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    paths = [*sys.path, str(here), str(here / "indexer" / "finetune")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [*launch, str(folder), device, strategy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    losses: list[float] = json.loads((folder / "losses.json").read_text())
    return losses


def test_two_ranks_of_ddp_learn_on_one_gpu(tmp_path: Path) -> None:
    on_cpu = losses_of_two_ranks(tmp_path, "cpu", "ddp")
    assert losses_of_two_ranks(tmp_path, "cuda:0", "ddp") == pytest.approx(on_cpu, abs=0.1)


@many
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_ranks_learn_on_a_gpu_each(tmp_path: Path, strategy: str) -> None:
    on_cpu = losses_of_two_ranks(tmp_path, "cpu", strategy)
    losses = losses_of_two_ranks(tmp_path, "cuda", strategy)
    assert losses == pytest.approx(on_cpu, abs=0.1)
    assert losses[-1] == pytest.approx(losses[-2], abs=0.01), "the last step again, from a checkpoint"


@many
def test_a_model_learns_on_two_gpus_in_every_way(setting: Setting) -> None:
    chosen = replace(setting, n_devices=2, sweeps=(("strategy", ("ddp", "data-parallel")),))
    rows = list(measure(chosen, Part("training", "strategy")))
    assert [row["error"] for row in rows] == [None] * 3


@many
def test_each_of_two_gpus_embeds_as_many_pictures(setting: Setting) -> None:
    alone, both = embed_on_all(replace(setting, n_devices=2), "bundled")
    assert (alone["images"], both["images"]) == (2000, 4000)
    assert 0 < both["device busy"] <= 1


@many
def test_two_gpus_embed_in_every_way(setting: Setting) -> None:
    rows = list(measure(replace(setting, n_devices=2), Part("knobs", "strategy")))
    assert [row["error"] for row in rows] == [None] * len(rows)


@many
def test_gpus_add_up_through_nccl(setting: Setting) -> None:
    assert all(row["GB/s"] > 0 for row in measure_reduction(replace(setting, n_devices=2)))
