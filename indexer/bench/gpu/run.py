"""How are all parts measured, one after the other, and gone on with after an interruption? By a file a part.

A folder holds `setting.json`, what is measured on what; `parts/*.json`, a part's rows or why there are none; and
`parts/*.log`, what its process said. What is whole there is not measured again; what failed is, but keeps its rows
until then.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from indexer.bench.gpu.parts import LIMIT_SECONDS, Part, parts_of
from indexer.bench.gpu.setting import Setting
from indexer.bench.machine import describe
from indexer.bench.trials.apart import call_apart
from indexer.errors import BenchError, DeviceError
from indexer.library.durable import write_file
from indexer.library.foreign import from_json
from indexer.process import named_as_starter
from indexer.ranks.devices import MASK, Devices, parse_devices
from indexer.reports.bars import Bars

_LOOK_SECONDS = 1.0
_LAST_WORDS = 4000
Rows = list[dict[str, Any]]
Call = Callable[[Setting, Part, Callable[[], None]], tuple[Rows, str | None]]
"""Measures a part elsewhere: its rows, and why there are no more; calls its last argument now and then meanwhile."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a part."""

    name: str
    seconds: float
    made_at: str
    rows: Rows
    """Where it failed, those before."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """All that a folder holds."""

    setting: Setting
    machine: dict[str, Any]
    results: list[Result]
    missing: list[str]
    """Names of parts that were not measured yet."""


def find_gpus(text: str) -> Devices:
    """Read `--devices`.

    Raises:
        DeviceError: there is no GPU.
    """
    devices = parse_devices(text)
    if devices.device == "cuda" or text != "auto":
        return devices
    import torch

    built = f"is built for CUDA {torch.version.cuda}" if torch.version.cuda else "is built without CUDA"
    raise DeviceError(
        f"no GPU is here: torch {torch.__version__} {built} and sees none; look at `nvidia-smi`, install a torch for "
        "its driver, or try all parts in small with --devices cpu"
    )


def bench_gpu(
    setting: Setting, bars: Bars, *, only: Sequence[str] = (), minutes: float | None = None, call: Call | None = None
) -> Found:
    """Measure what is missing, the failed parts last. Ctrl-C keeps what there is.

    `minutes`: no part begins that would take longer than what is left of these; the first one always does.

    Raises:
        BenchError: there is no such part, or the folder holds what was measured on something else.
    """
    wanted = parts_of(setting, only)
    machine = _open_folder(setting)
    due = [part for part in wanted if not _is_whole(part, setting)]
    due.sort(key=lambda part: part.file(setting.out).is_file())
    started = time.monotonic()
    with suppress(KeyboardInterrupt):
        for number, part in enumerate(due):
            if number and minutes is not None and time.monotonic() - started + part.seconds > 60 * minutes:
                break
            bars.stage(part.name)
            left = sum(other.seconds for other in due[number:])
            result = _measured(setting, part, call or call_part, _Clock(bars, left, number, len(due)))
            write_file(part.file(setting.out), json.dumps(asdict(result), indent=1).encode())
            if result.error is not None:
                bars.note(f"  {part.name}: {result.error}")
    return read_found(setting, machine)


def read_found(setting: Setting, machine: dict[str, Any]) -> Found:
    """Read what the folder holds of all parts."""
    parts = parts_of(setting)
    results = [_result(part, setting) for part in parts]
    missing = [part.name for part, result in zip(parts, results, strict=True) if result is None]
    return Found(setting, machine, [result for result in results if result is not None], missing)


def call_part(setting: Setting, part: Part, look: Callable[[], None]) -> tuple[Rows, str | None]:
    """Measure a part in a process of its own: its rows, and, where it ended early or took too long, its last line."""
    file, log = part.file(setting.out).with_suffix(".rows"), part.file(setting.out).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    error = _run(_command(setting, part, file), log, look)
    rows: Rows = json.loads(file.read_text("utf-8")) if file.is_file() else []
    file.unlink(missing_ok=True)
    return rows, None if error is None else f'{error}, see "{log}"'


def _command(setting: Setting, part: Part, file: Path) -> list[str]:
    return [sys.executable, "-m", "indexer.bench.gpu.parts", setting.to_json(), part.name, str(file)]


def _run(command: Sequence[str], log: Path, look: Callable[[], None]) -> str | None:
    """Run a command to its end, or to that of its time, together with all that it has started; say what went wrong."""
    environment = {**os.environ, **named_as_starter(), "PYTHONSAFEPATH": "1"}
    until = time.monotonic() + LIMIT_SECONDS
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            while process.poll() is None and time.monotonic() < until:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
                look()
            is_late = process.poll() is None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if is_late:
        return f"took longer than {LIMIT_SECONDS:.0f} s"
    if process.returncode:
        lines = log.read_text("utf-8", errors="replace")[-_LAST_WORDS:].strip().splitlines()
        return lines[-1] if lines else f"exit code {process.returncode}"
    return None


class _Clock:
    """Shows which part runs, and about how long all that are left will take."""

    def __init__(self, bars: Bars, left: float, number: int, n: int) -> None:
        self._bars, self._until, self._number, self._n = bars, time.monotonic() + left, number, n

    def __call__(self) -> None:
        """Show it now."""
        left = max(0.0, self._until - time.monotonic())
        self._bars.advance(self._number, self._n, f"about {left / 60:.0f} min left", unit="parts")


def _measured(setting: Setting, part: Part, call: Call, look: Callable[[], None]) -> Result:
    look()
    started = time.monotonic()
    rows, error = call(setting, part, look)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Result(part.name, round(time.monotonic() - started, 1), now, rows, error)


def _is_whole(part: Part, setting: Setting) -> bool:
    result = _result(part, setting)
    return result is not None and result.error is None


def _result(part: Part, setting: Setting) -> Result | None:
    """What a part's file holds; None where it is not there, or none of ours: then it is measured again."""
    with suppress(OSError, ValueError):
        return from_json(Result, part.file(setting.out).read_bytes())
    return None


def _open_folder(setting: Setting) -> dict[str, Any]:
    """Note what is measured on what, or see that it is the same as before; the machine's description.

    Raises:
        BenchError: it is another machine, or another setting.
    """
    file = setting.out / "setting.json"
    machine: dict[str, Any] = call_apart(describe, setting.kind)
    facts = {**json.loads(setting.to_json()), "processor, GPUs and torch": _identity(machine)}
    del facts["out"]  # a folder may be moved
    if file.is_file():
        try:
            before = json.loads(file.read_text("utf-8"))
            known, kept = dict(before["facts"]), before["machine"]
        except (ValueError, TypeError, KeyError) as error:
            raise BenchError(f'"{file}" is none of `icons bench gpu`; give another --out') from error
        others = [
            f'{name} "{known.get(name)}", not "{value}"' for name, value in facts.items() if known.get(name) != value
        ]
        if others:
            raise BenchError(f'"{setting.out}" holds what was measured with {"; ".join(others)}; give another --out')
        return cast(dict[str, Any], kept)
    write_file(file, json.dumps({"facts": facts, "machine": machine}, indent=1).encode())
    return machine


def _identity(machine: dict[str, Any]) -> list[Any]:
    """What may not change between two calls: processor, GPUs, and torch."""
    return [machine["processor"], [gpu["name"] for gpu in machine.get("gpus", ())], machine["packages"]["torch"]]


def show_gpus(devices: Devices) -> None:
    """Have all parts see the GPUs that were named, and number them from 0."""
    if devices.visible is not None:
        os.environ[MASK] = devices.visible
