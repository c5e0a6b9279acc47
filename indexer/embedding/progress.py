"""How far workers are, what they say of it, who watches them, and how that looks to a person.

All leave the same under the id of their run: `workers/NAME.json` says how far one is and what has ended it, `claims/`
which blocks are taken. One that stands still is ended.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, Self, TypeVar

from rich.console import RenderableType

from indexer.library.foreign import from_json
from indexer.library.stores import FolderStore, Store
from indexer.ranks import Gauge
from indexer.reports.terminal import Bars, Span, table_of


@dataclass(slots=True)
class RankProgress:
    """How far one rank of any stage is; the rates follow from the seconds."""

    rank: int
    world: int
    name: str = ""
    """Of a worker among those of many machines."""
    images: int = 0
    failed: int = 0
    seconds: float = 0.0
    waited_seconds: float = 0.0
    """Of `seconds`, those in which nothing was ready for the device."""
    device: str = ""
    memory_bytes: int = 0
    """Of the GPU, or of this rank and its workers."""
    utilisation: float | None = None
    """Share of the GPU, or of this rank's cores, that was busy of late; None where nobody has looked."""
    power_watts: float | None = None
    note: str = ""
    """What a person should know of it now."""
    at: str = ""
    """What it is doing now."""
    waits: bool = False
    """Whether it does that together with other ranks, one of which may be who hangs."""
    steps: int = 0
    """Grows with every sign of life."""
    finished: bool = False
    ended: str = ""
    """What has ended it early, where that could still be said."""
    spans: tuple[Span, ...] = ()
    """What a process of its own has spent its time on."""

    @property
    def done(self) -> int:
        """Pictures, failed ones included."""
        return self.images + self.failed

    @property
    def waited_share(self) -> float:
        """Share of its time in which the device waited."""
        return self.waited_seconds / self.seconds if self.seconds else 0.0

    @property
    def images_per_second(self) -> float:
        """Rate over the rank's whole run, failed pictures included."""
        return self.done / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class EmbeddingProgress(RankProgress):
    """How far one rank is that embeds."""

    names: int = 0
    began_at: float = 0.0
    """When its pictures began, as `time.time` tells it: ranks start apart."""
    busy_seconds: float | None = None
    """Of `seconds`, those in which the device encoded pictures; None where nobody can tell."""
    batch_size: int = 0
    """Pictures that the device takes at once; 0 until that is known."""
    remark: str = ""
    """Why the device is slower than it could be, where it can say so."""


Progress = TypeVar("Progress", bound=RankProgress)


@dataclass(frozen=True, slots=True)
class Run:
    """What lies under the id of a run."""

    id: str
    store: Store
    """All of it, and nothing else."""
    lease_seconds: float = math.inf
    report_seconds: float = math.inf
    """Between two reports of a worker that holds leases, at most."""

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """One that has a folder for itself, of ranks that hold no leases."""
        return cls("", FolderStore(folder, lasts=False))

    def report(self, worker: str, progress: RankProgress) -> None:
        """Leave word of how far a worker is."""
        self.store.put(f"workers/{worker}.json", json.dumps(asdict(progress)).encode())


LOOK_SECONDS = 0.5
REPORT_SECONDS = 0.5
GAUGE_SECONDS = 4.0
"""A reading takes 20 ms: the kernel counts the pages of every process."""
OWN_SECONDS = 10.0
"""A rank that hangs has so long to say so itself; one that is stopped, or has lost its machine, can't."""
START_SECONDS = 120.0
"""A rank that has not said anything yet imports torch, perhaps from a slow drive."""
_STARTING = "starting"
_LONGEST_LOOK = 4 * LOOK_SECONDS
"""Counted between two looks at most: a laptop that slept, or a job that was stopped and goes on, has not hung."""


@dataclass(slots=True)
class Watchdog:
    """Measures how long each rank stands still, by the clock of the process that looks: machines' clocks differ."""

    limit: float
    waiting_limit: float = math.inf
    """For a rank that waits for others: longer, so that whoever keeps them waiting is named first."""
    n: int = 0
    """Ranks that are watched from outside: one that is stopped, or never began, can't say so itself."""
    _looked: float = field(default_factory=time.monotonic)
    _still: dict[int, tuple[int, float]] = field(default_factory=dict)

    def look(self, ranks: Sequence[RankProgress]) -> tuple[int, str] | None:
        """Tell the number of a rank that has stood still for the limit, and what it was at; None where all get on."""
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _LONGEST_LOOK), now
        absent = [RankProgress(rank, self.n, at=_STARTING) for rank in {*range(self.n)} - {one.rank for one in ranks}]
        for progress in (*ranks, *absent):
            steps, seconds = self._still.get(progress.rank, (-1, 0.0))
            limit = self.waiting_limit if progress.waits else self.limit
            limit += START_SECONDS if progress.at == _STARTING else OWN_SECONDS if self.n else 0
            is_still = limit < math.inf and not progress.finished and progress.steps == steps
            seconds = seconds + passed if is_still else 0.0
            self._still[progress.rank] = progress.steps, seconds
            if seconds >= limit:
                return progress.rank, f"nothing got done for {limit:g} s, at {progress.at}; --stall-limit allows more"
        return None


@contextmanager
def watched(
    progress: RankProgress, *, limit: float, give_up: Callable[[str], None], waiting_limit: float = math.inf
) -> Iterator[None]:
    """Watch over this process's own rank during the block, from a thread; `give_up` has to end the process."""
    over = threading.Event()
    watchdog = Watchdog(limit, waiting_limit)

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


STORE_SECONDS = 5.0
"""Between two looks at a store."""
_SILENT_LEASES = 2
"""After so many a worker has ended, or hangs."""


@dataclass(slots=True)
class Watch(Generic[Progress]):
    """A look at all workers of a run now and then, by the clock of who looks; what is not new is not read again."""

    run: Run
    kind: type[Progress]
    looked_at: float = float("-inf")
    _said: dict[str, Progress] = field(default_factory=dict)
    _versions: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By worker the version of what it said, and since when that is there."""
    _steps: dict[str, tuple[int, float]] = field(default_factory=dict)

    def look(self, *, keeps_silent: bool = False) -> list[Progress]:
        """How far every worker is that has said something, by number and name; late and ended ones have a note.

        Silent ones have ended, unless they are kept: somebody else sees to those that are stopped.
        """
        now, lease = time.monotonic(), self.run.lease_seconds
        self.looked_at = now
        for name, listed in self.run.store.list("workers/").items():
            if self._versions.get(name, ("",))[0] != listed.version and (stored := self.run.store.get(name)):
                self._versions[name] = listed.version, now
                with suppress(ValueError):  # of another version of this program
                    said = self._said[name] = from_json(self.kind, stored.content)
                    if said.waits or self._steps.get(name, (-1, 0.0))[0] != said.steps:
                        self._steps[name] = said.steps, now
        for name, said in self._said.items():
            still = now - self._steps[name][1]
            is_silent = not keeps_silent and now - self._versions[name][1] > _SILENT_LEASES * lease
            said.finished |= is_silent or bool(said.ended)
            if said.ended or still > lease:
                said.note = said.ended or ("" if said.finished else f"late: {still:.0f} s at {said.at}")
        return sorted(self._said.values(), key=lambda said: (said.rank, said.name))


@dataclass(slots=True)
class Reporter(Generic[Progress]):
    """Tells how far this rank is, twice a second at most."""

    report: Callable[[Progress], None]
    progress: Progress
    gauge: Gauge | None = None
    """Of the rank's device, read now and then."""
    reported_at: float = 0.0
    gauged_at: float = field(default_factory=time.perf_counter)

    def begin(self, what: str, *, waits: bool = False) -> None:
        """Set what this rank is at now, which is a sign of life; or what it waits for."""
        self.progress.at, self.progress.waits = what, waits
        self.live()

    def join(self, what: str) -> None:
        """Set what it is at together with all ranks, if there are others: then one of these may be who hangs."""
        is_joint = self.progress.world > 1
        self.begin(f"{what}, together with the other ranks" if is_joint else what, waits=is_joint)

    def live(self) -> None:
        """Count a sign of life."""
        self.progress.steps += 1
        self.tell()

    def note(self, text: str) -> None:
        """Set what a person should know; nothing: it is over."""
        self.progress.note = text
        self.tell(now=bool(text))

    def read_gauge(self) -> None:
        """Look at what the device does."""
        if self.gauge is not None:
            self.gauged_at, progress = time.perf_counter(), self.progress
            progress.memory_bytes, progress.utilisation, progress.power_watts = self.gauge.read()

    def finish(self) -> None:
        """Report that all is done."""
        self.progress.finished = True
        self.tell(now=True)

    def tell(self, *, now: bool = False) -> None:
        """Report, unless that was done just now."""
        seconds = time.perf_counter()
        if now or seconds - self.reported_at >= REPORT_SECONDS:
            self.reported_at = seconds
            if seconds - self.gauged_at >= GAUGE_SECONDS:
                self.read_gauge()
            self.report(self.progress)


@dataclass(slots=True)
class EmbeddingReporter(Reporter[EmbeddingProgress]):
    """Reports what a rank has embedded."""

    started: float = field(default_factory=time.perf_counter)

    def restart(self) -> None:
        """Count seconds from here: what came before is no part of the rate of pictures."""
        self.started = time.perf_counter()
        self.progress.began_at = time.time()

    def add(self, *, images: int = 0, names: int = 0, failed: int = 0) -> None:
        """Count what is done."""
        self.progress.images += images
        self.progress.names += names
        self.progress.failed += failed
        self.progress.seconds = time.perf_counter() - self.started
        self.live()


WATCH_SECONDS = 5.0
"""Between two looks at the devices."""
_MOST_ROWS = 16
TITLES = ("rank", "device", "images/s", "waits", "memory", "busy", "power")
_MORE = ("done", "failed", "at")


class RankView(Bars):
    """Shows the stages of a run: on a terminal a table of its workers beneath, late ones first; elsewhere lines.

    Of one rank, and elsewhere, only where devices are watched.
    """

    def __init__(self, *, watch_devices: bool = False, estimate: bool = True) -> None:
        self._watch_devices, self._n_titles = watch_devices, len(TITLES) if watch_devices else 3
        self._shown: list[tuple[str, ...]] = []
        self._before: dict[tuple[int, str], tuple[int, float]] = {}
        self._looked, self._has_ended = float("-inf"), False
        super().__init__(estimate=estimate)

    def look(self, ranks: Sequence[RankProgress]) -> None:
        """Show the workers where they are watched, at most every `WATCH_SECONDS`, and once at the end."""
        had_ended, self._has_ended = self._has_ended, bool(ranks) and all(rank.finished for rank in ranks)
        is_due, is_shown = time.monotonic() - self._looked >= WATCH_SECONDS, self.live and len(ranks) > 1
        if not (self._watch_devices or is_shown) or not ranks or had_ended or not (self._has_ended or is_due):
            return
        self._looked = time.monotonic()
        late_first = sorted(ranks, key=lambda rank: (not rank.note, rank.finished))
        self._shown = [cells(rank, rate=self._rate_of(rank)) for rank in late_first]
        for line in () if self.live else self._shown:
            self.note("  " + ", ".join(f"{title} {cell}" for title, cell in zip(TITLES, line, strict=True)))
        more = ((f"{rank.done:,}", f"{rank.failed:,}", rank.note or rank.at) for rank in late_first)
        self._shown = [(*line[: self._n_titles], *others) for line, others in zip(self._shown, more, strict=True)]

    def beneath(self) -> Iterable[RenderableType]:
        """A line a worker, on a terminal."""
        titles = (*TITLES[: self._n_titles], *_MORE)
        n_more = len(self._shown) - _MOST_ROWS
        rest = [(f"and {n_more} more", *[""] * (len(titles) - 1))] if n_more > 0 else []
        table = table_of(titles, [*self._shown[:_MOST_ROWS], *rest], folded=(0, len(titles) - 1))
        table.expand, table.columns[-1].ratio, table.columns[-1].no_wrap = True, 1, True  # figures stay whole
        return (table,) if self._shown else ()

    def _rate_of(self, rank: RankProgress) -> float:
        """Pictures/s since the last look."""
        done, seconds = self._before.get((rank.rank, rank.name), (0, 0.0))
        self._before[rank.rank, rank.name] = rank.done, rank.seconds
        if rank.seconds <= seconds:  # nothing since, or the rank was started anew
            done, seconds = 0, 0.0
        return (rank.done - done) / (rank.seconds - seconds) if rank.seconds else 0.0


def cells(rank: RankProgress, *, rate: float) -> tuple[str, ...]:
    """Spell what a rank's device does, by `TITLES`."""
    busy = "-" if rank.utilisation is None else f"{rank.utilisation:.0%}"
    power = "-" if rank.power_watts is None else f"{rank.power_watts:.0f} W"
    memory = f"{rank.memory_bytes / 1e9:.2f} GB" if rank.memory_bytes else "-"
    return (rank.name or str(rank.rank), rank.device, f"{rate:,.0f}", f"{rank.waited_share:.0%}", memory, busy, power)
