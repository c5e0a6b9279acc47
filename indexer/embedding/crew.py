"""Workers of a plan in a store: they claim blocks and embed them until every block has its shard.

    icons worker s3://bucket/work

Any number of them, on any machines, one a device or on a Ray cluster, begin and end when they like. SIGTERM and Ctrl-C
have what is finished of a block written and the block given back; a worker that is killed keeps its blocks from others
for the length of a lease.
"""

import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import click

from indexer.embedding.block_queue import BlockQueue, Claims
from indexer.embedding.device import in_products_of, spec_of
from indexer.embedding.distributed import Rank, share_cores
from indexer.embedding.plan_store import ObjectPlanStore, find_work, open_work
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter, Gauge, watched
from indexer.embedding.sharing import Watch
from indexer.embedding.work import Ended, Work
from indexer.encoders.devices import MASK, Devices, parse_devices, use_device
from indexer.encoders.graphs import find_device
from indexer.errors import EmbedError, IconsError
from indexer.languages.words import printable
from indexer.library.stores import RetryingStore, open_store
from indexer.process import (
    cores,
    end_at_once,
    end_with_starter,
    named_as_starter,
    prepare_for_batches,
)
from indexer.reports.timings import TIMINGS

_POLL_SECONDS = 1.0
_GRACE_SECONDS = 25.0
"""Less than the 30 that Kubernetes gives."""


def _name() -> str:
    """Of a worker, as part of a file's name."""
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


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works, where, and whom it tells."""

    device: str
    """As `resolve_device` reads it."""
    show: Watch
    give_up: Callable[[str], None]
    """Called from another thread if this one hangs, with what it was at; it has to end the process."""
    name: str = field(default_factory=_name)


def do_plan(store: RetryingStore, worker: Worker, check: Callable[[], None] = lambda: None) -> None:
    """Work until every block of the plan in a store has its shard, and of any plan that takes its place meanwhile.

    Raises:
        Ended: `check` says that this worker was asked to end.
        EmbedError: the store holds no plan, or the encoder is another one than the plan was made for.
    """
    prepare_for_batches()
    place: ObjectPlanStore | None = open_work(store)
    while place is not None:
        try:
            _do_run(place, worker, check)
        except Ended:
            raise
        except Exception as error:
            with suppress(IconsError):  # of a store that is away
                place.report_end(worker.name, str(error) or type(error).__name__)
            raise
        found = find_work(store)
        place = found if found is not None and found.plan.run != place.plan.run else None


def _do_run(place: ObjectPlanStore, worker: Worker, check: Callable[[], None]) -> None:
    options, name = place.options, worker.name
    where = find_device("cpu" if options.precision == "int8" else worker.device)
    use_device(where)
    progress = EmbeddingProgress(rank=0, world=1, device=str(where), at="loading the encoder")

    def show(now: EmbeddingProgress) -> None:
        worker.show(place.plan, [now])
        check()

    def give_up(reason: str) -> None:
        with suppress(IconsError):
            place.report_end(name, reason)
        worker.give_up(reason)

    def report() -> None:
        progress.spans = tuple(TIMINGS.taken())
        place.report(name, progress)

    TIMINGS.begin_anew()

    claims = Claims(place.claims, worker=name, lease_seconds=options.lease_seconds, beside=report)
    with watched(progress, limit=options.stall_limit, give_up=give_up), in_products_of(where, options), claims:
        report()
        queue = BlockQueue(place, claims, stays=True)
        try:
            Work(name, 1, queue, spec_of(where, options), EmbeddingReporter(show, progress, Gauge(where))).do()
        except EmbedError:
            if not place.is_over():  # else the other run is next
                raise
    progress.finished = True
    if not place.is_over():
        report()


def work_here(work: str, devices: Devices, *, watch: Watch, give_up: Callable[[str], None]) -> None:
    """Work on the plan in a folder or at a URL on every device, until it is done.

    Raises:
        Ended: a signal has ended this.
        EmbedError: there is no plan, or a worker has ended early.
    """
    store = open_store(work)
    with ended_by_signals() as check:
        if devices.n == 1:
            do_plan(store, Worker(devices.own(), watch, give_up), check)
            return
        open_work(store)  # before the processes: one line says that there is no plan
        crew = [_start(work, devices, local) for local in range(devices.n)]
        try:
            while any(member.poll() is None for member in crew):
                check()
                time.sleep(_POLL_SECONDS)
            check()
        finally:
            _end(crew)
    if failed := [member.returncode for member in crew if member.returncode]:
        raise EmbedError(
            f"{len(failed)} of {devices.n} workers ended early, as they say above; run the same line again"
        )


def _start(work: str, devices: Devices, local: int) -> "subprocess.Popen[bytes]":
    mask = {} if devices.visible is None else {MASK: devices.visible}
    place = {"LOCAL_RANK": str(local), "RANK": str(local)}
    size = {"LOCAL_WORLD_SIZE": str(devices.n), "WORLD_SIZE": str(devices.n)}
    environment = {**os.environ, **mask, **place, **size, **named_as_starter()}
    command = [sys.executable, "-P", "-m", "indexer.embedding.crew", "--work", work, "--kind", devices.device]
    # In a group of its own: Ctrl-C is for the process that has started it, which asks it to end.
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, process_group=0)


@click.command()
@click.option("--work", required=True, help="Folder or URL that the plan lies in.")
@click.option("--kind", type=click.Choice(["cpu", "cuda"]), required=True, help="Of its device.")
def main(work: str, kind: str) -> None:
    """Be one of several workers of this machine, each on the device that its LOCAL_RANK says."""
    end_with_starter()
    rank = Rank.from_environment()
    share_cores(rank)
    try:
        with ended_by_signals() as check:
            do_plan(open_store(work), Worker(rank.device(kind), lambda *_: None, end_at_once), check)
    except Ended as ended:
        raise SystemExit(128 + signal.SIGTERM) from ended
    except IconsError as error:
        end_at_once(printable(str(error)))


def _end(crew: "list[subprocess.Popen[bytes]]") -> None:
    """Ask those that still work to end, and end them where that takes long."""
    for member in crew:
        member.terminate()
    until = time.monotonic() + _GRACE_SECONDS
    for member in crew:
        with suppress(subprocess.TimeoutExpired):
            member.wait(max(0.0, until - time.monotonic()))
        member.kill()
        member.wait()


NAMESPACE = "icons"
_START_SECONDS = 60.0
"""For a process of Ray to import torch; one without room on the cluster waits on."""


class RayWorker:
    """What an actor does: it works from a thread, from the start on, and removes itself when that has ended."""

    def __init__(self, work: str, name: str, n_cpus: int) -> None:
        os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // n_cpus))  # of a node's cores each has its share
        store = open_store(work)
        open_work(store)  # what is wrong here is said by who can't start
        device = parse_devices("auto").own()
        again = f"{name}-{secrets.token_hex(3)}"  # Ray starts it again
        worker = Worker(device, lambda *_: None, end_at_once, again)
        threading.Thread(target=self._work, args=(store, worker), name="worker", daemon=True).start()

    def is_up(self) -> bool:
        """Answer, which says that it is."""
        return True

    def _work(self, store: RetryingStore, worker: Worker) -> None:
        import ray

        try:
            with suppress(IconsError):  # the store has word of it
                do_plan(store, worker)
        finally:  # its device is free for others
            ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def start_on_ray(address: str, work: str, *, n_workers: int | None = None) -> str:
    """Start workers on a Ray cluster, one a GPU, or one a node where there is none; say how many there are.

    Those of an earlier call that still work are counted, and not started again. Those for which there is no room yet
    start when there is.

    Raises:
        EmbedError: Ray is not installed, the cluster can't be reached, or no worker can start on it.
    """
    place = open_work(open_store(work))
    known = place.ends()
    ray = _connect(address)
    try:
        found = ray.cluster_resources()
        n_gpus, n_nodes = int(found.get("GPU", 0)), sum(bool(node["Alive"]) for node in ray.nodes())
        n = n_workers or n_gpus or n_nodes
        # Secrets are the nodes' own (roles, files).
        access = {name: os.environ[name] for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION") if name in os.environ}
        n_cpus = max(1, int(found.get("CPU", n)) // n)
        kept = {"lifetime": "detached", "namespace": NAMESPACE, "get_if_exists": True, "max_restarts": -1}
        needs = {"num_cpus": n_cpus, "num_gpus": 1 if n_gpus else 0, "runtime_env": {"env_vars": access}}
        answers = []
        for number in range(n):
            name = f"icons-{place.plan.run}-{number}"
            actor = ray.remote(RayWorker).options(**kept, **needs, name=name)
            answers.append(actor.remote(place.store.url, name, n_cpus).is_up.remote())
        heard, silent = ray.wait(answers, num_returns=n, timeout=_START_SECONDS)
        lost = [reason for answer in heard if (reason := _why_lost(ray, answer)) is not None]
        if len(lost) == n and not place.is_over():
            raise EmbedError(f"no worker starts on Ray: {next(iter(place.ends(known).values()), lost[0])}")
    finally:
        ray.shutdown()
    waiting = f", {len(silent)} of which wait for room" if silent else ""
    ended = f", {len(lost)} of which have ended ({lost[0]})" if lost else ""
    return f"{n} {'worker' if n == 1 else 'workers'} on Ray{waiting}{ended}"


def _why_lost(ray: Any, answer: Any) -> str | None:
    """Say why an actor does not answer any more; None where it does."""
    try:
        ray.get(answer)
    except ray.exceptions.RayError as error:
        return next((line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__).strip()
    return None


def _connect(address: str) -> Any:
    try:
        import ray
    except ImportError as error:
        raise EmbedError('--ray needs Ray; `pip install "icons[ray]"`, in its version on the cluster') from error
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise EmbedError(f'the Ray cluster at "{address}" can\'t be reached ({reason}); `ray status` looks') from error
    return ray


if __name__ == "__main__":
    main()
