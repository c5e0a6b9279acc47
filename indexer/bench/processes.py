"""The product, started and watched: its ranks, its commands and its server, each in a process of its own.

What they report is read from their progress and answers; beside it stand the memory of their processes and how busy the
machine was.
"""

import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import psutil

from indexer.bench.report import Run
from indexer.encoders.devices import MASK, Devices, first_devices
from indexer.errors import BenchError
from indexer.process import cores, cpu_quota, cpu_seconds, named_as_starter, processor
from indexer.ranks import Ranks, family, proportional_bytes
from indexer.reports.terminal import OWN

_PACKAGES = ("icons", "torch", "open_clip_torch", "numpy", "pyvips-binary", "pillow", "onnxruntime", "faiss-cpu")
_SETTINGS = ("NCCL_", "OMP_", "KMP_", "MKL_", "CUDA_", "TORCH_", "PYTORCH_", "GLOO_", "MALLOC_")
_LOOK_SECONDS = 0.5
_ICONS = "from indexer.process import end_with_starter as end; end(); from search.cli import main; main()"
_LISTENS = re.compile(r"at http://(\S+):(\d+),")
_START_SECONDS = 60.0


def machine_cores() -> tuple[int, ...]:
    """Numbers of the cores to measure on: as many of this process as its quota pays for."""
    n = cores()
    return tuple(sorted(os.sched_getaffinity(0))[:n] if hasattr(os, "sched_getaffinity") else range(n))


@contextmanager
def on_cores(numbers: Sequence[int]) -> Iterator[None]:
    """Have processes that start in the block run on these cores."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else None
    if before:
        os.sched_setaffinity(0, numbers)
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def busy_seconds() -> float:
    """Seconds that the cores of this process have been busy; those of its control group, where that is limited."""
    if cpu_quota() is not None and (taken := cpu_seconds()) is not None:
        return taken
    times = [of._asdict() for n, of in enumerate(psutil.cpu_times(percpu=True)) if n in machine_cores()]
    idle = ("idle", "iowait", "guest", "guest_nice")  # a guest's time is counted with that of its user, too
    return cast(float, sum(value for of in times for name, value in of.items() if name not in idle))


def run_module(
    module: str,
    *arguments: str,
    devices: Devices,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    look: Callable[[], None] = lambda: None,
    limit: float = 1800.0,
) -> None:
    """Run a module in a process for each device, under torchrun where there are several; `look` is called on the way.

    What hangs is ended after `limit` seconds, and named.

    Raises:
        BenchError: it ended early, or took too long; with its last words.
    """
    until, variables = time.monotonic() + limit, environment or {}

    def check() -> None:
        look()
        if time.monotonic() > until:
            raise BenchError(f"took longer than {limit:.0f} s")

    if devices.n > 1:
        with Ranks(module, *arguments, devices=devices, folder=folder, environment=variables) as ranks:
            if cause := ranks.follow(check):
                raise BenchError(cause)
        return
    command = [sys.executable, "-m", module, *arguments]
    variables = {**variables, **({} if devices.visible is None else {MASK: devices.visible})}
    with (folder / "process.log").open("w+b") as log, started(command, variables, stdout=log, stderr=log) as process:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
            check()
        if process.returncode:
            raise BenchError(last_words(os.pread(log.fileno(), 1_000_000, 0), process.returncode))


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str] | None = None, **streams: Any
) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a process, and end it with all that it has started when the block ends."""
    # Safe path: a file "numpy.py" in the folder where the user happens to stand is not to be imported.
    there = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONSAFEPATH": "1",
        **named_as_starter(),
        **(environment or {}),
    }
    process = subprocess.Popen(command, env=there, start_new_session=True, **streams)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_words(said: bytes, code: int) -> str:
    """Say what ended a process: the last line that it has written, or how it was killed."""
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"its process was killed by {signal.Signals(-code).name}{hint}"
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("Error: ") if lines else f"its process ended with exit code {code}"


def describe() -> dict[str, Any]:
    """What this machine is: facts that need no measuring, and no torch."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):  # from a checkout, `icons` itself need not be installed
            packages[name] = version(name)
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "processor": processor(),
        "cores": cores(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "packages": packages,
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)},
    }


def ask_alone(question: str, *, n_ranks: int = 1, limit: float = 300.0, **parameters: Any) -> list[dict[str, Any]]:
    """Answer a question of `indexer.bench.alone` in a process of its own, so that nothing of torch stays in this one.

    Rows that were measured until something went wrong are kept: the last one tells of it then. What a machine without
    GPUs is takes no process.
    """
    if question == "machine" and parameters.get("kind", "cpu") == "cpu":
        return [describe()]
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as name:
        rows, errors = Path(name, "rows.jsonl"), list[dict[str, Any]]()
        devices = first_devices(parameters["kind"], n_ranks) if n_ranks > 1 else Devices("cpu", 1)
        arguments = (question, json.dumps(parameters), str(rows))
        try:
            run_module("indexer.bench.alone", *arguments, devices=devices, folder=Path(name), limit=limit)
        except BenchError as error:
            errors.append({"error": str(error)})
        return [*map(json.loads, (rows.read_text("utf-8").splitlines() if rows.is_file() else [])), *errors]


@dataclass(frozen=True, slots=True)
class Ran:
    """One command of `icons`, from its start to its end."""

    seconds: float
    answer: str
    """What it has printed."""
    memory: Sequence[tuple[float, int]]
    """Of all its processes together, what they share counted once, by seconds since its start."""

    @property
    def peak_bytes(self) -> int:
        """The most memory."""
        return max((taken for _, taken in self.memory), default=0)

    def spans(self) -> dict[str, Run]:
        """What it says itself that it has spent its time on, with the most memory meanwhile; it was asked for JSON."""
        found: dict[str, Run] = {}
        for span in json.loads(self.answer)["timings"]:
            start, seconds = span["start"], span["seconds"]
            taken = [size for at, size in self.memory if start <= at <= start + seconds]
            name = span["span"] if span["rank"] == OWN else f"rank {span['rank']}: {span['span']}"
            peak = {"peak memory, GB": max(taken) / 1e9} if taken else {}
            found[name] = {"seconds": seconds, "start, s": start, "processor, s": span["processor_seconds"], **peak}
        return found


def run_icons(*arguments: str, is_watched: bool = True) -> Ran:
    """Run a command of `icons`; `is_watched`: look at its memory meanwhile, which takes some time of it.

    Raises:
        BenchError: it failed; its last words are in the message.
    """
    began, memory, command = time.perf_counter(), list[tuple[float, int]](), [sys.executable, "-c", _ICONS, *arguments]
    with (
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as said,
        started(command, stdout=answer, stderr=said) as process,
    ):
        while is_watched and process.poll() is None:
            memory.append((time.perf_counter() - began, proportional_bytes(family(process.pid))))
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
        code, seconds = process.wait(), time.perf_counter() - began
        if code:
            raise BenchError(
                f"`icons {arguments[0]}` failed: {last_words(os.pread(said.fileno(), 10_000_000, 0), code)}"
            )
        return Ran(seconds, os.pread(answer.fileno(), 10_000_000, 0).decode(), memory)


@dataclass(frozen=True, slots=True)
class Server:
    """`icons serve`, once it answers."""

    host: str
    port: int
    process: "subprocess.Popen[bytes]"
    log: int
    """Descriptor of the file that it writes its log into."""

    def log_text(self) -> str:
        """What it has written into its log so far."""
        return os.pread(self.log, 1_000_000, 0).decode(errors="replace")

    def memory_bytes(self, *, is_own: bool = False) -> int:
        """Resident memory of the server itself, without the processes that draw; `is_own`: without mapped files."""
        memory = psutil.Process(self.process.pid).memory_info()
        return int(memory.rss - (getattr(memory, "shared", 0) if is_own else 0))


@contextmanager
def serving(library: str, *options: str) -> Iterator[Server]:
    """Run `icons serve` on a free port of this machine until the block ends.

    Raises:
        BenchError: it does not start; with what it said.
    """
    command = [sys.executable, "-c", _ICONS, "serve", "--port", "0", "--library", library, *options]
    with tempfile.TemporaryFile() as log, started(command, stderr=log) as process:
        server, until = Server("", 0, process, log.fileno()), time.monotonic() + _START_SECONDS
        while (found := _LISTENS.search(server.log_text())) is None:
            if process.poll() is not None or time.monotonic() > until:
                reason = server.log_text().strip() or f"nothing was said in {_START_SECONDS:g} s"
                raise BenchError(f"`icons serve` did not start: {reason}")
            time.sleep(0.05)
        yield replace(server, host=found[1], port=int(found[2]))
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_START_SECONDS)
