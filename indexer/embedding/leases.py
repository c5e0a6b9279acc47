"""Which blocks one worker holds: claims with leases in a store.

A claim is an object that is renewed while its worker lives. Machines' clocks differ, so the store's clock, which stamps
what is written, says how old a claim is when it is first seen; from then on a clock of one's own counts, and the
store's only between two looks. A claim that has not changed for the length of its lease has run out. Who loses a claim
goes on with the block: the shards of a block that is done twice count once.
"""

import json
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Self

from indexer.errors import StoreError
from indexer.library.stores import Listed, Store

_SUFFIX = ".json"
LOOKS = 4
"""To a lease: each renews the worker's own claims, and sees which of the others have changed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the object of a claim says."""

    worker: str
    taken_at: str
    """For people, by the clock of the worker's machine."""
    lease_seconds: float
    token: str
    """Unlike that of any other claim."""
    renewals: int = 0

    def to_bytes(self) -> bytes:
        """Spell the claim as it is stored."""
        return json.dumps(asdict(self)).encode()


@dataclass(slots=True)
class _Held:
    claim: Claim
    version: str


@dataclass(frozen=True, slots=True)
class _Seen:
    version: str
    since: float


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
        self._held: dict[str, _Held] = {}
        self._seen: dict[str, _Seen] = {}
        self._looked_at = -math.inf
        self._store_clock: float | None = None
        """How far the store's clock is ahead of this process' own, at least."""
        self._changing = threading.RLock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_over, name="claims", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for block in list(self._held):
            self._give_back(block)

    @property
    def look_seconds(self) -> float:
        """Between two looks at all claims."""
        return self.lease_seconds / LOOKS

    def take(self, block: str) -> bool:
        """Claim a block that nobody holds, or whose claim has run out; tell whether it is this worker's now."""
        taken_at = datetime.now(UTC).isoformat(timespec="seconds")
        claim = Claim(self.worker, taken_at, self.lease_seconds, secrets.token_hex(8))
        version = self._replace_run_out(block, claim) if block in self._seen else self._create(block, claim)
        if version is None:
            return False
        with self._changing:
            self._held[block] = _Held(claim, version)
        return True

    def release(self, block: str) -> None:
        """Drop the claim on a block whose shard is there."""
        with self._changing:
            held = self._held.pop(block, None)
        if held is not None:
            self.store.delete(_name(block))

    def look(self) -> None:
        """See which claims have changed since the last look."""
        with self._changing:  # two threads look
            if self._store_clock is None:
                self._store_clock = self._read_store_clock()
        found, now = self.store.list(""), time.monotonic()
        seen, looked_at, self._looked_at = {}, self._looked_at, now
        for name, listed in found.items():
            if not name.endswith(_SUFFIX):  # a clock of another worker
                continue
            block = name.removesuffix(_SUFFIX)
            before = self._seen.get(block)
            if before is None or before.version != listed.version:
                # It was written since the last look, whatever the store's clock says.
                before = _Seen(listed.version, max(looked_at, now - self._age(listed, now)))
            seen[block] = before
        self._seen = seen

    def held_by_others(self) -> set[str]:
        """Blocks that others hold, as of the last look; those whose claims have run out are not among them."""
        now = time.monotonic()
        return {
            block
            for block, seen in self._seen.items()
            if block not in self._held and now - seen.since < self.lease_seconds
        }

    def _create(self, block: str, claim: Claim) -> str | None:
        version = self.store.create(_name(block), claim.to_bytes())
        if version is None:
            self.look()
        return version

    def _read_store_clock(self) -> float:
        """Write something, and see what time the store gives it; minus infinity where it gives none."""
        name = f"clock-{self.worker.replace(' ', '-')}"
        self.store.put(name, b"")
        answered_at = time.monotonic()
        listed = self.store.list(name).get(name)
        self.store.delete(name)
        return -math.inf if listed is None or listed.written_at is None else listed.written_at - answered_at

    def _age(self, listed: Listed, now: float) -> float:
        """Seconds since a claim was written, at least."""
        if listed.written_at is None or self._store_clock is None:
            return 0.0
        written_at = listed.written_at + (listed.written_at % 1 == 0)  # of whole seconds it may be the last moment
        return max(0.0, self._store_clock + now - written_at)

    def _replace_run_out(self, block: str, claim: Claim) -> str | None:
        seen = self._seen[block]
        if time.monotonic() - seen.since < self.lease_seconds:
            return None
        return self.store.replace(_name(block), claim.to_bytes(), version=seen.version)

    def _renew_until_over(self) -> None:
        while not self._over.wait(self.look_seconds):
            self._try(self._renew)
            self._try(self.look)
            self._try(self._beside)

    def _renew(self) -> None:
        for block, held in list(self._held.items()):
            claim = replace(held.claim, renewals=held.claim.renewals + 1)
            version = self.store.replace(_name(block), claim.to_bytes(), version=held.version)
            with self._changing:
                if block not in self._held:  # released meanwhile
                    continue
                if version is None:
                    del self._held[block]
                else:
                    self._held[block] = _Held(claim, version)

    def _try(self, step: Callable[[], None]) -> None:
        """Take a step that the next look takes again if the store does not answer now."""
        try:
            step()
        except StoreError:
            return

    def _give_back(self, block: str) -> None:
        held = self._held.pop(block)
        there = self.store.get(_name(block))
        if there is not None and there.version == held.version:
            self.store.delete(_name(block))


def _name(block: str) -> str:
    return block + _SUFFIX
