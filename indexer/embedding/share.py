"""What of a plan is one rank's to do, and what of that is left?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.library.shards import Block, Outline, piece_paths, read_blocks, read_outlines, read_settled, shard_path
from indexer.ranks.distributed import Rank


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
        """Yield blocks with what is left of their items; one at a time: all would take as much memory as the model.

        Raises:
            ShardError: a piece of a block is damaged.
        """
        wanted = {block.name for block in blocks}
        for block in read_blocks(self.plan, rank=self.rank.index, world=self.rank.world, wanted=wanted):
            settled = self._settled(block.name)
            yield replace(block, items=[item for item in block.items if item[0] not in settled]) if settled else block

    def _settled(self, block: str) -> set[int]:
        """Ids that pieces of a block hold, from a run that has ended early."""
        settled: set[int] = set()
        for path in piece_paths(self.folder, block):
            _, ids, failures = read_settled(path)
            settled.update(ids.tolist(), failures)
        return settled
