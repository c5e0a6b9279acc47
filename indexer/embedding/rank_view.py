"""How ranks look to a person: their stage's progress, and beneath it what each one's device does."""

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from indexer.embedding.progress import RankProgress
from indexer.reports.terminal import Bars, table_of

if TYPE_CHECKING:
    from rich.console import RenderableType

WATCH_SECONDS = 5.0
"""Between two looks at the devices."""
TITLES = ("rank", "device", "images/s", "waits", "memory", "busy", "power")


class RankView(Bars):
    """Shows the stages of a run, and its devices where they are watched: a table on a terminal, lines elsewhere."""

    def __init__(self, *, watch_devices: bool = False, estimate: bool = True) -> None:
        self._watch_devices = watch_devices
        self._shown: list[tuple[str, ...]] = []
        self._before: dict[int, tuple[int, float]] = {}
        self._looked = float("-inf")
        self._has_ended = False
        super().__init__(estimate=estimate)

    def look(self, ranks: Sequence[RankProgress]) -> None:
        """Show the devices where they are watched, at most every `WATCH_SECONDS`, and once at the end."""
        had_ended, self._has_ended = self._has_ended, bool(ranks) and all(rank.finished for rank in ranks)
        is_due = time.monotonic() - self._looked >= WATCH_SECONDS
        if not self._watch_devices or not ranks or had_ended or not (self._has_ended or is_due):
            return
        self._looked = time.monotonic()
        self._shown = [cells(rank, rate=self._rate_of(rank)) for rank in ranks]
        for line in () if self.live else self._shown:
            self.note("  " + ", ".join(f"{title} {cell}" for title, cell in zip(TITLES, line, strict=True)))

    def beneath(self) -> "Iterable[RenderableType]":
        """A line a rank, on a terminal."""
        return (table_of(TITLES, self._shown, n_left=0),) if self._shown else ()

    def _rate_of(self, rank: RankProgress) -> float:
        """Pictures/s since the last look."""
        done, seconds = self._before.get(rank.rank, (0, 0.0))
        self._before[rank.rank] = rank.done, rank.seconds
        if rank.seconds <= seconds:  # nothing since, or the rank was started anew
            done, seconds = 0, 0.0
        return (rank.done - done) / (rank.seconds - seconds) if rank.seconds else 0.0


def cells(rank: RankProgress, *, rate: float) -> tuple[str, ...]:
    """Spell what a rank's device does, by `TITLES`."""
    busy = "-" if rank.utilisation is None else f"{rank.utilisation:.0%}"
    power = "-" if rank.power_watts is None else f"{rank.power_watts:.0f} W"
    memory = f"{rank.memory_bytes / 1e9:.2f} GB" if rank.memory_bytes else "-"
    return (str(rank.rank), rank.device, f"{rate:,.0f}", f"{rank.waited_share:.0%}", memory, busy, power)
