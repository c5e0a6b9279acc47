"""Until when somebody waits for an answer; work that may take long looks on the way, and ends then."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from indexer.errors import LateError

_ends: ContextVar[float] = ContextVar("ends", default=math.inf)


@contextmanager
def until(ends: float) -> Iterator[None]:
    """Want what this thread does in the block until a time of `time.monotonic`; without this, however long it takes."""
    before = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(before)


def is_late() -> bool:
    """Whether nobody waits any more."""
    return time.monotonic() > _ends.get()


def refuse_late() -> None:
    """End work that nobody waits for.

    Raises:
        LateError: that is so.
    """
    if is_late():
        raise LateError("nobody waits for this answer any more; ask for less at once")
