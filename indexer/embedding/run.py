"""A run of a plan: what its workers say while they work, under its id, and who watches all of them.

One rank, the ranks of a machine and workers anywhere leave the same: `workers/NAME.json` says how far one is,
`ended/NAME.txt` what has ended one, `claims/` which blocks are taken.
"""

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from indexer.embedding.progress import EmbeddingProgress
from indexer.library.foreign import from_json
from indexer.library.stores import Store


@dataclass(frozen=True, slots=True)
class Run:
    """What lies under the id of a run."""

    id: str
    store: Store
    """All of it, and nothing else."""
    lease_seconds: float
    report_seconds: float
    """Between two reports of a worker, at most."""

    def report(self, worker: str, progress: EmbeddingProgress) -> None:
        """Leave word of how far a worker is."""
        self.store.put(f"workers/{worker}.json", json.dumps(asdict(progress)).encode())

    def report_end(self, worker: str, reason: str) -> None:
        """Leave word of what has ended a worker that nobody looks at."""
        self.store.put(f"ended/{worker}.txt", reason.encode())


LOOK_SECONDS = 5.0
"""Between two looks at a store."""
_SILENT_LEASES = 2
"""After so many a worker has ended, or hangs."""


@dataclass(slots=True)
class Watch:
    """A look at all workers of a run now and then, by the clock of who looks; what is not new is not read again."""

    run: Run
    looked_at: float = float("-inf")
    _said: dict[str, EmbeddingProgress] = field(default_factory=dict)
    _versions: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By worker the version of what it said, and since when that is there."""
    _steps: dict[str, tuple[int, float]] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)

    def look(self) -> list[EmbeddingProgress]:
        """How far every worker is that has said something, by name; late ones have a note, silent ones have ended."""
        now, lease = time.monotonic(), self.run.lease_seconds
        self.looked_at = now
        for name, listed in self.run.store.list("workers/").items():
            if self._versions.get(name, ("",))[0] != listed.version and (stored := self.run.store.get(name)):
                self._versions[name] = listed.version, now
                with suppress(ValueError):  # of another version of this program
                    said = self._said[name] = from_json(EmbeddingProgress, stored.content)
                    if said.waits or self._steps.get(name, (-1, 0.0))[0] != said.steps:
                        self._steps[name] = said.steps, now
        for name, said in self._said.items():
            still = now - self._steps[name][1]
            said.finished |= now - self._versions[name][1] > _SILENT_LEASES * lease
            said.note = f"late: {still:.0f} s at {said.at}" if still > lease and not said.finished else ""
        return sorted(self._said.values(), key=lambda said: (said.rank, said.name))

    def ends(self) -> dict[str, str]:
        """What has ended workers that have left word of that since the last look, by their names."""
        new = self.run.store.list("ended/").keys() - self._ended
        self._ended |= new
        read = {name.removeprefix("ended/").removesuffix(".txt"): self.run.store.get(name) for name in sorted(new)}
        return {worker: stored.content.decode(errors="replace") for worker, stored in read.items() if stored}
