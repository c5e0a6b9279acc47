"""Where a rank's work goes through an encoder: batches of chunks, in lanes of a CPU, halved where there is no room.

Batches are begun one after the other and their vectors collected later, so that a device has the next one while this
one is written away.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np

from indexer.arrays import Halves, Ids, Pixels
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.devices import HOST, context_opening
from indexer.encoders.devices import Device as HostDevice
from indexer.encoders.graphs import LoadedEncoder, is_no_room, load_encoder
from indexer.errors import NoRoomError
from indexer.process import cores_of_rank
from indexer.rendering.pool import CHUNK, RenderedChunk, RenderPool
from indexer.reports.terminal import span

LARGEST = 2048
"""Pictures of a batch, at most."""
_RING_BYTES = 512 << 20
_BATCHES_IN_RING = 6
"""So many of the largest batches take that much: two under way, and what few renderers draw ahead. Many have more."""
_FILLED_BYTES = 24 << 20
"""Of pixels that are drawn while an encoder loads and names are embedded: 2,048 pictures of 64 px."""
_SENT_AHEAD = 1024
"""Pictures a worker, at most: the jobs of more would not fit into its connection, and whoever sends them would wait."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How pictures lie in the renderers' memory: pictures of a chunk, and chunks of the largest batch."""

    chunk: int
    most_chunks: int

    @classmethod
    def of(cls, batch_size: int | None, *, size: int) -> Self:
        """For batches of a size, or, where that is to be found out, of any power of two up to `LARGEST`.

        `size` is that of a picture, in pixels: few large ones fit into the memory that a batch may take.
        """
        if batch_size is not None:
            n_chunks, rest = divmod(batch_size, CHUNK)
            return cls(CHUNK, n_chunks) if (not rest and n_chunks.bit_count() == 1) else cls(batch_size, 1)
        n_pictures = min(LARGEST, _RING_BYTES // (_BATCHES_IN_RING * size * size * 3))
        return cls(CHUNK, 1 << max(0, (n_pictures // CHUNK).bit_length() - 1))

    def start_pool(self, *, size: int, workers: int, n_under_way: int, fills: bool = False) -> RenderPool:
        """Start renderers whose memory holds so many of the largest batches under way, and one that is drawn ahead.

        With `fills` there is more of it, and they begin with as much as it holds: nobody else waits for these pictures.
        """
        n_drawn = self.most_chunks + 2 * workers + 1
        if fills:
            n_drawn = max(n_drawn, _FILLED_BYTES // (self.chunk * size * size * 3))
        n_batches = n_under_way + -(-n_drawn // self.most_chunks)
        pool = RenderPool(size=size, workers=workers, chunk=self.chunk, n_slots=n_batches * self.most_chunks)
        if fills and workers:
            pool.ahead = min(pool.n_slots - pool.held, max(pool.usual_ahead, workers * _SENT_AHEAD // self.chunk))
        return pool


@dataclass(frozen=True, slots=True)
class Batch:
    """Chunks one after the other, and the pixels of all their pictures, those that failed among them."""

    chunks: Sequence[RenderedChunk]
    pixels: Pixels
    """RGB, (n, size, size, 3); they stay as long as the pool holds the chunks."""
    filled: Pixels
    """The same with rows of anything behind, as many as a whole batch has."""

    def split(self, vectors: Halves) -> Iterator[tuple[RenderedChunk, Halves]]:
        """Yield each chunk with the vectors of what went well, out of those of all `pixels` (n, dim)."""
        first = self.chunks[0].place.start
        for chunk in self.chunks:
            yield chunk, vectors[chunk.place.start - first + chunk.rows]


def in_batches(chunks: Iterable[RenderedChunk], *, chunk: int, n_chunks: Callable[[], int]) -> Iterator[Batch]:
    """Put `n_chunks()` neighbours, asked before each batch, into one; the last one takes what is left.

    The number divides that of the pool's slots; a power of two may be halved on the way. `chunk` is that of the pool.
    """
    source = iter(chunks)
    while some := list(islice(source, n := n_chunks())):
        first, last = some[0].place.start, some[-1].place.stop
        yield Batch(some, some[0].memory[first:last], some[0].memory[first : first + n * chunk])


def configure_ring(pool: RenderPool, *, n_under_way: int, n_chunks: int) -> None:
    """Have a pool keep the pixels of so many batches, the one that is put together among them, and draw one ahead.

    It goes round in as few slots as that takes; whole batches, as ever.
    """
    pool.held = n_under_way * n_chunks
    pool.ahead = min(pool.usual_ahead + n_chunks - 1, pool.n_slots - pool.held)
    pool.keep_to(n_chunks * -(-(pool.held + pool.ahead) // n_chunks), at_once=n_chunks)


def no_room(device: str, what: str) -> NoRoomError:
    """Name what a device has no room for."""
    return NoRoomError(f'device "{device}" has no room for {what}; free its memory, or use --devices cpu')


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


class Device:
    """An encoder where it computes; a context manager."""

    n_under_way: int
    """Batches that are begun before the first of them is collected."""
    busy_seconds: float | None = None
    """Time in which it has encoded pictures so far; None where nobody can tell."""
    remark = ""
    """Why it is slower than it could be; empty where it is not."""
    tries_sizes = False
    """Whether the next batches tell how many pictures go at once; they have to follow each other in memory."""

    def __init__(self, encoder: LoadedEncoder, *, name: str, batch_size: int) -> None:
        """`name` is shown: cpu, cuda:1; `batch_size` pictures go at once, fewer after the device had no room."""
        self.encoder, self.name, self.batch_size = encoder, name, batch_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what is under way."""

    def encode_names(self, names: Sequence[str]) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some names with their vectors until all were encoded; fewer at once if there is no room.

        Raises:
            EmbedError: not even one name fits.
        """
        encoder = self.encoder
        at_once, left = encoder.texts_at_once, np.arange(len(names))
        while len(left):
            texts, done = [names[place] for place in left.tolist()], np.zeros(len(left), bool)
            try:
                with span("names"):
                    for rows, vectors in encoder.encode_text_batches(texts, batch_size=at_once):
                        done[rows] = True
                        yield left[rows], vectors
            except encoder.out_of_memory:
                if at_once == 1:
                    raise no_room(self.name, "one name") from None
            left = left[~done]
            if len(left):
                encoder.make_room()
                at_once //= 2

    def prepare(self, *, n_images: int, largest: int) -> None:
        """Choose how many of so many pictures go at once, at most `largest`, before the first batch."""

    def begin(self, batch: Batch) -> Collect:
        """Begin to encode the pixels of a batch, which have to stay until its vectors are collected."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """What is known of a device before an encoder is on it."""

    is_fed: bool
    """Whether it is none of the host's cores."""
    batch_size: int | None
    """None: to be found out."""
    n_under_way: int
    load: Callable[[Checkpoint, Pixels | None, int], Device]
    """Puts an encoder on it for so many pictures; if the memory is there, they will lie in it: (n, size, size, 3)."""


def encode_pipelined(device: Device, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Halves]]:
    """Take batches through a device, `n_under_way` at a time, and yield each with its vectors, in order.

    The next is asked for once fewer are under way. What goes wrong with a batch is raised in its turn.
    """
    under_way: deque[tuple[Batch, Collect]] = deque()
    with span("pictures"):
        for batch in batches:
            under_way.append((batch, device.begin(batch)))
            if len(under_way) == device.n_under_way:
                first, collect = under_way.popleft()
                yield first, collect()
        for first, collect in under_way:
            yield first, collect()
    device.tries_sizes = False


class CpuDevice(Device):
    """The cores of a rank, shared by lanes, each of which encodes a batch.

    Two batches of one thread each take less processor time than one batch of two threads, which wait for each other
    after every layer; docs/log.md has the figures.
    """

    def __init__(self, encoder: LoadedEncoder, *, batch_size: int, n_lanes: int) -> None:
        super().__init__(encoder, name="cpu", batch_size=batch_size)
        self.n_under_way = n_lanes
        self._threads = ThreadPoolExecutor(n_lanes, "lane", encoder.take_threads, (max(1, cores_of_rank() // n_lanes),))

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def begin(self, batch: Batch) -> Collect:
        """Hand a batch to a lane."""
        n = len(batch.pixels)
        vectors = self._threads.submit(self._encode, batch.filled[: max(n, _LEAST_AT_ONCE)])
        return lambda: vectors.result()[:n]

    def _encode(self, pixels: Pixels) -> Halves:
        """Encode pictures, in halves of halves where they have no room."""
        try:
            return self.encoder.encode_images(pixels)
        except self.encoder.out_of_memory:
            if len(pixels) == 1:
                raise no_room(self.name, "one picture") from None
        # Outside the handler, so that the failed batch's tensors are free.
        self.encoder.make_room()
        return np.concatenate([self._encode(half) for half in np.array_split(pixels, 2)])


SMALLEST = 64
LEAST_GAIN = 1.05
"""A batch twice as large that gives less than this is not worth its memory."""
LONGEST_SECONDS = 0.5
"""Of one batch: who waits for the last one waits so long, and ranks end so far apart."""
_LEAST_BATCHES = 8
"""Of a plan: with fewer, pictures would be drawn while nothing is encoded, then encoded while nothing is drawn."""


class QueuedDevice(Device):
    """What is the same for every device with a queue. Its subclasses say how a batch is enqueued.

    Two batches are under way: one that the device is at, and the next, which it begins while the vectors of the one
    before are written away. More would only lie there when all is claimed, and another device could have had them.
    """

    n_under_way = 2
    busy_seconds: float
    known: int | None = None
    """As many at once as an earlier run has found to be good."""

    def __init__(self, encoder: LoadedEncoder, *, name: str, batch_size: int | None) -> None:
        super().__init__(encoder, name=name, batch_size=batch_size or SMALLEST)
        self.busy_seconds = 0.0
        self.tries_sizes, self._n_images, self._n_tried, self._rate = batch_size is None, 0, 0, 0.0

    def __exit__(self, *_: object) -> None:
        self.clear()

    def enqueue(self, pixels: Pixels) -> Collect:
        """Begin to encode pictures (n, size, size, 3), at most `batch_size`, which stay until they are collected.

        Raises:
            torch.OutOfMemoryError: the device has no room for them.
        """
        raise NotImplementedError

    def clear(self) -> None:
        """Wait for all that is under way, and give back the memory that batches take."""

    def halve(self) -> None:
        """Take half as many pictures at once from now on."""
        self.clear()
        self.batch_size //= 2
        self._n_tried, self._rate = 0, 0.0
        self.tries_sizes &= self.batch_size > SMALLEST

    def begin(self, batch: Batch) -> Collect:
        """Enqueue a batch; where the device has no room for it, this one and all later ones go in smaller parts.

        Raises:
            EmbedError: not even one picture fits.
        """
        before = self.busy_seconds
        while True:
            try:
                collect = self._begin(batch)
                break
            except RuntimeError as error:
                if not is_no_room(error):
                    raise
                if self.batch_size == 1:
                    raise no_room(self.name, "one picture") from None
            # Outside the handler, so that the failed batch's tensors are free.
            self.halve()
        self._n_tried += 1
        if not self.tries_sizes or self._n_tried % 2 or len(batch.pixels) != self.batch_size:
            return collect
        with span("finding batches"):
            vectors = collect()
        self._weigh(self.busy_seconds - before)
        return lambda: vectors

    def prepare(self, *, n_images: int, largest: int) -> None:
        """Begin with as many pictures at once as may be, unless that is stated or known: the first batches tell."""
        self._n_images, self.busy_seconds = n_images, 0.0
        if self.tries_sizes:
            while largest > max(SMALLEST, n_images // _LEAST_BATCHES):
                largest //= 2
            self.batch_size = min(largest, self.known or largest)
            self.tries_sizes = not self.known and largest > SMALLEST
        if not self.tries_sizes:
            self.settle()

    def settle(self) -> None:
        """Stay with as many at once from now on, and get ready for that."""
        self.tries_sizes = False

    def _weigh(self, seconds: float) -> None:
        """Take half as many pictures from now on, or go back to as many as before, by what this batch has taken.

        It is never the first of its size, which loads libraries and chooses kernels. An even number of halves takes the
        place of whole ones in the memory of the renderers, so a whole one may follow.
        """
        before, self._rate, self._n_tried = self._rate, self.batch_size / max(seconds, 1e-9), 0
        self.clear()
        if before > LEAST_GAIN * self._rate or self.batch_size <= SMALLEST:
            self.batch_size *= 2 if before > LEAST_GAIN * self._rate else 1
            self.settle()
        else:
            self._rate *= seconds <= LONGEST_SECONDS  # else it is out of the question, however fast
            self.batch_size //= 2

    def _begin(self, batch: Batch) -> Collect:
        """Enqueue a batch, or, where batches have become larger than what goes at once, wait for part after part.

        The last one of a block, which may be small, is not enqueued then either: parts of the next would take its place
        on the device before it is collected.
        """
        if len(batch.filled) <= self.batch_size:
            return self.enqueue(batch.pixels)
        n, at_once = len(batch.pixels), self.batch_size
        vectors = np.concatenate([self.enqueue(batch.pixels[at : at + at_once])() for at in range(0, n, at_once)])
        return lambda: vectors


def default_workers(n_images: int, *, is_fed: bool, asked: int | None = None) -> int:
    """Rendering processes of one rank, where none are asked for: its share of the cores, one for a handful of pictures.

    What feeds a device that is none of them has a core for itself, if that is a quarter of them or less: a device that
    waits for a busy host costs more than a renderer gives.
    """
    n_cores = cores_of_rank()
    n_spare = 1 if is_fed and n_cores >= _CORES_WITH_ONE_SPARE else 0
    return asked if asked is not None else 1 if n_images < _FEW else n_cores - n_spare


def spec_of(device: HostDevice, options: EmbedOptions) -> DeviceSpec:
    """What is known of a device of this machine before an encoder is on it; torch is imported when one is loaded.

    The cores of a rank have as many lanes as they are, up to four.
    """
    is_fed, lanes = device.type != "cpu", min(_MOST_LANES, cores_of_rank())
    batch_size = options.batch_size or (None if is_fed else ON_CPU)

    def load(checkpoint: Checkpoint, memory: Pixels | None, n_images: int) -> Device:
        if not is_fed:
            encoder = load_encoder(checkpoint, device=HOST, precision=options.precision, n_images=n_images, lanes=lanes)
            return CpuDevice(encoder, batch_size=batch_size or ON_CPU, n_lanes=lanes)
        with context_opening(device):
            with span("imports"):
                from indexer.embedding.cuda_device import load_on_gpu
            return load_on_gpu(checkpoint, memory, device=str(device), options=options)

    return DeviceSpec(is_fed, batch_size, QueuedDevice.n_under_way if is_fed else lanes, load)


def in_products_of(device: HostDevice, options: EmbedOptions) -> AbstractContextManager[None]:
    """Have a GPU multiply exactly where that is asked for; a processor knows but one way."""
    if device.type == "cpu" or options.precision != "fp32":
        return nullcontext()
    from indexer.encoders.torch_encoder import products_in

    return products_in(options.precision)
