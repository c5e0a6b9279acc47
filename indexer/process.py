"""What a process asks of its machine: a share of the cores, memory used again, no telemetry, an end."""

import ctypes
import math
import os
import platform
import re
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NoReturn

LIBRARIES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "DO_NOT_TRACK": "1",
}
"""By package: onnxruntime (from 1.31 on it looks up a host and keeps a device id at home); huggingface_hub, also under
open_clip and transformers; its command line; whatever keeps to donottrack.sh. More in docs/reliability.md."""
SERVERS = {"OTEL_SDK_DISABLED": "true"}
"""FastAPI and mcp export requests where the environment names a collector. For processes that are a server of ours: a
program that uses `SearchEngine` may well want its own traces."""


def silence(settings: Mapping[str, str]) -> None:
    """Tell packages that report home not to. What the user has set stays; processes started later inherit it."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Cores that may be busy at a time, by the strictest group of this process and those around it; None: no limit.

    `root` is where `proc` and `sys` lie.
    """
    return _strictest(root)[0]


def cpu_seconds(root: Path = Path("/")) -> float | None:
    """Processor time that the strictest of these groups has taken so far; None: none limits, or tells it."""
    if (folder := _strictest(root)[1]) is None:
        return None
    if version_2 := re.search(r"^usage_usec (\d+)$", _read(folder / "cpu.stat"), re.MULTILINE):
        return int(version_2[1]) / 1e6
    version_1 = _read(folder / "cpuacct.usage").strip()
    return int(version_1) / 1e9 if version_1 else None


def _strictest(root: Path) -> tuple[float | None, Path | None]:
    """The least limit, and the folder of its group."""
    limits = ((limit, folder) for folder in _folders(root) if (limit := _limit(folder)) is not None)
    return min(limits, key=lambda found: found[0], default=(None, None))


def _folders(root: Path) -> Iterator[Path]:
    """Folders of the groups that this process is in, each followed by those around it, as far as they are mounted."""
    groups = _groups(root)
    for line in _read(root / "proc/self/mountinfo").splitlines():
        fields, _, end = line.partition(" - ")
        top, mounted = fields.split()[3:5]
        kind, _, options = end.split(" ", 2)
        group = groups.get({"cgroup": "cpu", "cgroup2": ""}.get(kind, "none"))
        if group is None or (kind == "cgroup" and "cpu" not in options.split(",")):
            continue
        # A container that shares its host's names of groups has its own group mounted as if it were the top.
        inside = group.relative_to(top) if group.is_relative_to(top) else PurePosixPath()
        folder = root / mounted.lstrip("/")
        for place in (inside, *inside.parents):
            yield folder / place


def _groups(root: Path) -> dict[str, PurePosixPath]:
    """Groups of this process by their controller; of version 2, which has one group for all, by the empty name."""
    lines = [line.split(":", 2) for line in _read(root / "proc/self/cgroup").splitlines()]
    return {controller: PurePosixPath(path) for _, names, path in lines for controller in names.split(",")}


def _limit(folder: Path) -> float | None:
    """Microseconds of processor time in a period, over those of the period; None where a group has no limit."""
    version_2 = _read(folder / "cpu.max").split()
    quota, period = version_2 or [_read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    return None if quota in ("", "max", "-1") else int(quota) / int(period)


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text("utf-8")
    return ""


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 << 20
"""glibc takes no more; larger tensors are mapped afresh whatever it is asked."""
_PR_SET_PDEATHSIG = 1
_STARTER = "ICONS_STARTER"
"""Id of the process that has started this one."""
_LOOK_SECONDS = 0.5
_LEAST_MEMORY, _MEMORY_A_THREAD = 1_000_000_000, 200_000_000
"""Bytes that a search takes, and each further thread of both OpenBLAS; 0.76 and 0.18 GB of addresses were measured."""
_CORE_TYPE = "OPENBLAS_CORETYPE"
_KERNELS = {
    "SkylakeX": frozenset(("avx512f", "avx512dq", "avx512bw", "avx512vl")),
    "Haswell": frozenset(("avx2", "fma")),
}
"""What OpenBLAS calls processors whose code is for all that have these flags; the best comes first."""


def cores() -> int:
    """Cores this process may keep busy: those it may run on, or as many as its quota pays for, to the nearest."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cpu_quota()
    return there if quota is None else max(1, min(there, math.floor(quota + 0.5)))


def cores_of_rank() -> int:
    """A rank's share of this machine's cores, as torchrun numbers its ranks; the first take what is left over."""
    share, over = divmod(cores(), int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    return max(1, share + (int(os.environ.get("LOCAL_RANK", "0")) < over))


def may_have_gpu() -> bool:
    """Whether a GPU's driver is there; without one torch, which takes seconds to import, need not be asked."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Path("/dev/kfd").exists()  # that of AMD
    return True


def prepare_for_batches() -> None:
    """Settle this process for torch beside render workers; call it before torch is loaded.

    OpenMP's idle threads would spin on a core that the workers need, and glibc would give the memory of a batch back to
    the kernel, to have it zeroed again for the next one; docs/log.md has what both cost. OpenMP knows of no quota.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if cpu_quota() is not None:
        os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):  # musl has none
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def prepare_for_queries() -> None:
    """Settle this process for one query at a time; call it before numpy is loaded.

    The products of a query are small: a second thread of BLAS is done at once, and then spins on a core that others
    need. Over 413,481 icons that was 10 of 28 ms of processor time a query, which took 30 ms with it, 19 ms without.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def share_out_memory() -> None:
    """Let BLAS begin as many threads as a limit of memory has room for (ulimit -v, -d): it crashes for want of any.

    Raises:
        MemoryError: there is not even room for what a search loads.
    """
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    least = min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)
    if least is None:
        return
    if least < _LEAST_MEMORY:
        raise MemoryError(f"this process may have {least / 1e6:,.0f} MB, and needs {_LEAST_MEMORY / 1e6:,.0f} MB")
    n_threads = 1 + (least - _LEAST_MEMORY) // _MEMORY_A_THREAD
    if n_threads < cores():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(n_threads))


@contextmanager
def known_to_blas() -> Iterator[None]:
    """Name this machine's processor to an OpenBLAS that is loaded during the block, unless the environment does.

    That of FAISS' wheels is of 2021, and takes what it does not know for a processor of 2004: on a Sapphire Rapids
    k-means took 3.6 times as long, to take vectors into lists 2.7 times. docs/log.md has the figures.
    """
    flags = set(_cpu_info("flags").split())
    kernels = next((name for name, needed in _KERNELS.items() if needed <= flags), None)
    if kernels is None or _CORE_TYPE in os.environ:
        yield
        return
    os.environ[_CORE_TYPE] = kernels
    try:
        yield
    finally:
        del os.environ[_CORE_TYPE]  # a newer one knows better


def give_back_memory() -> None:
    """Hand what is free in glibc's heaps back to the kernel, before work that is long and needs little of it."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def named_as_starter() -> dict[str, str]:
    """What to add to the environment of a process that is to end with this one, by `end_with_starter`."""
    return {_STARTER: str(os.getpid())}


def end_with_starter() -> None:
    """Have this process killed when the one that started it ends, however that ends.

    On Linux the kernel does it, at once; elsewhere a thread looks twice a second. Where the starter has ended before
    this was called, so does this process.
    """
    starter = int(os.environ.pop(_STARTER, 0)) or os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch_over, args=(starter,), name="starter", daemon=True).start()
    if os.getppid() != starter:
        os._exit(1)


def _watch_over(starter: int) -> None:
    while os.getppid() == starter:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def end_at_once(reason: str) -> NoReturn:
    """Say why on stderr and end this process, whatever its threads hang in; its children end with it."""
    sys.stderr.write(f"Error: {reason}\n")
    sys.stderr.flush()
    os._exit(2)


def processor() -> str:
    """The name of this machine's processor."""
    return _cpu_info("model name") or platform.processor() or platform.machine()


def computes_in_bf16() -> bool:
    """Whether this machine's processor has units for bf16 that torch uses; known on Linux alone."""
    return "avx512_bf16" in _cpu_info("flags").split()


def _cpu_info(name: str) -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        for line in lines:  # of the first core: there may be hundreds
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""
