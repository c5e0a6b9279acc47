"""A GPU's three streams wait for each other where they have to: played by threads that keep no step by themselves.

Whatever is called within `torch.cuda.stream(it)` is done later, by the thread of that stream; events order threads.
"""

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from played_cuda import play
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from indexer.embedding.cuda_device import CudaDevice
from indexer.embedding.device import Batch

N_BATCHES, SIDE = 12, 4


class Stream(TorchDispatchMode):
    """Has a thread do what is called while it is entered, one after the other."""

    def __init__(self, _: object) -> None:
        super().__init__()
        self.todo: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self.delay = 0.005
        threading.Thread(target=self._live, daemon=True).start()

    def wait_event(self, event: "Event") -> None:
        self.todo.put(event.reached.wait)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.copy_.default:
            self.todo.put(lambda: func(*args, **(kwargs or {})))
            return args[0]
        out = func(*args, **(kwargs or {}))  # its shape, and whatever is there already

        def again() -> None:
            for early, late in zip(tree_leaves(out), tree_leaves(func(*args, **(kwargs or {}))), strict=True):
                if early.data_ptr() != late.data_ptr():
                    early.copy_(late)

        self.todo.put(again)
        return out

    @torch.inference_mode()
    def _live(self) -> None:
        while True:
            work = self.todo.get()
            time.sleep(self.delay * random.random())
            work()


ENTERED: list[Stream] = []


class Event:
    """Reached once its stream has come to where it was recorded last."""

    def __init__(self, **_: bool) -> None:
        self.reached = threading.Event()
        self.reached.set()

    def record(self) -> None:
        self.reached = threading.Event()
        ENTERED[-1].todo.put(self.reached.set)

    def synchronize(self) -> None:
        assert self.reached.wait(20)

    def elapsed_time(self, _: object) -> float:
        return 0.0


@contextmanager
def stream(entered: Stream) -> Iterator[None]:
    ENTERED.append(entered)
    try:
        with entered:
            yield
    finally:
        ENTERED.pop()


class Greys:
    """The vector of a picture is its grey."""

    image_size, dim, device = SIDE, 1, torch.device("cpu")

    def encode_on_device(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.float().mean(dim=(1, 2, 3))[:, None]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> CudaDevice:
    play(monkeypatch, Stream=Stream, Event=Event, stream=stream, synchronize=lambda _: None)
    return CudaDevice(Greys(), None, batch_size=4)  # type: ignore[arg-type]


EXPECTED = [[float(number)] * (4 if number < N_BATCHES else 3) for number in range(1, N_BATCHES + 1)]


def greys_of(device: CudaDevice) -> list[list[float]]:
    """Batches, two of them under way; the last one is small."""
    under_way, found = [], []
    for number in range(1, N_BATCHES + 1):
        pixels = np.full((4 if number < N_BATCHES else 3, SIDE, SIDE, 3), number, np.uint8)
        under_way.append((device.begin(Batch((), pixels, pixels)), pixels))
        if len(under_way) == device.n_under_way:
            found.append(under_way.pop(0)[0]())
    found += [collect() for collect, _ in under_way]
    return [vectors[:, 0].tolist() for vectors in found]


def test_batches_get_their_own_vectors_however_streams_run(device: CudaDevice) -> None:
    assert greys_of(device) == EXPECTED


@pytest.mark.parametrize("hurried", [1, 2])
def test_without_one_of_the_waits_they_would_not(
    device: CudaDevice, monkeypatch: pytest.MonkeyPatch, hurried: int
) -> None:
    """Computing or copying out waits for nothing, while the others are slow: so the test above can fail."""
    for at, stream in enumerate(device._streams):
        stream.delay = 0.0 if at == hurried else 0.01
    monkeypatch.setattr(device._streams[hurried], "wait_event", lambda _: None)
    assert greys_of(device) != EXPECTED
