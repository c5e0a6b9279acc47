"""What machine is this, and how much of it is free?"""

import platform
from importlib.metadata import version
from pathlib import Path

import psutil

from indexer.process import cores, processor
from search.bench.measured import Machine

PACKAGES = ("faiss-cpu", "numpy", "onnxruntime", "tokenizers")
_CGROUP = Path("/sys/fs/cgroup")


def describe_machine() -> Machine:
    """Say in short where a figure comes from."""
    return Machine(
        processor=processor(),
        cores=cores(),
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        versions={name: version(name) for name in PACKAGES},
    )


def free_memory() -> int:
    """Bytes that can be had without swapping, within the limit of this process's control group."""
    free = int(psutil.virtual_memory().available)
    try:
        most, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        cached = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no control group of version 2, or one without a limit ("max")
        return free
    return min(free, most - used + int(cached["inactive_file"]))
