"""Workers as actors of a Ray cluster; nothing depends on its head but their start."""

import logging
import os
import secrets
import threading
from contextlib import suppress
from typing import Any

from indexer.embedding.embed import do
from indexer.embedding.plan_store import ObjectPlanStore, open_work
from indexer.embedding.progress import EmbeddingProgress, Watch
from indexer.embedding.worker import Worker
from indexer.encoders.devices import parse_devices
from indexer.errors import EmbedError, IconsError, first_line
from indexer.library.stores import open_store
from indexer.process import cores, end_at_once

NAMESPACE = "icons"
_START_SECONDS = 60.0
"""For a process of Ray to import torch; one without room on the cluster waits on."""


class RayWorker:
    """What an actor does: it works from a thread, from the start on, and removes itself when that has ended."""

    def __init__(self, work: str, name: str, n_cpus: int) -> None:
        os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // n_cpus))  # of a node's cores each has its share
        place = open_work(open_store(work))  # what is wrong here is said by who can't start
        name += f"-{secrets.token_hex(3)}"  # Ray starts it again
        worker = Worker(name, parse_devices("auto").own(), end_at_once)
        threading.Thread(target=self._work, args=(place, worker), name="worker", daemon=True).start()

    def is_up(self) -> bool:
        """Answer, which says that it is."""
        return True

    def _work(self, place: ObjectPlanStore, worker: Worker) -> None:
        import ray

        try:
            with suppress(IconsError):  # the store has word of it
                do(place, worker)
        finally:  # its device is free for others
            ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def start_on_ray(address: str, work: str) -> str:
    """Start workers on a Ray cluster, one a GPU, or one a node where there is none; say how many there are.

    Those of an earlier call that still work are counted, and not started again. Those for which there is no room yet
    start when there is.

    Raises:
        EmbedError: Ray is not installed, the cluster can't be reached, or no worker can start on it.
    """
    place = open_work(open_store(work))
    watch = Watch(place.run, EmbeddingProgress)
    before = {worker.name for worker in watch.look() if worker.ended}
    ray = _connect(address)
    try:
        found = ray.cluster_resources()
        n_gpus, n_nodes = int(found.get("GPU", 0)), sum(bool(node["Alive"]) for node in ray.nodes())
        n = n_gpus or n_nodes
        # Secrets are the nodes' own (roles, files).
        access = {name: os.environ[name] for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION") if name in os.environ}
        n_cpus = max(1, int(found.get("CPU", n)) // n)
        kept = {"lifetime": "detached", "namespace": NAMESPACE, "get_if_exists": True, "max_restarts": -1}
        needs = {"num_cpus": n_cpus, "num_gpus": 1 if n_gpus else 0, "runtime_env": {"env_vars": access}}
        answers = []
        for name in (f"icons-{place.run.id}-{number}" for number in range(n)):
            actor = ray.remote(RayWorker).options(**kept, **needs, name=name)
            answers.append(actor.remote(place.store.url, name, n_cpus).is_up.remote())
        heard, silent = ray.wait(answers, num_returns=n, timeout=_START_SECONDS)
        lost = [reason for answer in heard if (reason := _why_lost(ray, answer)) is not None]
        if len(lost) == n and not place.is_over():
            ended = (worker.ended for worker in watch.look() if worker.ended and worker.name not in before)
            raise EmbedError(f"no worker starts on Ray: {next(ended, lost[0])}")
    finally:
        ray.shutdown()
    notes = [f"{len(silent)} of which wait for room"] * bool(silent)
    notes += [f"{len(lost)} of which have ended ({reason})" for reason in lost[:1]]
    return ", ".join([f"{n} {'worker' if n == 1 else 'workers'} on Ray", *notes])


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
        raise EmbedError(
            f'the Ray cluster at "{address}" can\'t be reached ({first_line(error)}); `ray status` looks'
        ) from error
    return ray
