"""Workers of a shared plan: one a device of this machine, or on a Ray cluster."""

import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from indexer.embedding.plan_store import open_work
from indexer.embedding.sharing import Watch
from indexer.embedding.worker import Ending, Worker, do_plan, run_worker
from indexer.encoders.devices import MASK, Devices, parse_devices
from indexer.errors import EmbedError, IconsError
from indexer.library.object_store import open_store
from indexer.process import cores, end_at_once, named_as_starter

if TYPE_CHECKING:
    from indexer.library.stores import Store

_POLL_SECONDS = 1.0
_GRACE_SECONDS = 25.0
"""Less than the 30 that Kubernetes gives."""


def work_here(work: str, devices: Devices, *, watch: Watch, give_up: Callable[[str], None]) -> None:
    """Work on the plan in a folder or at a URL on every device, until it is done.

    Raises:
        Ended: a signal has ended this.
        EmbedError: there is no plan, or a worker has ended early.
    """
    if devices.n == 1:
        run_worker(work, Worker(devices.own(), lambda plan, progress: watch(plan, [progress]), give_up))
        return
    open_work(open_store(work))  # before the processes: one line says that there is no plan
    ending = Ending()
    with ending.by_signals():
        crew = [_start(work, devices, local) for local in range(devices.n)]
        try:
            _await(crew, ending)
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
    command = [sys.executable, "-P", "-m", "indexer.embedding.worker", "--work", work, "--kind", devices.device]
    # In a group of its own: Ctrl-C is for the process that has started it, which asks it to end.
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, process_group=0)


def _await(crew: "Sequence[subprocess.Popen[bytes]]", ending: Ending) -> None:
    while any(member.poll() is None for member in crew):
        ending.check()
        time.sleep(_POLL_SECONDS)
    ending.check()


def _end(crew: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Ask those that still work to end, and end them where that takes long."""
    for member in crew:
        if member.poll() is None:
            member.send_signal(signal.SIGTERM)
    until = time.monotonic() + _GRACE_SECONDS
    for member in crew:
        try:
            member.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
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
        worker = Worker(
            device, lambda *_: None, end_at_once, name=f"{name}-{secrets.token_hex(3)}"
        )  # Ray starts it again
        threading.Thread(target=self._work, args=(store, worker), name="worker", daemon=True).start()

    def is_up(self) -> bool:
        """Answer, which says that it is."""
        return True

    def _work(self, store: "Store", worker: Worker) -> None:
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
