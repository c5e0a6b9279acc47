"""How is a server started for a measurement? `icons serve` in a process of its own, on a free port."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from indexer.errors import BenchError
from indexer.library.folder import Library

_COMMAND = (sys.executable, "-P", "-c", "from search.cli import main; main()", "serve", "--port", "0")
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that answers."""

    host: str
    port: int
    process: "subprocess.Popen[bytes]"
    log: int
    """Descriptor of the file that it writes its log into."""

    def log_text(self) -> str:
        """What it has written into its log so far."""
        return os.pread(self.log, 1_000_000, 0).decode(errors="replace")

    def memory_bytes(self) -> int:
        """Resident memory of the server itself, without the processes that draw."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


@contextmanager
def serving(library: Library, options: Sequence[str] = ()) -> Iterator[ServerProcess]:
    """Run a server until the block ends.

    Raises:
        BenchError: it does not start; with what it said.
    """
    with tempfile.TemporaryFile() as log:
        command = [*_COMMAND, "--library", str(library.root), *options]
        path = os.pathsep.join(filter(None, sys.path))
        process = subprocess.Popen(command, stderr=log, env=os.environ | {"PYTHONPATH": path})
        try:
            host, port = _address(process, log.fileno())
            yield ServerProcess(host, port, process, log.fileno())
        finally:
            process.terminate()
            process.wait()


def _address(process: "subprocess.Popen[bytes]", log: int) -> tuple[str, int]:
    """Wait until the server says where it listens."""
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends:
        has_ended = process.poll() is not None
        text = os.pread(log, 100_000, 0).decode(errors="replace")
        if found := re.search(r"at http://(\S+):(\d+),", text):
            return found[1], int(found[2])
        if has_ended:
            raise BenchError(f"`icons serve` did not start: {text.strip()}")
        time.sleep(0.05)
    raise BenchError(f"`icons serve` did not answer within {_START_SECONDS:g} s")
