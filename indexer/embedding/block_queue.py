"""Which blocks of a plan a worker does, one at a time, and which it holds: claims with leases in a store.

A claim is an object that is renewed while its worker lives. Machines' clocks differ, so each worker goes by its own: a
claim that it has seen unchanged for the length of a lease has run out. Who loses a claim goes on with the block: the
shards of a block that is done twice count once. Blocks whose shard exists are done.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from indexer.embedding.plan_store import PlanStore
from indexer.errors import StoreError
from indexer.library.plans import Block, BlockHeader
from indexer.library.shards import Kind
from indexer.library.stores import Store

_SUFFIX = ".json"
LOOKS = 4
"""To a lease: each renews the worker's own claims, and sees which of the others have changed."""
_LONGEST_PAUSE = 5.0


class Claims:
    """The claims of one worker; a context manager, which renews them meanwhile and gives back what is left.

    `beside` is called with every look, from the thread that renews.
    """

    def __init__(
        self,
        store: Store,
        *,
        worker: str,
        lease_seconds: float,
        beside: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self.worker, self.lease_seconds, self._beside = store, worker, lease_seconds, beside
        self._held: dict[str, tuple[dict[str, Any], str]] = {}
        """By block what the claim says, and its version."""
        self._seen: dict[str, tuple[str, float]] = {}
        """By block the version of its claim, and since when that is there."""
        self._changing = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_over, name="claims", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for block, held in self._held.items():
            there = self.store.get(block + _SUFFIX)
            if there is not None and there.version == held[1]:
                self.store.delete(block + _SUFFIX)
        self._held = {}

    @property
    def look_seconds(self) -> float:
        """Between two looks at all claims."""
        return self.lease_seconds / LOOKS

    def take(self, block: str) -> bool:
        """Claim a block that nobody holds, or whose claim has run out; tell whether it is this worker's now."""
        claim: dict[str, Any] = {
            "worker": self.worker,
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),  # for people, by this machine's clock
            "lease_seconds": self.lease_seconds,
            "token": secrets.token_hex(8),  # unlike that of any other claim
            "renewals": 0,
        }
        name, content, seen = block + _SUFFIX, json.dumps(claim).encode(), self._seen.get(block)
        if seen is not None and time.monotonic() - seen[1] < self.lease_seconds:
            return False
        if seen is not None:
            version = self.store.replace(name, content, version=seen[0])
        elif (version := self.store.create(name, content)) is None:
            self.look()
        if version is not None:
            with self._changing:
                self._held[block] = (claim, version)
        return version is not None

    def release(self, block: str) -> None:
        """Drop the claim on a block whose shard is there."""
        with self._changing:
            held = self._held.pop(block, None)
        if held is not None:
            self.store.delete(block + _SUFFIX)

    def look(self) -> None:
        """See which claims have changed since the last look."""
        found, now, before = self.store.list(""), time.monotonic(), self._seen
        claims = {name.removesuffix(_SUFFIX): listed.version for name, listed in found.items()}
        self._seen = {
            block: before[block] if block in before and before[block][0] == version else (version, now)
            for block, version in claims.items()
        }

    def held_by_others(self) -> set[str]:
        """Blocks that others hold, as of the last look; those whose claims have run out are not among them."""
        now = time.monotonic()
        return {
            block
            for block, (_, since) in self._seen.items()
            if block not in self._held and now - since < self.lease_seconds
        }

    def _renew_until_over(self) -> None:
        while not self._over.wait(self.look_seconds):
            for step in (self._renew, self.look, self._beside):
                with suppress(StoreError, OSError):  # the next look takes it again if the store does not answer now
                    step()

    def _renew(self) -> None:
        for block, (before, known) in list(self._held.items()):
            claim = {**before, "renewals": before["renewals"] + 1}
            version = self.store.replace(block + _SUFFIX, json.dumps(claim).encode(), version=known)
            with self._changing:
                if version is None:
                    self._held.pop(block, None)
                elif block in self._held:  # else it was released meanwhile
                    self._held[block] = claim, version


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
        """Count the items of a kind whose blocks have no shard yet, whoever will do them."""
        return sum(block.n_items for block in self.place.missing() if block.kind == kind)

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
