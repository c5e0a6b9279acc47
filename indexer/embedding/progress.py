"""How far ranks are, one small file each, and what they take of their devices; one that stands still is ended.

Memory, utilisation and power are those of a GPU through NVML, of a CPU through psutil.
"""

import json
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import psutil

from indexer.encoders.devices import Device
from indexer.library.durable import naming
from indexer.library.foreign import from_json
from indexer.process import cores_of_rank
from indexer.reports.timings import Span


@dataclass(slots=True)
class Gauge:
    """Reads how busy a rank's device is; between two readings on a CPU lies the time that the second one is about."""

    device: Device
    cores: int = field(default_factory=cores_of_rank)
    _read_at: float = field(default_factory=time.perf_counter)
    _cpu_seconds: float = field(default_factory=lambda: cpu_seconds(family(os.getpid())))

    def read(self) -> tuple[int, float | None, float | None]:
        """Bytes of memory, the share of the device, or of a rank's cores, that was busy, and watts, as far as known."""
        if self.device.type == "cuda":
            found = gpu_figures(self.device)
            if not found:
                return peak_memory(self.device), None, None
            return int(found["gpu/memory_gb"] * 1e9), found["gpu/utilisation"] / 100, found.get("gpu/power_w")
        before, cpu_before = self._read_at, self._cpu_seconds
        everyone = family(os.getpid())
        self._read_at, self._cpu_seconds = time.perf_counter(), cpu_seconds(everyone)
        seconds = self._read_at - before
        busy = max(0.0, self._cpu_seconds - cpu_before) / (self.cores * seconds) if seconds else None
        return proportional_bytes(everyone), busy, None


def family(process: int) -> list[psutil.Process]:
    """A process and all that descend from it, by its id; none where it has gone."""
    try:
        own = psutil.Process(process)
        return [own, *own.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """Time that processes have computed for so far; those that have gone count nothing."""
    seconds = 0.0
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            seconds += times.user + times.system
    return seconds


def proportional_bytes(processes: Iterable[psutil.Process]) -> int:
    """Memory of processes, what they share counted by its parts where the system tells these, else whole."""
    taken = 0
    for process in processes:
        with suppress(psutil.Error):
            found = process.memory_full_info()
            taken += getattr(found, "pss", found.rss)
    return taken


def peak_memory(device: Device) -> int:
    """Largest memory used so far, in bytes: the GPU's for a GPU, else the process' own."""
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(str(device))
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # ru_maxrss of Linux begins at what the process had that started this one.
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def gpu_figures(device: Device) -> dict[str, float]:
    """Memory, utilisation and power of a GPU through NVML; nothing where there is no GPU or no `nvidia-ml-py`."""
    if device.type != "cuda":
        return {}
    import torch

    try:
        import pynvml
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(str(device)).uuid}")
        memory, rates = pynvml.nvmlDeviceGetMemoryInfo(handle), pynvml.nvmlDeviceGetUtilizationRates(handle)
        found = {"gpu/memory_gb": memory.used / 1e9, "gpu/utilisation": float(rates.gpu)}
    except pynvml.NVMLError:
        return {}
    with suppress(pynvml.NVMLError):  # not every GPU tells its power
        found["gpu/power_w"] = pynvml.nvmlDeviceGetPowerUsage(handle) / 1000
    return found


@dataclass(slots=True)
class RankProgress:
    """How far one rank of any stage is; the rates follow from the seconds."""

    rank: int
    world: int
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
    spans: tuple[Span, ...] = ()
    """What a process of its own has spent its time on."""


Progress = TypeVar("Progress", bound=RankProgress)


def write_progress(folder: Path, progress: RankProgress) -> None:
    """Tell how far a rank is; whole or not at all, but not synced: it is worth nothing after a crash."""
    path = folder / f"rank-{progress.rank}.json"
    aside = path.with_suffix(".aside")
    with naming(path):
        aside.write_text(json.dumps(asdict(progress)), "utf-8")
    aside.replace(path)


def read_progress(folder: Path, kind: type[Progress]) -> list[Progress]:
    """How far every rank is that has said something yet, by rank; what this program can't read says nothing."""
    found = []
    for path in folder.glob("rank-*.json"):
        with suppress(OSError, ValueError):
            found.append(from_json(kind, path.read_bytes()))
    return sorted(found, key=lambda progress: progress.rank)


def clear_progress(folder: Path) -> None:
    """Forget what ranks of an earlier run said."""
    for path in folder.glob("rank-*.*"):
        path.unlink()


LOOK_SECONDS = 0.5
REPORT_SECONDS = 0.5
GAUGE_SECONDS = 4.0
"""A reading takes 20 ms: the kernel counts the pages of every process."""
OWN_SECONDS = 10.0
"""A rank that hangs has so long to say so itself; one that is stopped, or has lost its machine, can't."""
START_SECONDS = 120.0
"""A rank that has not said anything yet imports torch, perhaps from a slow drive."""
_LONGEST_LOOK = 4 * LOOK_SECONDS
"""Counted between two looks at most: a laptop that slept, or a job that was stopped and goes on, has not hung."""


@dataclass(slots=True)
class Watchdog:
    """Measures how long each rank stands still, by the clock of the process that looks: machines' clocks differ."""

    limit: float
    waiting_limit: float = math.inf
    """For a rank that waits for others: longer, so that whoever keeps them waiting is named first."""
    _looked: float = field(default_factory=time.monotonic)
    _still: dict[int, tuple[int, float]] = field(default_factory=dict)

    def look(self, ranks: Sequence[RankProgress]) -> tuple[int, str] | None:
        """Tell the number of a rank that has stood still for the limit, and what it was at; None where all get on."""
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _LONGEST_LOOK), now
        for progress in ranks:
            steps, seconds = self._still.get(progress.rank, (-1, 0.0))
            limit = self.waiting_limit if progress.waits else self.limit
            is_still = limit < math.inf and not progress.finished and progress.steps == steps
            seconds = seconds + passed if is_still else 0.0
            self._still[progress.rank] = progress.steps, seconds
            if seconds >= limit:
                what = f"nothing got done for {limit:g} s, at {progress.at}"
                return progress.rank, f"{what}; --stall-limit allows more"
        return None


class Overseer:
    """A watch over `n` ranks from outside: one that is stopped, or never began, can't say so itself."""

    def __init__(self, n: int, limit: float) -> None:
        self.n, self._started, self._starting = n, Watchdog(limit + OWN_SECONDS), Watchdog(limit + START_SECONDS)

    def look(self, ranks: Sequence[RankProgress]) -> str | None:
        """Tell which rank has stood still for too long, and what it was at, from those that have said something."""
        silent = set(range(self.n)) - {progress.rank for progress in ranks}
        absent = [RankProgress(rank, self.n, at="starting") for rank in sorted(silent)]
        found = self._started.look(ranks) or self._starting.look(absent)
        return f"rank {found[0]}: {found[1]}" if found else None


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


@dataclass(slots=True)
class Reporter(Generic[Progress]):
    """Reports how far this rank is: twice a second at most, but at once what a person should know."""

    report: Callable[[Progress], None]
    progress: Progress
    gauge: Gauge | None = None
    """Of the rank's device, read now and then."""
    reported_at: float = 0.0
    gauged_at: float = field(default_factory=time.perf_counter)
    _shows_waiting: bool = False

    def begin(self, what: str) -> None:
        """Set what this rank is at now, which is a sign of life."""
        had_waited, self._shows_waiting = self._shows_waiting, False
        self._be_at(what, waits=False, now=had_waited)

    def join(self, what: str) -> None:
        """Set what it is at together with all ranks, if there are others: then one of these may be who hangs."""
        is_joint = self.progress.world > 1
        self._be_at(f"{what}, together with the other ranks" if is_joint else what, waits=is_joint)

    def wait(self, what: str) -> None:
        """Set what this rank waits for, reported at once: nothing comes after it for a while."""
        self._shows_waiting = True
        self._be_at(what, waits=True, now=True)

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
        self.report(self.progress)

    def tell(self, *, now: bool = False) -> None:
        """Report, unless that was done just now."""
        seconds = time.perf_counter()
        if not now and seconds - self.reported_at < REPORT_SECONDS:
            return
        self.reported_at = seconds
        if seconds - self.gauged_at >= GAUGE_SECONDS:
            self.read_gauge()
        self.report(self.progress)

    def _be_at(self, what: str, *, waits: bool, now: bool = False) -> None:
        self.progress.at, self.progress.waits = what, waits
        self.progress.steps += 1
        self.tell(now=now)


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
