"""Single pictures of strangers drawn while somebody waits, in worker processes that may hang or die.

Several threads may ask at once; each is lent a worker. A picture that takes too long, or brings its worker down, raises
RenderError; the next one gets a new worker.
"""

import io
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from queue import LifoQueue
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.errors import EmbedError, IconsError, RenderError
from indexer.rendering.render import draw
from indexer.rendering.screenshot import Screenshot, cut_out, draw_screenshot
from indexer.rendering.worker import READY, Worker, cause_of_end, limited, serve
from indexer.sources.folders import reason_of

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
    """Draws pictures in worker processes, which start when first needed; a context manager."""

    program = "from indexer.rendering.draw_pool import work; work()"
    """What its workers run: it answers each order with `DRAWN` and bytes, or `FAILED` and a reason."""

    def __init__(self, *, workers: int, seconds: float = 5.0) -> None:
        self._seconds = seconds
        self._idle: LifoQueue[Worker | None] = LifoQueue()
        """Who may be lent; None stands for a worker that is yet to be started."""
        for _ in range(workers):
            self._idle.put(None)
        self._alive: set[Worker] = set()
        self._lock = Lock()
        self._is_closed = False

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers at once, whatever they are at."""
        with self._lock:
            self._is_closed = True
            for worker in self._alive:
                worker.process.kill()  # who waits for its answer closes the connection
                worker.process.wait()

    def pixels(self, content: bytes, *, size: int) -> NDArray[np.uint8]:
        """Draw what a picture shows, as `cutout.cut_out` does: RGB, (size, size, 3).

        Raises:
            RenderError: it is no picture, too large, or took too long.
            EmbedError: workers do not start.
        """
        drawn = self.ask(_Order(content, size, "icon"))
        return np.frombuffer(drawn, np.uint8).reshape(size, size, 3)

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
            answer = self._ask(worker, order)
        except (EOFError, ConnectionError) as error:
            reason = self._remove(worker)
            worker = None
            raise RenderError(reason) from error
        finally:
            self._idle.put(worker)
        if not answer.startswith(DRAWN):
            raise RenderError(answer[1:].decode(errors="replace"))
        return answer[1:]

    def _ask(self, worker: Worker, order: object) -> bytes:
        worker.connection.send(order)
        if not worker.connection.poll(self._seconds + _GRACE_SECONDS):
            worker.process.send_signal(signal.SIGALRM)
        return worker.connection.recv_bytes()

    def _start(self) -> Worker:
        with self._lock:
            if self._is_closed:
                raise EmbedError("no more pictures are drawn: the server is about to end")
            worker = Worker.start(self.program, str(self._seconds))
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
            written = io.BytesIO()
            Image.fromarray(draw(order.content, size=order.size)).save(written, "PNG")
            return written.getvalue()
        case "screenshot":
            return draw_screenshot(order.content, size=order.size).to_bytes()
