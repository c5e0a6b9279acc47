"""How does a training look to a person? A bar with loss, rate and time left on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from indexer.finetune.watch import TrainingProgress

QUIET_SECONDS = 10.0
"""Between two plain lines where no terminal is watching."""


class TrainingView:
    """Shows a run on stderr; a context manager and a `session.TrainingViewer`."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[shown]}"),
            console=self._console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bars.add_task("", total=None, shown="", visible=False)
        self._told = 0.0
        self._noted = ""

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def stage(self, title: str) -> None:
        """Begin a step."""
        self._bars.reset(self._task, description=title, total=None, shown="", visible=True)
        if not self._live:
            self.note(title)
        self._told = time.monotonic()

    def note(self, text: str) -> None:
        """Say something that stays."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def rendered(self, done: int, total: int) -> None:
        """Show how many pictures are drawn."""
        self._show(done, total, "pictures")

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        if first.note:
            if first.note != self._noted:
                self._noted = first.note
                self._show(first.step, first.n_steps or None, first.note, now=not self._live)
            return
        self._show(first.step, first.n_steps, described(ranks), now=first.finished)

    def _show(self, done: int, total: int | None, shown: str, *, now: bool = False) -> None:
        self._bars.update(self._task, completed=done, total=total, shown=shown)
        if not self._live and (now or time.monotonic() - self._told >= QUIET_SECONDS):
            self._told = time.monotonic()
            self.note(f"  {done:,}{f' of {total:,}' if total else ''}: {shown}")


def described(ranks: list[TrainingProgress]) -> str:
    """Spell how ranks are doing in one line."""
    first = ranks[0]
    each = ", ".join(f"{rank.images_per_second:,.0f}" for rank in ranks)
    total = sum(rank.images_per_second for rank in ranks)
    rate = f"{total:,.0f} images/s" + (f" (ranks {each})" if len(ranks) > 1 else "")
    memory = max(rank.memory_bytes for rank in ranks) / 1e9
    minutes, seconds = divmod(round(first.seconds_left), 60)
    waiting = max(rank.waited_seconds / rank.seconds if rank.seconds else 0.0 for rank in ranks)
    waited = f", {waiting:.0%} waiting for data" if waiting >= 0.05 else ""
    return f"loss {first.loss:.3f}, {rate}, {memory:.1f} GB, {minutes}:{seconds:02} left{waited}"
