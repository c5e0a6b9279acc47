"""Which blocks of a plan does a rank do? It claims one when it has none left to draw, so that a fast device does more.

A claim is an empty file with the name of its block, which one rank alone can create, on a shared folder too. Blocks
whose shard exists are done.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer.library.plans import Block, Outline, read_blocks, read_outlines
from indexer.library.shards import Kind, pieces_by_block, read_settled, shard_path


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank does of a plan."""

    plan: Path
    shards: Path
    """Folder of the shards."""
    claims: Path | None = None
    """Folder of the claims of all ranks that work together; None where there is one."""
    claimed: list[str] = field(default_factory=list)
    """Names of the blocks that this rank has claimed."""

    def missing(self) -> list[Outline]:
        """Blocks that have no shard yet, whoever will do them."""
        return [block for block in read_outlines(self.plan) if not shard_path(self.shards, block.name).exists()]

    def claim(self, kind: Kind) -> Iterator[Block]:
        """Claim blocks of a kind one by one, and yield each with what is left of its items.

        One at a time: all would take as much memory as the model.

        Raises:
            ShardError: a piece of a block is damaged.
        """
        wanted = {block.name for block in self.missing() if block.kind == kind}
        pieces_of = pieces_by_block(self.shards)  # of runs that have ended early
        for block in read_blocks(self.plan, wanted=lambda name: name in wanted and self._claim(name)):
            pieces = map(read_settled, pieces_of.get(block.name, ()))
            settled = {item for _, ids, failures in pieces for item in (*ids.tolist(), *failures)}
            yield replace(block, items=[item for item in block.items if item[0] not in settled]) if settled else block

    def count_undone(self) -> int:
        """Count the blocks without a shard that this rank has claimed, or nobody."""
        return sum(block.name in self.claimed or not self._is_claimed(block.name) for block in self.missing())

    def _claim(self, name: str) -> bool:
        try:
            if self.claims is not None:
                (self.claims / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        self.claimed.append(name)
        return True

    def _is_claimed(self, name: str) -> bool:
        return self.claims is not None and (self.claims / name).exists()
