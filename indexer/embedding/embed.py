"""Stage two: plan -> shards, one process a device. Reads `work/FINGERPRINT/plan.jsonl`, writes `vectors/FINGERPRINT/`.

    torchrun --nproc-per-node 2 -m indexer.embedding.embed --library DIR --fingerprint FINGERPRINT

Rank r of W takes blocks r, r + W, ...; blocks whose shard exists are done. Nothing waits for another rank on the way,
so one that dies loses its own block only. Everything but the library's folder may differ between machines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from indexer.arrays import Halves
from indexer.embedding.batch_size import (
    ON_CPU,
    encode_names_within_memory,
    encode_within_memory,
    find_batch_size,
    out_of_memory_explained,
)
from indexer.embedding.lanes import default_workers, n_lanes, side_by_side
from indexer.embedding.options import EmbedOptions
from indexer.embedding.shard_writer import OVER, ShardWriter
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import Block, Outline, Plan, read_blocks, read_outlines, read_plan
from indexer.library.shards import Failed, piece_paths, read_settled, shard_path
from indexer.naming.printable import printable
from indexer.process import cores_of_rank, end_at_once, give_back_memory, prepare_for_batches
from indexer.ranks.devices import Device
from indexer.ranks.distributed import Rank, leave_word, process_group, run_as_rank, total_over_ranks
from indexer.ranks.gauges import Gauge
from indexer.ranks.heartbeat import Report, Reporter, watched
from indexer.ranks.progress import RankProgress, write_progress
from indexer.rendering.pool import Job, RenderedChunk, RenderPool

if TYPE_CHECKING:
    from indexer.encoders.loading import AnyEncoder

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, `icons index` does the rest"


@dataclass(frozen=True, slots=True)
class Share:
    """Every W-th block of a plan for W ranks."""

    plan: Path
    folder: Path
    """Where its shards lie."""
    rank: Rank

    def missing(self) -> list[Outline]:
        """Blocks that have no shard yet."""
        blocks = read_outlines(self.plan, rank=self.rank.index, world=self.rank.world)
        return [block for block in blocks if not shard_path(self.folder, block.name).exists()]

    def read(self, blocks: Sequence[Outline]) -> Iterator[Block]:
        """Yield blocks with what is left of their items; one at a time: all would take as much memory as the model.

        Raises:
            ShardError: a piece of a block is damaged.
        """
        wanted = {block.name for block in blocks}
        for block in read_blocks(self.plan, rank=self.rank.index, world=self.rank.world, wanted=wanted):
            pieces = map(read_settled, piece_paths(self.folder, block.name))  # of a run that has ended early
            settled = {item for _, ids, failures in pieces for item in (*ids.tolist(), *failures)}
            yield replace(block, items=[item for item in block.items if item[0] not in settled]) if settled else block


def embed(
    library: Library,
    fingerprint: str,
    *,
    rank: Rank,
    device: str,
    report: Report,
    give_up: Callable[[str], None],
) -> None:
    """Do this rank's share of a plan; with several ranks, check at the end that together they did it all.

    `give_up` is called from another thread if this one hangs, with what it was at; it has to end the process.

    Raises:
        ModelError, DeviceError: the encoder or device is not there.
        EmbedError: the encoder is another one than the plan was made for, the device has no room even for one picture,
            or work is left when all ranks are done.
    """
    from indexer.encoders.loading import find_device

    path = library.work(fingerprint) / "plan.jsonl"
    plan = read_plan(path)
    options, where = EmbedOptions(**plan.options), find_device(device)
    share = Share(path, library.vectors(fingerprint), rank)
    backend = options.backend if options.backend != "auto" else ("nccl" if where.type == "cuda" else "gloo")
    progress = RankProgress(
        rank=rank.index, world=rank.world, device=str(where), at="meeting the other ranks", waits=True
    )
    report(progress)
    with (
        watched(progress, limit=options.stall_limit, give_up=give_up),
        process_group(rank, backend=backend, device=where, limit=LONGEST_RUN),
    ):
        _share_cores(rank)
        reporter = Reporter(report, progress, Gauge(where, cores_of_rank()))
        reporter.begin("loading the encoder")
        _embed_blocks(share, plan, library.run(fingerprint, plan.run), where, reporter)
        reporter.add()  # the last shard is written: its time counts too
        n_missing = len(share.missing())
        reporter.wait("waiting for the other ranks")
        if total_over_ranks(rank, [n_missing], device=where) != [0]:
            raise EmbedError("blocks are left without a shard; `icons index` does them")
        reporter.finish()


def _find_checkpoint(plan: Plan, rank: Rank) -> Checkpoint:
    checkpoint = find_checkpoint(ModelChoice.from_json(plan.model))
    if checkpoint.fingerprint != plan.fingerprint:
        raise EmbedError(
            f'rank {rank.index} finds encoder "{checkpoint.fingerprint}", the plan is for "{plan.fingerprint}"; '
            "give every machine the same weights, then run `icons index`"
        )
    return checkpoint


def _embed_blocks(share: Share, plan: Plan, run: Path, device: Device, reporter: Reporter) -> None:
    from indexer.encoders.loading import load_encoder

    checkpoint, options = _find_checkpoint(plan, share.rank), EmbedOptions(**plan.options)
    missing = share.missing()
    names, images = ([block for block in missing if block.kind == kind] for kind in ("names", "images"))
    n_images = sum(block.n_items for block in images)
    workers = default_workers(n_images) if options.workers is None else options.workers
    start = partial(RenderPool, size=checkpoint.image_size, workers=workers, held=n_lanes(device))
    is_ahead = bool(images) and device.type == "cpu"  # while the encoder loads; a GPU tells then what a batch may be
    ahead = start(chunk=options.batch_size or ON_CPU) if is_ahead else nullcontext()
    with out_of_memory_explained(device), ahead as started:
        encoder = load_encoder(
            checkpoint, device=device, precision=options.precision, n_images=n_images, lanes=n_lanes(device)
        )
        with ShardWriter(share.folder, plan=plan, run=run, rank=share.rank, encoder=encoder) as writer:
            _embed_names(encoder, share.read(names), writer, reporter)
            give_back_memory()
            if images:
                reporter.begin("finding out how many pictures go at once")
                pool = started or start(chunk=options.batch_size or find_batch_size(encoder, n_images=n_images))
                _embed_images(encoder, share.read(images), writer, reporter, pool)
            reporter.begin("writing its last vectors")


def _embed_names(encoder: "AnyEncoder", blocks: Iterable[Block], writer: ShardWriter, reporter: Reporter) -> None:
    for block in blocks:
        ids = np.array([item[0] for item in block.items], dtype=np.int64)
        names = [str(item[1]) for item in block.items]
        if names:
            reporter.begin(f"{len(names):,} names, from {_quoted(names[0])} to {_quoted(names[-1])}")
        for places, vectors in encode_names_within_memory(encoder, names):
            writer.add(ids[places], vectors)
            reporter.add(names=len(places))
            writer.write_due_piece(block.name, "names")
        writer.write(block.name, "names")


def _embed_images(
    encoder: "AnyEncoder", blocks: Iterable[Block], writer: ShardWriter, reporter: Reporter, pool: RenderPool
) -> None:
    none = np.empty((0, encoder.dim), dtype=np.float16)
    begun: list[str] = []  # names of blocks, by their place among those that are rendered

    def tell(jobs: Sequence[Job]) -> None:
        reporter.begin(_pictures(jobs))

    def encode(chunk: RenderedChunk) -> Halves:
        return encode_within_memory(encoder, chunk.batch)[chunk.rows] if len(chunk.ids) else none

    with pool:
        reporter.restart()
        drawn = pool.render(_jobs(blocks, begun), waits_for=tell)
        for chunk, encoded in side_by_side(encode, drawn, lanes=n_lanes(encoder.device), begin=encoder.take_threads):
            failed = [(failure.id, Failed(failure.reason, failure.is_final)) for failure in chunk.failures]
            writer.add(chunk.ids, encoded, chunk.traits, failed)
            reporter.add(images=len(chunk.ids), failed=len(failed), waited=pool.waited_seconds)
            if chunk.ends_block:
                writer.write(begun[chunk.block], "images")
            else:
                writer.write_due_piece(begun[chunk.block], "images")
        reporter.read_gauge()  # while the workers are there


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
    if rank.world > 1:
        import torch

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
            embed(library, fingerprint, rank=rank, device=rank.device(kind), report=report, give_up=give_up)
        except OSError as error:
            what = f'"{error.filename or root}" can\'t be read or written ({error.strerror or error})'
            raise EmbedError(what) from error

    run_as_rank(work)


if __name__ == "__main__":
    main()
