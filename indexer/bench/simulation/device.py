"""A device that takes `n / rate` seconds for n pictures and no processor time, behind a queue as a CUDA stream is.

It is called simulated wherever it is shown. Its vectors are unit vectors that depend on pixels or words, and mean
nothing: their fingerprint is that of no encoder, so no library answers with them.
"""

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from indexer.arrays import Floats, Halves, Ids, Pixels
from indexer.embedding.device import Collect, Device
from indexer.embedding.queued_device import QueuedDevice
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import BenchError

DIM = 64
_DISTINCT = 16
"""Numbers of a vector, each so often that it has `DIM`: the product codes of a large index hold them well."""
_N_SEEN = 64
_GOLDEN = 0.6180339887
"""A picture is looked at in 64 places, at multiples of this share of it: rows and columns that no pattern repeats."""
_DIRECTIONS = np.random.default_rng(0).standard_normal((_N_SEEN, _DISTINCT), dtype=np.float32)
_MOST = 64
"""Devices."""
_NAMES_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class SimulatedSpec:
    """What a simulated device can do."""

    is_fed = True
    rate: float
    """Pictures a second, however many go at once."""
    image_size: int
    room: int = 4096
    """Pictures a batch at most; more raise what torch raises."""
    start_seconds: float = 0.0
    """Until it is there."""
    batch_size: int | None = None

    @property
    def n_under_way(self) -> int:
        """As every queue has it."""
        return QueuedDevice.n_under_way

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"simulated {self.rate:,.0f}/s"

    def find(self, choice: ModelChoice) -> Checkpoint:
        """Make a checkpoint of its own of that which is chosen: pictures of another size, a fingerprint of its own."""
        found = find_checkpoint(choice)
        config = {"simulated": True, "model_cfg": {"vision_cfg": {"image_size": self.image_size}}}
        return replace(found, name=f"simulated {found.name}", config=config)

    def open(self, checkpoint: Checkpoint, memory: Pixels | None, *, n_images: int) -> Device:
        """Wait until it is there."""
        del checkpoint, memory, n_images
        time.sleep(self.start_seconds)
        return SimulatedDevice(self)


class SimulatedDevice(QueuedDevice):
    """Works off its queue by the clock: a batch begins when the one before it ends, whoever waits for either."""

    def __init__(self, spec: SimulatedSpec) -> None:
        super().__init__(SimulatedEncoder(spec.image_size), name=spec.name, batch_size=spec.batch_size)
        self.spec = spec
        self._free_at = 0.0

    def enqueue(self, pixels: Pixels) -> Collect:
        """Put a batch at the end of the queue. Its pixels are read when it is done, as late as a device may read them.

        Raises:
            torch.OutOfMemoryError: it has no room for so many.
        """
        if len(pixels) > self.spec.room:
            import torch

            raise torch.OutOfMemoryError(f"{self.name} has room for {self.spec.room} pictures, not {len(pixels)}")
        seconds = len(pixels) / self.spec.rate
        self._free_at = ends_at = max(self._free_at, time.perf_counter()) + seconds
        self.busy_seconds += seconds

        def collect() -> Halves:
            time.sleep(max(0.0, ends_at - time.perf_counter()))
            return self.encoder.encode_images(pixels)

        return collect


class SimulatedEncoder:
    """Vectors of a few pixels, or of the checksum of a word: cheap, of length one, and the same every time."""

    precision = "simulated"
    dim = DIM
    texts_at_once = _NAMES_AT_ONCE
    out_of_memory = MemoryError

    def __init__(self, image_size: int) -> None:
        self.image_size = image_size

    def make_room(self) -> None:
        """Nothing is kept."""

    def take_threads(self, n: int) -> None:
        """One does."""

    def encode_images(self, pixels: Pixels) -> Halves:
        """Encode pictures (n, size, size, 3), (n, dim)."""
        flat = pixels.reshape(len(pixels), -1)
        places = (np.arange(1, _N_SEEN + 1) * _GOLDEN % 1 * flat.shape[1]).astype(np.intp)
        ink = 255 - flat[:, places].astype(np.float32)
        return _unit(_repeated(ink @ _DIRECTIONS + 1)).astype(np.float16)

    def encode_text_batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some of the texts with their vectors, until all were encoded."""
        size = batch_size or _NAMES_AT_ONCE
        for start in range(0, len(texts), size):
            some = texts[start : start + size]
            yield np.arange(start, start + len(some)), self.encode_many_words(some).astype(np.float16)

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts, (n, dim)."""
        return np.stack([_vector_of(text) for text in texts])

    def encode_many_pictures(self, pixels: Pixels) -> Floats:
        """Encode pictures (n, size, size, 3), (n, dim)."""
        return self.encode_images(pixels).astype(np.float32)

    def encode_words(self, words: str) -> Floats:
        """Encode words, (dim,)."""
        return _vector_of(words)

    def encode_picture(self, pixels: Pixels) -> Floats:
        """Encode a picture (size, size, 3), (dim,)."""
        return self.encode_many_pictures(pixels[None]).reshape(-1)

    def has_token(self, word: str) -> bool:
        """Know every word."""
        return bool(word)

    def whole_words(self) -> list[str]:
        """List none."""
        return []


@dataclass(frozen=True, slots=True)
class Simulation:
    """Some simulated devices, one a rank."""

    rates: tuple[float, ...]
    image_size: int
    start_seconds: float = 0.0

    @classmethod
    def parse(cls, text: str, *, image_size: int) -> Self:
        """Read `4x3000`, four devices of 3,000 pictures a second, or `3000,1500`, one of each.

        Raises:
            BenchError: it is neither.
        """
        n, _, rate = text.rpartition("x")
        try:
            rates = [float(part) for part in rate.split(",")] * min(int(n or 1), _MOST + 1)
        except ValueError:
            rates = []
        if not rates or not all(0 < one < 1e9 for one in rates) or len(rates) > _MOST:
            raise BenchError(f'--simulate "{text}" is not like 4x3000 (devices x pictures a second), or 3000,1500')
        return cls(tuple(rates), image_size)

    def spec(self, rank: int) -> SimulatedSpec:
        """What the device of a rank can do."""
        return SimulatedSpec(self.rates[rank], self.image_size, start_seconds=self.start_seconds)


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit


def _repeated(numbers: Floats) -> Floats:
    return np.repeat(numbers, DIM // _DISTINCT, axis=-1)


def _vector_of(word: str) -> Floats:
    generator = np.random.default_rng(zlib.crc32(word.encode()))
    return _unit(_repeated(generator.standard_normal(_DISTINCT, dtype=np.float32)))
