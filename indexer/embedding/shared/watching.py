"""How far are the workers of a shared plan? Those that were heard of lately one by one, all others as one."""

import time
from dataclasses import dataclass, field

from indexer.embedding.options import EmbedOptions
from indexer.embedding.shared.stored_work import StoredWork
from indexer.ranks.progress import RankProgress

_SILENT_LEASES = 2
"""After so many a worker has ended, or hangs."""


@dataclass(frozen=True, slots=True)
class _Word:
    version: str
    since: float
    progress: RankProgress


@dataclass(slots=True)
class Watching:
    """A look at the workers of a run now and then; what has not changed is not read again."""

    place: StoredWork
    _words: dict[str, _Word] = field(default_factory=dict)

    def look(self) -> list[RankProgress]:
        """Tell of each worker that still works, numbered, and last of what all others have done, without a rate."""
        now, limit = time.monotonic(), _SILENT_LEASES * EmbedOptions.of(self.place.plan).lease_seconds
        for worker, version in self.place.workers().items():
            before = self._words.get(worker)
            if (before is None or before.version != version) and (said := self.place.told(worker)) is not None:
                self._words[worker] = _Word(version, now, said)
        live = list[RankProgress]()
        gone = RankProgress(rank=0, world=1, device="ended", finished=True)
        for word in self._words.values():
            if word.progress.finished or now - word.since > limit:
                gone.images += word.progress.images
                gone.names += word.progress.names
                gone.failed += word.progress.failed
            else:
                word.progress.rank = len(live)
                live.append(word.progress)
        gone.rank = len(live)
        return [*live, gone] if len(live) < len(self._words) else live
