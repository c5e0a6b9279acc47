"""How does indexing look to a person? What is done over all ranks, their common rate and each rank's own."""

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from indexer.catalog.scan import ScanTally
from indexer.library.plans import Plan
from indexer.process import end_at_once
from indexer.ranks.progress import RankProgress
from indexer.reports.bars import Bars

if TYPE_CHECKING:
    from rich.console import RenderableType

WATCH_SECONDS = 5.0
"""At most so long apart are two looks at the devices, where no terminal is watching."""


class ProgressView(Bars):
    """Shows the stages of a run; a `pipeline.Watcher`."""

    _has_pictures = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the view; to whom has pressed Ctrl-C, say what that has cost."""
        super().__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt):
            click.echo("stopped; what was finished is kept, and the same command goes on from there", err=True)

    def scanned(self, tally: ScanTally) -> None:
        """Show how many files and icons were read."""
        self.advance(tally.files, None, f"{tally.icons:,} icons read")

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """Show names while there are no pictures yet, then pictures and how fast they go."""
        images = sum(rank.images + rank.failed for rank in ranks)
        names = sum(rank.names for rank in ranks)
        if not images and (names < plan.n_names or not plan.n_images):
            self.advance(names, plan.n_names, unit="names")
            self._has_pictures = False
            return
        if not self._has_pictures:  # what is left of them can't be told from how fast names went
            self._has_pictures = True
            self.begin_anew()
        rate = sum(rank.images_per_second for rank in ranks)
        shown = f"{rate:,.0f}/s"
        if len(ranks) > 1:
            shown += " (" + ", ".join(f"rank {rank.rank} {rank.images_per_second:,.0f}" for rank in ranks) + ")"
        if names < plan.n_names:
            shown += f"; {names:,} of {plan.n_names:,} names"
        self.advance(images, plan.n_images, shown, unit="pictures")

    def give_up(self, reason: str) -> None:
        """Say that the embedding hangs, and end the process: a thread that hangs in a driver or a drive stays."""
        self.__exit__(None, None, None)
        end_at_once(reason)


class DeviceView(ProgressView):
    """Shows beside the progress what every rank's device does."""

    def __init__(self) -> None:
        self._ranks: Sequence[RankProgress] = ()
        self._looked = float("-inf")
        self._has_ended = False
        super().__init__()

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """Show the progress, and keep what is told of the devices."""
        super().embedded(plan, ranks)
        self._ranks = ranks
        had_ended, self._has_ended = self._has_ended, bool(ranks) and all(rank.finished for rank in ranks)
        is_due = time.monotonic() - self._looked >= WATCH_SECONDS
        if not self.live and not had_ended and (self._has_ended or is_due):
            self._looked = time.monotonic()
            for rank in ranks:
                titles = ("rank", "device", "images/s", "waits", "memory", "busy")
                self.note("  " + ", ".join(f"{title} {cell}" for title, cell in zip(titles, cells(rank), strict=True)))

    def beneath(self) -> "Iterable[RenderableType]":
        """A line a rank, on a terminal."""
        if not self._ranks:
            return ()
        from indexer.reports.tables import table_of

        head = ("rank", "device", "images/s", "waits for pictures", "memory", "busy")
        return (table_of(head, map(cells, self._ranks), n_left=0),)


def cells(rank: RankProgress) -> tuple[str, ...]:
    """Spell what a rank's device does."""
    busy = "-" if rank.utilisation is None else f"{rank.utilisation:.0%}"
    memory = f"{rank.memory_bytes / 1e9:.2f} GB" if rank.memory_bytes else "-"
    return (
        str(rank.rank), rank.device, f"{rank.images_per_second:,.0f}", f"{rank.waited_share:.0%}", memory, busy
    )  # fmt: skip
