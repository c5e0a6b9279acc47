"""How long work looks to a person: bars with rate and time left on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from indexer.progress import RankProgress
from indexer.scan import ScanTally
from indexer.shards import Plan

QUIET_SECONDS = 10.0
"""Between two plain lines where no terminal is watching."""


class ProgressView:
    """Shows the stages of a run on stderr; a context manager and a `pipeline.Watcher`."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bars.add_task("", total=None, rate="", visible=False)
        self._told = 0.0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def stage(self, title: str) -> None:
        """Begin a step."""
        self._bars.reset(self._task, description=title, total=None, rate="", visible=True)
        if not self._live:
            self._console.print(title, highlight=False)
        self._told = time.monotonic()

    def scanned(self, tally: ScanTally) -> None:
        """Show how many files and icons were read."""
        self._show(tally.files, None, f"{tally.icons:,} icons read")

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """Show pictures and names done over all ranks, their common rate and each rank's own."""
        images = sum(rank.images + rank.failed for rank in ranks)
        names = sum(rank.names for rank in ranks)
        rate = sum(rank.images_per_second for rank in ranks)
        shown = f"{rate:,.0f} images/s"
        if len(ranks) > 1:
            shown += " (" + ", ".join(f"rank {rank.rank} {rank.images_per_second:,.0f}" for rank in ranks) + ")"
        self._show(images + names, plan.n_images + plan.n_names, shown)

    def _show(self, done: int, total: int | None, rate: str) -> None:
        self._bars.update(self._task, completed=done, total=total, rate=rate)
        if not self._live and time.monotonic() - self._told >= QUIET_SECONDS:
            self._told = time.monotonic()
            self._console.print(f"  {done:,}{f' of {total:,}' if total else ''}, {rate}", highlight=False)
