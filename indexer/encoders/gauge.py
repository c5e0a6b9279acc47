"""What a rank takes of its device: memory, utilisation and power, of a GPU through NVML, of a CPU through psutil."""

import os
import resource
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from indexer.encoders.devices import Device
from indexer.process import cores_of_rank


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
