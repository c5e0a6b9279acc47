"""How far is a rank, and does it still get on? What it is at is told; one that stands still too long is given up."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from indexer.ranks.gauges import Gauge
from indexer.ranks.progress import RankProgress

Report = Callable[[RankProgress], None]
LOOK_SECONDS = 0.5
REPORT_SECONDS = 0.5
GAUGE_SECONDS = 4.0
"""A reading takes 20 ms: the kernel counts the pages of every process."""
_LONGEST_LOOK = 4 * LOOK_SECONDS
"""Counted between two looks at most: a laptop that slept, or a job that was stopped and goes on, has not hung."""


@dataclass(slots=True)
class Watchdog:
    """For how long has each rank stood still? By the clock of the process that looks: machines' clocks differ."""

    limit: float
    _looked: float = field(default_factory=time.monotonic)
    _still: dict[int, tuple[int, float]] = field(default_factory=dict)

    def look(self, ranks: Sequence[RankProgress]) -> tuple[int, str] | None:
        """Tell the number of a rank that has stood still for the limit, and what it was at; None where all get on."""
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _LONGEST_LOOK), now
        for progress in ranks:
            steps, seconds = self._still.get(progress.rank, (-1, 0.0))
            is_still = not (progress.waits or progress.finished) and progress.steps == steps
            seconds = seconds + passed if is_still else 0.0
            self._still[progress.rank] = progress.steps, seconds
            if seconds >= self.limit:
                what = f"nothing got done for {self.limit:g} s, at {progress.at}"
                return progress.rank, f"{what}; --stall-limit allows more"
        return None


@contextmanager
def watched(progress: RankProgress, *, limit: float, give_up: Callable[[str], None]) -> Iterator[None]:
    """Watch over this process's own rank during the block, from a thread; `give_up` has to end the process."""
    over = threading.Event()
    watchdog = Watchdog(limit)

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            if found := watchdog.look([progress]):
                give_up(found[1])
                return

    thread = threading.Thread(target=watch, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@dataclass(slots=True)
class Reporter:
    """Tells how far this rank is: twice a second at most, but that it waits, or no longer does, at once."""

    report: Report
    progress: RankProgress
    gauge: Gauge
    started: float = field(default_factory=time.perf_counter)
    reported_at: float = 0.0
    gauged: float = field(default_factory=time.perf_counter)

    def restart(self) -> None:
        """Count seconds from here: what came before is no part of the rate of pictures."""
        self.started = time.perf_counter()
        self.progress.began_at = time.time()

    def begin(self, what: str) -> None:
        """Say what this rank is at now, which is a sign of life."""
        had_waited, self.progress.waits = self.progress.waits, False
        self.progress.at = what
        self.progress.steps += 1
        self._tell(now=had_waited)

    def wait(self, what: str) -> None:
        """Say that this rank waits for others, and for what: told at once, as nothing comes after it for a while."""
        self.progress.at, self.progress.waits = what, True
        self._tell(now=True)

    def add(self, *, images: int = 0, names: int = 0, failed: int = 0, waited: float | None = None) -> None:
        """Count what is done."""
        self.progress.images += images
        self.progress.names += names
        self.progress.failed += failed
        self.progress.steps += 1
        self.progress.seconds = time.perf_counter() - self.started
        if waited is not None:
            self.progress.waited_seconds = waited
        self._tell()

    def read_gauge(self) -> None:
        """Look at what the device does."""
        self.gauged = time.perf_counter()
        self.gauge.read_into(self.progress)

    def finish(self) -> None:
        """Say that all is done."""
        self.progress.finished = True
        self.report(self.progress)

    def _tell(self, *, now: bool = False) -> None:
        seconds = time.perf_counter()
        if not now and seconds - self.reported_at < REPORT_SECONDS:
            return
        self.reported_at = seconds
        if seconds - self.gauged >= GAUGE_SECONDS:
            self.read_gauge()
        self.report(self.progress)
