"""How far a training is, and how that looks to a person; torch is not needed for it."""

from dataclasses import dataclass

from indexer.embedding.progress import RankProgress, Reporter
from indexer.embedding.rank_view import RankView
from indexer.reports.timings import TIMINGS, Span


@dataclass(slots=True)
class TrainingProgress(RankProgress):
    """How far one rank is that trains; its pictures and seconds count from when this process began."""

    step: int = 0
    n_steps: int = 0
    loss: float = 0.0
    first_step: int = 0
    spans: tuple[Span, ...] = ()
    """What a process of its own has spent its time on."""


TrainingReporter = Reporter[TrainingProgress]


class TrainingView(RankView):
    """Shows a run: loss, rate of each rank, memory and time left."""

    def __init__(self, *, watch_devices: bool = False) -> None:
        super().__init__(watch_devices=watch_devices, estimate=False)  # the run itself tells the time left
        self._noted = ""

    def stage(self, title: str) -> None:
        """Begin a step, whose time is taken under its name."""
        TIMINGS.step(title)
        super().stage(title)

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        for rank in (it for it in ranks if it.spans):
            TIMINGS.keep(str(rank.rank), rank.spans)
        if not first.note:
            self.advance(first.step, first.n_steps, described(ranks), now=first.finished)
        elif first.note != self._noted:
            self._noted = first.note
            self.advance(first.step, first.n_steps or None, first.note, now=True)
        self.look([rank for rank in ranks if rank.device])


def described(ranks: list[TrainingProgress]) -> str:
    """Spell how ranks are doing in one line."""
    first, each = ranks[0], ", ".join(f"{rank.images_per_second:,.0f}" for rank in ranks)
    total = sum(rank.images_per_second for rank in ranks)
    rate = f"{total:,.0f} images/s" + (f" (ranks {each})" if len(ranks) > 1 else "")
    memory = max(rank.memory_bytes for rank in ranks) / 1e9
    seconds_left = (first.n_steps - first.step) * first.seconds / max(1, first.step - first.first_step)
    minutes, seconds = divmod(round(seconds_left), 60)
    waiting = max(rank.waited_share for rank in ranks)
    waited = f", {waiting:.0%} waiting" if waiting >= 0.05 else ""
    return f"loss {first.loss:.3f}, {rate}, {memory:.1f} GB, {minutes}:{seconds:02} left{waited}"
