"""What is measured on: processors, devices and their links, versions, settings in force, and bandwidths."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from indexer.embedding.distributed import Rank, process_group
from indexer.process import cores, processor

_PACKAGES = ("icons", "torch", "open_clip_torch", "numpy", "pyvips-binary", "pillow", "onnxruntime", "faiss-cpu")
_SETTINGS = ("NCCL_", "OMP_", "KMP_", "MKL_", "CUDA_", "TORCH_", "PYTORCH_", "GLOO_", "MALLOC_")
_REDUCED_MB = (1, 16, 64)
_TIMES = 8
Rows = Iterator[dict[str, Any]]


def describe(*, kind: str = "cpu") -> Rows:
    """Yield what this machine is: facts that need no measuring."""
    packages, caches = {}, {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):  # from a checkout, `icons` itself need not be installed
            packages[name] = version(name)
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with suppress(OSError):
            level, holds, size = ((cache / name).read_text("ascii").strip() for name in ("level", "type", "size"))
            caches[f"L{level} {holds.lower()}"] = size
    yield {
        "system": platform.platform(),
        "python": platform.python_version(),
        "processor": processor(),
        "cores": cores(),
        "caches": caches,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "packages": packages,
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)},
        **(_gpus() if kind == "cuda" else {}),
    }


def _gpus() -> dict[str, Any]:
    """GPUs, their software, and how they are linked."""
    import torch

    found = [torch.cuda.get_device_properties(n) for n in range(torch.cuda.device_count())]
    ask_nccl: Any = torch.cuda.nccl.version
    ask_cudnn: Any = torch.backends.cudnn.version
    nccl = ask_nccl() if torch.distributed.is_nccl_available() else None
    reach, topology = torch.cuda.can_device_access_peer, None
    if shutil.which("nvidia-smi"):  # NV# is NVLink, PIX to SYS are PCIe, ever farther
        done = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=False, timeout=60)
        topology = done.stdout if done.returncode == 0 else None
    return {
        "gpus": [{"name": gpu.name, "memory_gb": round(gpu.total_memory / 1e9, 1)} for gpu in found],
        "cuda": torch.version.cuda,
        "cudnn": ask_cudnn(),
        "nccl": ".".join(map(str, nccl)) if nccl else None,
        "peers": [[a == b or reach(a, b) for b in range(len(found))] for a in range(len(found))],
        "topology": topology,
    }


def links() -> Rows:
    """Yield GB/s from the host to the first GPU: from ordinary memory, torch's pinned memory, and the renderers'."""
    import torch

    from indexer.embedding.cuda_device import page_locked
    from indexer.encoders.devices import use_device
    from indexer.rendering.slots import Settings, Slots, shared_memory

    device = torch.device("cuda", 0)
    use_device(device)
    source = torch.empty(256 << 20, dtype=torch.uint8)
    for name, here in (("ordinary memory", source), ("pinned memory", source.pin_memory())):
        yield {"name": name, **_copied(here, device)}
    settings = Settings(size=224, chunk=32, n_slots=64, seconds_per_item=10.0, memory_bytes=0)  # 308 MB, as of a rank
    with shared_memory(settings) as file:
        pixels = Slots.map(settings, file.fileno()).pixels
        pixels[:] = 255  # its pages are there, as after a first round of drawing
        started = time.perf_counter()
        with page_locked(pixels, device) as refusal:
            locked, here = time.perf_counter() - started, torch.from_numpy(pixels)
            figures = _copied(here, device)
            figures |= {"locked": "yes" if here.is_pinned() else "no", "seconds to lock": locked}
            yield {"name": "the renderers' memory", **figures, **({"remark": refusal} if refusal else {})}


def _copied(here: Any, device: Any) -> dict[str, Any]:
    import torch

    there = torch.empty_like(here, device=device)
    there.copy_(here, non_blocking=True)
    torch.cuda.synchronize(device)
    started = time.perf_counter()
    for _ in range(_TIMES):
        there.copy_(here, non_blocking=True)
    enqueued = time.perf_counter() - started
    torch.cuda.synchronize(device)
    seconds = time.perf_counter() - started
    return {"GB/s": _TIMES * here.nbytes / seconds / 1e9, "copies wait": "yes" if enqueued > seconds / 2 else "no"}


def all_reduce(*, kind: str, backend: str) -> Rows:
    """Yield GB/s between ranks by the size of what is added up; bus bandwidth, as nccl-tests reckons it."""
    import torch
    import torch.distributed as dist

    rank = Rank.from_environment()
    device = torch.device(rank.device(kind))
    with process_group(rank, backend=backend, device=device):
        for megabytes in _REDUCED_MB:
            tensor = torch.ones(megabytes << 18, device=device)
            taken = []
            for times in (1, _TIMES):  # at first connections are made
                dist.barrier()
                started = time.perf_counter()
                for _ in range(times):
                    dist.all_reduce(tensor)
                if kind == "cuda":
                    torch.cuda.synchronize()
                taken.append((time.perf_counter() - started) / times)
            on_bus = 2 * (rank.world - 1) / rank.world * tensor.nbytes
            yield {"name": f"{backend}, {rank.world} ranks, {megabytes} MB", "GB/s": on_bus / taken[1] / 1e9}
