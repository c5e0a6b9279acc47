"""Ranks: what one is told by torchrun and takes of its device, how it meets the others, how torchrun starts and ends.

All of torch.distributed that embedding and benchmarks touch, and the start and end of training.
"""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, Self

import psutil

from indexer import errors
from indexer.encoders.devices import MASK, Device, Devices, see_own_gpu, use_device
from indexer.errors import EmbedError, IconsError, first_line
from indexer.languages.words import printable
from indexer.process import cores_of_rank, end_at_once, end_with_starter, named_as_starter

START_LIMIT = timedelta(minutes=10)
"""How long ranks wait for each other at the start and at the final count."""


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those of its stage, as torchrun says it in the environment."""

    index: int = 0
    local: int = 0
    world: int = 1

    @classmethod
    def from_environment(cls) -> "Rank":
        """Read RANK, LOCAL_RANK and WORLD_SIZE; without them this is the only process."""
        get = os.environ.get
        return cls(int(get("RANK", 0)), int(get("LOCAL_RANK", 0)), int(get("WORLD_SIZE", 1)))

    def device(self, kind: str) -> str:
        """Name this rank's device of a kind: cpu, cuda (one GPU a rank, by its local rank), or auto.

        Raises:
            DeviceError: CUDA_VISIBLE_DEVICES names no GPU for it.
        """
        import torch

        if kind not in ("auto", "cuda"):
            return kind
        own = see_own_gpu(self.local)
        return f"cuda:{own}" if kind == "cuda" or torch.cuda.is_available() else "cpu"


MEETING = "ICONS_MEETING"
"""Folder in which the ranks of one machine meet (`Ranks`); else where torchrun says."""


def run_as_rank(work: Callable[[Rank], None]) -> None:
    """Live a rank's life: do its work, and leave word of what ends it early to whoever has started it."""
    end_with_starter()
    rank = Rank.from_environment()
    try:
        work(rank)
    except Exception as error:
        leave_word(error)
        if not isinstance(error, IconsError):
            raise
        sys.stderr.write(f"Error: rank {rank.index}: {printable(str(error))}\n")
        raise SystemExit(1) from None  # no trace


def leave_word(error: Exception) -> None:
    """Write the error file of this rank, where torchrun looks for it."""
    if "TORCHELASTIC_ERROR_FILE" in os.environ:
        from torch.distributed.elastic.multiprocessing.errors import get_error_handler

        get_error_handler().record_exception(error)


def share_cores(rank: Rank) -> None:
    """Give this process its share of the cores; torchrun's own default is one thread each."""
    if rank.world > 1:
        import torch

        torch.set_num_threads(cores_of_rank())


def give_up_rank(rank: Rank, reason: str) -> NoReturn:
    """Leave word of why this rank hangs, and end it whatever its threads are in."""
    leave_word(IconsError(reason))
    end_at_once(f"rank {rank.index}: {reason}")


@contextmanager
def process_group(rank: Rank, *, backend: str, device: Device, limit: timedelta = START_LIMIT) -> Iterator[None]:
    """Make the rank's device that of this thread, and join the other ranks for the block, where there are any.

    `limit` is how long one waits for them. NCCL connects here, while the device has room, not at the first exchange;
    gloo leaves the device alone.
    """
    use_device(device)
    if rank.world == 1:
        yield
        return
    import torch
    import torch.distributed as dist

    folder = os.environ.get(MEETING)
    dist.init_process_group(
        backend,
        store=dist.FileStore(f"{folder}/ranks", rank.world) if folder else None,  # type: ignore[attr-defined]
        timeout=limit,
        rank=rank.index,
        world_size=rank.world,
        device_id=torch.device(str(device)) if "nccl" in backend else None,
    )
    try:
        yield
    finally:
        dist.destroy_process_group()


def total_over_ranks(rank: Rank, count: int) -> int:
    """Add up a count over all ranks that have met through gloo. Raises EmbedError where the others can't be reached."""
    if rank.world == 1:
        return count
    import torch
    import torch.distributed as dist

    total = torch.tensor([count])
    try:
        dist.all_reduce(total)
        return int(total.item())
    except RuntimeError as error:  # torch has no class for a rank that is not there
        raise EmbedError(
            f'the other ranks can\'t be reached; one that has ended says why ("{first_line(error)}")'
        ) from error


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


POLL_SECONDS = 0.5
GRACE_SECONDS = 5.0
"""For ranks that are asked to end."""


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
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self.log, self._grace_seconds = folder / "torchrun.log", grace_seconds
        reading, writing = os.pipe()
        self._end = os.fdopen(reading, "rb")
        # Safe path: a file "numpy.py" in the folder where the user happens to stand is not to be imported.
        inherited = {**os.environ, **environment, **named_as_starter(), "PYTHONSAFEPATH": "1"}
        if devices.visible is not None:
            inherited[MASK] = devices.visible
        agent = [sys.executable, "-m", "indexer.ranks", str(writing), str(devices.n)]
        with os.fdopen(writing), self.log.open("wb") as output:
            self._process = subprocess.Popen(
                [*agent, module, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=inherited,
                pass_fds=[writing],
                process_group=0,  # Ctrl-C is for the process that has started it, which asks it to end
            )

    def __enter__(self) -> Self:
        return self

    def follow(self, look: Callable[[], None] = lambda: None) -> str | None:
        """Wait for their end, calling `look` twice a second; tell the cause where they ended early."""
        while self._process.poll() is None:
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

    def __exit__(self, *_: object) -> None:
        """Ask torchrun to end, and end it where it takes long, because it or a rank is stopped: its ranks end too."""
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self._grace_seconds)
            self._process.kill()
            self._process.wait()
        self._end.close()


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
    message = next(iter(str(failure.error_file_data["message"]["message"]).strip().splitlines()), "")[:_LONGEST]
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
