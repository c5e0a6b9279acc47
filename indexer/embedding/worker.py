"""A worker does what it claims of a plan: names first, then pictures, which are drawn from the start on.

A rank of torchrun, a process of `icons worker` and an actor of Ray are one. Shards are written in the background: the
device need not wait for the disk. A block that takes long leaves parts of its shard: after two seconds of work, then
four, and so on up to half a minute. So a worker that is ended again and again still gets on.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Self

import numpy as np

from indexer.arrays import Halves
from indexer.embedding.device import (
    Device,
    DeviceSpec,
    Layout,
    configure_ring,
    default_workers,
    encode_pipelined,
    in_batches,
    in_products_of,
    no_room,
    spec_of,
)
from indexer.embedding.plan_store import BlockQueue, PlanStore
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter, watched
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.devices import use_device
from indexer.encoders.graphs import LoadedEncoder, find_device, is_no_room
from indexer.errors import EmbedError, StoreError
from indexer.languages.words import printable
from indexer.library.plans import Block, Plan
from indexer.library.shards import TRAITS, Failed, Kind, Shard, content_of, pack_shard, partial_shard_name, shard_name
from indexer.process import give_back_memory
from indexer.ranks import Gauge, Rank
from indexer.rendering.pool import Job, RenderedChunk, RenderPool
from indexer.reports.terminal import TIMINGS, span
from indexer.sources.records import PictureAddress
from indexer.sources.source import why_unreachable

FIRST_PART_SECONDS, PART_SECONDS = 2.0, 32.0
MOST_WAITING = 8
"""Shards on their way to the drive. Behind them the device waits, as memory would fill where the drive is slower."""
OVER = "another run has begun since, and this worker belongs to one before it; nothing more was written"


class Ended(Exception):  # noqa: N818 - nothing is wrong
    """This worker was asked to end: what it has made so far is kept."""


class ShardWriter:
    """Writes one worker's shards to where its share lies; a context manager, which awaits the last.

    Worker and run are named in the shards. Where another run has begun, nothing is written any more.
    """

    def __init__(self, queue: BlockQueue, *, encoder: LoadedEncoder) -> None:
        self.queue, plan = queue, queue.place.plan
        made_by = {"rank": queue.worker, "precision": encoder.precision, "model": plan.model, "run": plan.run}
        self.pack = partial(pack_shard, fingerprint=plan.fingerprint, facts=made_by)
        self.empty = np.empty((0, encoder.dim), np.float16)
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: deque[Future[None]] = deque()
        self.part_seconds, self.written = FIRST_PART_SECONDS, time.monotonic()
        self.under_way: tuple[str, Kind] | None = None
        self.pieces: list[Shard] = []
        self.contents: dict[int, int] = {}
        self.has_failed = False
        """Whether something could not be written: a shard without its parts would stand for items that nobody has."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, Ended) and self.under_way is not None:
            self._write_part(*self.under_way)
        self.pool.shutdown(wait=True)
        self.finish()

    def add(self, piece: Shard, contents: Mapping[int, int]) -> None:
        """Keep what was made of some items of the block under way; `contents` by id (`content_of`)."""
        self.pieces.append(piece)
        self.contents.update(contents)

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
        ids = np.concatenate([np.empty(0, np.int64), *(piece.ids for piece in self.pieces)])
        vectors = np.concatenate([self.empty, *(piece.vectors for piece in self.pieces)])
        found = [piece.traits for piece in self.pieces if piece.traits is not None]
        failures = {item: failed for piece in self.pieces for item, failed in piece.failures.items()}
        order = np.argsort(ids)
        traits = np.concatenate([np.empty(0, TRAITS), *found])[order] if kind == "images" else None
        contents = np.array([self.contents[item] for item in (*ids[order].tolist(), *failures)], np.int64)
        self.pieces, self.contents = [], {}
        return Shard(kind, ids[order], vectors[order], failures, traits, contents)

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
            place.write(block, name, self.pack(shard))
        if name == shard_name(block):
            self.queue.mark_done(block)
        self.has_failed = False


_MANY = 8
"""Pictures of a place drawn together of which none can be read: the machine's fault, unless they have gone."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works, where, and whom it tells."""

    name: str
    """As claims, shards and messages have it."""
    device: str
    """As `find_device` reads it."""
    give_up: Callable[[str], None]
    """Called from another thread if this one hangs, with what it was at; it has to end the process."""
    show: Callable[[Plan, EmbeddingProgress], None] = lambda *_: None
    """Called as it gets on; what this raises ends the work."""
    rank: Rank = field(default_factory=Rank)

    def work(self, place: PlanStore) -> None:
        """Embed what can be claimed of a plan, until every block has its shard or another run has begun.

        Raises:
            ModelError, DeviceError: the encoder or device is not there.
            EmbedError: the encoder is another one than the plan was made for, or the device has no room even for one
                picture.
            Ended: `show` says that this worker was asked to end.
        """
        where = find_device("cpu" if place.options.precision == "int8" else self.device)
        use_device(where)
        progress = EmbeddingProgress(
            self.rank.index, self.rank.world, name=self.name if place.is_shared else "", device=str(where)
        )
        reporter = EmbeddingReporter(lambda now: self.show(place.plan, now), progress, Gauge(where))

        def report() -> None:
            if self.rank.world > 1 or place.is_shared:  # else whoever watches is this very process
                progress.spans = tuple(TIMINGS.taken())
            place.run.report(self.name, progress)

        def leave_word(reason: str) -> None:
            progress.ended = reason
            with suppress(StoreError, OSError):
                report()

        def give_up(reason: str) -> None:
            leave_word(reason)
            self.give_up(reason)

        try:
            with (
                watched(progress, limit=place.options.stall_limit, give_up=give_up),
                in_products_of(where, place.options),
                BlockQueue(place, self.name, beside=report) as queue,
            ):
                reporter.begin("loading the encoder")
                report()
                work_off(queue, spec_of(where, place.options), reporter)
        except Exception as error:
            if isinstance(error, EmbedError) and place.is_over():
                return
            if not isinstance(error, Ended):
                leave_word(str(error) or type(error).__name__)
            raise
        if not place.is_over():
            reporter.finish()
            report()


def work_off(queue: BlockQueue, spec: DeviceSpec, reporter: EmbeddingReporter) -> None:
    """Embed everything that can be claimed. Pictures are drawn while the encoder loads and names are embedded."""
    place, progress = queue.place, reporter.progress
    checkpoint = find_checkpoint(place.choose())
    if checkpoint.fingerprint != place.plan.fingerprint:
        raise EmbedError(
            f'{queue.worker} finds encoder "{checkpoint.fingerprint}", the plan is for '
            f'"{place.plan.fingerprint}"; give every machine the same weights, then run `icons index`'
        )
    layout = Layout.of(spec.batch_size, size=checkpoint.image_size)
    n_images = -(-sum(header.n_items for header in place.missing() if header.kind == "images") // progress.world)
    workers = default_workers(n_images, is_fed=spec.is_fed, asked=place.options.workers)
    with ExitStack() as closing:
        pool = layout.start_pool(
            size=checkpoint.image_size,
            workers=workers if place.plan.n_images else 0,  # a block of them may be free again at any time
            n_under_way=spec.n_under_way,
            fills=not place.is_shared and progress.world == 1,  # what one has drawn no other has
        )
        drawing = Drawing(closing.enter_context(pool), layout, queue, reporter)
        try:
            device = closing.enter_context(spec.load(checkpoint, pool.memory, n_images))
        except (RuntimeError, MemoryError) as error:
            if not is_no_room(error):
                raise
            raise no_room(progress.device, "the encoder") from error
        progress.device = device.name
        writer = closing.enter_context(ShardWriter(queue, encoder=device.encoder))
        _embed_names(queue, device, writer, reporter)
        give_back_memory()
        if place.plan.n_images:
            reporter.begin("the first pictures")
            device.prepare(n_images=n_images, largest=layout.chunk * layout.most_chunks)
        while drawing.embed(device, writer) == "wait":
            if writer.pending:
                reporter.begin("writing its last vectors")
                writer.finish()
            else:
                reporter.begin("waiting for blocks that others hold", waits=True)
                queue.pause()
            _embed_names(queue, device, writer, reporter)  # which others have left
            drawing.begin()


def _embed_names(queue: BlockQueue, device: Device, writer: ShardWriter, reporter: EmbeddingReporter) -> None:
    while isinstance(block := queue.next("names"), Block):
        ids = np.array([item[0] for item in block.items], dtype=np.int64)
        names = [str(item[1]) for item in block.items]
        if names:
            reporter.begin(f"{len(names):,} names, from {_quoted(names[0])} to {_quoted(names[-1])}")
        contents = dict(zip(ids.tolist(), map(content_of, names), strict=True))
        for places, vectors in device.encode_names(names):
            writer.add(Shard("names", ids[places], vectors, {}), contents)
            writer.write_due_part(block.name, "names")
            reporter.add(names=len(places))
        writer.write(block.name, "names")


class Drawing:
    """Pictures of a worker's blocks, drawn from now on, and embedded once there is a device."""

    def __init__(self, pool: RenderPool, layout: Layout, queue: BlockQueue, reporter: EmbeddingReporter) -> None:
        self.pool, self.layout, self.queue, self.reporter = pool, layout, queue, reporter
        self.begin()

    def begin(self) -> None:
        """Draw what is free from now on."""
        self._begun: list[str] = []  # names of blocks, by their place among those that are drawn
        self._following: Literal["wait", "done"] = "wait"
        self._chunks = self.pool.render(self._jobs(), waits_for=lambda jobs: self.reporter.begin(_pictures(jobs)))

    def _jobs(self) -> Iterator[list[Job]]:
        while isinstance(block := self.queue.next("images"), Block):
            self._begun.append(block.name)
            yield [
                Job(image, PictureAddress(kind, location, path, member, bytes.fromhex(digest)))
                for image, kind, location, path, member, digest in block.items
            ]
        self._following = block

    def embed(self, device: Device, writer: ShardWriter) -> Literal["wait", "done"]:
        """Take all pictures through the device, each block's vectors to the writer; return what the queue says then."""
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
        return self._following

    def _take(self, chunk: RenderedChunk, vectors: Halves, writer: ShardWriter) -> None:
        if self.queue.place.is_shared:
            for jobs in chunk.unread_places():
                _refuse_unreachable(jobs)
        failed = {failure.id: Failed(failure.reason, failure.is_final) for failure in chunk.failures}
        contents = {job.id: content_of(job.address.digest) for job in chunk.jobs}
        writer.add(Shard("images", chunk.ids, vectors, failed, chunk.traits), contents)
        (writer.write if chunk.ends_block else writer.write_due_part)(self._begun[chunk.block], "images")
        self.reporter.add(images=len(chunk.ids), failed=len(failed))


def _refuse_unreachable(jobs: Sequence[Job]) -> None:
    """Settle nothing where this machine can't read what others may: raise EmbedError."""
    for job in (jobs[0], jobs[-1]) if len(jobs) >= _MANY else ():
        if (reason := why_unreachable(job.address)) is not None:
            raise EmbedError(
                f"{_quoted(job.address.place)} and {len(jobs) - 1} other pictures can't be read on this machine "
                f"({reason}); mend that and the same command goes on; if they have gone for good, `icons index --only "
                "scan` there, then `icons index --only plan --work` plan anew"
            )


def _pictures(jobs: Sequence[Job]) -> str:
    """Say which pictures some jobs are about."""
    first, last = _quoted(jobs[0].address.place), _quoted(jobs[-1].address.place)
    return f"picture {first}" if len(jobs) == 1 else f"{len(jobs):,} pictures, from {first} to {last}"


def _quoted(name: str) -> str:
    return f'"{printable(name)}"'
