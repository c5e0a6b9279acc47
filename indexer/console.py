"""How does indexing look to a person? What is done over all ranks, their common rate and each rank's own."""

from collections.abc import Sequence

from indexer.bars import Bars
from indexer.progress import RankProgress
from indexer.scan import ScanTally
from indexer.shards import Plan


class ProgressView(Bars):
    """Shows the stages of a run; a `pipeline.Watcher`."""

    def scanned(self, tally: ScanTally) -> None:
        """Show how many files and icons were read."""
        self.advance(tally.files, None, f"{tally.icons:,} icons read")

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """Show pictures and names done, and how fast."""
        images = sum(rank.images + rank.failed for rank in ranks)
        names = sum(rank.names for rank in ranks)
        rate = sum(rank.images_per_second for rank in ranks)
        shown = f"{rate:,.0f} images/s"
        if len(ranks) > 1:
            shown += " (" + ", ".join(f"rank {rank.rank} {rank.images_per_second:,.0f}" for rank in ranks) + ")"
        self.advance(images + names, plan.n_images + plan.n_names, shown)
