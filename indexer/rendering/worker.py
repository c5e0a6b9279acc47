"""An isolated worker: a fresh interpreter that may hang or die alone, with limits of time and memory.

It imports what its program names and nothing of its parent's, so it never holds torch, and libvips never sees a fork.
Its answers are plain bytes: a picture that took a worker over could not make the other end run anything.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any, Self

from indexer.process import end_with_starter, named_as_starter
from indexer.rendering.render import render

READY = b"ready"
"""What a worker sends first; after that, an answer to each order."""
ANY_PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1z"/></svg>'
# -P: a file "numpy.py" in the folder where the user happens to stand is not to be imported
_COMMAND = (sys.executable, "-P", "-c")


@dataclass(eq=False, slots=True)
class Worker:
    """The parent's end: a process, and the connection on which it takes orders."""

    process: "subprocess.Popen[bytes]"
    connection: "Connection[Any, Any]"

    @classmethod
    def start(
        cls, program: str, *arguments: str, pass_fds: tuple[int, ...] = (), stderr: IO[bytes] | None = None
    ) -> Self:
        """Start a fresh interpreter, whose last argument is the file descriptor of its connection.

        multiprocessing would import the parent's main module in it, and torch with that. `stderr` takes what it says
        until it is ready; None: that of this process.
        """
        here, there = Pipe()
        path = os.pathsep.join(filter(None, sys.path))
        with there:
            process = subprocess.Popen(
                [*_COMMAND, program, *arguments, str(there.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=(*pass_fds, there.fileno()),
                env={**os.environ, **named_as_starter(), "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
                process_group=0,  # Ctrl-C is for the parent, which then ends its workers
            )
        return cls(process, here)

    def end(self) -> None:
        """End the process at once, whatever it is at."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def cause_of_end(status: int, *, seconds: float) -> str:
    """Put into words why a worker is no more, from its exit status; `seconds` is what each picture was allowed."""
    if status == -signal.SIGALRM:
        return f"took longer than {seconds:g} s"
    if status == -signal.SIGKILL:
        return "the renderer was killed (signal 9), perhaps for want of memory"
    if status == -signal.SIGABRT:
        return "the renderer gave up (signal 6), perhaps for want of memory"
    return f"the renderer crashed (signal {-status})" if status < 0 else f"the renderer ended (exit status {status})"


def serve(answer: Callable[[Any], bytes], *, memory_bytes: int) -> None:
    """Live a worker's life: answer orders until the other end of the connection closes."""
    end_with_starter()
    connection: Connection[Any, Any] = Connection(int(sys.argv[-1]))
    limit_this_process(memory_bytes)
    with suppress(EOFError, ConnectionError):
        connection.send_bytes(READY)
        while True:
            connection.send_bytes(answer(connection.recv()))


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Have this process ended where the block takes longer; None: it may take any time."""
    if seconds is None:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)  # nothing handles this signal: the kernel ends the process
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def limit_this_process(memory_bytes: int) -> None:
    """Bound the memory that this process may take beyond what it has; `limited` bounds the time of each picture."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    render(ANY_PICTURE, size=16)  # so that the libraries are loaded before memory and time are counted
    _limit_memory(memory_bytes)
    # GLib remarks on bad files there; reasons travel to the parent.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def beyond_memory_limit(memory_bytes: int) -> Iterator[None]:
    """Let this process take what it needs during the block, which draws nothing; the limit counts from there on.

    Clients of object stores have threads, and each reserves 64 MB of address space that it never uses.
    """
    resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
    try:
        yield
    finally:
        _limit_memory(memory_bytes)


def _limit_memory(memory_bytes: int) -> None:
    if sys.platform == "linux":
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        ceiling = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = taken + memory_bytes if ceiling == resource.RLIM_INFINITY else min(taken + memory_bytes, ceiling)
        resource.setrlimit(resource.RLIMIT_AS, (limit, ceiling))
