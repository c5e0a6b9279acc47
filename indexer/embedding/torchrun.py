"""Ranks as processes of ours: torchrun started, watched to its end, and never left behind."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from indexer import errors
from indexer.embedding.distributed import MEETING
from indexer.encoders.devices import MASK, Devices
from indexer.process import end_with_starter, named_as_starter

POLL_SECONDS = 0.5
GRACE_SECONDS = 5.0


class Ranks:
    """The ranks of one stage on this machine, under torchrun; a context manager, which ends them.

    `module` is what each of them runs, with `arguments`; `folder` takes their log. They end with this process, whatever
    ends that. They inherit its environment, and `environment`. The cause of an early end comes through a
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
        agent = [sys.executable, "-m", "indexer.embedding.torchrun", str(writing), str(devices.n)]
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


_PREFIX = "icons-ranks-"
_LONGEST = 4000
"""Of a message: a pipe holds that much for a reader who waits."""
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def main() -> None:
    """Start the ranks that the command line names, and wait for them."""
    end_with_starter()
    _remove_leftovers()
    end, n_ranks, *program = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        os.environ.update(named_as_starter() | {MEETING: folder})
        os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
        os.environ.setdefault("GLOO_SOCKET_IFNAME", LOOPBACK)
        socket.getfqdn = lambda name="": "localhost"
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
        from torch.distributed.run import main as run

        meeting = ["--nnodes", "1", "--rdzv-backend", "c10d", "--rdzv-id", "icons", "--rdzv-conf", "store_type=file"]
        meeting += ["--rdzv-endpoint", f"{folder}/agent", "--local-addr", "127.0.0.1", "--log-dir", folder]
        try:
            run([*meeting, "--nproc-per-node", n_ranks, "-m", *program])
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            facts = {"rank": rank, "exitcode": failure.exitcode, "message": _message(failure)}
            os.write(int(end), json.dumps(facts).encode())
            raise


def _message(failure: Any) -> str:
    """What a rank's error file says, of our own errors without their kind; nothing where it left none."""
    if not Path(failure.error_file).is_file():
        return ""
    lines = str(failure.error_file_data["message"]["message"]).strip().splitlines()
    message = (lines or [""])[0][:_LONGEST]
    kind, _, text = message.partition(": ")
    return text if hasattr(errors, kind) else message


def _remove_leftovers() -> None:
    """Clear away the folders of those that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        try:
            os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError, OverflowError):  # of another user, or none of ours
            continue


if __name__ == "__main__":
    main()
