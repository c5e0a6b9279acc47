"""A benchmark that is told to end while it measures."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

_PROGRAM = "import sys; from search.cli import main; main(sys.argv[1:])"


@pytest.fixture(scope="session")
def interrupted() -> Callable[..., tuple[int, str, str, int]]:
    """Run `icons bench ...` in a process of its own, send Ctrl-C once its journal has some lines, and wait for its end.

    Returns exit code, stdout, stderr, and how many lines the journal has.
    """

    def run(arguments: Sequence[str], *, journal: Path, lines: int) -> tuple[int, str, str, int]:
        command = [sys.executable, "-c", _PROGRAM, "bench", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(1200):
            if _lines(journal) >= lines:
                break
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        said, told = process.communicate(timeout=60)
        return process.returncode, said, told, _lines(journal)

    return run


def _lines(journal: Path) -> int:
    return len(journal.read_text().splitlines()) if journal.exists() else 0
