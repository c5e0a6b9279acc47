"""Gathers what is made of a block and writes it in the background: the device need not wait for the disk.

A block that takes long leaves parts of its shard: after two seconds of work, then four, and so on up to half a minute.
So a rank that is ended again and again still gets on, and one that is quick writes nothing more than a shard a block.
"""

import time
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.embedding.block_queue import BlockQueue
from indexer.encoders.loaded import LoadedEncoder
from indexer.errors import EmbedError
from indexer.library.shards import Failed, Kind, Shard, pack_shard, partial_shard_name, shard_name
from indexer.library.traits import TRAITS

FIRST_PART_SECONDS, PART_SECONDS = 2.0, 32.0
MOST_WAITING = 8
"""Shards on their way to the drive. Behind them the device waits, as memory would fill where the drive is slower."""
OVER = "another run has begun since, and this rank belongs to one before it; nothing more was written"


class Ended(Exception):  # noqa: N818 - nothing is wrong
    """This worker was asked to end: what it has made so far is kept."""


class ShardWriter:
    """Writes one worker's shards to where its share lies; a context manager, which awaits the last.

    `worker` is named in the shards. Where another run has begun, nothing is written any more.
    """

    def __init__(self, queue: BlockQueue, *, worker: str, encoder: LoadedEncoder) -> None:
        self.queue = queue
        plan = queue.place.plan
        self.fingerprint = plan.fingerprint
        facts = {"precision": encoder.precision, "model": plan.model, "run": plan.run}
        self.facts = {"rank": worker, **facts}
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: deque[Future[None]] = deque()
        self.part_seconds = FIRST_PART_SECONDS
        self.written = time.monotonic()
        self.under_way: tuple[str, Kind] | None = None
        self.ids: list[Ids] = []
        self.vectors: list[Halves] = []
        self.traits: list[NDArray[np.void]] = []
        self.failures: dict[int, Failed] = {}
        self.contents: dict[int, int] = {}
        self.dim = encoder.dim
        self.has_failed = False
        """Whether something could not be written: a shard without its parts would stand for items that nobody has."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, Ended) and self.under_way is not None:
            self._write_part(*self.under_way)
        self.pool.shutdown(wait=True)
        self.finish()

    def add(
        self,
        ids: Ids,
        vectors: Halves,
        contents: Mapping[int, int],
        traits: NDArray[np.void] | None = None,
        failures: Iterable[tuple[int, Failed]] = (),
    ) -> None:
        """Keep what was made of the block under way; `contents` by id (`content_of`), of images also traits (n,)."""
        self.ids.append(ids)
        self.vectors.append(vectors)
        self.contents.update(contents)
        if traits is not None:
            self.traits.append(traits)
        self.failures.update(failures)

    def write(self, block: str, kind: Kind) -> None:
        """Begin to write what was kept as the shard of a block. Raises what went wrong with those before."""
        self.under_way = None
        self._write(block, shard_name(block), self._take(kind))

    def write_due_part(self, block: str, kind: Kind) -> None:
        """Write what was kept as a part of a block, where the last writing is so long ago that it is worth that."""
        self.under_way = block, kind
        if time.monotonic() - self.written >= self.part_seconds:
            self.part_seconds = min(2 * self.part_seconds, PART_SECONDS)
            self._write_part(block, kind)

    def _write_part(self, block: str, kind: Kind) -> None:
        shard = self._take(kind)
        if held := [*shard.ids.tolist(), *shard.failures]:
            self._write(block, partial_shard_name(block, held), shard)

    def finish(self) -> None:
        """Wait until all is written. Raises what went wrong with it."""
        while self.pending:
            self.pending.popleft().result()

    def _take(self, kind: Kind) -> Shard:
        """Put all that was kept into a shard, by ascending id; after that there is nothing."""
        ids = np.concatenate([np.empty(0, np.int64), *self.ids])
        vectors = np.concatenate([np.empty((0, self.dim), np.float16), *self.vectors])
        traits = np.concatenate([np.empty(0, TRAITS), *self.traits])
        order, failures = np.argsort(ids), self.failures
        ids, vectors = ids[order], vectors[order]
        contents = np.array([self.contents[item] for item in (*ids.tolist(), *failures)], np.int64)
        self.ids, self.vectors, self.traits, self.failures, self.contents = [], [], [], {}, {}
        return Shard(kind, ids, vectors, failures, traits[order] if kind == "images" else None, contents)

    def _write(self, block: str, name: str, shard: Shard) -> None:
        while self.pending and (self.pending[0].done() or len(self.pending) >= MOST_WAITING):
            self.pending.popleft().result()
        self.written = time.monotonic()
        self.pending.append(self.pool.submit(self._write_now, block, name, shard))

    def _write_now(self, block: str, name: str, shard: Shard) -> None:
        if self.has_failed:
            return
        try:
            self._put(block, name, shard)
        except BaseException:
            self.has_failed = True
            raise

    def _put(self, block: str, name: str, shard: Shard) -> None:
        if self.queue.place.is_over():
            raise EmbedError(OVER)
        self.queue.place.write(block, name, pack_shard(shard, fingerprint=self.fingerprint, facts=self.facts))
        if name == shard_name(block):
            self.queue.mark_done(block)
