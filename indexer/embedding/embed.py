"""Stage two: plan -> shards, one process a device. Reads `work/FINGERPRINT/plan.jsonl`, writes `vectors/FINGERPRINT/`.

    torchrun --nproc-per-node 2 -m indexer.embedding.embed --library DIR --fingerprint FINGERPRINT

Rank r of W takes blocks r, r + W, ...; blocks whose shard exists are done. Nothing waits for another rank on the way,
so one that dies loses its own block only. Everything but the library's folder may differ between machines.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from indexer.embedding.gathering import Gathering
from indexer.embedding.lanes import n_lanes, side_by_side
from indexer.embedding.renderers import Renderers
from indexer.embedding.shard_writer import OVER, ShardWriter
from indexer.embedding.share import Share
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import EmbedError, IconsError
from indexer.library.folder import Library
from indexer.library.shards import Block, Failed, Plan, read_plan
from indexer.naming.printable import printable
from indexer.process import cores_of_rank, end_with_starter, give_back_memory, prepare_for_batches
from indexer.ranks.distributed import Rank, process_group, total_over_ranks
from indexer.ranks.gauges import Gauge
from indexer.ranks.heartbeat import STALL_SECONDS, Report, Reporter, watched
from indexer.ranks.progress import RankProgress, write_progress

if TYPE_CHECKING:
    from indexer.encoders.torch_encoder import Encoder, Precision
    from indexer.rendering.pool import Job, RenderedChunk, RenderPool

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, `icons index` does the rest"


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How to embed; every field has a default that is good on any machine."""

    device: str = "auto"
    precision: "Precision" = "auto"
    batch_size: int | None = None
    """None: found by doubling."""
    workers: int | None = None
    """Rendering processes of a rank; None: its share of the cores."""
    backend: str = "auto"
    """Of the process group: nccl, gloo, or auto (nccl on CUDA, gloo on the CPU)."""
    stall_limit: float = STALL_SECONDS
    """Seconds without any progress, after which a rank is given up."""


def embed(
    library: Library,
    plan_path: Path,
    *,
    rank: Rank,
    options: EmbedOptions,
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
    from indexer.encoders.torch_encoder import resolve_device

    plan = read_plan(plan_path)
    run = library.run(plan.fingerprint, plan.run)
    folder = library.vectors(plan.fingerprint)
    device = resolve_device(options.device)
    backend = options.backend if options.backend != "auto" else ("nccl" if device.type == "cuda" else "gloo")
    progress = RankProgress(
        rank=rank.index, world=rank.world, device=str(device), at="meeting the other ranks", waits=True
    )
    report(progress)
    with (
        watched(progress, limit=options.stall_limit, give_up=give_up),
        process_group(rank, backend=backend, device=device, limit=LONGEST_RUN),
    ):
        _share_cores(rank)
        reporter = Reporter(report, progress, Gauge(device, cores_of_rank()))
        reporter.begin("loading the encoder")
        share = Share(plan_path, folder, rank)
        _embed_blocks(share, plan, run, options, reporter)
        reporter.add()  # the last shard is written: its time counts too
        n_missing = len(share.missing())
        reporter.wait("waiting for the other ranks")
        if total_over_ranks(rank, [n_missing], device=device) != [0]:
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


def _embed_blocks(share: Share, plan: Plan, run: Path, options: EmbedOptions, reporter: Reporter) -> None:
    from indexer.embedding.batch_size import out_of_memory_told
    from indexer.encoders.torch_encoder import Encoder, resolve_device

    checkpoint, device = _find_checkpoint(plan, share.rank), resolve_device(options.device)
    missing = share.missing()
    names, images = ([block for block in missing if block.kind == kind] for kind in ("names", "images"))
    n_images = sum(block.n_items for block in images)
    renderers = Renderers(n_images=n_images, workers=options.workers, batch_size=options.batch_size)
    with out_of_memory_told(device), renderers.start_ahead(checkpoint, device) as pool:
        encoder = Encoder(checkpoint, device=device, precision=options.precision)
        with ShardWriter(share.folder, plan=plan, run=run, rank=share.rank, precision=encoder.precision) as writer:
            _embed_names(encoder, share.read(names), writer, reporter)
            give_back_memory()
            if images:
                reporter.begin("finding out how many pictures go at once")
                _embed_images(encoder, share.read(images), writer, reporter, pool or renderers.start(encoder))
            reporter.begin("writing its last vectors")


def _embed_names(encoder: "Encoder", blocks: Iterable[Block], writer: ShardWriter, reporter: Reporter) -> None:
    from indexer.embedding.batch_size import encode_names_within_memory

    gathered = Gathering("names", encoder.dim)
    for block in blocks:
        ids = np.array([item[0] for item in block.items], dtype=np.int64)
        names = [str(item[1]) for item in block.items]
        if names:
            reporter.begin(f"{len(names):,} names, from {_quoted(names[0])} to {_quoted(names[-1])}")
        for places, vectors in encode_names_within_memory(encoder, names):
            gathered.add(ids[places], vectors)
            reporter.add(names=len(places))
            if writer.is_piece_due():
                writer.write_piece(block.name, gathered.take())
        writer.write(block.name, gathered.take())


def _embed_images(
    encoder: "Encoder", blocks: Iterable[Block], writer: ShardWriter, reporter: Reporter, pool: "RenderPool"
) -> None:
    from indexer.embedding.batch_size import encode_within_memory

    gathered = Gathering("images", encoder.dim)
    none = np.empty((0, encoder.dim), dtype=np.float16)
    begun: list[str] = []  # names of blocks, by their place among those that are rendered

    def tell(jobs: Sequence["Job"]) -> None:
        reporter.begin(_pictures(jobs))

    def encode(chunk: "RenderedChunk") -> NDArray[np.float16]:
        return encode_within_memory(encoder, chunk.batch)[chunk.rows] if len(chunk.ids) else none

    with pool:
        reporter.restart()
        drawn = pool.render(_jobs(blocks, begun), waits_for=tell)
        for chunk, encoded in side_by_side(encode, drawn, lanes=n_lanes(encoder.device)):
            failed = [(failure.id, Failed(failure.reason, failure.is_final)) for failure in chunk.failures]
            gathered.add(chunk.ids, encoded, chunk.traits, failed)
            reporter.add(images=len(chunk.ids), failed=len(failed), waited=pool.waited_seconds)
            if chunk.ends_block:
                writer.write(begun[chunk.block], gathered.take())
            elif writer.is_piece_due():
                writer.write_piece(begun[chunk.block], gathered.take())
        reporter.read_gauge()  # while the workers are there


def _pictures(jobs: Sequence["Job"]) -> str:
    """Say which pictures some jobs are about."""
    first, last = (
        _quoted(f"{job.location}/{job.path}".rstrip("/") + (f"#{job.member}" if job.member else ""))
        for job in (jobs[0], jobs[-1])
    )
    return f"picture {first}" if len(jobs) == 1 else f"{len(jobs):,} pictures, from {first} to {last}"


def _quoted(name: str) -> str:
    return f'"{printable(name)}"'


def _jobs(blocks: Iterable[Block], begun: list[str]) -> Iterator[list["Job"]]:
    from indexer.rendering.pool import Job

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


@click.command(context_settings={"show_default": True})
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option("--fingerprint", required=True, help="Encoder whose plan is to be done, as `icons embed` prints it.")
@click.option("--device", default="auto", help="auto, cpu, cuda; one GPU a rank, by its local rank.")
@click.option("--precision", type=click.Choice(["auto", "fp32", "bf16", "fp16"]), default="auto")
@click.option(
    "--batch-size", type=click.IntRange(1), default=None, help="Pictures at once; found by doubling if not given."
)
@click.option("--workers", type=click.IntRange(0), default=None, help="Rendering processes a rank.")
@click.option("--backend", type=click.Choice(["auto", "nccl", "gloo"]), default="auto")
@click.option(
    "--stall-limit", type=click.FloatRange(1), default=STALL_SECONDS, help="Seconds without progress, then it ends."
)
def main(root: Path, fingerprint: str, device: str, **options: Any) -> None:
    """Embed this rank's share of a plan that `icons embed` or `icons index` has written."""
    end_with_starter()
    prepare_for_batches()
    library, rank = Library(root), Rank.from_environment()
    if device == "cuda" or (device == "auto" and rank.world > 1):
        device = _device_of(rank, device)
    plan = library.work(fingerprint) / "plan.jsonl"
    try:
        run = library.run(fingerprint, read_plan(plan).run)
    except (OSError, ValueError, TypeError) as error:
        raise click.ClickException(f'"{plan}" can\'t be read; `icons embed --plan-only` writes a plan') from error

    def report(progress: RankProgress) -> None:
        if not run.is_dir():
            raise EmbedError(OVER)
        write_progress(run, progress)

    def tell(reason: str) -> None:
        click.echo(f"Error: rank {rank.index}: {reason}", err=True)
        with suppress(OSError, EmbedError):  # the disk may be what is at fault
            report(RankProgress(rank=rank.index, world=rank.world, error=reason))

    def give_up(reason: str) -> None:
        tell(reason)
        os._exit(1)

    how = EmbedOptions(device=device, **options)
    try:
        embed(library, plan, rank=rank, options=how, report=report, give_up=give_up)
    except IconsError as error:
        tell(str(error))
    except OSError as error:
        tell(f'"{error.filename or library.root}" can\'t be read or written ({error.strerror or error})')
    else:
        return
    raise click.exceptions.Exit(1)


def _device_of(rank: Rank, device: str) -> str:
    import torch

    return f"cuda:{rank.local}" if device == "cuda" or torch.cuda.is_available() else "cpu"


if __name__ == "__main__":
    main()
