"""What machine is this, and how much of it is free?"""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from indexer.process import cores, processor
from search.bench.measured import Machine

PACKAGES = ("faiss-cpu", "numpy", "onnxruntime", "tokenizers")
_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def describe_machine() -> Machine:
    """Say in short where a figure comes from."""
    return Machine(
        processor=processor(),
        cores=cores(),
        memory_bytes=_memory("MemTotal"),
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        versions={name: version(name) for name in PACKAGES},
    )


def free_memory() -> int:
    """Bytes that can be had without swapping, within the limit of this process's control group."""
    free = _memory("MemAvailable")
    try:
        most, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        cached = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no control group of version 2, or one without a limit ("max")
        return free
    return min(free, most - used + int(cached["inactive_file"]))


def _memory(name: str) -> int:
    if not _MEMINFO.is_file():  # macOS tells the whole only
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines())
    return 1024 * int(lines[name].split()[0])
