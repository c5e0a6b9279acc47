"""How busy were this machine's cores, with whatever, while something ran?"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import psutil

from indexer.process import cores
from indexer.quota import cpu_quota, cpu_seconds

_LOOK_SECONDS = 0.1


@contextmanager
def watched_host() -> Iterator[Callable[[float, float], float]]:
    """Watch this process's cores; what is yielded tells the share that was busy between two times of `time.time`.

    Where a quota pays for fewer cores, they are as many as it pays for, and busy with what it counts.
    """
    seen: list[tuple[float, float]] = []
    over = threading.Event()
    numbers = psutil.Process().cpu_affinity() if hasattr(psutil.Process, "cpu_affinity") else range(cores())
    quota = cpu_quota() if cpu_seconds() is not None else None
    n_cores = len(numbers) if quota is None else min(quota, len(numbers))

    def idle() -> float:
        if quota is not None:
            return n_cores * time.time() - (cpu_seconds() or 0.0)
        times = psutil.cpu_times(percpu=True)
        # Who waits for a disk is idle, too; only Linux tells it apart.
        return sum(times[at].idle + getattr(times[at], "iowait", 0.0) for at in numbers if at < len(times))

    def look() -> None:
        seen.append((time.time(), idle()))
        while not over.wait(_LOOK_SECONDS):
            seen.append((time.time(), idle()))

    def busy(began: float, ended: float) -> float:
        at, idle_until = np.array(seen).T
        passed = np.interp([began, ended], at, idle_until)
        return 1.0 - float(passed[1] - passed[0]) / ((ended - began) * n_cores)

    thread = threading.Thread(target=look, name="host", daemon=True)
    thread.start()
    try:
        yield busy
    finally:
        over.set()
        thread.join()
