"""What does a render worker do? It draws the pictures that it is sent, within limits of time and memory.

A worker is a fresh interpreter that imports this module and nothing of its parent's, so it never holds torch, and
libvips never sees a fork. It draws into memory that it shares with the pool, and notes there which picture it is at.
"""

import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError, RenderError, SourceError
from indexer.library.traits import TRAITS
from indexer.process import end_with_starter, named_as_starter
from indexer.rendering.render import Background, render
from indexer.sources import read_picture
from indexer.sources.pictures import reason_of
from indexer.sources.records import content_digest

READY = -1
"""What a worker sends first; after that, the number of the slot whose pictures it has finished."""
UNTOUCHED, STARTED, LIGHT, DARK, FAILED = range(5)
"""States of a picture in a slot; a drawn one's state is its background."""
BACKGROUNDS: dict[int, Background] = {LIGHT: "light", DARK: "dark"}
_STATES = {background: state for state, background in BACKGROUNDS.items()}
_UNREADABLE = "can't be read: "
CHANGED = f"{_UNREADABLE}changed since the scan"
_OLD_BLANK = "blank"
"""What older programs said of full squares, too."""
_KILLED = "was killed"
"""No picture does this: it is the kernel short of memory, or a person."""
_REASON_BYTES = 300
# -P: a file "numpy.py" in the folder where the user happens to stand is not to be imported
_COMMAND = (sys.executable, "-P", "-c")
ANY_PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1z"/></svg>'


class Job(NamedTuple):
    """One picture to render: what `indexer.sources.read_picture` finds it by, and the digest that the scan saw."""

    id: int
    kind: str
    location: str
    path: str
    member: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """What all workers of a pool are told at their start; `RenderPool` says what each means."""

    size: int
    chunk: int
    n_slots: int
    seconds_per_item: float
    memory_bytes: int


def is_passing(reason: str) -> bool:
    """Whether a failure was the file's, the moment's or an older program's fault, and so worth another try."""
    return reason == _OLD_BLANK or reason.startswith((_UNREADABLE, f"the renderer {_KILLED}"))


def shared_memory(settings: Settings) -> IO[bytes]:
    """Open memory for the slots that has no name.

    So there is nothing to unlink after a crash, and none of /dev/shm's limit (64 MB in a container).
    """
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    file.truncate(_slot_type(settings).itemsize * settings.n_slots)
    return file


def map_slots(settings: Settings, memory: int) -> NDArray[np.void]:
    """See shared memory, given by its file descriptor, as slots with the fields of `_slot_type`."""
    return np.frombuffer(mmap.mmap(memory, 0), _slot_type(settings))


def start_worker(settings: Settings, memory: int) -> tuple["subprocess.Popen[bytes]", "Connection[Any, Any]"]:
    """Start a worker that draws into `memory`, a file descriptor."""
    program = "from indexer.rendering.worker import work; work()"
    return start_process(program, json.dumps(asdict(settings)), str(memory), pass_fds=(memory,))


def start_process(
    program: str, *arguments: str, pass_fds: tuple[int, ...] = ()
) -> tuple["subprocess.Popen[bytes]", "Connection[Any, Any]"]:
    """Start a fresh interpreter, whose last argument is the file descriptor of its connection.

    multiprocessing would import the parent's main module in it, and torch with that.
    """
    here, there = Pipe()
    path = os.pathsep.join(filter(None, sys.path))
    with there:
        process = subprocess.Popen(
            [*_COMMAND, program, *arguments, str(there.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(*pass_fds, there.fileno()),
            env={**os.environ, **named_as_starter(), "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            process_group=0,  # Ctrl-C is for the parent, which then ends its workers
        )
    return process, here


def work() -> None:
    """Live a worker's life, from its start by `start_worker` until the other end of its connection closes."""
    end_with_starter()
    settings = Settings(**json.loads(sys.argv[1]))
    slots = map_slots(settings, int(sys.argv[2]))
    connection: Connection[Any, Any] = Connection(int(sys.argv[3]))
    limit_this_process(settings.memory_bytes)
    with suppress(EOFError, ConnectionError):
        connection.send(READY)
        while True:
            slot, jobs = connection.recv()
            draw_all(slots[slot], jobs, seconds_per_item=settings.seconds_per_item)
            connection.send(slot)


def draw_all(slot: np.void, jobs: list[tuple[int, Job]], *, seconds_per_item: float | None = None) -> None:
    """Draw jobs at their positions in a slot. One that takes longer than `seconds_per_item` ends this process."""
    for position, job in jobs:
        if seconds_per_item is not None:  # nothing handles this signal: the kernel ends the process, whatever it is in
            signal.setitimer(signal.ITIMER_REAL, seconds_per_item)
        _draw(slot, position, job)
    if seconds_per_item is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def fail(slot: np.void, position: int, reason: str) -> None:
    """Note in a slot that a picture gave no pixels, and why."""
    slot["reason"][position] = reason.encode(errors="replace")[:_REASON_BYTES]
    slot["state"][position] = FAILED


def cause_of_end(status: int) -> str:
    """Put into words why a worker is no more, from the exit status that subprocess gives."""
    if status == -signal.SIGKILL:
        return f"{_KILLED} (signal 9), perhaps for want of memory"
    if status == -signal.SIGABRT:
        return "gave up (signal 6), perhaps for want of memory"
    return f"crashed (signal {-status})" if status < 0 else f"ended (exit status {status})"


def _slot_type(settings: Settings) -> np.dtype[np.void]:
    """A slot takes one chunk: for each of its pictures a state, the reason of a failure, traits, and pixels."""
    n, size = settings.chunk, settings.size
    reason, pixels = f"S{_REASON_BYTES}", (n, size, size, 3)
    return np.dtype(
        [("state", "u1", n), ("reason", reason, n), ("traits", "i1", (n, len(TRAITS))), ("pixels", "u1", pixels)]
    )


def limit_this_process(memory_bytes: int) -> None:
    """Bound what this process may take; `draw_all` and `indexer.rendering.draw_worker` set the time of each picture."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    render(ANY_PICTURE, size=16)  # so that the libraries are loaded before memory and time are counted
    if sys.platform == "linux":
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        ceiling = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = taken + memory_bytes if ceiling == resource.RLIM_INFINITY else min(taken + memory_bytes, ceiling)
        resource.setrlimit(resource.RLIMIT_AS, (limit, ceiling))
    # GLib remarks on bad files there; reasons travel through the slots.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _draw(slot: np.void, position: int, job: Job) -> None:
    slot["state"][position] = STARTED
    try:
        rendered = render(_read(job), size=slot["pixels"].shape[1])
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        fail(slot, position, reason_of(error))
    else:
        slot["pixels"][position] = rendered.pixels
        slot["traits"][position] = [getattr(rendered, trait) for trait in TRAITS]
        slot["state"][position] = _STATES[rendered.background]


def _read(job: Job) -> bytes:
    try:
        content = read_picture(job.kind, Path(job.location), job.path, job.member)
    except (OSError, SourceError) as error:
        raise RenderError(f"{_UNREADABLE}{reason_of(error)}") from error
    if content_digest(content) != job.digest:
        raise RenderError(CHANGED)
    return content
