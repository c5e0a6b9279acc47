"""Isolated workers, and a pool that lends them: single pictures of strangers, drawn while somebody waits.

A worker is a fresh interpreter that may hang or die alone, with limits of time and memory. It imports what its program
names and nothing of its parent's, so it never holds torch, and libvips never sees a fork. Its answers are plain bytes:
a picture that took a worker over could not make the other end run anything.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import LifoQueue
from threading import Lock
from typing import IO, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EmbedError, IconsError, RenderError
from indexer.process import end_with_starter, named_as_starter
from indexer.rendering.render import as_png, draw, render
from indexer.rendering.screenshot import Screenshot, cut_out, draw_screenshot
from indexer.sources.folders import reason_of

READY = b"ready"
"""What a worker sends first; after that, an answer to each order."""
ANY_PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1z"/></svg>'


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
                # -P: a file "numpy.py" in the folder where the user happens to stand is not to be imported
                [sys.executable, "-P", "-c", program, *arguments, str(there.fileno())],
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
    other = f"the renderer crashed (signal {-status})" if status < 0 else f"the renderer ended (exit status {status})"
    return {
        -signal.SIGALRM: f"took longer than {seconds:g} s",
        -signal.SIGKILL: "the renderer was killed (signal 9), perhaps for want of memory",
        -signal.SIGABRT: "the renderer gave up (signal 6), perhaps for want of memory",
    }.get(status, other)


def serve(answer: Callable[[Any], bytes], *, memory_bytes: int) -> None:
    """Live a worker's life: answer orders until the other end of the connection closes.

    `memory_bytes` bounds what this process may take beyond what it has; `limited` bounds the time of each picture.
    """
    end_with_starter()
    connection: Connection[Any, Any] = Connection(int(sys.argv[-1]))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    render(ANY_PICTURE, size=16)  # so that the libraries are loaded before memory and time are counted
    _limit_memory(memory_bytes)
    # GLib remarks on bad files there; reasons travel to the parent.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    with suppress(EOFError, ConnectionError):
        connection.send_bytes(READY)
        while True:
            connection.send_bytes(answer(connection.recv()))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Have this process ended where the block takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)  # nothing handles this signal: the kernel ends the process
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


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


DRAWN, FAILED = b"D", b"F"
"""What an answer begins with; the drawing or a failure's reason follows."""
_MEMORY_BYTES = 1 << 30
"""What a worker may take beyond what it starts with (Linux only)."""
_GRACE_SECONDS = 5.0
"""A worker's own alarm ends it; a machine that swaps may be late with that."""


class _Order(NamedTuple):
    """A picture, and what is drawn of it."""

    content: bytes
    size: int
    form: Literal["icon", "png", "screenshot"]
    """RGB pixels of what it shows, for a query; a PNG on nothing; or the whole of it at its natural size."""


class DrawPool(AbstractContextManager["DrawPool"]):
    """Draws pictures in worker processes, which start when first needed; a context manager.

    Several threads may ask at once; each is lent a worker. A picture that takes too long, or brings its worker down,
    raises RenderError; the next one gets a new worker.
    """

    program = "from indexer.rendering.draw_pool import work; work()"
    """What its workers run: it answers each order with `DRAWN` and bytes, or `FAILED` and a reason."""

    def __init__(self, *, workers: int, seconds: float = 5.0) -> None:
        self._seconds = seconds
        self._idle: LifoQueue[Worker | None] = LifoQueue()
        """Who may be lent; None stands for a worker that is yet to be started."""
        for _ in range(workers):
            self._idle.put(None)
        self._alive: set[Worker] = set()
        self._starter = ThreadPoolExecutor(1)
        """Starts them: Linux ends a process with the thread that started it, and who asks may be gone tomorrow."""
        self._lock, self._is_closed = Lock(), False

    def close(self, *_: object) -> None:
        """End the workers at once, whatever they are at."""
        with self._lock:
            self._is_closed = True
            for worker in self._alive:
                worker.process.kill()  # who waits for its answer closes the connection
                worker.process.wait()
            self._starter.shutdown()

    __exit__ = close

    def pixels(self, content: bytes, *, size: int) -> NDArray[np.uint8]:
        """Draw what a picture shows, as `cutout.cut_out` does: RGB, (size, size, 3).

        Raises:
            RenderError: it is no picture, too large, or took too long.
            EmbedError: workers do not start.
        """
        return np.frombuffer(self.ask(_Order(content, size, "icon")), np.uint8).reshape(size, size, 3)

    def png(self, content: bytes, *, size: int) -> bytes:
        """Draw a picture on nothing, its longer side `size`, as a PNG; raises as `pixels` does."""
        return self.ask(_Order(content, size, "png"))

    def screenshot(self, content: bytes, *, size: int) -> Screenshot:
        """Draw a whole screen at its natural size, and at the model's `size` as an icon; raises as `pixels` does."""
        return Screenshot.from_bytes(self.ask(_Order(content, size, "screenshot")), size=size)

    def ask(self, order: object) -> bytes:
        """Give a worker an order of its program; raises as `pixels` does."""
        worker = self._idle.get()
        try:
            worker = worker or self._start()
            worker.connection.send(order)
            if not worker.connection.poll(self._seconds + _GRACE_SECONDS):
                worker.process.send_signal(signal.SIGALRM)
            answer = worker.connection.recv_bytes()
        except (EOFError, ConnectionError) as error:
            dead, worker = worker, None
            raise RenderError(self._remove(dead)) from error
        finally:
            self._idle.put(worker)
        if not answer.startswith(DRAWN):
            raise RenderError(answer[1:].decode(errors="replace"))
        return answer[1:]

    def _start(self) -> Worker:
        with self._lock:
            if self._is_closed:
                raise EmbedError("no more pictures are drawn: the server is about to end")
            worker = self._starter.submit(Worker.start, self.program, str(self._seconds)).result()
            self._alive.add(worker)
        try:
            assert worker.connection.recv_bytes() == READY
        except (EOFError, ConnectionError) as error:
            raise EmbedError(f"a drawing worker ended at its start: {self._remove(worker)}") from error
        return worker

    def _remove(self, dead: Worker | None) -> str:
        """Clear away a worker that has ended; tell what it died of."""
        assert dead is not None
        with self._lock:
            self._alive.discard(dead)
        dead.connection.close()
        return cause_of_end(dead.process.wait(), seconds=self._seconds)


def work(draw_one: Callable[[Any], bytes] | None = None) -> None:
    """Be a worker of a `DrawPool`: give each order to `draw_one`, which raises an `IconsError` where it can't."""
    seconds = float(sys.argv[1])

    def answer(order: Any) -> bytes:
        with limited(seconds):
            try:
                return DRAWN + (draw_one or _drawn)(order)
            except (IconsError, OSError, MemoryError, RecursionError) as error:
                return FAILED + reason_of(error).encode(errors="replace")

    serve(answer, memory_bytes=_MEMORY_BYTES)


def _drawn(order: _Order) -> bytes:
    match order.form:
        case "icon":
            return cut_out(order.content, size=order.size).tobytes()
        case "png":
            return as_png(draw(order.content, size=order.size))
        case "screenshot":
            return draw_screenshot(order.content, size=order.size).to_bytes()
