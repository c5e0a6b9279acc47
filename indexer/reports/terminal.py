"""Waits and tables in a terminal: a bar or a line now and then, tables as wide as it is, spans of a run's time.

with span("weights"): ...                # what takes the wall's time and this process's
    add("exchange", seconds)                 # what another clock has measured, one of CUDA's events, say

A process has one `Timings`; ranks and workers report theirs with their progress. Spans may lie within each other, and
beside each other in threads: each counts what the whole process has computed meanwhile, and children that have ended.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Column, Table
from rich.text import Text

from indexer.languages.words import printable

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and of how much."""
_PATIENCE_SECONDS = 2.0
QUIET_SECONDS = 3.5
"""Between two plain lines where no terminal is watching: whoever reads them never wonders for longer than five."""
_LOOK_SECONDS = 0.25
_LEAST_SECONDS = 1.0
"""After which it is known how fast a step goes."""
_WHOLE_RATE = 10
"""A second; slower ones have a digit more."""


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
        self._bars = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            *([TimeRemainingColumn()] if estimate else []),
            TextColumn("{task.fields[remark]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            console=self._console,
            expand=True,  # the remark gives way where the line is short, not the figures
            disable=True,  # drawn with what stands under it
        )
        self._drawn = Live(
            get_renderable=lambda: Group(self._bars.get_renderable(), *self.beneath()),
            console=self._console,
            refresh_per_second=10,
            transient=True,
        )
        self._task = self._bars.add_task("", total=None, remark="", visible=False)
        self._title, self._progress, self._over, self._noted_at, self._began_at = "", "", Event(), 0.0, 0.0

    def __enter__(self) -> Self:
        self._noted_at = self._began_at = time.monotonic()
        if self.live:
            self._drawn.start()
        else:
            Thread(target=self._remind, name="reminder", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._drawn.stop()

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
        counted = f"{done:,}{f' of {total:,}' if total else ''} {unit}".rstrip()
        before, self._progress = self._progress, ", ".join(filter(None, (counted, remark)))
        is_due = self._progress != before and time.monotonic() - self._noted_at >= QUIET_SECONDS
        if not self.live and (now or is_due):
            self._noted_at = time.monotonic()
            self.note(f"  {self._progress}")


class ProgressLine(Bars):
    """A `Progress`; tells how fast it goes, and in plain lines how long it will take."""

    _first_done = 0
    """What was done when the step was first reported."""

    def __call__(self, title: str, done: int, total: int) -> None:
        """Show it; another title begins another step."""
        if title != self._title:
            self._first_done = done
            self.stage(title)
        self.advance(done, total, self._pace(done, total))

    def _pace(self, done: int, total: int) -> str:
        """Say how fast a step goes, once that is known."""
        seconds = time.monotonic() - self._began_at
        rate = (done - self._first_done) / seconds if seconds >= _LEAST_SECONDS else 0.0
        if rate <= 0:
            return ""
        left = "" if self.live else f", {timedelta(seconds=round((total - done) / rate))} left"
        return f"{rate:,.{0 if rate >= _WHOLE_RATE else 1}f}/s{left}"


def with_progress(items: Collection[Item], title: str, progress: Progress) -> Iterator[Item]:
    """Some things one after the other; how many are done is told before each, and at the end."""
    for n_done, item in enumerate(items):
        progress(title, n_done, len(items))
        yield item
    if items:
        progress(title, len(items), len(items))


def patient(progress: Progress) -> Progress:
    """Show nothing of what takes no longer than a person waits without asking."""
    ends_at = time.monotonic() + _PATIENCE_SECONDS
    return lambda *state: progress(*state) if time.monotonic() >= ends_at else None


class _Output(Console):
    """Leaves it to the program what becomes of it where nobody reads on: rich itself ends it, with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console() -> Console:
    """Open stdout for tables; a pipe has no width, even if FORCE_COLOR colours it, and 80 columns would cut them.

    NO_COLOR leaves out bold and dim, too, which rich would send on.
    """
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    console = _Output(color_system=colours)
    return console if console.file.isatty() else _Output(width=200, color_system=colours)


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
        table.add_column(
            column,
            justify="left" if number < n_left or number in folded else "right",
            no_wrap=number not in folded,
            overflow="fold" if number in folded else "ellipsis",
        )
    for row in rows:
        table.add_row(*map(plain, row))
    return table


OWN = "main"
"""Stands for the process itself among ranks."""


@dataclass(frozen=True, slots=True)
class Span:
    """All that was spent under one name."""

    name: str
    start: float
    """When it first began, as `time.time` has it: processes are compared."""
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of processors meanwhile."""
    times: int = 0


def _computed() -> float:
    return sum(os.times()[:4])


class Timings:
    """The spans of a run, whose first step begins with the process."""

    def __init__(self) -> None:
        self._adding = Lock()
        self.begin_anew()

    def begin_anew(self, first: str = "", *, at: float | None = None) -> None:
        """Forget all spans: another run begins in this process, with its `first` step."""
        self.began_at = time.time() if at is None else at
        self._spans: dict[str, dict[str, Span]] = {OWN: {}}
        self._step = first, self.began_at, _computed()

    def add(self, name: str, seconds: float, *, processor: float = 0.0, start: float | None = None) -> None:
        """Add what was spent under a name; it began `seconds` ago where no `start` is given."""
        with self._adding:
            before = self._spans[OWN].get(name) or Span(name, time.time() - seconds if start is None else start)
            self._spans[OWN][name] = Span(
                name, before.start, before.seconds + seconds, before.processor + processor, before.times + 1
            )

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Add what the block takes to a name."""
        start, began, computed = time.time(), time.perf_counter(), _computed()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began, processor=_computed() - computed, start=start)

    def step(self, title: str) -> None:
        """Begin a step, which ends the one before; without a title none begins."""
        (name, start, computed), self._step = self._step, (title, time.time(), _computed())
        if name:
            self.add(name, self._step[1] - start, processor=self._step[2] - computed, start=start)

    def keep(self, rank: str, spans: Iterable[Span]) -> None:
        """Take what a rank has reported of its own spans, in place of what it said before."""
        self._spans[rank] = {one.name: one for one in spans}

    def taken(self) -> list[Span]:
        """The spans of this process so far, by their start."""
        return sorted(self._spans[OWN].copy().values(), key=lambda one: one.start)

    def rows(self) -> list[dict[str, Any]]:
        """Spell all spans for programs; starts are seconds after that of the run."""
        self.step("")
        return [
            {
                "rank": rank,
                "span": one.name,
                "start": round(one.start - self.began_at, 3),
                "seconds": round(one.seconds, 3),
                "processor_seconds": round(one.processor, 3),
                "times": one.times,
            }
            for rank, spans in self._spans.items()
            for one in sorted(spans.values(), key=lambda one: one.start)
        ]


TIMINGS = Timings()
add, span = TIMINGS.add, TIMINGS.span
HEAD = ("rank", "span", "start, s", "seconds", "processor, s", "times")


def lines(rows: Iterable[dict[str, Any]]) -> list[list[str]]:
    """Lay out `Timings.rows` for people, under `HEAD`."""
    return [[f"{value:,.2f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
