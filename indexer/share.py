"""What of a plan is one rank's to do, and what of that is left?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.distributed import Rank
from indexer.shards import Block, Outline, read_blocks, read_outlines, shard_path


@dataclass(frozen=True, slots=True)
class Share:
    """Every W-th block of a plan for W ranks."""

    plan: Path
    folder: Path
    """Where its shards lie."""
    rank: Rank

    def missing(self) -> list[Outline]:
        """Blocks that have no shard yet."""
        blocks = read_outlines(self.plan, rank=self.rank.index, world=self.rank.world)
        return [block for block in blocks if not shard_path(self.folder, block.name).exists()]

    def read(self, blocks: Sequence[Outline]) -> Iterator[Block]:
        """Yield blocks with their items, one at a time: those of a large library would take as much as the model."""
        wanted = {block.name for block in blocks}
        return read_blocks(self.plan, rank=self.rank.index, world=self.rank.world, wanted=wanted)
