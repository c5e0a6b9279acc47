"""Stage two: plan -> shards, one process a device, each a worker.

    torchrun --nproc-per-node 2 -m indexer.embedding.embed --library DIR --fingerprint FINGERPRINT
    torchrun --nproc-per-node 2 -m indexer.embedding.embed --work s3://bucket/work

Workers claim blocks; those whose shard exists are done. Any number of them, on any machines, begin and end when they
like. SIGTERM and Ctrl-C have what is finished of a block written and the block given back; one that is killed keeps its
blocks from others for the length of a lease. Ranks of a library meet at the start and count at the end.
"""

import os
import re
import secrets
import shlex
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import click

from indexer.embedding.plan_store import LibraryPlanStore, ObjectPlanStore, PlanStore, Show, find_work, open_work
from indexer.embedding.progress import STORE_SECONDS, EmbeddingProgress, Watch, Watchdog
from indexer.embedding.worker import OVER, Ended, Worker
from indexer.encoders.devices import MASK, Devices
from indexer.encoders.graphs import find_device
from indexer.errors import EmbedError
from indexer.library.durable import disk_error
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.library.stores import open_store
from indexer.process import prepare_for_batches
from indexer.ranks import (
    GRACE_SECONDS,
    Rank,
    Ranks,
    give_up_rank,
    process_group,
    run_as_rank,
    share_cores,
    total_over_ranks,
)

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, the same command does the rest"


def do(place: PlanStore, worker: Worker) -> None:
    """Do what a worker claims of a plan, until every block has its shard; in a store, also of plans that follow it.

    Ranks of a library's plan meet first, and check at the end that together they did it all.

    Raises:
        EmbedError: work is left when all ranks are done, another run has begun, or what `Worker.work` raises.
    """
    prepare_for_batches()
    if isinstance(place, ObjectPlanStore):
        run = ""
        while place.run.id != run:
            run = place.run.id
            worker.work(place)
            place = find_work(place.store) or place
        return
    rank, device = worker.rank, find_device(worker.device)
    with process_group(rank, backend="gloo", device=device, limit=LONGEST_RUN):  # NCCL would take memory of the device
        worker.work(place)
        if place.is_over():
            raise EmbedError(OVER)
        if n_left := total_over_ranks(rank, len([*place.missing()])):
            raise EmbedError(f'"{n_left}" blocks are left without a shard; `icons index` does them')
        place.part.clear("blocks/")  # as many files as there were blocks, which nobody reads any more


def embed_here(
    place: PlanStore,
    devices: Devices,
    *,
    show: Show,
    give_up: Callable[[str], None],
    check: Callable[[], None] = lambda: None,
) -> None:
    """Have a plan done by every device of this machine, showing how far all its workers are; `check` may end it.

    A single worker runs in this process: where it hangs, `give_up` is called from another thread, and has to end it.

    Raises:
        EmbedError: a worker ended early, or got nothing done.
    """

    def show_own(plan: Plan, progress: EmbeddingProgress) -> None:
        show(plan, [progress])
        check()

    if devices.n == 1:
        do(place, Worker(_name(place, Rank()), devices.own(), lambda why: give_up(f"{why} ({RERUN})"), show_own))
        return
    watch, watchdog = Watch(place.run, EmbeddingProgress), Watchdog(place.options.stall_limit, n=devices.n)

    def look() -> None:
        check()
        if time.monotonic() - watch.looked_at < (STORE_SECONDS if place.is_shared else 0.0):
            return
        if progress := watch.look(keeps_silent=not place.is_shared):
            show(place.plan, progress)
        if not place.is_shared and (found := watchdog.look(progress)):
            raise EmbedError(f"rank {found[0]}: {found[1]} ({RERUN})")

    own: AbstractContextManager[Path | str] = (
        nullcontext(place.folder) if isinstance(place, LibraryPlanStore) else TemporaryDirectory(prefix="icons-embed-")
    )
    grace_seconds = 25.0 if place.is_shared else GRACE_SECONDS  # less than the 30 that Kubernetes gives
    program = [*_program(place), "--device", devices.device]
    with own as folder, Ranks(*program, devices=devices, folder=Path(folder), grace_seconds=grace_seconds) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")


def work_here(work: str, devices: Devices, *, show: Show, give_up: Callable[[str], None]) -> None:
    """Work on the plan in a folder or at a URL on every device, until it is done.

    Raises:
        Ended: a signal has ended this.
        EmbedError: there is no plan, or a worker has ended early.
    """
    place = open_work(open_store(work))
    with ended_by_signals() as check:
        embed_here(place, devices, show=show, give_up=give_up, check=check)


def plan_command(place: LibraryPlanStore, devices: Devices) -> str:
    """Spell the line that embeds the same plan on each of several machines over a shared folder."""
    meeting = ["--nnodes", "N", "--rdzv-backend", "c10d", "--rdzv-endpoint", "HOST:29400"]
    line = shlex.join(["torchrun", *meeting, "--nproc-per-node", str(devices.n), "-m", *_program(place)])
    return line if devices.visible is None else f"{MASK}={shlex.quote(devices.visible)} {line}"


def _program(place: PlanStore) -> list[str]:
    """Spell what each of several ranks runs."""
    if isinstance(place, LibraryPlanStore):
        return ["indexer.embedding.embed", "--library", str(place.root), "--fingerprint", place.plan.fingerprint]
    return ["indexer.embedding.embed", "--work", place.store.url]


def _name(place: PlanStore, rank: Rank) -> str:
    """Name a worker as no other is called, as part of a file's name."""
    if not place.is_shared:
        return f"rank-{rank.index}"
    return f"{re.sub('[^A-Za-z0-9-]+', '-', socket.gethostname())[:50]}-{os.getpid()}-{secrets.token_hex(3)}"


@contextmanager
def ended_by_signals() -> Iterator[Callable[[], None]]:
    """Yield what raises `Ended` once SIGTERM or Ctrl-C has asked for that; a second one ends the process at once."""
    asked = threading.Event()

    def ask(number: int, _: FrameType | None) -> None:
        asked.set()
        signal.signal(number, signal.SIG_DFL)

    def check() -> None:
        if asked.is_set():
            raise Ended("asked to end; what is finished is kept, and the blocks under way are free")

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), help="The library's folder.")
@click.option("--fingerprint", default="", help="Encoder whose plan is to be done, as `icons index --only plan` says.")
@click.option("--work", help="Folder or URL of a plan that workers share, in place of a library's.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help="Where, with --work.")
def main(root: Path | None, fingerprint: str, work: str | None, device: str) -> None:
    """Embed what this rank claims of a plan that `icons index` has written."""

    def live(rank: Rank) -> None:
        share_cores(rank)
        try:
            place = open_work(open_store(work)) if work else LibraryPlanStore(Library(root or Path()), fingerprint)
            where = rank.device(device if place.is_shared else place.options.device)
            with ended_by_signals() as check:
                do(place, Worker(_name(place, rank), where, partial(give_up_rank, rank), lambda *_: check(), rank))
        except Ended as ended:
            raise SystemExit(128 + signal.SIGTERM) from ended
        except OSError as error:
            raise EmbedError(disk_error(error, root or Path())) from error

    prepare_for_batches()
    run_as_rank(live)


if __name__ == "__main__":
    main()
