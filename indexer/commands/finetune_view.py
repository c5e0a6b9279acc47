"""How does a training look to a person? Loss, rate of each rank, memory and time left."""

from indexer.finetune.run.watch import TrainingProgress
from indexer.reports.bars import Bars


class TrainingView(Bars):
    """Shows a run; a `session.TrainingViewer`."""

    def __init__(self) -> None:
        super().__init__(estimate=False)  # the run itself tells the time left
        self._noted = ""

    def rendered(self, done: int, total: int) -> None:
        """Show how many pictures are drawn."""
        self.advance(done, total, "pictures")

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        if not first.note:
            self.advance(first.step, first.n_steps, described(ranks), now=first.finished)
        elif first.note != self._noted:
            self._noted = first.note
            self.advance(first.step, first.n_steps or None, first.note, now=True)


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
