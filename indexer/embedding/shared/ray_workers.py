"""Workers of a shared plan on a Ray cluster: started through its head, which they need for nothing else.

Each is a detached actor: it outlives the command that has started it, and Ray starts it again where its node is lost.
`icons` has to be installed on the nodes.
"""

import os
import threading
from typing import TYPE_CHECKING, Any

from indexer.embedding.shared.stored_work import open_work
from indexer.embedding.shared.worker import Worker, do_plan
from indexer.errors import EmbedError, IconsError
from indexer.process import cores, end_at_once
from indexer.ranks.devices import parse_devices
from indexer.stores.opening import open_store

if TYPE_CHECKING:
    from indexer.library.plans import Plan
    from indexer.ranks.progress import RankProgress

NAMESPACE = "icons"


class RayWorker:
    """What an actor does: it works from a thread, from the start on, and removes itself when the plan is done."""

    def __init__(self, work: str, n_cpus: int) -> None:
        os.environ["LOCAL_WORLD_SIZE"] = str(max(1, cores() // n_cpus))  # of a node's cores each has its share
        self.said = ""
        threading.Thread(target=self._work, args=(work,), name="worker", daemon=True).start()

    def state(self) -> str:
        """Say what has ended it early; "" while it works."""
        return self.said

    def _work(self, work: str) -> None:
        import ray

        try:
            do_plan(open_store(work), Worker(parse_devices("auto").own(), _show_nobody, end_at_once))
        except IconsError as error:
            self.said = str(error)
            return
        ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def _show_nobody(plan: "Plan", progress: "RankProgress") -> None:
    """The store has word of every worker."""
    del plan, progress


def start_on_ray(address: str, work: str, *, n_workers: int | None = None) -> int:
    """Start workers on a Ray cluster, one a GPU, or one a node where there is none; return how many there are.

    Those of an earlier call that still work are counted, and not started again.

    Raises:
        EmbedError: Ray is not installed, or the cluster can't be reached.
    """
    run = open_work(open_store(work)).plan.run
    ray = _connect(address)
    try:
        found = ray.cluster_resources()
        n_gpus, n_nodes = int(found.get("GPU", 0)), sum(bool(node["Alive"]) for node in ray.nodes())
        n = n_workers or n_gpus or n_nodes
        n_cpus = max(1, int(found.get("CPU", n)) // n)
        kept = {"lifetime": "detached", "namespace": NAMESPACE, "get_if_exists": True, "max_restarts": -1}
        needs = {"num_cpus": n_cpus, "num_gpus": 1 if n_gpus else 0, "runtime_env": {"env_vars": _access()}}
        for number in range(n):
            ray.remote(RayWorker).options(**kept, **needs, name=f"icons-{run}-{number}").remote(work, n_cpus)
    finally:
        ray.shutdown()
    return n


def _connect(address: str) -> Any:
    try:
        import ray
    except ImportError as error:
        raise EmbedError('--ray needs Ray; `pip install "icons[ray]"`, in its version on the cluster') from error
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise EmbedError(f'the Ray cluster at "{address}" can\'t be reached ({reason}); `ray status` looks') from error
    return ray


def _access() -> dict[str, str]:
    """What of this environment tells where a store is; secrets are the nodes' own (roles, files)."""
    return {name: os.environ[name] for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION") if name in os.environ}
