"""A worker of a plan in a store: claims blocks, embeds them, is there until every block has its shard.

    icons worker s3://bucket/work

Any number of them, on any machines, begin and end when they like. SIGTERM and Ctrl-C have what is finished of a block
written and the block given back; a worker that is killed keeps its blocks from others for the length of a lease.
"""

import os
import re
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

import click

from indexer.embedding.block_queue import BlockQueue
from indexer.embedding.distributed import Rank, share_cores
from indexer.embedding.embed import in_products_of, spec_of
from indexer.embedding.gauges import Gauge
from indexer.embedding.leases import Claims
from indexer.embedding.plan_store import ObjectPlanStore, find_work, open_work
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter, watched
from indexer.embedding.shard_writer import Ended
from indexer.embedding.work import Work
from indexer.encoders.devices import use_device
from indexer.encoders.graphs import find_device
from indexer.errors import EmbedError, IconsError
from indexer.languages.words import printable
from indexer.library.object_store import open_store
from indexer.library.plans import Plan
from indexer.library.stores import Store
from indexer.process import cores_of_rank, end_at_once, end_with_starter, prepare_for_batches

Show = Callable[[Plan, EmbeddingProgress], None]


def _host() -> str:
    """The name of this machine as part of a file's."""
    return re.sub("[^A-Za-z0-9-]+", "-", socket.gethostname())[:50]


@dataclass(slots=True)
class Ending:
    """Whether this worker was asked to end."""

    asked: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise `Ended` if that is so."""
        if self.asked.is_set():
            raise Ended("asked to end; what is finished is kept, and the blocks under way are free")

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Take SIGTERM and Ctrl-C for that during the block; a second one ends the process at once."""

        def ask(number: int, _: FrameType | None) -> None:
            self.asked.set()
            signal.signal(number, signal.SIG_DFL)

        before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works, where, and whom it tells."""

    device: str
    """As `resolve_device` reads it."""
    show: Show
    give_up: Callable[[str], None]
    """Called from another thread if this one hangs, with what it was at; it has to end the process."""
    ending: Ending = field(default_factory=Ending)
    name: str = field(default_factory=lambda: f"{_host()}-{os.getpid()}-{secrets.token_hex(3)}")


def do_plan(store: Store, worker: Worker) -> None:
    """Work until every block of the plan in a store has its shard, and of any plan that takes its place meanwhile.

    Raises:
        Ended: this worker was asked to end.
        EmbedError: the store holds no plan, or the encoder is another one than the plan was made for.
    """
    prepare_for_batches()
    place: ObjectPlanStore | None = open_work(store)
    while place is not None:
        try:
            _do_run(place, worker)
        except Ended:
            raise
        except Exception as error:
            with suppress(IconsError):  # of a store that is away
                place.report_end(worker.name, str(error) or type(error).__name__)
            raise
        found = find_work(store)
        place = found if found is not None and found.plan.run != place.plan.run else None


def _do_run(place: ObjectPlanStore, worker: Worker) -> None:
    options = place.options
    where = find_device("cpu" if options.precision == "int8" else worker.device)
    use_device(where)
    progress = EmbeddingProgress(rank=0, world=1, device=str(where), at="loading the encoder")

    def report(now: EmbeddingProgress) -> None:
        worker.show(place.plan, now)
        worker.ending.check()

    def give_up(reason: str) -> None:
        with suppress(IconsError):
            place.report_end(worker.name, reason)
        worker.give_up(reason)

    reporter = EmbeddingReporter(report, progress, Gauge(where, cores_of_rank()))
    claims = Claims(
        place.claims,
        worker=worker.name,
        lease_seconds=options.lease_seconds,
        beside=lambda: place.report(worker.name, progress),
    )
    with watched(progress, limit=options.stall_limit, give_up=give_up), in_products_of(where, options), claims:
        place.report(worker.name, progress)
        queue = BlockQueue(place, claims, stays=True)
        try:
            Work(worker.name, 1, queue, spec_of(where, options), reporter).do()
        except EmbedError:
            if not place.is_over():  # else the other run is next
                raise
    progress.finished = True
    if not place.is_over():
        place.report(worker.name, progress)


def run_worker(work: str, worker: Worker) -> None:
    """Be a worker of the plan in a folder or at a URL, until it is done or a signal ends this."""
    with worker.ending.by_signals():
        do_plan(open_store(work), worker)


@click.command()
@click.option("--work", required=True, help="Folder or URL that the plan lies in.")
@click.option("--kind", type=click.Choice(["cpu", "cuda"]), required=True, help="Of its device.")
def main(work: str, kind: str) -> None:
    """Be one of several workers of this machine, each on the device that its LOCAL_RANK says."""
    end_with_starter()
    rank = Rank.from_environment()
    share_cores(rank)
    try:
        run_worker(work, Worker(rank.device(kind), lambda *_: None, end_at_once))
    except Ended as ended:
        raise SystemExit(128 + signal.SIGTERM) from ended
    except IconsError as error:
        end_at_once(printable(str(error)))


if __name__ == "__main__":
    main()
