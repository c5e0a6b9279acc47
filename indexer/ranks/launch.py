"""How are ranks started and followed? torchrun as a process of ours, watched to its end, and the cause of that."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from indexer.process import named_as_starter
from indexer.ranks.devices import Devices
from indexer.ranks.progress import Reported

POLL_SECONDS = 0.5
GRACE_SECONDS = 5.0
_ROOT_CAUSE = re.compile(r"Root Cause.*?rank\s*:\s*(\d+).*?exitcode\s*:\s*(-?\d+)", re.DOTALL)


def follow_torchrun(command: Sequence[str], *, devices: Devices, log: Path, look: Callable[[], None]) -> int:
    """Run a `torchrun ...` command, calling `look` twice a second; return its exit code. It ends with this process."""
    process = start_torchrun(command, devices=devices, log=log)
    try:
        while process.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
            look()
    finally:
        end_torchrun(process)
    return process.returncode


def end_torchrun(process: "subprocess.Popen[bytes]") -> None:
    """Ask torchrun to end, and end it where it takes long, because it or a rank is stopped: its ranks end with it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
        process.kill()
        process.wait()


def start_torchrun(command: Sequence[str], *, devices: Devices, log: Path) -> "subprocess.Popen[bytes]":
    """Start a `torchrun ...` command, which ends with this process, whatever ends that."""
    # Safe path: a file "numpy.py" in the folder where the user happens to stand is not to be imported.
    environment = {**os.environ, **named_as_starter(), "PYTHONSAFEPATH": "1"}
    if devices.visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = devices.visible
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "indexer.ranks.agent", *command[1:]],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def cause_of_end(log: Path, ranks: Sequence[Reported], *, rerun: str) -> str:
    """Say which rank ended a stage, and how; `rerun` is what is kept and how to go on."""
    told = next((progress for progress in ranks if progress.error), None)
    if told is not None:
        return f"rank {told.rank}: {told.error} ({rerun})"
    match = _ROOT_CAUSE.search(log.read_text("utf-8", errors="replace"))
    if match is None:
        return f'torchrun ended early, see "{log}"; {rerun}'
    code = int(match[2])
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f'rank {match[1]} {how}, see "{log}"; {rerun}'
