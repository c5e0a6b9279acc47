"""Workers of this machine, one a device: in this process for one, each in a process of its own for more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from indexer.embedding.shared.collecting import Watch
from indexer.embedding.shared.stored_work import open_work
from indexer.embedding.shared.worker import Ending, Worker, run_worker
from indexer.errors import EmbedError
from indexer.process import named_as_starter
from indexer.ranks.devices import MASK, Devices
from indexer.stores.opening import open_store

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
    command = [sys.executable, "-P", "-m", "indexer.embedding.shared.worker", "--work", work, "--kind", devices.device]
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
