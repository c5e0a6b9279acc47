"""How busy were this machine's cores, with whatever, while something ran?"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import psutil

from indexer.process import cores

_LOOK_SECONDS = 0.1


@contextmanager
def watched_host() -> Iterator[Callable[[float, float], float]]:
    """Watch this process's cores; what is yielded tells the share that was busy between two times of `time.time`."""
    seen: list[tuple[float, float]] = []
    over = threading.Event()
    numbers = psutil.Process().cpu_affinity() if hasattr(psutil.Process, "cpu_affinity") else range(cores())

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            times = psutil.cpu_times(percpu=True)
            seen.append((time.time(), sum(times[number].idle for number in numbers)))

    def busy(began: float, ended: float) -> float:
        at, idle = np.array(seen).T
        passed = np.interp([began, ended], at, idle)
        return 1.0 - float(passed[1] - passed[0]) / ((ended - began) * len(numbers))

    thread = threading.Thread(target=look, name="host", daemon=True)
    thread.start()
    try:
        yield busy
    finally:
        over.set()
        thread.join()
