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
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import FrameType

import click

from indexer.embedding.distributed import (
    Rank,
    Ranks,
    give_up_rank,
    process_group,
    run_as_rank,
    share_cores,
    total_over_ranks,
)
from indexer.embedding.plan_store import LibraryPlanStore, find_work, open_work
from indexer.embedding.progress import EmbeddingProgress, Overseer
from indexer.embedding.run import LOOK_SECONDS, Watch
from indexer.embedding.worker import Ended, Worker
from indexer.encoders.devices import MASK, Devices
from indexer.encoders.graphs import find_device
from indexer.errors import EmbedError, IconsError
from indexer.library.durable import disk_error
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.library.stores import RetryingStore, open_store
from indexer.process import prepare_for_batches

LONGEST_RUN = timedelta(days=30)
"""How long a rank that is done waits for the others: they are watched for getting on, not for taking long."""
RERUN = "finished blocks are kept, `icons index` does the rest"
_GRACE_SECONDS = 25.0
"""Of workers that are asked to end: less than the 30 that Kubernetes gives."""
Show = Callable[[Plan, Sequence[EmbeddingProgress]], None]
"""Takes a plan and how far its workers are."""


def do_own(place: LibraryPlanStore, worker: Worker) -> None:
    """Do what a rank claims of its library's plan; with several, check at the end that together they did it all.

    Raises:
        EmbedError: work is left when all ranks are done, or what `Worker.work` raises.
    """
    rank, device, options = worker.rank, find_device(worker.device), place.options
    backend = "gloo" if options.backend == "auto" else options.backend  # two counts need no NCCL
    with process_group(rank, backend=backend, device=device, limit=LONGEST_RUN):
        worker.work(place)
        if n_left := total_over_ranks(rank, len([*place.missing()]), device=device):
            raise EmbedError(f'"{n_left}" blocks are left without a shard; `icons index` does them')


def do_plan(store: RetryingStore, worker: Worker) -> None:
    """Work until every block of the plan in a store has its shard, and of any plan that takes its place meanwhile.

    Raises:
        EmbedError: the store holds no plan, or what `Worker.work` raises.
    """
    prepare_for_batches()
    place = open_work(store)
    while True:
        try:
            worker.work(place)
        except Ended:
            raise
        except Exception as error:
            if not (isinstance(error, EmbedError) and place.is_over()):  # else the other run is next
                with suppress(IconsError):  # of a store that is away
                    place.run.report_end(worker.name, str(error) or type(error).__name__)
                raise
        found = find_work(store)
        if found is None or found.run.id == place.run.id:
            return
        place = found


def worker_name() -> str:
    """A name that no other worker has, as part of a file's name."""
    host = re.sub("[^A-Za-z0-9-]+", "-", socket.gethostname())[:50]
    return f"{host}-{os.getpid()}-{secrets.token_hex(3)}"


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
@click.option("--fingerprint", help="Encoder whose plan is to be done, as `icons index --only plan` prints it.")
@click.option("--work", help="Folder or URL of a plan that workers share, in place of a library's.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help="Of a worker.")
def main(root: Path | None, fingerprint: str | None, work: str | None, device: str) -> None:
    """Embed what this rank claims of a plan that `icons index` has written."""
    if (work is None) == (root is None or fingerprint is None):
        raise click.UsageError("give --library and --fingerprint, or --work")
    prepare_for_batches()

    def live(rank: Rank) -> None:
        def give_up(reason: str) -> None:
            give_up_rank(rank, EmbedError(reason))

        share_cores(rank)
        try:
            with ended_by_signals() as check:
                if work is not None:
                    name = worker_name()
                    do_plan(open_store(work), Worker(name, rank.device(device), give_up, lambda *_: check(), rank))
                    return
                assert root is not None and fingerprint is not None
                place, name = LibraryPlanStore(Library(root), fingerprint), f"rank-{rank.index}"
                do_own(place, Worker(name, rank.device(place.options.device), give_up, lambda *_: check(), rank))
        except Ended as ended:
            raise SystemExit(128 + signal.SIGTERM) from ended
        except OSError as error:
            raise EmbedError(disk_error(error, root or Path())) from error

    run_as_rank(live)


def plan_command(library: Library, fingerprint: str, *, devices: Devices) -> str:
    """Spell the line that embeds the same plan on each of several machines over a shared folder."""
    meeting = ["--nnodes", "N", "--rdzv-backend", "c10d", "--rdzv-endpoint", "HOST:29400"]
    program = ["--nproc-per-node", str(devices.n), "-m", _MODULE, *_own(library, fingerprint)]
    line = shlex.join(["torchrun", *meeting, *program])
    return line if devices.visible is None else f"{MASK}={shlex.quote(devices.visible)} {line}"


def run_ranks(
    library: Library, fingerprint: str, *, devices: Devices, show: Show, give_up: Callable[[str], None]
) -> None:
    """Embed a library's plan on this machine, showing how far every rank is.

    A single rank runs in this process: where it hangs, `give_up` is called from another thread, and has to end it.

    Raises:
        EmbedError: a rank ended early, or got nothing done; finished blocks stay, the next run does the rest.
    """
    place = LibraryPlanStore(library, fingerprint)
    if devices.n == 1:
        worker = Worker(
            "rank-0",
            devices.own(),
            lambda reason: give_up(f"{reason} ({RERUN})"),
            lambda plan, progress: show(plan, [progress]),
        )
        do_own(place, worker)
        return
    watch, overseer = Watch(place.run), Overseer(devices.n, place.options.stall_limit)

    def look() -> None:
        if progress := watch.look():
            show(place.plan, progress)
        if found := overseer.look(progress):
            raise EmbedError(f"{found} ({RERUN})")

    with Ranks(_MODULE, *_own(library, fingerprint), devices=devices, folder=place.folder) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")


def work_here(work: str, devices: Devices, *, show: Show, give_up: Callable[[str], None]) -> None:
    """Work on the plan in a folder or at a URL on every device, until it is done.

    Raises:
        Ended: a signal has ended this.
        EmbedError: there is no plan, or a worker has ended early.
    """
    store = open_store(work)
    place = open_work(store)  # before any process: one line says that there is no plan
    with ended_by_signals() as check:
        if devices.n == 1:

            def show_own(plan: Plan, progress: EmbeddingProgress) -> None:
                show(plan, [progress])
                check()

            do_plan(store, Worker(worker_name(), devices.own(), give_up, show_own))
            return
        watch, folder = Watch(place.run), Path(tempfile.mkdtemp(prefix="icons-worker-"))

        def look() -> None:
            check()
            if time.monotonic() - watch.looked_at >= LOOK_SECONDS:
                show(place.plan, watch.look())

        arguments = ["--work", work, "--device", devices.device]
        with Ranks(_MODULE, *arguments, devices=devices, folder=folder, grace_seconds=_GRACE_SECONDS) as ranks:
            if cause := ranks.follow(look):
                raise EmbedError(f"{cause}; what is finished is kept, run the same line again")
        shutil.rmtree(folder, ignore_errors=True)


_MODULE = "indexer.embedding.embed"


def _own(library: Library, fingerprint: str) -> list[str]:
    return ["--library", str(library.root), "--fingerprint", fingerprint]


if __name__ == "__main__":
    main()
