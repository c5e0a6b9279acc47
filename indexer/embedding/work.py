"""A worker does what it claims of a plan: names first, then pictures, which are drawn from the start on."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Halves
from indexer.embedding.block_queue import BlockQueue
from indexer.embedding.device import (
    Device,
    DeviceSpec,
    Layout,
    configure_ring,
    default_workers,
    encode_pipelined,
    in_batches,
    out_of_memory_explained,
)
from indexer.embedding.progress import EmbeddingReporter
from indexer.embedding.shard_writer import ShardWriter
from indexer.encoders.checkpoint import Checkpoint, find_checkpoint
from indexer.errors import EmbedError
from indexer.languages.words import printable
from indexer.library.plans import Block
from indexer.library.shards import Failed, content_of
from indexer.process import give_back_memory
from indexer.rendering.pool import RenderedChunk, RenderPool
from indexer.rendering.slots import Job
from indexer.sources.records import PictureAddress
from indexer.sources.source import why_unreachable

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
        checkpoint = self._find_checkpoint()
        layout = Layout.of(self.spec.batch_size, size=checkpoint.image_size)
        n_images = -(-self.queue.count_missing("images") // self.n_workers)
        with ExitStack() as closing:
            drawing = None
            if n_images or self.queue.stays:  # a picture's block may be free again at any time
                pool = closing.enter_context(self._start_pool(checkpoint, layout, n_images))
                drawing = Drawing(pool, layout, self.queue, self.reporter)
            with out_of_memory_explained(self.reporter.progress.device):
                memory = drawing.pool.memory if drawing else None
                device = closing.enter_context(self.spec.load(checkpoint, memory, n_images))
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

    def _find_checkpoint(self) -> Checkpoint:
        plan = self.queue.place.plan
        checkpoint = find_checkpoint(self.queue.place.choose())
        if checkpoint.fingerprint != plan.fingerprint:
            raise EmbedError(
                f'{self.worker} finds encoder "{checkpoint.fingerprint}", the plan is for '
                f'"{plan.fingerprint}"; give every machine the same weights, then run `icons index`'
            )
        return checkpoint

    def _start_pool(self, checkpoint: Checkpoint, layout: Layout, n_images: int) -> RenderPool:
        workers = self.queue.place.options.workers
        return layout.start_pool(
            size=checkpoint.image_size,
            workers=default_workers(n_images, is_fed=self.spec.is_fed) if workers is None else workers,
            n_under_way=self.spec.n_under_way,
            fills=self.queue.claims is None,  # what one has drawn no other has
        )

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
        self._chunks = self.pool.render(_jobs(self.queue.claim("images"), self._begun), waits_for=self._tell)

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

    def _tell(self, jobs: Sequence[Job]) -> None:
        self.reporter.begin(_pictures(jobs))


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


def _jobs(blocks: Iterable[Block], begun: list[str]) -> Iterator[list[Job]]:
    for block in blocks:
        begun.append(block.name)
        yield [
            Job(image, PictureAddress(kind, location, path, member, bytes.fromhex(digest)))
            for image, kind, location, path, member, digest in block.items
        ]
