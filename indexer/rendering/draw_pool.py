"""How is one picture drawn while somebody waits, whoever made it? In a worker process that may hang or die.

Several threads may ask at once; each is lent a worker. A picture that takes too long, or brings its worker down, raises
RenderError; the next one gets a new worker.
"""

import signal
import subprocess
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import LifoQueue
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EmbedError, RenderError
from indexer.rendering.draw_worker import DRAWN, PROGRAM, READY, Order
from indexer.rendering.worker import cause_of_end, start_process

_GRACE_SECONDS = 5.0
"""A worker's own alarm ends it; a machine that swaps may be late with that."""


@dataclass(eq=False, slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: "Connection[Any, Any]"


class DrawPool:
    """Draws pictures in worker processes, which start when first needed; a context manager.

    `memory_bytes` is what a worker may take beyond what it starts with (Linux only).
    """

    def __init__(self, *, workers: int, seconds: float = 5.0, memory_bytes: int = 1 << 30) -> None:
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._idle: LifoQueue[_Worker | None] = LifoQueue()
        """Who may be lent; None stands for a worker that is yet to be started."""
        for _ in range(workers):
            self._idle.put(None)
        self._alive: set[_Worker] = set()
        self._lock = Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers at once, whatever they are at."""
        with self._lock:
            self._is_closed = True
            for worker in self._alive:
                worker.process.kill()
                worker.process.wait()

    def pixels(self, content: bytes, *, size: int) -> NDArray[np.uint8]:
        """Draw what a picture shows, as `indexer.rendering.cutout.cut_out` does: RGB, (size, size, 3).

        Raises:
            RenderError: it is no picture, too large, or took too long.
            EmbedError: workers do not start.
        """
        drawn = self._draw(Order(content, size, as_png=False))
        return np.frombuffer(drawn, np.uint8).reshape(size, size, 3)

    def png(self, content: bytes, *, size: int) -> bytes:
        """Draw a picture on nothing, its longer side `size`, as a PNG; raises as `pixels` does."""
        return self._draw(Order(content, size, as_png=True))

    def _draw(self, order: Order) -> bytes:
        worker = self._idle.get()
        try:
            worker = worker or self._start()
            answer = self._ask(worker, order)
        except (EOFError, ConnectionError) as error:
            reason = self._bury(worker)
            worker = None
            raise RenderError(reason) from error
        finally:
            self._idle.put(worker)
        if not answer.startswith(DRAWN):
            raise RenderError(answer[1:].decode(errors="replace"))
        return answer[1:]

    def _ask(self, worker: _Worker, order: Order) -> bytes:
        worker.connection.send(order)
        if not worker.connection.poll(self._seconds + _GRACE_SECONDS):
            worker.process.send_signal(signal.SIGALRM)
        return worker.connection.recv_bytes()

    def _start(self) -> _Worker:
        with self._lock:
            if self._is_closed:
                raise EmbedError("no more pictures are drawn: the server is about to end")
            worker = _Worker(*start_process(PROGRAM, str(self._seconds), str(self._memory_bytes)))
            self._alive.add(worker)
        try:
            assert worker.connection.recv_bytes() == READY
        except (EOFError, ConnectionError) as error:
            raise EmbedError(f"a drawing worker ended at its start ({self._bury(worker)})") from error
        return worker

    def _bury(self, dead: _Worker | None) -> str:
        """Clear away a worker; what it died of."""
        assert dead is not None
        with self._lock:
            self._alive.discard(dead)
        dead.connection.close()
        status = dead.process.wait()
        if status == -signal.SIGALRM:
            return f"took longer than {self._seconds:g} s"
        return f"the renderer {cause_of_end(status)}"
