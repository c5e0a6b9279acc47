"""How does data reach a device without anyone waiting for it? Page-locked, and on a GPU while it computes."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self

import torch
from torch import Tensor


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy to a device in the order of its work; the host goes on at once.

    From memory that is not page-locked the driver would copy twice, and the host wait for all that is queued before.
    """
    if device.type == "cpu" or tensor.device == device:
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


class Portable(Protocol):
    """What a courier brings."""

    def on(self, device: torch.device) -> Self:
        """The same on a device; the host does not wait for it."""

    def tensors(self) -> Iterable[Tensor]:
        """All that lies on the device."""


class Courier:
    """Brings parcels to a GPU on a stream of its own, beside what it computes; on the CPU they are there already."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def send(self, parcels: Sequence[Portable]) -> tuple[list[Any], torch.cuda.Event | None]:
        """Begin to copy, from the thread that reads; the event tells when all is there."""
        if self._stream is None:
            return list(parcels), None
        torch.cuda.set_device(self._device)  # of this thread
        with torch.cuda.stream(self._stream):
            return [parcel.on(self._device) for parcel in parcels], self._stream.record_event()

    def receive(self, parcels: Sequence[Portable], event: torch.cuda.Event | None) -> None:
        """Have what the device computes from now on come after the copies."""
        if event is None:
            return
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(event)
        for tensor in (tensor for parcel in parcels for tensor in parcel.tensors()):
            tensor.record_stream(stream)  # its memory is not given to the next parcel before that is done
