"""How much may those who ask take of a server? Every bound with its default, and a gate that holds them.

So many are at work, so many waiting, nobody for longer than a limit; one more hears so at once.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from indexer.errors import LateError
from indexer.process import cores
from search.deadline import until

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
        self.n_inside = 0
        """Requests at work or waiting. One that ran out of time counts until its thread is free again."""
        self._capacity = threads + waiting
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="icons")
        self._lock = Lock()

    @property
    def is_full(self) -> bool:
        """Whether the next one would not be let in."""
        return self.n_inside >= self._capacity

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread, which is told when nobody waits for it any more.

        Raises:
            BusyError: the queue is full.
            TooSlowError: it took too long, waiting included.
        """
        with self._lock:
            if self.is_full:
                raise BusyError
            self.n_inside += 1
        ends = time.monotonic() + self._seconds

        def work_in_time() -> Result:
            with until(ends):
                return work()

        submitted = self._pool.submit(work_in_time)
        submitted.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(submitted)
        except (TimeoutError, LateError) as error:
            raise TooSlowError(f"no answer within {self._seconds:g} s") from error

    def close(self) -> None:
        """Let nobody in any more; what waits is given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, _: "Future[Any]") -> None:
        with self._lock:
            self.n_inside -= 1
