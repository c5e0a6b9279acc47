"""What does a rank take of its device? Memory and utilisation: of a GPU through NVML, of a CPU through /proc."""

import os
import resource
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Gauge:
    """Reads how busy a rank's device is; between two readings on a CPU lies the time that the second one is about."""

    device: "torch.device"
    cores: int
    _read_at: float = field(default_factory=time.perf_counter)
    _cpu_seconds: float = field(default_factory=lambda: sum(map(cpu_seconds, family(os.getpid()))))

    def read(self) -> tuple[int, float | None]:
        """Memory in bytes; share of the device, or of this rank's cores, that was busy, None where nobody can tell."""
        if self.device.type == "cuda":
            found = gpu_figures(self.device)
            if not found:
                return peak_memory(self.device), None
            return int(found["gpu/memory_gb"] * 1e9), found["gpu/utilisation"] / 100
        before, cpu_before = self._read_at, self._cpu_seconds
        everyone = family(os.getpid())
        self._read_at, self._cpu_seconds = time.perf_counter(), sum(map(cpu_seconds, everyone))
        memory = sum(map(proportional_bytes, everyone)) or peak_memory(self.device)
        seconds = self._read_at - before
        busy = max(0.0, self._cpu_seconds - cpu_before) / (self.cores * seconds) if everyone and seconds else None
        return memory, busy


def family(process: int) -> list[int]:
    """A process and all that descend from it, by their ids; none where there is no /proc."""
    found = []
    with suppress(OSError):
        found.append(process)
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
        return found
    return []


def cpu_seconds(process: int) -> float:
    """Time that a process has computed for so far; 0 when it has gone."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
    return 0.0


def proportional_bytes(process: int) -> int:
    """Memory of a process, what it shares counted by its part; 0 when it has gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def peak_memory(device: "torch.device") -> int:
    """Largest memory used so far, in bytes: the GPU's for a GPU, else the process' own."""
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def gpu_figures(device: "torch.device") -> dict[str, float]:
    """Memory and utilisation of a GPU through NVML; nothing where there is no GPU or no `nvidia-ml-py`."""
    if device.type != "cuda":
        return {}
    import torch

    try:
        import pynvml
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(device).uuid}")
        memory, rates = pynvml.nvmlDeviceGetMemoryInfo(handle), pynvml.nvmlDeviceGetUtilizationRates(handle)
        return {"gpu/memory_gb": memory.used / 1e9, "gpu/utilisation": float(rates.gpu)}
    except pynvml.NVMLError:
        return {}
