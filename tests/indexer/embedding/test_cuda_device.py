"""What a GPU's rank does, with CUDA's part played on the CPU: streams that work at once, graphs that record and repeat.

Whether CUDA does the same is what `pytest -m gpu` asks, where there is a GPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from played_cuda import Graph, play

from indexer.embedding import cuda_device
from indexer.embedding.cuda_device import CudaDevice
from indexer.embedding.device import Batch
from indexer.encoders import torch_encoder
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import MANY
from indexer.encoders.torch_encoder import Encoder


class Cuda:
    """Stands for CUDA, and notes what it was asked for."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.pools: list[str | None] = []
        self.fails: str | None = None

    def cudaHostRegister(self, address: int, n_bytes: int, flags: int) -> int:  # noqa: N802
        self.said.append(f"lock {n_bytes}")
        return 0

    def cudaHostUnregister(self, address: int) -> int:  # noqa: N802
        self.said.append("release")
        return 0

    @contextmanager
    def capture(self, graph: Graph, *, pool: str | None, stream: object, capture_error_mode: str) -> Iterator[None]:
        self.pools.append(pool)
        try:
            with graph:
                yield
                if self.fails:
                    raise RuntimeError(self.fails)  # noqa: TRY301
        except RuntimeError:
            raise RuntimeError("operation failed due to a previous error during capture")  # noqa: B904


class Stream:
    def __init__(self, device: object) -> None: ...

    def wait_event(self, event: object) -> None: ...


class Event:
    def __init__(self, **_: bool) -> None: ...

    def record(self) -> None: ...

    def synchronize(self) -> None: ...

    def elapsed_time(self, other: object) -> float:
        return 2.0


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    played = Cuda()
    play(
        monkeypatch,
        Stream=Stream,
        Event=Event,
        CUDAGraph=Graph,
        stream=lambda _: nullcontext(),
        synchronize=lambda _: played.said.append("synchronize"),
        empty_cache=lambda: None,
        graph=played.capture,
        cudart=lambda: played,
    )
    return played


@pytest.fixture
def encoder(tiny_model: Path) -> Encoder:
    choice = ModelChoice(f"local-dir:{tiny_model}")
    return Encoder(find_checkpoint(choice), device=torch.device("cpu"), precision="fp32")


def _pixels(n: int, *, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (n, 32, 32, 3), np.uint8)


def _assert_encoded(device: CudaDevice, encoder: Encoder) -> None:
    """Several batches under way, the last one smaller."""
    batches = [_pixels(4, seed=1), _pixels(4, seed=2), _pixels(3, seed=3)]
    first, second = (device.begin(Batch((), batch, batch)) for batch in batches[:2])
    found = [first()]
    third = device.begin(Batch((), batches[2], batches[2]))
    for vectors, batch in zip([*found, second(), third()], batches, strict=True):
        assert (vectors * encoder.encode_images(batch)).sum(axis=1).min() > 0.999


def test_batches_are_encoded_with_graphs_and_without(cuda: Cuda, encoder: Encoder) -> None:
    with CudaDevice(encoder, None, batch_size=4) as device:
        _assert_encoded(device, encoder)
        device.clear()
        device.prepare(n_images=MANY, largest=64)
        assert device.not_captured is None
        _assert_encoded(device, encoder)
        assert sum(place.graph.n_replays for place in device._places) == 2 + 3
        assert device.busy_seconds == pytest.approx(3 * 0.002)


def test_a_pass_that_cannot_be_captured_says_why_and_goes_without(
    cuda: Cuda, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_encoder, "_failed_captures", kept := list[Graph]())
    cuda.fails = "a copy from the host\nat line 3"
    with CudaDevice(encoder, None, batch_size=4) as device:
        device.prepare(n_images=MANY, largest=64)
        assert (device.not_captured, len(kept)) == ("a copy from the host", 1), "torch asks it again"
        _assert_encoded(device, encoder)


def test_graphs_that_differ_are_left(cuda: Cuda, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Graph, "replay", lambda graph: graph.done[-1][3].zero_())
    with CudaDevice(encoder, None, batch_size=4) as device:
        assert device.capture() == "its vectors differ from those of the pass that was captured"
        _assert_encoded(device, encoder)


def test_who_collects_keeps_nothing_of_the_device(cuda: Cuda, encoder: Encoder) -> None:
    """The place of a batch that is under way is given back where a later one finds no room."""
    with CudaDevice(encoder, None, batch_size=4) as device:
        device.prepare(n_images=MANY, largest=64)
        pixels = _pixels(4)
        collect = device.enqueue(pixels)
        assert not any(isinstance(cell.cell_contents, cuda_device._Place) for cell in collect.__closure__ or ())
        device.halve()
        assert (device.batch_size, device.not_captured) == (2, None)
        assert all(place.graph is not None for place in device._places)
        assert (collect() * encoder.encode_images(pixels)).sum(axis=1).min() > 0.999


def test_a_small_batch_keeps_its_vectors_where_the_next_one_goes_in_parts(cuda: Cuda, encoder: Encoder) -> None:
    """The last chunk of a block is small; the next block begins with a whole one, which does not fit any more."""
    small, whole = _pixels(1, seed=1), _pixels(4, seed=2)
    with CudaDevice(encoder, None, batch_size=4) as device:
        device.halve()
        for collect, pixels in [(device.begin(Batch((), pixels, whole)), pixels) for pixels in (small, whole)]:
            assert (collect() * encoder.encode_images(pixels)).sum(axis=1).min() > 0.999


@pytest.mark.parametrize("said", ["CUDA error: out of memory", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"])
def test_libraries_without_memory_are_believed(
    cuda: Cuda, encoder: Encoder, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    encode = encoder.encode_on_device

    def encode_few(pixels: torch.Tensor) -> torch.Tensor:
        if len(pixels) > 2:
            raise RuntimeError(said)
        return encode(pixels)

    pixels = _pixels(4)
    expected = encoder.encode_images(pixels)
    monkeypatch.setattr(encoder, "encode_on_device", encode_few)
    with CudaDevice(encoder, None, batch_size=4) as device:
        assert (device.begin(Batch((), pixels, pixels))() * expected).sum(axis=1).min() > 0.999
        assert device.batch_size == 2


def test_what_cannot_be_locked_is_copied_all_the_same(cuda: Cuda, encoder: Encoder) -> None:
    cuda.cudaHostRegister = lambda *_: 801  # type: ignore[method-assign]
    memory = _pixels(4)
    with CudaDevice(encoder, memory, batch_size=4) as device:
        assert device.not_locked == "0 MB of pixels can't be page-locked (CUDA error 801)"
        assert (device.begin(Batch((), memory, memory))() * encoder.encode_images(memory)).sum(axis=1).min() > 0.999
    assert "release" not in cuda.said


def test_the_renderers_memory_is_locked_while_the_device_is_there(cuda: Cuda, encoder: Encoder) -> None:
    memory = _pixels(8)
    with CudaDevice(encoder, memory, batch_size=4):
        assert cuda.said == [f"lock {memory.nbytes}"]
    assert cuda.said[-1] == "release"


def test_what_was_found_is_kept_and_capturing_waits_until_it_pays(cuda: Cuda, encoder: Encoder, tmp_path: Path) -> None:
    kept, pixels = tmp_path / "batch.json", _pixels(128)
    for n_batches in (1, 4):  # of one nothing is learnt
        assert not kept.exists()
        device = CudaDevice(encoder, None, batch_size=None, kept=kept)
        device.prepare(n_images=1024, largest=128)
        for _ in range(n_batches):
            device.begin(Batch((), pixels[: device.batch_size], pixels[: device.batch_size]))
        device.tries_sizes = False
        assert (device.batch_size, cuda.pools) == (128, []), "of 8 batches"
    for n_images, n_captured in ((1024, 0), (128 * 128, 2)):
        with CudaDevice(encoder, None, batch_size=None, kept=kept) as device:
            device.prepare(n_images=n_images, largest=128)
            assert (device.batch_size, len(cuda.pools)) == (128, n_captured)
    kept.write_text('{"batch_size": 64, "not_captured": "a copy from the host"}')
    with CudaDevice(encoder, None, batch_size=None, kept=kept) as device:
        device.prepare(n_images=MANY, largest=128)
        assert (device.remark, len(cuda.pools)) == ("no graph was captured: a copy from the host", 2)
    kept.write_text("[]")
    with CudaDevice(encoder, None, batch_size=None, kept=kept) as device:
        assert device.known is None
