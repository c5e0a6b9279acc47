"""Runs `icons` where whatever would leave the machine, or lie about on it, is written down."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexer.telemetry import LIBRARIES, SERVERS

ICONS = (sys.executable, "-P", "-c", "from search.cli import main; main()")
DEVICES = ("/dev/", "/proc/")
TEMPORARY = "tmp?world_size=7&rank=%41#"
"""A folder whose name means something else in an address."""
_OF_THIS_PROCESS = (*LIBRARIES, *SERVERS, "XDG_", "TORCHINDUCTOR_")
"""What `indexer` and torch have set here, and where the user keeps files."""


def compile_guard(folder: Path) -> Path:
    """Build the library that is loaded before all others."""
    target = folder / "guard.so"
    source = Path(__file__).with_name("guard.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", target, source, "-ldl"], check=True)
    return target


@dataclass(frozen=True, slots=True)
class Guarded:
    """A home, a temporary folder and a log of its own for some processes; the settings of this one don't reach them."""

    guard: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What processes get."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THIS_PROCESS)}
        places = {"HOME": self.folder / "home", "TMPDIR": self.folder / TEMPORARY, "ICONS_GUARD": self.folder / "log"}
        for name in ("home", TEMPORARY):
            (self.folder / name).mkdir(exist_ok=True)
        told = {"LD_PRELOAD": self.guard, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        return {**own, **{name: str(value) for name, value in {**places, **told}.items()}}

    def run(self, command: Sequence[object]) -> str:
        """Run a command that must succeed; return what it printed."""
        done = subprocess.run(
            list(map(str, command)), env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def running(self, command: Sequence[object], *, said: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a command until the block ends; what it says on stderr goes into a file."""
        environment = self.environment | settings
        with said.open("wb") as errors:
            process = subprocess.Popen(list(map(str, command)), env=environment, cwd=self.folder, stderr=errors)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def seen(self, *, allowed: Sequence[Path] = ()) -> list[str]:
        """What was tried, but for files below the temporary folder and what is allowed."""
        log = self.folder / "log"
        if not log.exists():
            return []
        own = tuple(f"create {path}" for path in (*DEVICES, self.folder / TEMPORARY, *allowed))
        return [line for line in log.read_text("utf-8").splitlines() if not line.startswith(own)]
