"""Stage two: plan -> shards, one process a device. Reads `work/FINGERPRINT/plan.jsonl`, writes `vectors/FINGERPRINT/`.

    torchrun --nproc-per-node 2 -m indexer.embed --library DIR --fingerprint FINGERPRINT

Rank r of W takes blocks r, r + W, ...; blocks whose shard exists are done. Nothing waits for another rank on the way,
so one that dies loses its own block only. Everything but the library's folder may differ between machines.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from indexer.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.distributed import Rank, process_group, total_over_ranks
from indexer.errors import EmbedError, IconsError
from indexer.gauges import Gauge
from indexer.library import Library
from indexer.process import cores_of_rank, prepare_for_batches
from indexer.progress import RankProgress, write_progress
from indexer.renderers import Renderers
from indexer.shards import Block, Plan, Shard, read_blocks, read_plan, shard_path, write_shard

if TYPE_CHECKING:
    from indexer.encoder import Encoder, Precision
    from indexer.render_pool import Job, RenderPool

Report = Callable[[RankProgress], None]
REPORT_SECONDS = 0.5
GAUGE_SECONDS = 4.0
"""A reading takes 20 ms: the kernel counts the pages of every process."""


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


@dataclass(slots=True)
class _Reporter:
    """Tells how far this rank is, twice a second at most."""

    report: Report
    progress: RankProgress
    gauge: Gauge
    started: float = field(default_factory=time.perf_counter)
    told: float = 0.0
    gauged: float = field(default_factory=time.perf_counter)

    def restart(self) -> None:
        """Count seconds from here: what came before is no part of the rate of pictures."""
        self.started = time.perf_counter()
        self.progress.began_at = time.time()

    def add(self, *, images: int = 0, names: int = 0, failed: int = 0, waited: float | None = None) -> None:
        self.progress.images += images
        self.progress.names += names
        self.progress.failed += failed
        now = time.perf_counter()
        self.progress.seconds = now - self.started
        if waited is not None:
            self.progress.waited_seconds = waited
        if now - self.told >= REPORT_SECONDS:
            self.told = now
            if now - self.gauged >= GAUGE_SECONDS:
                self.read_gauge()
            self.report(self.progress)

    def read_gauge(self) -> None:
        self.gauged = time.perf_counter()
        self.progress.memory_bytes, self.progress.utilisation = self.gauge.read()

    def finish(self) -> None:
        self.progress.finished = True
        self.report(self.progress)


def embed(library: Library, plan_path: Path, *, rank: Rank, options: EmbedOptions, report: Report) -> None:
    """Do this rank's share of a plan; with several ranks, check at the end that together they did it all.

    Raises:
        ModelError, DeviceError: the encoder or device is not there.
        EmbedError: the encoder is another one than the plan was made for, or work is left when all ranks are done.
    """
    from indexer.encoder import Encoder, resolve_device

    plan = read_plan(plan_path)
    folder = library.vectors(plan.fingerprint)
    device = resolve_device(options.device)
    backend = options.backend if options.backend != "auto" else ("nccl" if device.type == "cuda" else "gloo")
    with process_group(rank, backend=backend, device=device):
        _share_cores(rank)
        checkpoint = _find_checkpoint(plan, rank)
        blocks = _missing_blocks(folder, plan_path, rank)
        names, images = ([block for block in blocks if block.kind == kind] for kind in ("names", "images"))
        renderers = Renderers(
            n_images=sum(len(block.items) for block in images), workers=options.workers, batch_size=options.batch_size
        )
        with renderers.start_ahead(checkpoint, device) as pool:
            encoder = Encoder(checkpoint, device=device, precision=options.precision)
            progress = RankProgress(rank=rank.index, world=rank.world, device=str(device))
            reporter = _Reporter(report, progress, Gauge(device, cores_of_rank()))
            with _ShardWriter(folder, plan=plan, rank=rank, encoder=encoder) as writer:
                _embed_names(encoder, names, writer, reporter)
                if images:
                    _embed_images(encoder, images, writer, reporter, pool or renderers.start(encoder))
        reporter.add()  # the last shard is written: its time counts too
        n_missing = len(_missing_blocks(folder, plan_path, rank))
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


def _missing_blocks(folder: Path, plan_path: Path, rank: Rank) -> list[Block]:
    """Blocks of this rank that have no shard yet."""
    blocks = read_blocks(plan_path, rank=rank.index, world=rank.world)
    return [block for block in blocks if not shard_path(folder, block).exists()]


class _ShardWriter:
    """Writes shards in the background, so that the device need not wait for the disk."""

    def __init__(self, folder: Path, *, plan: Plan, rank: Rank, encoder: "Encoder") -> None:
        self.folder = folder
        self.fingerprint = plan.fingerprint
        self.facts = {"rank": f"{rank.index}/{rank.world}", "precision": encoder.precision, "model": plan.model}
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: list[Future[None]] = []

    def __enter__(self) -> "_ShardWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True)
        for written in self.pending:
            written.result()

    def write(self, block: Block, shard: Shard) -> None:
        for written in [future for future in self.pending if future.done()]:
            self.pending.remove(written)
            written.result()
        path = shard_path(self.folder, block)
        self.pending.append(self.pool.submit(write_shard, path, shard, fingerprint=self.fingerprint, facts=self.facts))


def _embed_names(encoder: "Encoder", blocks: list[Block], writer: _ShardWriter, reporter: _Reporter) -> None:
    for block in blocks:
        ids = np.array([item[0] for item in block.items], dtype=np.int64)
        vectors = encoder.encode_texts([str(item[1]) for item in block.items])
        writer.write(block, Shard("names", ids, vectors, {}))
        reporter.add(names=len(ids))


def _embed_images(
    encoder: "Encoder", blocks: list[Block], writer: _ShardWriter, reporter: _Reporter, pool: "RenderPool"
) -> None:
    from indexer.batch_size import encode_within_memory

    ids: list[NDArray[np.int64]] = []
    vectors: list[NDArray[np.float16]] = [np.empty((0, encoder.dim), dtype=np.float16)]
    traits: list[NDArray[np.int8]] = []
    failures: dict[int, str] = {}
    with pool:
        reporter.restart()
        for chunk in pool.render(_jobs(blocks)):
            ids.append(chunk.ids)
            traits.append(chunk.traits)
            if len(chunk.ids):
                vectors.append(encode_within_memory(encoder, chunk.pixels))
            failures.update((failure.id, failure.reason) for failure in chunk.failures)
            reporter.add(images=len(chunk.ids), failed=len(chunk.failures), waited=pool.waited_seconds)
            if chunk.ends_block:
                gathered = np.concatenate(ids), np.concatenate(vectors), failures, np.concatenate(traits)
                writer.write(blocks[chunk.block], Shard("images", *gathered))
                ids, vectors, failures, traits = [], vectors[:1], {}, []
        reporter.read_gauge()  # while the workers are there


def _jobs(blocks: list[Block]) -> Iterator[list["Job"]]:
    from indexer.render_pool import Job

    for block in blocks:
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
def main(root: Path, fingerprint: str, device: str, **options: Any) -> None:
    """Embed this rank's share of a plan that `icons embed` or `icons index` has written."""
    prepare_for_batches()
    library, rank = Library(root), Rank.from_environment()
    if device == "cuda" or (device == "auto" and rank.world > 1):
        device = _device_of(rank, device)
    folder = library.work(fingerprint)

    def report(progress: RankProgress) -> None:
        write_progress(folder, progress)

    try:
        embed(library, folder / "plan.jsonl", rank=rank, options=EmbedOptions(device=device, **options), report=report)
    except IconsError as error:
        write_progress(folder, RankProgress(rank=rank.index, world=rank.world, error=str(error)))
        raise click.ClickException(f"rank {rank.index}: {error}") from error


def _device_of(rank: Rank, device: str) -> str:
    import torch

    return f"cuda:{rank.local}" if device == "cuda" or torch.cuda.is_available() else "cpu"


if __name__ == "__main__":
    main()
