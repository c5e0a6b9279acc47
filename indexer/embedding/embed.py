"""Stage two: plan -> shards, one process a device. Reads `work/FINGERPRINT/plan.jsonl`, writes `vectors/FINGERPRINT/`.

    torchrun --nproc-per-node 2 -m indexer.embedding.embed --library DIR --fingerprint FINGERPRINT

Ranks claim blocks; those whose shard exists are done. Nothing waits for another rank on the way, so one that dies loses
its own blocks only. Everything but the library's folder may differ between machines.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from indexer.arrays import Halves
from indexer.embedding.batches import Layout, hold, in_batches
from indexer.embedding.device import CpuSpec, Device, DeviceSpec, default_workers, through
from indexer.embedding.options import EmbedOptions
from indexer.embedding.room import out_of_memory_explained
from indexer.embedding.shard_writer import OVER, ShardWriter
from indexer.embedding.share import Share
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import Block, Plan, read_plan
from indexer.library.shards import Failed
from indexer.naming.printable import printable
from indexer.process import cores_of_rank, end_at_once, give_back_memory, prepare_for_batches
from indexer.ranks.distributed import (
    Rank,
    leave_word,
    number_of_first_rank,
    process_group,
    run_as_rank,
    total_over_ranks,
)
from indexer.ranks.gauges import Gauge
from indexer.ranks.heartbeat import Report, Reporter, watched
from indexer.ranks.progress import RankProgress, write_progress
from indexer.rendering.pool import Job, RenderedChunk, RenderPool

if TYPE_CHECKING:
    import torch

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, `icons index` does the rest"


@dataclass(frozen=True, slots=True)
class Post:
    """Where a rank works, and whom it tells how it gets on."""

    rank: Rank
    device: str
    """As `resolve_device` reads it."""
    report: Report
    give_up: Callable[[str], None]
    """Called from another thread if this one hangs, with what it was at; it has to end the process."""
    spec: DeviceSpec | None = None
    """None: that of the device. A benchmark puts one in its place that is simulated."""


def embed(library: Library, fingerprint: str, post: Post) -> None:
    """Do what this rank claims of a plan; with several ranks, check at the end that together they did it all.

    Raises:
        ModelError, DeviceError: the encoder or device is not there.
        EmbedError: the encoder is another one than the plan was made for, the device has no room even for one picture,
            or work is left when all ranks are done.
    """
    from indexer.encoders.torch_encoder import resolve_device

    path = library.work(fingerprint) / "plan.jsonl"
    plan, rank, where = read_plan(path), post.rank, resolve_device(post.device)
    options, run = EmbedOptions(**plan.options), library.run(fingerprint, plan.run)
    backend = options.backend if options.backend != "auto" else ("nccl" if where.type == "cuda" else "gloo")
    progress = RankProgress(
        rank=rank.index, world=rank.world, device=str(where), at="meeting the other ranks", waits=True
    )
    post.report(progress)
    with (
        watched(progress, limit=options.stall_limit, give_up=post.give_up),
        process_group(rank, backend=backend, device=where, limit=LONGEST_RUN),
    ):
        _share_cores(rank)
        share = Share(path, library.vectors(fingerprint), _claims(run, rank, where))
        reporter = Reporter(post.report, progress, Gauge(where, cores_of_rank()))
        reporter.begin("loading the encoder")
        _embed_share(share, plan, run, post.spec or _spec(where, options), reporter, rank=rank)
        reporter.add()  # the last shard is written: its time counts too
        reporter.wait("waiting for the other ranks")
        if total_over_ranks(rank, [share.count_undone()], device=where) != [0]:
            raise EmbedError("blocks are left without a shard; `icons index` does them")
        reporter.finish()


def _spec(device: "torch.device", options: EmbedOptions) -> DeviceSpec:
    if device.type == "cpu":
        return CpuSpec.of(options)
    from indexer.embedding.cuda_device import CudaSpec

    return CudaSpec(device, options.precision, options.batch_size)


def _claims(run: Path, rank: Rank, device: "torch.device") -> Path | None:
    """Make the folder in which ranks that have met claim blocks; none where there is one.

    It has a new name each time: the claims of ranks that have died do not count for those that come after them.
    """
    if rank.world == 1:
        return None
    folder = run / f"claims-{number_of_first_rank(rank, secrets.randbits(62), device=device):x}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _find_checkpoint(plan: Plan, rank: Rank) -> Checkpoint:
    checkpoint = find_checkpoint(ModelChoice.from_json(plan.model))
    if checkpoint.fingerprint != plan.fingerprint:
        raise EmbedError(
            f'rank {rank.index} finds encoder "{checkpoint.fingerprint}", the plan is for "{plan.fingerprint}"; '
            "give every machine the same weights, then run `icons index`"
        )
    return checkpoint


def _embed_share(share: Share, plan: Plan, run: Path, spec: DeviceSpec, reporter: Reporter, *, rank: Rank) -> None:
    """Embed names, then pictures, which are drawn from the start: while the encoder loads and names are embedded."""
    checkpoint, options = _find_checkpoint(plan, rank), EmbedOptions(**plan.options)
    n_images = sum(block.n_items for block in share.missing() if block.kind == "images") // rank.world
    layout = Layout.of(spec.batch_size, size=checkpoint.image_size)
    with ExitStack() as closing:
        drawing = None
        if n_images:
            workers = default_workers(n_images) if options.workers is None else options.workers
            pool = layout.start_pool(size=checkpoint.image_size, workers=workers, n_under_way=spec.n_under_way)
            drawing = Drawing(closing.enter_context(pool), layout, share, reporter)
        with out_of_memory_explained(reporter.progress.device):
            device = closing.enter_context(spec.open(checkpoint, drawing.pool.memory if drawing else None))
        reporter.progress.device = device.name
        writer = closing.enter_context(ShardWriter(share.shards, plan=plan, run=run, rank=rank, encoder=device.encoder))
        _embed_names(device, share, writer, reporter)
        give_back_memory()
        if drawing is not None:
            reporter.begin("finding out how many pictures go at once")
            device.settle(n_images=n_images, largest=layout.chunk * layout.most_chunks)
            drawing.embed(device, writer)
        reporter.begin("writing its last vectors")


def _embed_names(device: Device, share: Share, writer: ShardWriter, reporter: Reporter) -> None:
    for block in share.claim("names"):
        ids = np.array([item[0] for item in block.items], dtype=np.int64)
        names = [str(item[1]) for item in block.items]
        if names:
            reporter.begin(f"{len(names):,} names, from {_quoted(names[0])} to {_quoted(names[-1])}")
        for places, vectors in device.encode_names(names):
            writer.add(ids[places], vectors)
            reporter.add(names=len(places))
            writer.write_due_piece(block.name, "names")
        writer.write(block.name, "names")


class Drawing:
    """Pictures of a rank's blocks, drawn from now on, and embedded once there is a device."""

    def __init__(self, pool: RenderPool, layout: Layout, share: Share, reporter: Reporter) -> None:
        self.pool, self.layout, self.reporter = pool, layout, reporter
        self._begun: list[str] = []  # names of blocks, by their place among those that are drawn
        self._chunks = pool.render(_jobs(share.claim("images"), self._begun), waits_for=self._tell)

    def embed(self, device: Device, writer: ShardWriter) -> None:
        """Take everything through the device, and give each block's vectors to the writer."""
        chunk = self.layout.chunk
        self.reporter.restart()
        self.pool.waited_seconds = 0.0
        hold(self.pool, n_under_way=device.n_under_way, n_chunks=max(1, device.batch_size // chunk))
        batches = in_batches(self._chunks, chunk=chunk, n_chunks=lambda: max(1, device.batch_size // chunk))
        for batch, vectors in through(device, batches):
            for part, encoded in batch.split(vectors):
                self._take(part, encoded, writer)
            self.reporter.tell_of_device(waited=self.pool.waited_seconds, busy=device.busy_seconds)
        self.reporter.read_gauge()  # while the workers are there

    def _take(self, chunk: RenderedChunk, vectors: Halves, writer: ShardWriter) -> None:
        failed = [(failure.id, Failed(failure.reason, failure.is_final)) for failure in chunk.failures]
        writer.add(chunk.ids, vectors, chunk.traits, failed)
        self.reporter.add(images=len(chunk.ids), failed=len(failed))
        write = writer.write if chunk.ends_block else writer.write_due_piece
        write(self._begun[chunk.block], "images")

    def _tell(self, jobs: Sequence[Job]) -> None:
        self.reporter.begin(_pictures(jobs))


def _pictures(jobs: Sequence[Job]) -> str:
    """Say which pictures some jobs are about."""
    first, last = (
        _quoted(f"{job.location}/{job.path}".rstrip("/") + (f"#{job.member}" if job.member else ""))
        for job in (jobs[0], jobs[-1])
    )
    return f"picture {first}" if len(jobs) == 1 else f"{len(jobs):,} pictures, from {first} to {last}"


def _quoted(name: str) -> str:
    return f'"{printable(name)}"'


def _jobs(blocks: Iterable[Block], begun: list[str]) -> Iterator[list[Job]]:
    for block in blocks:
        begun.append(block.name)
        yield [
            Job(image, kind, location, path, member, bytes.fromhex(digest))
            for image, kind, location, path, member, digest in block.items
        ]


def _share_cores(rank: Rank) -> None:
    """Give each rank of this machine its share of the cores; torchrun's own default is one thread each."""
    import torch

    if rank.world > 1:
        torch.set_num_threads(cores_of_rank())


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option("--fingerprint", required=True, help="Encoder whose plan is to be done, as `icons embed` prints it.")
def main(root: Path, fingerprint: str) -> None:
    """Embed this rank's share of a plan that `icons embed` or `icons index` has written."""
    prepare_for_batches()
    library = Library(root)
    path = library.work(fingerprint) / "plan.jsonl"
    try:
        plan = read_plan(path)
    except (OSError, ValueError, TypeError) as error:
        raise click.ClickException(f'"{path}" can\'t be read; `icons embed --plan-only` writes a plan') from error
    run, kind = library.run(fingerprint, plan.run), EmbedOptions(**plan.options).device

    def report(progress: RankProgress) -> None:
        if not run.is_dir():
            raise EmbedError(OVER)
        write_progress(run, progress)

    def work(rank: Rank) -> None:
        def give_up(reason: str) -> None:
            leave_word(EmbedError(reason))
            end_at_once(f"rank {rank.index}: {reason}")

        try:
            embed(library, fingerprint, Post(rank, rank.device(kind), report, give_up))
        except OSError as error:
            what = f'"{error.filename or root}" can\'t be read or written ({error.strerror or error})'
            raise EmbedError(what) from error

    run_as_rank(work)


if __name__ == "__main__":
    main()
