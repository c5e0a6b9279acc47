"""How do pixels come to a GPU, and GPUs to each other? Bandwidths from each kind of memory, and of adding up."""

import time
from collections.abc import Iterator
from typing import Any

from indexer.arrays import Pixels
from indexer.bench.gpu.setting import Setting
from indexer.bench.machine import measure_all_reduce, measure_host_to_device
from indexer.library.durable import make_folder
from indexer.rendering.slots import Settings, Slots, shared_memory

_SHARED = Settings(size=224, chunk=32, n_slots=64, seconds_per_item=10.0, memory_bytes=0)
"""Of the renderers' memory that is locked: 308 MB, as a rank has it."""
_COPIES = 8


def measure_links(setting: Setting) -> Iterator[dict[str, Any]]:
    """Yield GB/s from the host to the device: from ordinary memory, torch's pinned memory, and the renderers'."""
    if setting.kind == "cuda":
        yield from ({"from": name, "GB/s": rate} for name, rate in measure_host_to_device().items())
    with shared_memory(_SHARED) as file:
        pixels = Slots.map(_SHARED, file.fileno()).pixels
        pixels[:] = 255  # its pages are there, as after a first round of drawing
        if setting.kind == "cuda":
            yield _page_locked(setting, pixels)
        else:
            yield {"from": "the renderers' memory", "GB": pixels.nbytes / 1e9}


def _page_locked(setting: Setting, pixels: Pixels) -> dict[str, Any]:
    """Lock memory as a rank does, and copy from it."""
    import torch

    from indexer.embedding.page_lock import page_locked
    from indexer.ranks.devices import use_device

    device = torch.device(setting.device)
    use_device(device)
    started = time.perf_counter()
    with page_locked(pixels, device) as refusal:
        locked = time.perf_counter() - started
        here = torch.from_numpy(pixels)
        there = torch.empty_like(here, device=device)
        there.copy_(here, non_blocking=True)
        torch.cuda.synchronize(device)
        started = time.perf_counter()
        for _ in range(_COPIES):
            there.copy_(here, non_blocking=True)
        enqueued = time.perf_counter() - started
        torch.cuda.synchronize(device)
        taken = time.perf_counter() - started
        return {
            "from": "the renderers' memory, page-locked",
            "GB/s": _COPIES * pixels.nbytes / taken / 1e9,
            "GB": pixels.nbytes / 1e9,
            "seconds to lock": locked,
            "torch calls it pinned": here.is_pinned(),
            "copies wait": enqueued > taken / 2,
            "not locked": refusal,
        }


def measure_reduction(setting: Setting) -> Iterator[dict[str, Any]]:
    """Yield GB/s of adding up over all devices, by the size of what is added up."""
    folder = setting.out / "all-reduce"
    make_folder(folder)
    backend = "nccl" if setting.kind == "cuda" else "gloo"
    found = measure_all_reduce(folder, kind=setting.kind, n_ranks=setting.n_devices, backend=backend)
    yield from (
        {"backend": backend, "devices": setting.n_devices, "MB": int(mb), "GB/s": rate} for mb, rate in found.items()
    )
