"""Which blocks of a plan a worker does, one at a time.

Blocks whose shard exists are done.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from indexer.embedding.leases import Claims
from indexer.embedding.plan_store import PlanStore
from indexer.library.plans import Block, BlockHeader
from indexer.library.shards import Kind

_LONGEST_PAUSE = 5.0
_MOST_COUNTED = 1_000_000
"""Items: whoever has more to do does not change how it works."""


@dataclass(slots=True)
class BlockQueue:
    """What one worker does of a plan."""

    place: PlanStore
    claims: Claims | None = None
    """Those of this worker; None where there is no other."""
    stays: bool = False
    """Whether it is there until every block has its shard, as others may end before they are done."""
    claimed: dict[str, None] = field(default_factory=dict)
    """Names of the blocks that this worker has claimed and not done, in that order."""
    ended: set[Kind] = field(default_factory=set)
    """Kinds of which nothing was free when this worker was through."""
    is_idle: bool = False
    """Whether it has claimed nothing since it found that there is more: somebody else was faster."""

    def count_missing(self, kind: Kind) -> int:
        """Count the items of a kind whose blocks have no shard yet, whoever will do them; a million is enough."""
        n = 0
        for block in self.place.missing():
            n += block.n_items if block.kind == kind else 0
            if n >= _MOST_COUNTED:
                break
        return n

    def claim(self, kind: Kind) -> Iterator[Block]:
        """Claim blocks of a kind one by one, and yield each with what is left of its items.

        One at a time: all would take as much memory as the model. It ends where nothing of the kind is free, or where
        something is of another kind that this worker was through with: that has waited longer.

        Raises:
            ShardError: a part of a block's shard is damaged.
        """
        while (header := self._claim_first(kind)) is not None:
            finished = self.place.finished_items(header.name)
            if finished is None:  # done by another a moment ago
                self.mark_done(header.name)
                continue
            block = self.place.read(header)
            yield replace(block, items=[item for item in block.items if item[0] not in finished]) if finished else block
        self.ended.add(kind)

    def mark_done(self, block: str) -> None:
        """Note that the shard of a block has been written."""
        self.claimed.pop(block, None)
        if self.claims is not None:
            self.claims.release(block)

    def await_more(self, tell: Callable[[str], None]) -> bool:
        """Wait until a block is free that somebody has claimed and not done; False once every block is done.

        `tell` takes what is waited for, again and again.
        """
        while self.stays and self.claims is not None and not self.place.is_over():
            held = self._held_by_others()
            missing = [header.name for header in self.place.missing()]
            if not missing:
                return False
            if not held.issuperset(missing) and not self.is_idle:
                self.ended.clear()
                self.is_idle = True
                return True
            tell(f"waiting for {len(missing):,} blocks that others hold")
            time.sleep(min(self.claims.look_seconds, _LONGEST_PAUSE))
            self.is_idle = False
        return False

    def count_undone(self) -> int:
        """Count the blocks without a shard that this worker has claimed, or nobody."""
        held = self._held_by_others()
        return sum(block.name in self.claimed or block.name not in held for block in self.place.missing())

    def _held_by_others(self) -> set[str]:
        if self.claims is None:
            return set()
        self.claims.look()
        return self.claims.held_by_others()

    def _claim_first(self, kind: Kind) -> BlockHeader | None:
        """Claim the first block that is free, looking from the beginning: what others have left is there."""
        held = self._held_by_others()
        for header in self.place.missing():
            name = header.name
            if name in held or name in self.claimed:
                continue
            if header.kind != kind:
                if self.stays and header.kind in self.ended:
                    return None
                continue
            if self.claims is None or self.claims.take(name):
                self.claimed[name], self.is_idle = None, False
                return header
        return None
