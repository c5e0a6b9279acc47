"""How indexing looks to a person: what is done over all ranks, their rates, what each device does."""

from collections.abc import Sequence
from types import TracebackType

import click

from indexer.catalog.scan import ScanTally
from indexer.embedding.progress import EmbeddingProgress
from indexer.embedding.rank_view import RankView
from indexer.library.plans import Plan
from indexer.process import end_at_once


class ProgressView(RankView):
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

    def embedded(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        """Show names while there are no pictures yet, then pictures and how fast they go; and the devices."""
        self._show_done(plan, ranks)
        self.look(ranks)

    def _show_done(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
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
