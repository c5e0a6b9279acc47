"""Waits and tables in a terminal: a bar or a plain line now and then, tables as wide as it is."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from threading import Event, Thread
from types import TracebackType
from typing import Any, Literal, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from indexer.languages.words import printable

Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and of how much."""
_PATIENCE_SECONDS = 2.0
QUIET_SECONDS = 4.0
"""Between two plain lines where no terminal is watching: whoever reads them never wonders for longer than five."""
_LOOK_SECONDS = 0.25
_LEAST_SECONDS = 1.0
"""After which it is known how fast a step goes."""
_WHOLE_RATE = 10
"""A second; slower ones have a digit more."""


class _Lines(RichProgress):
    """A bar, and what stands under it."""

    def __init__(self, beneath: Callable[[], Iterable[RenderableType]], *columns: Any, **options: Any) -> None:
        self._beneath = beneath
        super().__init__(*columns, **options)

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield from self._beneath()


class Bars:
    """One step of work after the other, each with its bar; a context manager.

    Where no terminal is watching there are plain lines: of steps as they begin, how far they are, and, where that does
    not change, what is waited for.
    """

    waits_for = ""
    """What the step is at now; nothing: its title says it."""

    def __init__(self, *, estimate: bool = True) -> None:
        """`estimate`: guess the time left from what is done; else the remark of `advance` says it."""
        self._console = Console(stderr=True)
        self.live = self._console.file.isatty()
        self._bars = _Lines(
            self.beneath,
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[remark]}", markup=False),
            *([TimeRemainingColumn()] if estimate else []),
            console=self._console,
            transient=True,
            disable=not self.live,
        )
        self._task = self._bars.add_task("", total=None, remark="", visible=False)
        self._title, self._progress, self._over, self._noted_at, self._began_at = "", "", Event(), 0.0, 0.0

    def __enter__(self) -> Self:
        self._bars.start()
        self._noted_at = self._began_at = time.monotonic()
        if not self.live:
            Thread(target=self._remind, name="reminder", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._bars.stop()

    def _remind(self) -> None:
        """Say what is waited for, where nothing else is said."""
        while not self._over.wait(_LOOK_SECONDS):
            if time.monotonic() - self._noted_at >= QUIET_SECONDS:
                self._noted_at = time.monotonic()
                waited = f"{self.waits_for or self._title or 'at work'} ({self._noted_at - self._began_at:.0f} s)"
                self.note("  " + ", ".join(filter(None, (self._progress, waited))))

    def beneath(self) -> Iterable[RenderableType]:
        """What else stands under the bar, on a terminal; asked several times a second."""
        return ()

    def stage(self, title: str) -> None:
        """Begin a step."""
        self._bars.reset(self._task, description=title, total=None, remark="", visible=True)
        if not self.live:
            self.note(title)
        self._title, self._progress, self.waits_for = title, "", ""
        self._noted_at = self._began_at = time.monotonic()

    def begin_anew(self) -> None:
        """Count the rest of a step by itself: the time left follows from that alone."""
        self._bars.reset(self._task)

    def note(self, text: str) -> None:
        """Say something that stays."""
        self._console.print(printable(text), highlight=False, markup=False, soft_wrap=True)

    def advance(self, done: int, total: int | None, remark: str = "", *, unit: str = "", now: bool = False) -> None:
        """Show how far the step is, in which unit, and a remark; `now`: in a plain line, too, however soon after the
        last.
        """
        self._bars.update(self._task, completed=done, total=total, remark=", ".join(filter(None, (unit, remark))))
        counted = f"{done:,} of {total:,}" if total else f"{done:,}"
        before, self._progress = self._progress, ", ".join(filter(None, (f"{counted} {unit}".rstrip(), remark)))
        is_due = self._progress != before and time.monotonic() - self._noted_at >= QUIET_SECONDS
        if not self.live and (now or is_due):
            self._noted_at = time.monotonic()
            self.note(f"  {self._progress}")


class ProgressLine(Bars):
    """A `Progress`; tells how fast it goes, and in plain lines how long it will take."""

    _title = ""
    _began: tuple[float, int] = (0.0, 0)
    """When the step was first reported, and what was done by then."""

    def __call__(self, title: str, done: int, total: int) -> None:
        """Show it; another title begins another step."""
        if title != self._title:
            self._title, self._began = title, (time.monotonic(), done)
            self.stage(title)
        self.advance(done, total, self._pace(done, total))

    def _pace(self, done: int, total: int) -> str:
        """Say how fast a step goes, once that is known."""
        seconds = time.monotonic() - self._began[0]
        rate = (done - self._began[1]) / seconds if seconds >= _LEAST_SECONDS else 0.0
        if rate <= 0:
            return ""
        left = "" if self.live else f", {timedelta(seconds=round((total - done) / rate))} left"
        return f"{rate:,.0f}/s{left}" if rate >= _WHOLE_RATE else f"{rate:.1f}/s{left}"


def patient(progress: Progress) -> Progress:
    """Show nothing of what takes no longer than a person waits without asking."""
    began = time.monotonic()

    def show(title: str, done: int, total: int) -> None:
        if time.monotonic() - began >= _PATIENCE_SECONDS:
            progress(title, done, total)

    return show


def open_console() -> Console:
    """Open stdout for tables; a pipe has no width, even if FORCE_COLOR colours it, and 80 columns would cut them.

    NO_COLOR leaves out bold and dim, too, which rich would send on.
    """
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(color_system=colours)
    return console if console.file.isatty() else Console(width=200, color_system=colours)


def plain(text: str) -> Text:
    """Show a text of unknown origin in a table: no markup, nothing that a terminal would obey."""
    return Text(printable(text))


def table_of(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1, folded: Sequence[int] = ()
) -> Table:
    """Lay out a table for a terminal; its first columns, `n_left` of them, name a row, the others are figures; those
    that are `folded`, by their numbers, are texts that may take several lines.
    """
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), show_header=any(head))
    for number, column in enumerate(head):
        is_text, folds = number < n_left or number in folded, number in folded
        justify: Literal["left", "right"] = "left" if is_text else "right"
        table.add_column(column, justify=justify, no_wrap=not folds, overflow="fold" if folds else "ellipsis")
    for row in rows:
        table.add_row(*map(plain, row))
    return table
