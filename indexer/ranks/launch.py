"""How are ranks started and followed? torchrun as a process of ours, watched to its end, and the cause of that."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Self

from indexer.process import named_as_starter
from indexer.ranks.devices import MASK, Devices

POLL_SECONDS = 0.5
GRACE_SECONDS = 5.0


class Ranks:
    """The ranks of one stage on this machine, under torchrun; a context manager, which ends them.

    `module` is what each of them runs, with `arguments`; `folder` takes their log. They end with this process, whatever
    ends that. They inherit its environment, and what is given beside it. The cause of an early end comes through a
    pipe: a disk that is full, say, takes no file.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        devices: Devices,
        folder: Path,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.log = folder / "torchrun.log"
        reading, writing = os.pipe()
        self._end = os.fdopen(reading, "rb")
        # Safe path: a file "numpy.py" in the folder where the user happens to stand is not to be imported.
        inherited = {**os.environ, **environment, **named_as_starter(), "PYTHONSAFEPATH": "1"}
        if devices.visible is not None:
            inherited[MASK] = devices.visible
        agent = [sys.executable, "-m", "indexer.ranks.agent", str(writing), str(devices.n)]
        with os.fdopen(writing), self.log.open("wb") as output:
            self._process = subprocess.Popen(
                [*agent, module, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=inherited,
                pass_fds=[writing],
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def is_running(self) -> bool:
        """Whether they have not ended yet."""
        return self._process.poll() is None

    def follow(self, look: Callable[[], None] = lambda: None) -> str | None:
        """Wait for their end, calling `look` twice a second; tell the cause where they ended early."""
        while self.is_running:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_SECONDS)
            look()
        return self.cause() if self._process.returncode else None

    def cause(self) -> str:
        """Say which rank ended first, and how."""
        said = self._end.read()
        if not said:
            lines = self.log.read_text("utf-8", "replace").strip().splitlines()
            reason = f" ({lines[-1][:200]})" if lines else ""
            return f'torchrun ended early{reason}, see "{self.log}"'
        end = json.loads(said)
        if end["message"]:
            return f"rank {end['rank']}: {end['message']}"
        code = end["exitcode"]
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f'rank {end["rank"]} {how}, see "{self.log}"'

    def end(self) -> None:
        """Ask torchrun to end, and end it where it takes long, because it or a rank is stopped: its ranks end too."""
        if self.is_running:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
            self._process.kill()
            self._process.wait()
        self._end.close()


def cluster_command(module: str, *arguments: str, devices: Devices) -> str:
    """Spell the line that starts ranks on each of several machines, which meet at HOST."""
    meeting = ["--nnodes", "N", "--rdzv-backend", "c10d", "--rdzv-endpoint", "HOST:29400"]
    line = shlex.join(["torchrun", *meeting, "--nproc-per-node", str(devices.n), "-m", module, *arguments])
    return line if devices.visible is None else f"{MASK}={shlex.quote(devices.visible)} {line}"
