"""What does a drawing worker do? It draws a stranger's picture for whoever waits for it, one at a time, within limits.

A render worker (`worker`) fills shared memory with pictures of known sources. This one is handed bytes
and hands back pixels or a PNG. Its answers are plain bytes: a picture that took the worker over could not make the
other end run anything.
"""

import io
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from PIL import Image

from indexer.errors import IconsError
from indexer.rendering.cutout import cut_out
from indexer.rendering.render import draw
from indexer.rendering.worker import limit_this_process
from indexer.sources.pictures import reason_of

PROGRAM = "from indexer.rendering.draw_worker import work; work()"
READY, DRAWN, FAILED = b"R", b"D", b"F"
"""What an answer begins with; a failure's reason or the drawing follows."""


class Order(NamedTuple):
    """A picture, and what is wanted of it: RGB pixels of what it shows, for a query, or a PNG on nothing."""

    content: bytes
    size: int
    as_png: bool


def work() -> None:
    """Live a worker's life, until the other end of its connection closes."""
    seconds, memory_bytes = float(sys.argv[1]), int(sys.argv[2])
    connection: Connection[Any, Any] = Connection(int(sys.argv[3]))
    limit_this_process(memory_bytes)
    with suppress(EOFError, ConnectionError):
        connection.send_bytes(READY)
        while True:
            order = connection.recv()
            signal.setitimer(signal.ITIMER_REAL, seconds)  # nothing handles this signal: the kernel ends the process
            answer = _answer(order)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send_bytes(answer)


def _answer(order: Order) -> bytes:
    try:
        return DRAWN + (_png(order) if order.as_png else cut_out(order.content, size=order.size).tobytes())
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        return FAILED + reason_of(error).encode(errors="replace")


def _png(order: Order) -> bytes:
    written = io.BytesIO()
    Image.fromarray(draw(order.content, size=order.size)).save(written, "PNG")
    return written.getvalue()
