"""How do copies hide behind forward passes? Batches come in and vectors go out beside the one that is computed.

Three queues of a device: pixels in, forward passes, vectors out. What follows in another queue waits for a mark, the
host for nothing but the vectors that it collects, while `UNDER_WAY` newer batches are on their way.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from indexer.encoders.torch_encoder import Precision, autocast

Queue = Literal["in", "compute", "out"]
UNDER_WAY = 2
"""Batches that are on their way when the host waits for the oldest: one that is computed, one that comes in."""


class Mark(Protocol):
    """A place in a queue, as torch.cuda.Event is one."""

    def synchronize(self) -> None:
        """Have the host wait until all before it is done."""


class Queues(Protocol):
    """Queues of a device: what is put into one is done in order, and beside what is in the others."""

    def put(self, queue: Queue, work: Callable[[], None], *, after: Sequence[Any] = ()) -> Mark:
        """Put work into a queue, which does it once these marks are reached; the mark is behind it."""

    def page_locked(self, shape: Sequence[int], kind: torch.dtype) -> Tensor:
        """Memory of the host that the device reads and writes by itself."""

    def is_page_locked(self, tensor: Tensor) -> bool:
        """Whether a tensor on the host lies in such memory."""


class Streams:
    """The queues of a GPU, as streams; those of the copies have high priority where that is asked for."""

    def __init__(self, device: torch.device, *, is_high: bool) -> None:
        make = cast(Any, torch.cuda.Stream)
        copies = {"device": device, "priority": -1 if is_high else 0}
        self._streams: dict[Queue, Any] = {"in": make(**copies), "compute": make(device), "out": make(**copies)}
        torch.cuda.synchronize(device)  # the weights have come on another stream

    def put(self, queue: Queue, work: Callable[[], None], *, after: Sequence[Any] = ()) -> Mark:
        """Put work into a stream, behind events of others."""
        stream = self._streams[queue]
        for event in after:
            stream.wait_event(event)
        with torch.cuda.stream(stream):
            work()
        return cast(Mark, stream.record_event())

    def page_locked(self, shape: Sequence[int], kind: torch.dtype) -> Tensor:
        """Pinned memory."""
        return torch.empty(tuple(shape), dtype=kind, pin_memory=True)

    def is_page_locked(self, tensor: Tensor) -> bool:
        """Whether CUDA knows it as such."""
        return tensor.is_pinned()


@dataclass(eq=False, slots=True)
class Slot:
    """A batch under way. Its memory is used again for another one as soon as its vectors are collected, not before."""

    source: Tensor | None = None
    """Page-locked pixels on the host."""
    staged: Tensor | None = None
    """Page-locked memory of our own, for pixels that come in other memory."""
    there: Tensor | None = None
    """Pixels on the device."""
    vectors: Tensor | None = None
    """fp16, on the device."""
    back: Tensor | None = None
    """The same, page-locked, on the host."""
    arrived: Mark | None = None
    returned: Mark | None = None


class Overlapped:
    """Computes on one device, with copies beside; a `strategies.Compute`.

    `capacity` is the largest batch. The pixels of `UNDER_WAY` + 1 batches have to stay as they are: of a pool with as
    many chunks `held`.
    """

    n_under_way = UNDER_WAY

    def __init__(
        self, tower: nn.Module, precision: Precision, device: torch.device, *, queues: Queues, capacity: int
    ) -> None:
        self.tower, self.precision, self.device = tower, precision, device
        self.queues, self.capacity = queues, capacity
        self._free = deque(Slot() for _ in range(UNDER_WAY + 1))

    def copy_in(self, batch: Tensor) -> Slot:
        """Begin to bring a batch to the device, by way of page-locked memory where it does not lie there already."""
        slot, n = self._free.popleft(), len(batch)
        if slot.there is None:
            slot.there = torch.empty((self.capacity, *batch.shape[1:]), dtype=batch.dtype, device=self.device)
        slot.source = self._staged(slot, batch)
        there, source = slot.there[:n], slot.source

        def bring() -> None:
            there.copy_(source, non_blocking=True)

        slot.arrived = self.queues.put("in", bring)
        return slot

    def forward(self, slot: Slot) -> Slot:
        """Put the forward pass behind the arrival, and the way back behind that."""
        assert slot.source is not None and slot.there is not None
        there = slot.there[: len(slot.source)]

        def encode() -> None:
            with torch.inference_mode(), autocast(self.precision, self.device):
                slot.vectors = self.tower(there).half()

        def bring_back() -> None:
            assert slot.vectors is not None
            if slot.back is None:
                slot.back = self.queues.page_locked((self.capacity, slot.vectors.shape[1]), torch.float16)
            slot.back[: len(slot.vectors)].copy_(slot.vectors, non_blocking=True)

        computed = self.queues.put("compute", encode, after=[slot.arrived])
        slot.returned = self.queues.put("out", bring_back, after=[computed])
        return slot

    def copy_out(self, slot: Slot) -> NDArray[np.float16]:
        """Wait for the vectors of a batch, and for nothing that was put behind them."""
        assert slot.source is not None and slot.returned is not None
        slot.returned.synchronize()
        assert slot.back is not None
        vectors: NDArray[np.float16] = slot.back[: len(slot.source)].numpy().copy()
        slot.source = slot.vectors = None
        self._free.append(slot)
        return vectors

    def _staged(self, slot: Slot, batch: Tensor) -> Tensor:
        if self.queues.is_page_locked(batch):
            return batch
        if slot.staged is None:
            slot.staged = self.queues.page_locked((self.capacity, *batch.shape[1:]), batch.dtype)
        return slot.staged[: len(batch)].copy_(batch)
