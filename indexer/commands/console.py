"""Indexing and its devices in a terminal: what is done over all ranks, their rates, what each device does."""

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import click

from indexer.catalog.scan import ScanTally
from indexer.embedding.progress import RankProgress
from indexer.finetune.watch import TrainingProgress, TrainingView
from indexer.library.plans import Plan
from indexer.process import end_at_once
from indexer.reports.terminal import Bars

if TYPE_CHECKING:
    from rich.console import RenderableType

WATCH_SECONDS = 5.0
"""Between two looks at the devices."""


class ProgressView(Bars):
    """Shows the stages of a run; a `run.Watcher`."""

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
        if not self._has_pictures:  # how fast names went says nothing of pictures
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


class Watched(Protocol):
    """What a rank of any stage tells of itself and its device."""

    rank: int
    device: str
    seconds: float
    memory_bytes: int
    utilisation: float | None
    power_watts: float | None
    finished: bool

    @property
    def done(self) -> int:
        """Pictures so far, in `seconds`."""

    @property
    def waited_share(self) -> float:
        """Share of its time in which the device waited."""


class WatchesDevices(Bars):
    """Shows beside the progress of a stage what every rank's device does: a table on a terminal, lines elsewhere."""

    def __init__(self) -> None:
        self._shown: list[tuple[str, ...]] = []
        self._before: dict[int, tuple[int, float]] = {}
        self._looked = float("-inf")
        self._has_ended = False
        super().__init__()

    def look(self, ranks: Sequence[Watched]) -> None:
        """Show what the devices do, at most every `WATCH_SECONDS`, and once at the end."""
        had_ended, self._has_ended = self._has_ended, bool(ranks) and all(rank.finished for rank in ranks)
        is_due = time.monotonic() - self._looked >= WATCH_SECONDS
        if not ranks or had_ended or not (self._has_ended or is_due):
            return
        self._looked = time.monotonic()
        self._shown = [cells(rank, rate=self._rate_of(rank)) for rank in ranks]
        for line in () if self.live else self._shown:
            self.note("  " + ", ".join(f"{title} {cell}" for title, cell in zip(TITLES, line, strict=True)))

    def beneath(self) -> "Iterable[RenderableType]":
        """A line a rank, on a terminal."""
        if not self._shown:
            return ()
        from indexer.reports.terminal import table_of

        return (table_of(TITLES, self._shown, n_left=0),)

    def _rate_of(self, rank: Watched) -> float:
        """Pictures/s since the last look."""
        done, seconds = self._before.get(rank.rank, (0, 0.0))
        self._before[rank.rank] = rank.done, rank.seconds
        if rank.seconds <= seconds:  # nothing since, or the rank was started anew
            done, seconds = 0, 0.0
        return (rank.done - done) / (rank.seconds - seconds) if rank.seconds else 0.0


class DeviceView(WatchesDevices, ProgressView):
    """Watches the devices that embed."""

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """Show the progress, and the devices."""
        super().embedded(plan, ranks)
        self.look(ranks)


class TrainingDeviceView(WatchesDevices, TrainingView):
    """Watches the devices that train."""

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show the progress, and the devices that have begun."""
        super().trained(ranks)
        self.look([rank for rank in ranks if rank.device])


TITLES = ("rank", "device", "images/s", "waits", "memory", "busy", "power")


def cells(rank: Watched, *, rate: float) -> tuple[str, ...]:
    """Spell what a rank's device does, by `TITLES`."""
    busy = "-" if rank.utilisation is None else f"{rank.utilisation:.0%}"
    power = "-" if rank.power_watts is None else f"{rank.power_watts:.0f} W"
    memory = f"{rank.memory_bytes / 1e9:.2f} GB" if rank.memory_bytes else "-"
    return (str(rank.rank), rank.device, f"{rate:,.0f}", f"{rank.waited_share:.0%}", memory, busy, power)
