"""Who may hold a connection and how long, and how much those who ask may take of a server.

uvicorn bounds how long a connection may be idle between two requests, but not how long a request takes to arrive or an
answer to be read: some hundred connections that do neither would keep everybody out.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from indexer.errors import LateError
from indexer.process import cores
from search.query import until

MOST_CONNECTIONS = 500
"""Of those that wait for their client, the one that has waited longest makes room for the next."""
RESERVE = 100
"""Beyond that, for whoever comes while all wait for the server: /health is among them."""
HEADER_SECONDS = 10.0
"""For a request line and its headers to arrive."""
BODY_SECONDS = 30.0
"""... and for a body, whatever becomes of it: `search.web.parameters` says why it gives one up, and does so earlier."""
READING_SECONDS = 30.0
"""In which a client takes nothing of an answer that is ready."""

PendingSide = Literal["request", "body", "reading"]
_SECONDS: dict[PendingSide, float] = {"request": HEADER_SECONDS, "body": BODY_SECONDS, "reading": READING_SECONDS}


class BoundedConnection(H11Protocol):
    """HTTP/1.1 over one connection."""

    transport: asyncio.Transport

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._pending: PendingSide | None = None
        """What the client owes; None while it is the server's turn."""
        self._since = 0.0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; where there are too many connections, hang up on the one that has waited longest."""
        super().connection_made(transport)
        self._look()
        if len(self.connections) > MOST_CONNECTIONS:
            others = [other for other in self.connections if isinstance(other, BoundedConnection) and other is not self]
            waiting = [other for other in others if other._pending is not None]
            if waiting:
                min(waiting, key=lambda other: other._since).close()
            elif len(others) >= MOST_CONNECTIONS + RESERVE:
                self.close()

    def data_received(self, data: bytes) -> None:
        """Go on with a request; more of its headers or body is no reason to wait longer."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn itself ends a connection that is idle for some seconds."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait until the client has read what is sent."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; a request whose body it was has no one any more who would hear its answer."""
        super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._wait_for(None)
        super().connection_lost(exc)

    def close(self) -> None:
        """End the connection at once, without a word: there may be nobody who reads it."""
        self._wait_for(None)
        self.connections.discard(self)  # before the loop comes to it
        self.transport.abort()

    def _look(self) -> None:
        """See whose turn it is; a client has so long for what it owes, whatever else it does meanwhile."""
        pending: PendingSide | None = None
        if self.flow.write_paused:
            pending = "reading"
        elif self.cycle is None or self.cycle.response_complete:
            pending = "request"
        elif self.cycle.more_body:
            pending = "body"
        if pending != self._pending and not self.transport.is_closing():
            self._wait_for(pending)

    def _wait_for(self, pending: PendingSide | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._pending = pending
        if pending is not None:
            self._since = self.loop.time()
            self._patience = self.loop.call_later(_SECONDS[pending], self.close)


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server does at once, how long, and with how much."""

    threads: int = field(default_factory=cores)
    """Queries computed at the same time; as many pictures are drawn beside them."""
    waiting: int = 64
    """Requests that may wait for a thread; one more is answered 503 at once."""
    seconds: float = 5.0
    """For one answer, waiting included, and for drawing one picture."""
    upload_bytes: int = 10_000_000
    upload_seconds: float = 20.0
    """For a picture to arrive."""


class BusyError(Exception):
    """All threads work and the queue is full."""


class TooSlowError(Exception):
    """No answer within the limit."""


class Gate:
    """Threads behind a bounded queue."""

    def __init__(self, *, threads: int, waiting: int, seconds: float) -> None:
        self.inside: set[Future[Any]] = set()
        """Requests at work or waiting. One that ran out of time counts until its thread is free again."""
        self._capacity = threads + waiting
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="icons")

    @property
    def is_full(self) -> bool:
        """Whether the next one would not be let in."""
        return len(self.inside) >= self._capacity

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread, which `deadline` tells when nobody waits for it any more.

        Raises:
            BusyError: the queue is full.
            TooSlowError: it took too long, waiting included.
        """
        if self.is_full:
            raise BusyError
        ends = time.monotonic() + self._seconds

        def work_in_time() -> Result:
            with until(ends):
                return work()

        submitted = self._pool.submit(work_in_time)
        self.inside.add(submitted)
        submitted.add_done_callback(self.inside.discard)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(submitted)
        except (TimeoutError, LateError) as error:
            raise TooSlowError(f"no answer within {self._seconds:g} s") from error

    def close(self) -> None:
        """Let nobody in any more; what waits is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)
