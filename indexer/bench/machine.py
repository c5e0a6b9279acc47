"""What is measured on? Processors, devices and their links, versions, settings in force, and bandwidths.

    torchrun --nproc-per-node 2 -m indexer.bench.machine FOLDER cpu gloo

is one rank of the measurement of all-reduce, which `icons bench embed` starts.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import BenchError
from indexer.process import cores, processor

if TYPE_CHECKING:
    from indexer.ranks.distributed import Rank

_PACKAGES = ("icons", "torch", "open_clip_torch", "numpy", "pyvips", "pyvips-binary", "pillow")
_SETTINGS = ("NCCL_", "OMP_", "KMP_", "MKL_", "CUDA_", "TORCH_", "PYTORCH_", "GLOO_", "MALLOC_")
REDUCED_MB = (1, 16, 64)
_REDUCTIONS = 8


def describe(kind: str) -> dict[str, Any]:
    """Say what this machine is: facts that need no measuring. Torch is loaded here."""
    import torch

    facts: dict[str, Any] = {
        "system": platform.platform(),
        "python": platform.python_version(),
        "processor": processor(),
        "cores": cores(),
        "caches": _caches(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "load_before": round(os.getloadavg()[0], 2),
        "packages": dict(_versions()),
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)},
        "torch_threads": torch.get_num_threads(),
    }
    if kind == "cuda":
        facts |= _gpus()
    return facts


def _versions() -> Iterator[tuple[str, str]]:
    """Versions of what is installed; from a checkout, `icons` itself need not be."""
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            yield name, version(name)


def _gpus() -> dict[str, Any]:
    """GPUs, their software, and how they are linked."""
    import torch

    found = [torch.cuda.get_device_properties(n) for n in range(torch.cuda.device_count())]
    ask_nccl: Any = torch.cuda.nccl.version
    ask_cudnn: Any = torch.backends.cudnn.version
    nccl = ask_nccl() if torch.distributed.is_nccl_available() else None
    return {
        "gpus": [
            {"name": gpu.name, "memory_gb": round(gpu.total_memory / 1e9, 1), "processors": gpu.multi_processor_count}
            for gpu in found
        ],
        "cuda": torch.version.cuda,
        "cudnn": ask_cudnn(),
        "nccl": ".".join(map(str, nccl)) if nccl else None,
        "peers": [
            [a == b or torch.cuda.can_device_access_peer(a, b) for b in range(len(found))] for a in range(len(found))
        ],
        "topology": _topology(),
    }


def _topology() -> str | None:
    """What `nvidia-smi topo -m` says of links: NV# is NVLink, PIX to SYS are PCIe, ever farther."""
    if shutil.which("nvidia-smi") is None:
        return None
    done = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else None


def measure_host_to_device() -> dict[str, float]:
    """GB/s from the host to the first GPU, from ordinary and from pinned memory."""
    import torch

    found = {}
    source = torch.empty(256 << 20, dtype=torch.uint8)
    there = torch.empty_like(source, device="cuda")
    for name, here in (("pageable", source), ("pinned", source.pin_memory())):
        there.copy_(here)
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(_REDUCTIONS):
            there.copy_(here, non_blocking=True)
        torch.cuda.synchronize()
        found[name] = round(_REDUCTIONS * source.nbytes / (time.perf_counter() - started) / 1e9, 2)
    return found


def measure_all_reduce(folder: Path, *, kind: str, n_ranks: int, backend: str) -> dict[str, float]:
    """GB/s between ranks by the size of what is added up, in MB; bus bandwidth, as nccl-tests reckons it.

    Raises:
        BenchError: the ranks don't find each other.
    """
    from indexer.ranks.devices import first_devices
    from indexer.ranks.launch import Ranks

    devices = first_devices(kind, n_ranks)
    with Ranks("indexer.bench.machine", str(folder), kind, backend, devices=devices, folder=folder) as ranks:
        if cause := ranks.follow():
            raise BenchError(f"all-reduce with {backend}: {cause}; nothing was measured")
    found: dict[str, float] = json.loads((folder / "links.json").read_text("utf-8"))
    return found


def _reduce(folder: Path, kind: str, backend: str, rank: "Rank") -> None:
    """Be one rank of the above."""
    import torch
    import torch.distributed as dist

    from indexer.ranks.distributed import process_group

    device = torch.device(rank.device(kind))
    found = {}
    with process_group(rank, backend=backend, device=device):
        for megabytes in REDUCED_MB:
            tensor = torch.ones(megabytes << 18, device=device)
            dist.all_reduce(tensor)
            if kind == "cuda":
                torch.cuda.synchronize()
            dist.barrier()
            started = time.perf_counter()
            for _ in range(_REDUCTIONS):
                dist.all_reduce(tensor)
            if kind == "cuda":
                torch.cuda.synchronize()
            seconds = (time.perf_counter() - started) / _REDUCTIONS
            on_bus = 2 * (rank.world - 1) / rank.world * tensor.nbytes
            found[str(megabytes)] = round(on_bus / seconds / 1e9, 3)
    if rank.index == 0:
        (folder / "links.json").write_text(json.dumps(found), "utf-8")


def _caches() -> dict[str, str]:
    """Caches of the first core by level, where Linux tells them."""
    found = {}
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with suppress(OSError):
            level, kind, size = ((cache / name).read_text("ascii").strip() for name in ("level", "type", "size"))
            found[f"L{level} {kind.lower()}"] = size
    return found


if __name__ == "__main__":
    from indexer.ranks.distributed import run_as_rank

    run_as_rank(partial(_reduce, Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
