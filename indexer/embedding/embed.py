"""Stage two: plan -> shards, one process a device.

    torchrun --nproc-per-node 2 -m indexer.embedding.embed --library DIR --fingerprint FINGERPRINT

Ranks claim blocks; those whose shard exists are done. Nothing waits for another rank on the way, so one that dies loses
its own blocks only. Everything but the library's folder may differ between machines.
"""

import secrets
import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path

import click

from indexer.embedding.block_queue import BlockQueue, Claims
from indexer.embedding.device import in_products_of, spec_of
from indexer.embedding.distributed import (
    Rank,
    Ranks,
    give_up_rank,
    number_of_first_rank,
    process_group,
    run_as_rank,
    share_cores,
    total_over_ranks,
)
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import (
    EmbeddingProgress,
    EmbeddingReporter,
    Gauge,
    Overseer,
    read_progress,
    watched,
    write_progress,
)
from indexer.embedding.work import OVER, Work
from indexer.encoders.devices import MASK, Device, Devices
from indexer.encoders.graphs import find_device
from indexer.errors import EmbedError
from indexer.library.durable import disk_error, make_folder
from indexer.library.folder import Library
from indexer.library.stores import FolderStore
from indexer.process import prepare_for_batches
from indexer.reports.timings import TIMINGS

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, `icons index` does the rest"


def embed(
    place: LibraryPlanStore,
    rank: Rank,
    device: str,
    *,
    report: Callable[[EmbeddingProgress], None],
    give_up: Callable[[str], None],
) -> None:
    """Do what this rank claims of a plan; with several ranks, check at the end that together they did it all.

    `device` is as `resolve_device` reads it. `give_up` is called from another thread if this one hangs, with what it
    was at; it has to end the process.

    Raises:
        ModelError, DeviceError: the encoder or device is not there.
        EmbedError: the encoder is another one than the plan was made for, the device has no room even for one picture,
            or work is left when all ranks are done.
    """
    where, options = find_device(device), place.options
    backend = "gloo" if options.backend == "auto" else options.backend  # two counts need no NCCL
    progress = EmbeddingProgress(rank.index, rank.world, device=str(where), at="meeting the other ranks", waits=True)
    report(progress)
    share_cores(rank)
    with (
        watched(progress, limit=options.stall_limit, give_up=give_up),
        process_group(rank, backend=backend, device=where, limit=LONGEST_RUN),
        in_products_of(where, options),
    ):
        reporter = EmbeddingReporter(report, progress, Gauge(where))
        reporter.begin("loading the encoder")
        with _claims(place.run, rank, where, options) as claims:
            queue = BlockQueue(place, claims)
            Work(f"rank {rank.index}", rank.world, queue, spec_of(where, options), reporter).do()
            reporter.add()  # the last shard is written: its time counts too
            reporter.wait("waiting for the other ranks")
            n_left = total_over_ranks(rank, queue.count_undone(), device=where)
        if n_left:
            raise EmbedError(f'"{n_left}" blocks are left without a shard; `icons index` does them')
        reporter.finish()


def _claims(run: Path, rank: Rank, device: Device, options: EmbedOptions) -> AbstractContextManager[Claims | None]:
    """Claim blocks in a folder of ranks that have met; nowhere where there is one.

    It has a new name each time: the claims of ranks that have died do not count for those that come after them.
    """
    if rank.world == 1:
        return nullcontext()
    folder = run / f"claims-{number_of_first_rank(rank, secrets.randbits(62), device=device):x}"
    make_folder(folder)
    return Claims(FolderStore(folder), worker=f"rank-{rank.index}", lease_seconds=options.lease_seconds)


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True, help="The library's folder.")
@click.option(
    "--fingerprint", required=True, help="Encoder whose plan is to be done, as `icons index --only embed` prints it."
)
def main(root: Path, fingerprint: str) -> None:
    """Embed what this rank claims of a plan that `icons index --only embed` or `icons index` has written."""
    prepare_for_batches()

    def work(rank: Rank) -> None:
        place = LibraryPlanStore(Library(root), fingerprint)

        def give_up(reason: str) -> None:
            give_up_rank(rank, EmbedError(reason))

        def report(progress: EmbeddingProgress) -> None:
            if place.is_over():
                raise EmbedError(OVER)
            progress.spans = tuple(TIMINGS.taken())
            write_progress(place.run, progress)

        try:
            embed(place, rank, rank.device(place.options.device), report=report, give_up=give_up)
        except OSError as error:
            raise EmbedError(disk_error(error, root)) from error

    run_as_rank(work)


Watch = Callable[[Sequence[EmbeddingProgress]], None]


def plan_command(library: Library, fingerprint: str, *, devices: Devices) -> str:
    """Spell the line that embeds the same plan on each of several machines over a shared folder."""
    meeting = ["--nnodes", "N", "--rdzv-backend", "c10d", "--rdzv-endpoint", "HOST:29400"]
    program = ["--nproc-per-node", str(devices.n), "-m", *_program(library, fingerprint)]
    line = shlex.join(["torchrun", *meeting, *program])
    return line if devices.visible is None else f"{MASK}={shlex.quote(devices.visible)} {line}"


def run_ranks(
    library: Library,
    fingerprint: str,
    *,
    devices: Devices,
    watch: Watch,
    give_up: Callable[[str], None],
) -> None:
    """Embed a plan on this machine, reporting to `watch` how far every rank is.

    A single rank runs in this process: where it hangs, `give_up` is called from another thread, and has to end it.

    Raises:
        EmbedError: a rank ended early, or got nothing done; finished blocks stay, the next run does the rest.
    """
    place = LibraryPlanStore(library, fingerprint)
    if devices.n == 1:
        embed(
            place,
            Rank(),
            devices.own(),
            report=lambda progress: watch([progress]),
            give_up=lambda reason: give_up(f"{reason} ({RERUN})"),
        )
        return
    overseer = Overseer(devices.n, place.options.stall_limit)

    def look() -> None:
        progress = read_progress(place.run, EmbeddingProgress)
        if progress:
            watch(progress)
        if found := overseer.look(progress):
            raise EmbedError(f"{found} ({RERUN})")

    with Ranks(*_program(library, fingerprint), devices=devices, folder=place.run) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")


def _program(library: Library, fingerprint: str) -> list[str]:
    """Spell the module that each of several ranks runs."""
    return ["indexer.embedding.embed", "--library", str(library.root), "--fingerprint", fingerprint]


if __name__ == "__main__":
    main()
