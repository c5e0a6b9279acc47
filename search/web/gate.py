"""Who is let in? So many at work, so many waiting, nobody for longer than a limit; one more hears so at once."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from indexer.errors import LateError
from search.deadline import until

Result = TypeVar("Result")


class BusyError(Exception):
    """All threads work and the queue is full."""


class TooSlowError(Exception):
    """No answer within the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


class Gate:
    """Threads behind a bounded queue."""

    def __init__(self, *, threads: int, waiting: int, seconds: float) -> None:
        self.capacity = threads + waiting
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="icons")
        self._lock = Lock()
        self._n_inside = 0

    @property
    def n_inside(self) -> int:
        """Requests at work or waiting. One that ran out of time counts until its thread is free again."""
        return self._n_inside

    @property
    def is_full(self) -> bool:
        """Whether the next one would not be let in."""
        return self._n_inside >= self.capacity

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread, which is told when nobody waits for it any more.

        Raises:
            BusyError: the queue is full.
            TooSlowError: it took too long, waiting included.
        """
        with self._lock:
            if self._n_inside >= self.capacity:
                raise BusyError
            self._n_inside += 1
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
            raise TooSlowError(self._seconds) from error

    def close(self) -> None:
        """Let nobody in any more; what waits is given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, _: "Future[Any]") -> None:
        with self._lock:
            self._n_inside -= 1
