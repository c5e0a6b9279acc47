"""Which blocks of a plan a worker does, one at a time, and which it holds: claims with leases.

A claim is an object that is renewed while its worker lives. Machines' clocks differ, so each worker goes by its own: a
claim that it has seen unchanged for the length of a lease has run out. Who loses a claim goes on with the block: the
shards of a block that is done twice count once. Blocks whose shard exists are done.
"""

import json
import math
import random
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, Self

from indexer.embedding.plan_store import PlanStore
from indexer.errors import StoreError
from indexer.library.plans import Block, BlockHeader
from indexer.library.shards import Kind

_LOOKS = 4
"""To a lease: each renews the worker's own claims, and sees which of the others have changed."""
_SPREAD = 4
"""Blocks, for each that is claimed, one of which is taken where requests take their time."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0


class Lease(NamedTuple):
    """A worker's claim on a block: what it says, and its version in the store."""

    claim: dict[str, Any]
    version: str


class BlockQueue:
    """The blocks of a plan as one worker gets them; a context manager, which renews its leases and gives back the rest.

    `beside` is called now and then from the thread that renews.
    """

    def __init__(self, place: PlanStore, worker: str, *, beside: Callable[[], None] = lambda: None) -> None:
        self.place, self.worker, self._store = place, worker, place.run.store
        self.lease_seconds = place.run.lease_seconds
        self._steps = (self._renew, self._look, beside)
        self.leases: dict[str, Lease] = {}
        """By block that this worker has claimed and not done."""
        self._changes: dict[str, tuple[str, float]] = {}
        """By block the version of its claim, and since when that is there."""
        self._missing: dict[str, BlockHeader] = {}
        self._seen = set[str]()
        """Blocks that anybody has claimed since what is missing was listed: a listing takes a request for 1,000."""
        self._changing, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
        self._pause = _FIRST_PAUSE

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for block, lease in self.leases.items():
            there = self._store.get(_claim(block))
            if there is not None and there.version == lease.version:
                self._store.delete(_claim(block))

    def next(self, kind: Kind | None = None) -> Block | Literal["wait", "done"]:
        """Claim the first block that is free, or the first of a kind, and return what is left of its items.

        "wait": others hold what is missing, or this worker itself. "done": every block has its shard, or another run
        has begun.

        Raises:
            ShardError: a part of a block's shard is damaged.
        """
        if self.place.is_over():
            return "done"
        self._look()
        if (block := self._take_first(kind)) is None:
            self._missing = {header.name: header for header in self.place.missing()}
            self._seen = set(self._changes)
            block = self._take_first(kind)
        return block or ("wait" if self._missing else "done")

    def _take_first(self, kind: Kind | None) -> Block | None:
        """Claim the first block that is free of those that had no shard when these were last listed.

        What others have claimed since, and hold no more, they have done or given back: the next listing tells which.
        """
        names = [name for name, header in self._missing.items() if kind in (None, header.kind)]
        claimed = [name for name in names if name in self._changes]
        free = [name for name in names if name not in self._seen]
        if self.place.is_shared:  # of workers that all try the first one, all but one have lost a request's time
            near = free[: _SPREAD * len(self._changes) + 1]
            free[: len(near)] = random.sample(near, len(near))
        for name in filter(self._take, (*claimed, *free)):
            header = self._missing.pop(name)
            self._pause, finished = _FIRST_PAUSE, self.place.finished_items(name)
            if finished is not None:
                block = self.place.read(header)
                return replace(block, items=[item for item in block.items if item[0] not in finished])
            self.mark_done(name)  # by another, a moment ago
        return None

    def mark_done(self, block: str) -> None:
        """Give up the claim on a block whose shard has been written."""
        with self._changing:
            is_held = self.leases.pop(block, None) is not None
        if is_held:
            self._store.delete(_claim(block))

    def pause(self) -> None:
        """Let time pass until another look is worth it, at the latest when a lease runs out."""
        ends = (since + self.lease_seconds - time.monotonic() for _, since in self._changes.values())
        time.sleep(min([self._pause, self.lease_seconds / _LOOKS, *(end for end in ends if end > 0)]))
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _take(self, block: str) -> bool:
        """Claim a block that nobody holds, or whose claim has run out; tell whether it is this worker's now."""
        seen = self._changes.get(block)
        if block in self.leases or (seen is not None and time.monotonic() - seen[1] < self.lease_seconds):
            return False
        claim: dict[str, Any] = {
            "worker": self.worker,
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),  # for people, by this machine's clock
            "lease_seconds": self.lease_seconds,
            "token": secrets.token_hex(8),  # unlike that of any other claim
            "renewals": 0,
        }
        name, content = _claim(block), json.dumps(claim).encode()
        if seen is not None:
            version = self._store.replace(name, content, version=seen[0])
        elif (version := self._store.create(name, content)) is None:
            self._seen.add(block)
        if version is not None:
            with self._changing:
                self.leases[block] = Lease(claim, version)
        return version is not None

    def _look(self) -> None:
        """See which claims have changed since the last look."""
        found, now, before = self._store.list("claims/"), time.monotonic(), self._changes
        versions = {PurePosixPath(name).stem: listed.version for name, listed in found.items()}
        self._changes = {
            block: before[block] if block in before and before[block][0] == version else (version, now)
            for block, version in versions.items()
        }
        self._seen.update(versions)

    def _keep(self) -> None:
        """Renew, look and report until the worker has ended; what fails is tried again at the next turn.

        It looks at once: of what the dead have left who has just come counts the lease from its first look on.
        """
        looked, pause = -math.inf, min(self.lease_seconds / _LOOKS, self.place.run.report_seconds)
        while not self._over.is_set():
            is_due = time.monotonic() - looked >= self.lease_seconds / _LOOKS
            looked = time.monotonic() if is_due else looked
            for step in self._steps if is_due else self._steps[-1:]:
                with suppress(StoreError, OSError):
                    step()
            self._over.wait(pause)

    def _renew(self) -> None:
        for block, lease in list(self.leases.items()):
            claim = {**lease.claim, "renewals": lease.claim["renewals"] + 1}
            version = self._store.replace(_claim(block), json.dumps(claim).encode(), version=lease.version)
            with self._changing:
                if version is None:
                    self.leases.pop(block, None)
                elif block in self.leases:  # else it was given up meanwhile
                    self.leases[block] = Lease(claim, version)


def _claim(block: str) -> str:
    return f"claims/{block}.json"
