"""A GPU as a rank uses it: pixels go in, are encoded, and vectors come back, each on a stream of its own.

Pixels are copied from the memory that renderers draw into, which is page-locked for it, so that no copy is made on the
host and none is waited for. Every batch has one shape, so that the passes can be captured as CUDA graphs: a small model
is bound by the launches of its kernels otherwise.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from platformdirs import user_cache_path
from torch import Tensor

from indexer.arrays import Halves, Pixels
from indexer.embedding.device import LARGEST, Collect, QueuedDevice
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.devices import use_device
from indexer.encoders.graphs import MANY, find_device, load_encoder
from indexer.encoders.torch_encoder import Encoder, capture
from indexer.errors import DeviceError, first_line
from indexer.library.durable import write_file
from indexer.reports.terminal import span


@contextmanager
def page_locked(memory: Pixels, device: torch.device) -> Iterator[str | None]:
    """Lock the pages of some memory for the block; torch takes them as pinned, and copies from them wait for nothing.

    Once for all that is ever put there: it takes longer than a copy of the same size. Where the system refuses, the
    reason is yielded, and copies are waited for.
    """
    runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address = memory.ctypes.data
    if error := int(runtime.cudaHostRegister(address, memory.nbytes, 0)):
        with suppress(RuntimeError):  # takes CUDA's last error away, which torch would raise at the next kernel
            torch.zeros(1, device=device)
        yield f"{memory.nbytes / 1e6:,.0f} MB of pixels can't be page-locked (CUDA error {error})"
        return
    try:
        yield None
    finally:
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # copies that are under way still read it
        runtime.cudaHostUnregister(address)


GRAPH_PARITY = 0.9999
"""Least cosine between a vector from a captured graph and the same picture's from the pass that was captured."""
_WARM_UPS = 3
"""Passes before a capture, as torch asks for: libraries allocate in the first ones."""


@dataclass(slots=True)
class _Place:
    """What one batch under way needs on the device, and its vectors on the host."""

    pixels: Tensor
    """uint8 (batch_size, size, size, 3)."""
    vectors: Tensor
    """fp16 (batch_size, dim)."""
    here: Tensor
    """The same, page-locked on the host."""
    copied: Any
    begun: Any
    computed: Any
    returned: Any
    graph: Any = None


CAPTURE_PAYS = 128
"""Batches: a capture is some ten passes and their check, a graph saved 1.6 of 1.9 ms of a batch of small pictures."""


def load_on_gpu(checkpoint: Checkpoint, memory: Pixels | None, *, device: str, options: EmbedOptions) -> "CudaDevice":
    """Put an encoder on a GPU; the cache folder tells what an earlier run has found to be good for both."""
    encoder = load_encoder(checkpoint, device=find_device(device), precision=options.precision, n_images=MANY)
    assert isinstance(encoder, Encoder)
    named = (checkpoint.fingerprint, encoder.precision, torch.cuda.get_device_name(device), torch.__version__)
    kept = user_cache_path("icons") / f"batch-{re.sub(r'[^A-Za-z0-9.]+', '-', ' '.join(named))}.json"
    return CudaDevice(encoder, memory, batch_size=options.batch_size, kept=kept)


class CudaDevice(QueuedDevice):
    """One GPU; a context manager. `memory` is that of the renderers: RGB, (n, size, size, 3)."""

    def __init__(
        self, encoder: Encoder, memory: Pixels | None, *, batch_size: int | None, kept: Path | None = None
    ) -> None:
        """`kept` is a file that remembers how many pictures go at once, and why the pass can't be captured."""
        use_device(encoder.device)
        super().__init__(encoder, name=str(encoder.device), batch_size=batch_size)
        self._encode = encoder.encode_on_device
        self._device = encoder.device
        self._streams: list[Any] = [cast(Any, torch.cuda.Stream)(encoder.device) for _ in range(3)]
        self._places: list[_Place] = []
        self._turn = 0
        self.not_captured: str | None = None
        self._kept = kept
        with suppress(OSError, ValueError, LookupError, TypeError):
            found = json.loads(kept.read_bytes()) if kept else {}
            self.known, self.not_captured = min(LARGEST, max(1, int(found["batch_size"]))), found["not_captured"]
        self.not_locked: str | None = None
        self._memory = memory
        self._closing = ExitStack()
        if memory is not None:
            self.not_locked = self._closing.enter_context(page_locked(memory, self._device))

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._closing.close()

    @property
    def remark(self) -> str:  # type: ignore[override]
        """Why passes are launched kernel by kernel, or copies waited for."""
        captured = f"no graph was captured: {self.not_captured}" if self.not_captured else ""
        return "; ".join(filter(None, (captured, self.not_locked)))

    def settle(self) -> None:
        """Capture the pass for as many pictures as go at once, where a plan is so long that it pays; remember both."""
        has_searched, busy = self.tries_sizes, self.busy_seconds
        super().settle()
        is_captured = any(place.graph is not None for place in self._places)
        if self._n_images >= CAPTURE_PAYS * self.batch_size and not (is_captured or self.not_captured):
            self.not_captured = self.capture()
            self.busy_seconds = busy
        if has_searched and self._kept is not None:
            facts = {"batch_size": self.batch_size, "not_captured": self.not_captured}
            with suppress(OSError):  # it is found anew then
                write_file(self._kept, json.dumps(facts).encode())

    def halve(self) -> None:
        """Take half as many pictures at once, and capture the pass for as many where it was captured before."""
        was_captured = any(place.graph is not None for place in self._places)
        super().halve()
        if was_captured:
            self.not_captured = self.capture()

    def clear(self) -> None:
        """Wait for all that is under way, and give back what batches take on the device; later ones have no graph."""
        torch.cuda.synchronize(self._device)
        self._places.clear()
        self._turn = 0
        torch.cuda.empty_cache()

    @torch.inference_mode()
    def enqueue(self, pixels: Pixels) -> Collect:
        """Begin to encode pictures on the three streams."""
        place, n = self._next_place(), len(pixels)
        copy_in, compute, copy_out = self._streams
        with torch.cuda.stream(copy_in):
            place.pixels[:n].copy_(torch.from_numpy(pixels), non_blocking=True)
            place.copied.record()
        with torch.cuda.stream(compute):
            compute.wait_event(place.copied)
            place.begun.record()
            if place.graph is not None:
                place.graph.replay()
            else:
                place.vectors.copy_(self._encode(place.pixels))
            place.computed.record()
        with torch.cuda.stream(copy_out):
            copy_out.wait_event(place.computed)
            place.here[:n].copy_(place.vectors[:n], non_blocking=True)
            place.returned.record()

        # Nothing of the device is kept for who collects: where a later batch finds no room, this place is freed.
        begun, computed, returned, here = place.begun, place.computed, place.returned, place.here[:n]

        def collect() -> Halves:
            returned.synchronize()
            self.busy_seconds += begun.elapsed_time(computed) / 1e3
            return cast(Halves, here.numpy().copy())

        return collect

    @span("capture")
    def capture(self) -> str | None:
        """Capture the pass of every place as a graph; say why not, where that is so."""
        reason: str | None = None
        try:
            places = [self._next_place() for _ in range(self.n_under_way)]
            noise = np.random.default_rng(0).integers(0, 256, places[0].pixels.shape, np.uint8)
            # On the stream that is captured: another one's pass would take as much memory again.
            expected = self.enqueue(noise)()
            for place in places:
                self._capture(place)
            if not all(_agree(self.enqueue(noise)(), expected) for _ in places):
                reason = "its vectors differ from those of the pass that was captured"
        except (DeviceError, RuntimeError) as error:  # whatever in a model can't be captured, or passed before it
            reason = first_line(error)
        if reason is not None:
            for place in self._places:
                place.graph = None
        return reason

    def _capture(self, place: _Place) -> None:
        def encode() -> None:
            place.vectors.copy_(self._encode(place.pixels))

        stream = self._streams[1]
        # Graphs run one after the other on one stream and leave nothing behind, so they share their memory.
        pool = next((other.graph.pool() for other in self._places if other.graph is not None), None)
        with torch.inference_mode():
            with torch.cuda.stream(stream):
                for _ in range(_WARM_UPS):
                    encode()
            torch.cuda.synchronize(self._device)
            place.graph, _ = capture(encode, stream=stream, pool=pool)

    def _next_place(self) -> _Place:
        """Take the places in turn: a batch is collected before its place is taken again, so nothing reads it then."""
        if len(self._places) < self.n_under_way:
            self._places.append(self._make_place())
        place = self._places[self._turn % self.n_under_way]
        self._turn += 1
        return place

    def _make_place(self) -> _Place:
        n, side, dim, device = self.batch_size, self.encoder.image_size, self.encoder.dim, self._device
        event: Any = torch.cuda.Event
        place = _Place(
            pixels=torch.full((n, side, side, 3), 255, dtype=torch.uint8, device=device),
            vectors=torch.empty((n, dim), dtype=torch.float16, device=device),
            here=torch.empty((n, dim), dtype=torch.float16, pin_memory=True),
            copied=event(),
            begun=event(enable_timing=True),
            computed=event(enable_timing=True),
            returned=event(blocking=True),  # who waits leaves its core to the renderers
        )
        # Torch makes streams that do not wait for the default one (`cudaStreamNonBlocking`), on which the place is
        # filled and the weights were cast: without this, white could come after the first pixels.
        torch.cuda.synchronize(device)
        return place


def _agree(found: Halves, expected: Halves) -> bool:
    """Whether all cosines are above `GRAPH_PARITY`; rounding to fp16 changes lengths by more than graphs may."""
    ours, theirs = found.astype(np.float32), expected.astype(np.float32)
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return bool(((ours * theirs).sum(axis=1) > GRAPH_PARITY * lengths).all())
