"""How far is a long answer? A bar on a terminal, a plain line now and then elsewhere; on stderr."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress

QUIET_SECONDS = 10.0
"""Between two plain lines where no terminal is watching."""


class ProgressLine:
    """A context manager to be called with what is done, how much of it, and of how much."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal
        self._bar = Progress(console=self._console, transient=True, disable=not self._live)
        self._task = self._bar.add_task("", total=None)
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, title: str, done: int, total: int) -> None:
        """Show it."""
        self._bar.update(self._task, description=title, completed=done, total=total)
        if not self._live and time.monotonic() - self._told >= QUIET_SECONDS:
            self._told = time.monotonic()
            self._console.print(f"{title}: {done:,} of {total:,}", highlight=False)
