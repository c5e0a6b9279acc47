"""How workers look to a person: their stage's progress, and beneath it each of them, one rank or forty workers."""

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from indexer.embedding.progress import RankProgress
from indexer.reports.terminal import Bars, table_of

if TYPE_CHECKING:
    from rich.console import RenderableType

WATCH_SECONDS = 5.0
"""Between two looks at the devices."""
_MOST_ROWS = 16
TITLES = ("rank", "device", "images/s", "waits", "memory", "busy", "power")
_MORE = ("done", "failed", "at")


class RankView(Bars):
    """Shows the stages of a run: on a terminal a table of its workers beneath, late ones first; elsewhere lines.

    Of one rank, and elsewhere, only where devices are watched.
    """

    def __init__(self, *, watch_devices: bool = False, estimate: bool = True) -> None:
        self._watch_devices, self._n_titles = watch_devices, len(TITLES) if watch_devices else 3
        self._shown: list[tuple[str, ...]] = []
        self._before: dict[tuple[int, str], tuple[int, float]] = {}
        self._looked, self._has_ended = float("-inf"), False
        super().__init__(estimate=estimate)

    def look(self, ranks: Sequence[RankProgress]) -> None:
        """Show the workers where they are watched, at most every `WATCH_SECONDS`, and once at the end."""
        had_ended, self._has_ended = self._has_ended, bool(ranks) and all(rank.finished for rank in ranks)
        is_due, is_shown = time.monotonic() - self._looked >= WATCH_SECONDS, self.live and len(ranks) > 1
        if not (self._watch_devices or is_shown) or not ranks or had_ended or not (self._has_ended or is_due):
            return
        self._looked = time.monotonic()
        late_first = sorted(ranks, key=lambda rank: (not rank.note, rank.finished))
        self._shown = [cells(rank, rate=self._rate_of(rank)) for rank in late_first]
        for line in () if self.live else self._shown:
            self.note("  " + ", ".join(f"{title} {cell}" for title, cell in zip(TITLES, line, strict=True)))
        more = ((f"{rank.done:,}", f"{rank.failed:,}", rank.note or rank.at) for rank in late_first)
        self._shown = [(*line[: self._n_titles], *others) for line, others in zip(self._shown, more, strict=True)]

    def beneath(self) -> "Iterable[RenderableType]":
        """A line a worker, on a terminal."""
        titles = (*TITLES[: self._n_titles], *_MORE)
        n_more = len(self._shown) - _MOST_ROWS
        rest = [(f"and {n_more} more", *[""] * (len(titles) - 1))] if n_more > 0 else []
        return (table_of(titles, [*self._shown[:_MOST_ROWS], *rest], n_left=0),) if self._shown else ()

    def _rate_of(self, rank: RankProgress) -> float:
        """Pictures/s since the last look."""
        done, seconds = self._before.get((rank.rank, rank.name), (0, 0.0))
        self._before[rank.rank, rank.name] = rank.done, rank.seconds
        if rank.seconds <= seconds:  # nothing since, or the rank was started anew
            done, seconds = 0, 0.0
        return (rank.done - done) / (rank.seconds - seconds) if rank.seconds else 0.0


def cells(rank: RankProgress, *, rate: float) -> tuple[str, ...]:
    """Spell what a rank's device does, by `TITLES`."""
    busy = "-" if rank.utilisation is None else f"{rank.utilisation:.0%}"
    power = "-" if rank.power_watts is None else f"{rank.power_watts:.0f} W"
    memory = f"{rank.memory_bytes / 1e9:.2f} GB" if rank.memory_bytes else "-"
    return (rank.name or str(rank.rank), rank.device, f"{rate:,.0f}", f"{rank.waited_share:.0%}", memory, busy, power)
