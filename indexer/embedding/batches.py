"""Which chunks go through a device together? Neighbours in the renderers' memory, whatever blocks they belong to.

A chunk is what renderers are given at a time, a slot is where it is drawn, a batch is what a device takes at once: one
chunk on a CPU, many on a GPU. Slots lie in a circle that holds whole batches, so that a batch is one array.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from indexer.arrays import Halves, Pixels
from indexer.rendering.pool import CHUNK, RenderedChunk, RenderPool

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
            is_halved_evenly = not rest and n_chunks.bit_count() == 1
            return cls(CHUNK, n_chunks) if is_halved_evenly else cls(batch_size, 1)
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
            sent = max(pool.usual_ahead, workers * _SENT_AHEAD // self.chunk)
            pool.ahead = min(pool.n_slots - pool.held, sent)
        return pool


@dataclass(frozen=True, slots=True)
class Batch:
    """Chunks one after the other, and the pixels of all their pictures, those that failed among them."""

    chunks: Sequence[RenderedChunk]
    pixels: Pixels
    """RGB, (n, size, size, 3); they stay as long as the pool holds the chunks."""
    filled: Pixels
    """The same with rows of anything behind, as many as a whole batch has."""

    @property
    def is_empty(self) -> bool:
        """Whether no picture of it went well."""
        return not any(len(chunk.ids) for chunk in self.chunks)

    def split(self, vectors: Halves) -> Iterator[tuple[RenderedChunk, Halves]]:
        """Yield each chunk with the vectors of what went well, out of those of all `pixels` (n, dim)."""
        first = self.chunks[0].place.start
        for chunk in self.chunks:
            yield chunk, vectors[chunk.place.start - first + chunk.rows]


def in_batches(chunks: Iterable[RenderedChunk], *, chunk: int, n_chunks: Callable[[], int]) -> Iterator[Batch]:
    """Put `n_chunks()` neighbours, asked before each batch, into one; the last one takes what is left.

    The number has to divide that of the pool's slots; a power of two may be halved on the way. `chunk` is that of the
    pool.
    """
    source = iter(chunks)
    while some := list(islice(source, n := n_chunks())):
        first, last = some[0].place.start, some[-1].place.stop
        yield Batch(some, some[0].memory[first:last], some[0].memory[first : first + n * chunk])


def hold(pool: RenderPool, *, n_under_way: int, n_chunks: int) -> None:
    """Have a pool keep the pixels of so many batches, the one that is put together among them, and draw one ahead.

    It goes round in as few slots as that takes; whole batches, as ever.
    """
    pool.held = n_under_way * n_chunks
    pool.ahead = min(pool.usual_ahead + n_chunks - 1, pool.n_slots - pool.held)
    pool.keep_to(n_chunks * -(-(pool.held + pool.ahead) // n_chunks), at_once=n_chunks)
