"""Where does a rank's work go through an encoder? A CPU, in several lanes; `cuda_device` is the same for a GPU.

Batches are begun one after the other and their vectors collected later, so that a device has the next one while this
one is written away.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from indexer.arrays import Halves, Ids, Pixels
from indexer.embedding.batches import Batch
from indexer.embedding.options import EmbedOptions
from indexer.embedding.room import encode_names_within_memory, encode_within_memory
from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.loaded import AnyPrecision, LoadedEncoder
from indexer.encoders.loading import load_encoder
from indexer.process import cores_of_rank
from indexer.ranks.devices import HOST

ON_CPU = 64
"""Larger batches leave the caches: the bundled model does 2,955 pictures/s at 64 and 2,118 at 256 on two cores."""
_LEAST_AT_ONCE = 16
"""Fewer pictures than this take other paths through a processor's libraries, and get other last digits."""
_FEW = 500
"""Pictures that one process has drawn before others have started."""
_CORES_WITH_ONE_SPARE = 4
_MOST_LANES = 4
"""The memory of so many batches at once is asked for, at most."""

Collect = Callable[[], Halves]
"""Waits for the vectors of a batch that was begun, (n, dim)."""


class Device(Protocol):
    """An encoder where it computes; a context manager."""

    name: str
    """As it is shown: cpu, cuda:1."""
    encoder: LoadedEncoder

    @property
    def n_under_way(self) -> int:
        """Batches that are begun before the first of them is collected."""

    @property
    def batch_size(self) -> int:
        """Pictures at once; fewer, once the device had no room for so many."""

    @property
    def busy_seconds(self) -> float | None:
        """Time in which it has encoded pictures so far; None where nobody can tell."""

    @property
    def remark(self) -> str:
        """Why it is slower than it could be; empty where it is not."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *error: object) -> None:
        """End what is under way."""

    def encode_names(self, names: Sequence[str]) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some names with their vectors until all were encoded."""

    def settle(self, *, n_images: int, largest: int) -> None:
        """Choose how many of so many pictures go at once, at most `largest`, before the first batch."""

    def begin(self, batch: Batch) -> Collect:
        """Begin to encode the pixels of a batch, which have to stay until its vectors are collected."""


class DeviceSpec(Protocol):
    """What is known of a device before an encoder is on it."""

    @property
    def n_under_way(self) -> int:
        """As it is of the device."""

    @property
    def batch_size(self) -> int | None:
        """None: to be found out."""

    @property
    def is_fed(self) -> bool:
        """Whether it is none of the host's cores."""

    def open(self, checkpoint: Checkpoint, memory: Pixels | None, *, n_images: int) -> Device:
        """Load an encoder for so many pictures; they will lie in `memory`, RGB (n, size, size, 3), if there are any."""


def through(device: Device, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Halves]]:
    """Take batches through a device, `n_under_way` at a time, and yield each with its vectors, in order.

    The next is asked for once fewer are under way. What goes wrong with a batch is raised in its turn.
    """
    under_way: deque[tuple[Batch, Collect]] = deque()
    for batch in batches:
        under_way.append((batch, _nothing(batch, device) if batch.is_empty else device.begin(batch)))
        if len(under_way) == device.n_under_way:
            first, collect = under_way.popleft()
            yield first, collect()
    for first, collect in under_way:
        yield first, collect()


def _nothing(batch: Batch, device: Device) -> Collect:
    """Stand for the vectors of a batch of which no picture went well."""
    return lambda: np.zeros((len(batch.pixels), device.encoder.dim), np.float16)


@dataclass(frozen=True, slots=True)
class CpuSpec:
    """The cores of a rank."""

    is_fed = False
    precision: AnyPrecision
    batch_size: int | None
    n_under_way: int

    @classmethod
    def of(cls, options: EmbedOptions) -> Self:
        """As many lanes as there are cores, up to four."""
        return cls(options.precision, options.batch_size or ON_CPU, n_lanes())

    def open(self, checkpoint: Checkpoint, memory: Pixels | None, *, n_images: int) -> Device:
        """Load the encoder the way that is done soonest."""
        del memory
        encoder = load_encoder(
            checkpoint, device=HOST, precision=self.precision, n_images=n_images, lanes=self.n_under_way
        )
        return CpuDevice(encoder, batch_size=self.batch_size or ON_CPU, n_lanes=self.n_under_way)


class CpuDevice:
    """The cores of a rank, shared by lanes, each of which encodes a batch.

    Two batches of one thread each take less processor time than one batch of two threads, which wait for each other
    after every layer; docs/log.md has the figures.
    """

    name = "cpu"
    busy_seconds = None
    remark = ""

    def __init__(self, encoder: LoadedEncoder, *, batch_size: int, n_lanes: int) -> None:
        self.encoder = encoder
        self.n_under_way = n_lanes
        self.batch_size = batch_size
        share = max(1, cores_of_rank() // n_lanes)
        self._threads = ThreadPoolExecutor(n_lanes, "lane", encoder.take_threads, (share,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def encode_names(self, names: Sequence[str]) -> Iterator[tuple[Ids, Halves]]:
        """Encode names in this thread, with all cores."""
        return encode_names_within_memory(self.encoder, names, device=self.name)

    def settle(self, *, n_images: int, largest: int) -> None:
        """Nothing is to be found out."""

    def begin(self, batch: Batch) -> Collect:
        """Hand a batch to a lane."""
        return self._threads.submit(self._encode, batch).result

    def _encode(self, batch: Batch) -> Halves:
        n = len(batch.pixels)
        return encode_within_memory(self.encoder, batch.filled[: max(n, _LEAST_AT_ONCE)], device=self.name)[:n]


def n_lanes() -> int:
    """Batches that go side by side on the cores of a rank."""
    return min(_MOST_LANES, cores_of_rank())


def default_workers(n_images: int, *, is_fed: bool) -> int:
    """Rendering processes of one rank: its share of the cores, one for a handful of pictures.

    What feeds a device that is none of them has a core for itself, if that is a quarter of them or less: a device that
    waits for a busy host costs more than a renderer gives.
    """
    n_cores = cores_of_rank()
    n_spare = 1 if is_fed and n_cores >= _CORES_WITH_ONE_SPARE else 0
    return 1 if n_images < _FEW else n_cores - n_spare
