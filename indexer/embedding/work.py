"""A worker does what it claims of a plan: names first, then pictures, which are drawn from the start on.

Shards are written in the background: the device need not wait for the disk. A block that takes long leaves parts of its
shard: after two seconds of work, then four, and so on up to half a minute. So a rank that is ended again and again
still gets on, and one that is quick writes nothing more than a shard a block.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.embedding.block_queue import BlockQueue
from indexer.embedding.device import (
    Device,
    DeviceSpec,
    Layout,
    configure_ring,
    default_workers,
    encode_pipelined,
    in_batches,
    no_room,
)
from indexer.embedding.progress import EmbeddingReporter
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.graphs import LoadedEncoder, is_no_room
from indexer.errors import EmbedError
from indexer.languages.words import printable
from indexer.library.shards import Failed, Kind, Shard, content_of, pack_shard, partial_shard_name, shard_name
from indexer.library.traits import TRAITS
from indexer.process import give_back_memory
from indexer.rendering.pool import RenderedChunk, RenderPool
from indexer.rendering.slots import Job
from indexer.reports.timings import span
from indexer.sources.records import PictureAddress
from indexer.sources.source import why_unreachable

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
        self.facts = {"rank": worker, "precision": encoder.precision, "model": plan.model, "run": plan.run}
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
        self.has_failed, place = True, self.queue.place  # until it is written
        if place.is_over():
            raise EmbedError(OVER)
        with span("writing"):
            place.write(block, name, pack_shard(shard, fingerprint=self.fingerprint, facts=self.facts))
        if name == shard_name(block):
            self.queue.mark_done(block)
        self.has_failed = False


_MANY = 8
"""Pictures of a place drawn together of which none can be read: the machine's fault, unless they have gone."""


@dataclass(frozen=True, slots=True)
class Work:
    """A worker at its share. Pictures are drawn while the encoder loads and names are embedded."""

    worker: str
    """Its name, as shards and messages have it."""
    n_workers: int
    """How many divide the work, as far as that is known."""
    queue: BlockQueue
    spec: DeviceSpec
    reporter: EmbeddingReporter

    def do(self) -> None:
        """Embed everything that can be claimed.

        Raises:
            EmbedError: the encoder is another one than the plan was made for, or the device has no room.
        """
        place, stays = self.queue.place, self.queue.stays
        checkpoint = find_checkpoint(place.choose())
        if checkpoint.fingerprint != place.plan.fingerprint:
            raise EmbedError(
                f'{self.worker} finds encoder "{checkpoint.fingerprint}", the plan is for '
                f'"{place.plan.fingerprint}"; give every machine the same weights, then run `icons index`'
            )
        layout = Layout.of(self.spec.batch_size, size=checkpoint.image_size)
        n_images = -(-self.queue.count_missing("images") // self.n_workers)
        with ExitStack() as closing:
            drawing = None
            if n_images or stays:  # a picture's block may be free again at any time
                pool = layout.start_pool(
                    size=checkpoint.image_size,
                    workers=default_workers(n_images, is_fed=self.spec.is_fed, asked=place.options.workers),
                    n_under_way=self.spec.n_under_way,
                    fills=self.queue.claims is None,  # what one has drawn no other has
                )
                drawing = Drawing(closing.enter_context(pool), layout, self.queue, self.reporter)
            try:
                memory = drawing.pool.memory if drawing else None
                device = closing.enter_context(self.spec.load(checkpoint, memory, n_images))
            except (RuntimeError, MemoryError) as error:
                if not is_no_room(error):
                    raise
                raise no_room(self.reporter.progress.device, "the encoder") from error
            self.reporter.progress.device = device.name
            writer = closing.enter_context(ShardWriter(self.queue, worker=self.worker, encoder=device.encoder))
            self._embed_names(device, writer)
            give_back_memory()
            if drawing is not None:
                self.reporter.begin("finding out how many pictures go at once")
                device.prepare(n_images=n_images, largest=layout.chunk * layout.most_chunks)
                drawing.embed(device, writer)
            self.reporter.begin("writing its last vectors")
            writer.finish()
            while self.queue.await_more(self.reporter.wait):
                self._embed_names(device, writer)
                if drawing is not None:
                    drawing.begin()
                    drawing.embed(device, writer)
                writer.finish()

    def _embed_names(self, device: Device, writer: ShardWriter) -> None:
        for block in self.queue.claim("names"):
            ids = np.array([item[0] for item in block.items], dtype=np.int64)
            names = [str(item[1]) for item in block.items]
            if names:
                self.reporter.begin(f"{len(names):,} names, from {_quoted(names[0])} to {_quoted(names[-1])}")
            contents = dict(zip(ids.tolist(), map(content_of, names), strict=True))
            for places, vectors in device.encode_names(names):
                writer.add(ids[places], vectors, contents)
                writer.write_due_part(block.name, "names")
                self.reporter.add(names=len(places))
            writer.write(block.name, "names")


class Drawing:
    """Pictures of a worker's blocks, drawn from now on, and embedded once there is a device."""

    def __init__(self, pool: RenderPool, layout: Layout, queue: BlockQueue, reporter: EmbeddingReporter) -> None:
        self.pool, self.layout, self.queue, self.reporter = pool, layout, queue, reporter
        self.begin()

    def begin(self) -> None:
        """Claim and draw what is free, from now on."""
        self._begun: list[str] = []  # names of blocks, by their place among those that are drawn
        self._chunks = self.pool.render(self._jobs(), waits_for=lambda jobs: self.reporter.begin(_pictures(jobs)))

    def _jobs(self) -> Iterator[list[Job]]:
        for block in self.queue.claim("images"):
            self._begun.append(block.name)
            yield [
                Job(image, PictureAddress(kind, location, path, member, bytes.fromhex(digest)))
                for image, kind, location, path, member, digest in block.items
            ]

    def embed(self, device: Device, writer: ShardWriter) -> None:
        """Take everything through the device, and give each block's vectors to the writer."""
        chunk = self.layout.chunk
        if not self.reporter.progress.began_at:
            self.reporter.restart()
        self.pool.waited_seconds = 0.0
        configure_ring(self.pool, n_under_way=device.n_under_way, n_chunks=max(1, device.batch_size // chunk))
        batches = in_batches(self._chunks, chunk=chunk, n_chunks=lambda: max(1, device.batch_size // chunk))
        for batch, vectors in encode_pipelined(device, batches):
            for part, encoded in batch.split(vectors):
                self._take(part, encoded, writer)
            progress = self.reporter.progress
            progress.waited_seconds, progress.busy_seconds = self.pool.waited_seconds, device.busy_seconds
            progress.batch_size, progress.remark = device.batch_size, device.remark
        self.reporter.read_gauge()  # while the workers are there

    def _take(self, chunk: RenderedChunk, vectors: Halves, writer: ShardWriter) -> None:
        if self.queue.stays:
            for jobs in chunk.unread_places():
                _refuse_unreachable(jobs)
        failed = [(failure.id, Failed(failure.reason, failure.is_final)) for failure in chunk.failures]
        contents = {job.id: content_of(job.address.digest) for job in chunk.jobs}
        writer.add(chunk.ids, vectors, contents, chunk.traits, failed)
        write = writer.write if chunk.ends_block else writer.write_due_part
        write(self._begun[chunk.block], "images")
        self.reporter.add(images=len(chunk.ids), failed=len(failed))


def _refuse_unreachable(jobs: Sequence[Job]) -> None:
    """Settle nothing where this machine can't read what others may.

    Raises:
        EmbedError: that is so.
    """
    for job in (jobs[0], jobs[-1]) if len(jobs) >= _MANY else ():
        reason = why_unreachable(job.address)
        if reason is not None:
            place = _quoted(job.address.place)
            raise EmbedError(
                f"{place} and {len(jobs) - 1} other pictures can't be read on this machine ({reason}); mend that "
                "and the same command goes on; if they have gone for good, `icons index --only scan` there, then "
                "`icons index --only plan --work` plan anew"
            )


def _pictures(jobs: Sequence[Job]) -> str:
    """Say which pictures some jobs are about."""
    first, last = _quoted(jobs[0].address.place), _quoted(jobs[-1].address.place)
    return f"picture {first}" if len(jobs) == 1 else f"{len(jobs):,} pictures, from {first} to {last}"


def _quoted(name: str) -> str:
    return f'"{printable(name)}"'
