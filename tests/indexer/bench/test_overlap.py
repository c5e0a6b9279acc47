"""Copies that overlap keep the order of results, and nothing is overwritten while it is under way."""

import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from indexer.bench.trials import feeds
from indexer.bench.trials.feeds import from_memory, rendered
from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.loop import Loop
from indexer.bench.trials.material import Material, gather, read_jobs
from indexer.bench.trials.overlap import UNDER_WAY, Mark, Overlapped, Queue
from indexer.bench.trials.trial import Trial
from indexer.embedding.page_lock import page_locked
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError
from indexer.ranks.distributed import Rank
from indexer.rendering.pool import RenderPool

CPU = torch.device("cpu")


class Reached(threading.Event):
    """A mark of a thread."""

    def synchronize(self) -> None:
        assert self.wait(20)


class Threads:
    """Queues of a device that is this processor: a thread each, none of which keeps step with another."""

    def __init__(self, *, locked: Sequence[Tensor] = ()) -> None:
        self.done: list[tuple[Queue, int]] = []
        self.n_page_locked = 0
        self._locked = {tensor.untyped_storage().data_ptr() for tensor in locked}
        self._counts = {"in": 0, "compute": 0, "out": 0}
        self._todo: dict[Queue, queue.SimpleQueue[Callable[[], None] | None]] = {}
        for name in ("in", "compute", "out"):
            self._todo[name] = queue.SimpleQueue()
            threading.Thread(target=self._live, args=(name,), daemon=True).start()

    def put(self, queue: Queue, work: Callable[[], None], *, after: Sequence[Reached] = ()) -> Mark:
        mark, number = Reached(), self._counts[queue]
        self._counts[queue] += 1

        def do() -> None:
            for earlier in after:
                earlier.synchronize()
            time.sleep(random.random() / 200)
            work()
            self.done.append((queue, number))
            mark.set()

        self._todo[queue].put(do)
        return mark

    def page_locked(self, shape: Sequence[int], kind: torch.dtype) -> Tensor:
        self.n_page_locked += 1
        return torch.full(tuple(shape), 77, dtype=kind)

    def is_page_locked(self, tensor: Tensor) -> bool:
        return tensor.untyped_storage().data_ptr() in self._locked

    def close(self) -> None:
        for todo in self._todo.values():
            todo.put(None)

    def _live(self, name: Queue) -> None:
        while (work := self._todo[name].get()) is not None:
            work()


class Doubling(nn.Module):
    """Takes a moment, and doubles what it is given."""

    def forward(self, there: Tensor) -> Tensor:
        return there.float() * 2


@pytest.fixture
def threads() -> Iterator[Threads]:
    with closing(Threads()) as found:
        yield found


def _through(compute: Overlapped, batches: Sequence[Tensor]) -> list[np.ndarray]:
    """As the loop does it."""
    under_way, found = [], []
    for batch in batches:
        under_way.append(compute.forward(compute.copy_in(batch)))
        if len(under_way) > compute.n_under_way:
            found.append(compute.copy_out(under_way.pop(0)))
    return [*found, *map(compute.copy_out, under_way)]


def test_vectors_come_back_in_order_while_newer_batches_are_under_way(threads: Threads) -> None:
    batches = [torch.full((4 if number < 19 else 3, 2), number, dtype=torch.uint8) for number in range(20)]
    found = _through(Overlapped(Doubling(), "fp32", CPU, queues=threads, capacity=4), batches)
    assert [part.shape for part in found] == [(4, 2)] * 19 + [(3, 2)]
    assert [part.min() for part in found] == [part.max() for part in found] == [2 * number for number in range(20)]
    ahead = [threads.done.index(("in", n + 1)) < threads.done.index(("out", n)) for n in range(19)]
    assert any(ahead), "the next batch comes in meanwhile"


def test_the_host_waits_for_the_oldest_batch_alone(threads: Threads) -> None:
    may_go = threading.Event()

    class Held(nn.Module):
        def forward(self, there: Tensor) -> Tensor:
            assert there.max() == 0 or may_go.wait(20)
            return there.float()

    compute = Overlapped(Held(), "fp32", CPU, queues=threads, capacity=1)
    first, second = (compute.forward(compute.copy_in(torch.full((1, 1), n, dtype=torch.uint8))) for n in (0, 1))
    assert compute.copy_out(first) == 0, "though the forward pass behind it has not ended"
    may_go.set()
    assert compute.copy_out(second) == 1


def test_memory_is_used_again_once_its_vectors_are_collected(threads: Threads) -> None:
    compute = Overlapped(Doubling(), "fp32", CPU, queues=threads, capacity=4)
    _through(compute, [torch.zeros((4, 2), dtype=torch.uint8)] * 12)
    assert threads.n_page_locked == 2 * (UNDER_WAY + 1), "for pixels and vectors of each batch under way"
    for _ in range(UNDER_WAY + 1):
        compute.forward(compute.copy_in(torch.zeros((4, 2), dtype=torch.uint8)))
    with pytest.raises(IndexError):  # no fourth one, which would overwrite the first
        compute.copy_in(torch.zeros((4, 2), dtype=torch.uint8))


def test_pixels_in_page_locked_memory_are_not_copied_on_the_host() -> None:
    pixels = torch.arange(8, dtype=torch.uint8).reshape(4, 2)
    with closing(Threads(locked=[pixels])) as threads:
        compute = Overlapped(Doubling(), "fp32", CPU, queues=threads, capacity=4)
        slot = compute.copy_in(pixels)
        assert slot.source is not None and slot.source.data_ptr() == pixels.data_ptr()
        assert (compute.copy_out(compute.forward(slot)) == 2 * pixels.numpy()).all()
        assert threads.n_page_locked == 1, "for the vectors"


@pytest.fixture
def material(tmp_path: Path, tiny_model: Path) -> Material:
    return gather(tmp_path / "material", None, choice=ModelChoice(f"local-dir:{tiny_model}"), n_images=20)


def _trial(material: Material, knobs: Knobs) -> Trial:
    return Trial(knobs, material, "cpu", tuple(sorted(os.sched_getaffinity(0)))[:1], 20)


def test_a_loop_with_overlap_keeps_each_chunk_until_it_is_read(material: Material, threads: Threads) -> None:
    """The pool draws into a chunk again as soon as it may: too few of them held would change pixels under way."""
    plain = Loop(_trial(material, Knobs(path="loop", batch=2, workers=0, precision="fp32")), rank=Rank(), device=CPU)
    kept: list[np.ndarray] = []
    plain._write = lambda vectors, clock: kept.append(np.concatenate(vectors))  # type: ignore[method-assign]
    plain.run()
    locked = _AllLocked()
    with closing(locked):
        overlapped = Overlapped(plain.compute.tower, "fp32", CPU, queues=locked, capacity=2)  # type: ignore[attr-defined]
        plain.compute = overlapped
        plain.run()
    assert np.abs(kept[0].astype(np.float32) - kept[1].astype(np.float32)).max() < 2e-3


class _AllLocked(Threads):
    """What the renderers draw into is read by the device itself."""

    def is_page_locked(self, tensor: Tensor) -> bool:
        return True


@dataclass
class Registry:
    """Memory that was page-locked, by its address, as CUDA's runtime keeps it."""

    answer: int = 0
    locked: dict[int, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def cudaHostRegister(self, address: int, n_bytes: int, flags: int) -> int:  # noqa: N802
        self.calls.append("register")
        self.locked[address] = n_bytes
        return self.answer

    def cudaHostUnregister(self, address: int) -> int:  # noqa: N802
        self.calls.append("unregister")
        del self.locked[address]
        return 0


def test_what_renderers_draw_into_is_page_locked_once(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry()
    monkeypatch.setattr(feeds, "page_locked", lambda memory, device: page_locked(memory, device, registry))
    pool = RenderPool(size=32, workers=0, chunk=4)
    seen = 0
    for batch in rendered(pool, read_jobs(material, 20), Knobs(pinned=True), device=CPU):
        ((address, n_bytes),) = registry.locked.items()
        assert address <= batch.data_ptr() and batch.data_ptr() + batch.numel() <= address + n_bytes
        seen += len(batch)
    assert seen == 20
    assert registry.calls == ["register", "unregister"]


def test_memory_that_can_not_be_locked_is_told_by_its_size(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(answer=2)
    with page_locked(np.empty(3_000_000, np.uint8), CPU, registry) as refusal:
        assert refusal == "3 MB of pixels can't be page-locked (CUDA error 2)"
    assert registry.calls == ["register"], "what was not locked is not released"
    monkeypatch.setattr(feeds, "page_locked", lambda memory, device: page_locked(memory, device, registry))
    batches = rendered(RenderPool(size=32, workers=0, chunk=4), read_jobs(material, 4), Knobs(pinned=True), device=CPU)
    with pytest.raises(BenchError, match=r'pinned "on" can.t be measured: .* page-locked'):
        next(batches)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("copy", ["batch", "stream", "stream-high"])
@pytest.mark.parametrize("pinned", [False, True])
def test_on_a_gpu_every_way_to_copy_gives_the_vectors_of_the_plain_one(
    material: Material, copy: Any, pinned: bool
) -> None:
    kept: list[np.ndarray] = []
    for knobs in (Knobs(path="loop", workers=0), Knobs(path="loop", workers=0, copy=copy, pinned=pinned)):
        trial = replace(_trial(material, replace(knobs, batch=2, precision="fp32")), kind="cuda")
        loop = Loop(trial, rank=Rank(), device=torch.device("cuda", 0))
        loop._write = lambda vectors, clock: kept.append(np.concatenate(vectors))  # type: ignore[method-assign]
        loop.run()
    assert np.abs(kept[0].astype(np.float32) - kept[1].astype(np.float32)).max() < 2e-3


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_knows_the_shared_memory_of_renderers_as_page_locked(material: Material) -> None:
    pool = RenderPool(size=32, workers=0, chunk=4)
    batches = rendered(pool, read_jobs(material, 20), Knobs(pinned=True), device=torch.device("cuda", 0))
    assert all(batch.is_pinned() for batch in batches)


def test_pixels_from_memory_are_drawn_once_and_come_again_and_again(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = torch.arange(12).reshape(3, 4)
    assert [batch.tolist() for batch in from_memory(pixels, n_images=7)] == [
        *[pixels.tolist()] * 2,
        [pixels[0].tolist()],
    ]
    loop = Loop(_trial(material, Knobs(path="loop", loader="memory", batch=8)), rank=Rank(), device=CPU)
    monkeypatch.setattr(feeds, "render", lambda *_, **__: pytest.fail("drawn while the clock runs"))
    told = loop.run()
    assert told.images == 20
    assert told.waited_seconds is not None and told.waited_seconds < 0.05


def test_memory_takes_no_workers(material: Material) -> None:
    from indexer.bench.trials.knobs import check

    with pytest.raises(BenchError, match='workers "2" have nothing to do with loader=memory'):
        check(Knobs(path="loop", loader="memory", workers=2), kind="cpu", n_devices=1, n_images=20)
    with pytest.raises(BenchError, match='copy "item" needs strategy=ranks; threads copies in its own way'):
        check(replace(Knobs(devices=2, copy="item"), strategy="threads"), kind="cpu", n_devices=2, n_images=20)
