"""Who may hold a connection, and how long? Whoever asks or reads slowly is hung up on, sooner where others wait.

uvicorn bounds how long a connection may be idle between two requests, but not how long a request takes to arrive or an
answer to be read: some hundred connections that do neither would keep everybody out.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 500
"""Of those that wait for their client, the one that has waited longest makes room for the next."""
HEADER_SECONDS = 10.0
"""For a request line and its headers to arrive."""
READING_SECONDS = 30.0
"""In which a client takes nothing of an answer that is ready."""


class BoundedConnection(H11Protocol):
    """HTTP/1.1 over one connection."""

    transport: asyncio.Transport

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._patience: asyncio.TimerHandle | None = None
        self._waits_since: float | None = None
        """Since when it is the client's turn; None while it is the server's."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; where there are too many connections, hang up on the one that has waited longest."""
        super().connection_made(transport)
        self._wait(HEADER_SECONDS)
        if len(self.connections) > MOST_CONNECTIONS:
            others = [other for other in self.connections if isinstance(other, BoundedConnection)]
            waiting = [other for other in others if other._waits_since is not None]
            min(waiting, key=lambda other: other._waits_since or 0.0).hang_up()  # this one waits, too

    def data_received(self, data: bytes) -> None:
        """Go on with a request; more of its headers is no reason to wait longer."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._patience is None:
            self._wait(HEADER_SECONDS)

    def on_response_complete(self) -> None:
        """Wait for the next request, as long as uvicorn does."""
        self._stop_waiting()
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait until the client has read what is sent."""
        super().pause_writing()
        self._wait(READING_SECONDS)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """End the connection at once, without a word: there may be nobody who reads it."""
        self._stop_waiting()
        self.connections.discard(self)  # before the loop comes to it
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._waits_since = self.loop.time()
        self._patience = self.loop.call_later(seconds, self.hang_up)

    def _stop_waiting(self) -> None:
        self._waits_since = None
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
