"""Where encoders run: `--devices` as people write it -> devices of this machine, one a process; which way is sooner.

GPUs are found and looked at through their driver: torch, which takes seconds to import, is not asked.
"""

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from indexer.encoders.checkpoint import Checkpoint
from indexer.errors import DeviceError, first_line
from indexer.process import computes_in_bf16, cores, may_have_gpu
from indexer.reports.terminal import span


class Device(Protocol):
    """A device of torch, or the processor without torch; `str` gives the name that torch knows it by."""

    @property
    def type(self) -> str:
        """Cpu or cuda."""


@dataclass(frozen=True, slots=True)
class Place:
    """The processor, or a GPU by its number as CUDA counts, for what needs no torch yet."""

    type: Literal["cpu", "cuda"] = "cpu"
    number: int = 0

    def __str__(self) -> str:
        return self.type if self.type == "cpu" else f"cuda:{self.number}"


HOST = Place()


@contextmanager
def context_opening(device: Device) -> Iterator[None]:
    """Have CUDA open its context on a GPU in a thread during the block: that takes as long as torch's other imports.

    Raises:
        DeviceError: it can't be used, which the block may have run into as well.
    """
    import torch

    def open_context() -> None:
        with span("context"):
            torch.zeros(1, device=str(device))

    with ThreadPoolExecutor(1, "context") as beside:
        opened = beside.submit(open_context)
        try:
            yield
            opened.result()
        except RuntimeError as error:
            if (cause := opened.exception()) is None:
                raise
            raise _unusable(device, cause) from error


def _unusable(device: Device, error: BaseException) -> DeviceError:
    return DeviceError(
        f'"{device}" can\'t be used ({first_line(error)}); `nvidia-smi` says more, --devices cpu works without'
    )


MASK = "CUDA_VISIBLE_DEVICES"
"""GPUs that a process sees, by number or UUID; it counts them from 0 as they stand there."""
_MIG = "MIG-"
"""Begins the UUID of a part of a GPU, of which CUDA shows a process the first in its mask alone."""


@dataclass(frozen=True, slots=True)
class Devices:
    """Where the ranks of this machine run: `n` processes, each on a GPU or on its share of the cores."""

    device: str
    n: int
    visible: str | None = None
    """CUDA_VISIBLE_DEVICES for the ranks, where they are not to see all GPUs of the machine."""
    first: int = 0
    """Number of the first of the GPUs, as this process counts those that it sees."""
    why: str = ""
    """Why GPUs of this machine are left out, where "auto" leaves some out."""

    def own(self) -> str:
        """Name of the device of a single rank in this process, before it touches CUDA; it sees what it sees."""
        return f"cuda:{see_own_gpu(self.first)}" if self.device == "cuda" else "cpu"


def parse_devices(text: str) -> Devices:
    """Read `--devices`: auto, cpu, cpu:2 (two processes), 4 (the first four GPUs), 0,2 (these GPUs).

    GPUs are counted as CUDA_VISIBLE_DEVICES shows them, where it is set.

    Raises:
        DeviceError: it is none of these, or the GPUs are not there.
    """
    if match := re.fullmatch(r"cpu(?::([1-9][0-9]{0,2}))?", text):
        return Devices("cpu", int(match[1] or 1))
    gpus = find_gpus()
    if text == "auto":
        return replace((_gpus(gpus.free) if gpus.free else Devices("cpu", 1)), why=gpus.why if may_have_gpu() else "")
    if re.fullmatch(r"[1-9][0-9]{0,3}", text):
        numbers = list(range(int(text)))
    elif re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*,?", text) and "," in text:
        numbers = [int(number) for number in text.rstrip(",").split(",")]
    else:
        raise DeviceError(f'--devices "{text}" is not one of auto, cpu, cpu:2, a number of GPUs, or a list such as 0,2')
    if len(set(numbers)) != len(numbers):
        raise DeviceError(f'--devices "{text}" names a GPU twice')
    if max(numbers) >= gpus.n:
        mask, why = os.environ.get(MASK), f", {gpus.why}" if gpus.why else ""
        there = f"this machine has {gpus.n}" if mask is None else f'{MASK} "{mask}" shows {gpus.n}'
        raise DeviceError(f'--devices "{text}" asks for GPU {max(numbers)}, {there}{why}; try --devices cpu')
    return _gpus(numbers)


def first_devices(kind: str, n: int) -> Devices:
    """The first `n` GPUs, or `n` processes on the cores."""
    return _gpus(range(n)) if kind == "cuda" else Devices(kind, n)


def use_device(device: Device) -> None:
    """Make a GPU the one of this thread; to be called by each thread that uses CUDA.

    A thread's GPU is number 0 at first, where whatever names no device would open a context of half a gigabyte.
    """
    if device.type == "cuda" and "torch" in sys.modules:  # else nothing has touched CUDA
        import torch

        try:
            torch.cuda.set_device(torch.device(str(device)))
        except RuntimeError as error:
            raise _unusable(device, error) from error


def see_own_gpu(local: int) -> int:
    """Have a rank see its own GPU, before it touches CUDA; return the GPU's number as CUDA counts from then on.

    Ranks see all of their machine's GPUs, for NCCL's sake, but of parts of GPUs their own alone.
    """
    mask = _mask()
    if mask is None or not mask[0].startswith(_MIG):
        return local
    if local >= len(mask):
        raise DeviceError(
            f'no GPU for local rank "{local}": {MASK} "{",".join(mask)}" shows {len(mask)}; start as many ranks here, '
            "or name more"
        )
    os.environ[MASK] = mask[local]
    return 0


def _mask() -> list[str] | None:
    """Entries of CUDA_VISIBLE_DEVICES, where it is set."""
    return [entry.strip() for entry in os.environ[MASK].split(",")] if MASK in os.environ else None


LEAST_FREE = 2e9
"""Bytes of a GPU, below which "auto" leaves it alone: CUDA itself takes half a gigabyte."""
_LISTED = Path("/proc/driver/nvidia/gpus")


class _Memory(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_ulonglong) for name in ("total", "free", "used"))


def ask_driver(entries: Sequence[str] | None) -> tuple[int, dict[str, float | str]] | None:
    """Ask NVML, which comes with the driver, about some GPUs, or about all; None where a container leaves it out.

    Returns the newest CUDA that the driver knows (its major version), and free bytes of each GPU by its number or UUID,
    or why it does not tell them. NVML counts GPUs by their place in the machine, CUDA unlike ones the fastest first.

    Raises:
        DeviceError: the driver does not answer.
    """
    try:
        nvml: Any = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    if error := nvml.nvmlInit_v2():
        raise DeviceError(f"the driver does not answer: {nvml.nvmlErrorString(error).decode()}")
    n, cuda = ctypes.c_uint(), ctypes.c_int()
    handle, memory = ctypes.c_void_p(), _Memory()
    free: dict[str, float | str] = {}
    nvml.nvmlDeviceGetCount_v2(ctypes.byref(n))
    nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(cuda))
    for entry in map(str, range(n.value)) if entries is None else entries:
        by_number, by_uuid = nvml.nvmlDeviceGetHandleByIndex_v2, nvml.nvmlDeviceGetHandleByUUID
        find = partial(by_number, int(entry)) if entry.isdecimal() else partial(by_uuid, entry.encode())
        error = find(ctypes.byref(handle)) or nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        free[entry] = nvml.nvmlErrorString(error).decode() if error else memory.free
    return cuda.value // 1000, free


@dataclass(frozen=True, slots=True)
class Gpus:
    """What this process sees: how many GPUs, or parts of some, the numbers of those that are free, why not all are."""

    n: int = 0
    free: tuple[int, ...] = ()
    why: str = ""


def find_gpus() -> Gpus:
    """Find the GPUs that ranks could have, without torch where their driver tells of them."""
    mask = _mask()
    if not may_have_gpu():
        return Gpus(why="no driver of a GPU is here")
    if mask is not None and not any(re.match(r"\d|GPU-|MIG-", entry) for entry in mask[:1]):
        return Gpus(why=f'{MASK} is "{",".join(mask)}"')
    try:
        answer = ask_driver(mask)
    except DeviceError as error:
        return Gpus(why=f"{error}; `nvidia-smi` says more")
    if answer is None:
        n_there = len([*_LISTED.iterdir()]) if _LISTED.is_dir() else _count_by_torch()
        n = len(mask) if n_there and mask else n_there
        return Gpus(n, tuple(range(n)))
    spec = importlib.util.find_spec("torch")
    text = Path(spec.origin).with_name("version.py").read_text("utf-8") if spec and spec.origin else ""
    built = re.search(r"^cuda\b[^=]*= '(\d+)", text, re.MULTILINE)
    if built is None or answer[0] < int(built[1]):
        known = f"the driver knows CUDA {answer[0]}, torch is built for {built and built[1]}"
        help_ = "torch is built without CUDA; https://pytorch.org says how to install another one"
        return Gpus(why=f"{known}; install a newer driver or another torch" if built else help_)
    said = {
        entry: f"does not answer: {of}" if isinstance(of, str) else f"has {of / 1e9:.1f} GB free" * (of < LEAST_FREE)
        for entry, of in answer[1].items()
    }
    whys = [f'GPU "{entry}" {what}' if what else "" for entry, what in said.items()]
    return Gpus(len(whys), tuple(n for n, why in enumerate(whys) if not why), "; ".join(filter(None, whys)))


def _count_by_torch() -> int:
    """GPUs of other makers, and where a container shows neither their driver nor their names."""
    import torch

    return torch.cuda.device_count()


def _gpus(numbers: Sequence[int]) -> Devices:
    """GPUs by their numbers, as this process counts those that it sees."""
    mask = _mask()
    visible = [str(number) if mask is None else mask[number] for number in numbers]
    return Devices("cuda", len(numbers), ",".join(visible), first=numbers[0])


NAME_TOKENS = 8
"""Of a name, about: towers see no more of one."""
_PATCH = 16
"""Of towers that have none: those of convolutions come to about the same."""


def operations(checkpoint: Checkpoint) -> tuple[float, float]:
    """About what a picture and a name take: two operations a weight, for each patch or token that it sees."""
    from safetensors import SafetensorError, safe_open

    sizes = {"visual.": checkpoint.weights.stat().st_size / 8, "": 0.0}  # of a pickle: in fp32, half of it
    with suppress(SafetensorError), safe_open(checkpoint.weights, "numpy") as held:
        shapes = {name: held.get_slice(name).get_shape() for name in held.keys() if "token_emb" not in name}  # noqa: SIM118
        sizes = {start: sum(prod(of) for name, of in shapes.items() if name.startswith(start)) for start in sizes}
    patch = checkpoint.config["model_cfg"]["vision_cfg"].get("patch_size") or _PATCH
    n_patches = (checkpoint.image_size / patch) ** 2
    return 2 * sizes["visual."] * n_patches, 2 * abs(sizes[""] - sizes["visual."]) * NAME_TOKENS


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides which way is sooner; docs/gpu.md says where each figure was measured."""

    cores: int
    draw_seconds: float = 0.0015
    """Of a picture, on a core."""
    core_rate: float = 1.0e11
    """Operations a second of a core."""
    core_start_seconds: float = 2.0
    gpu_rate: float = 1.0e14
    gpu_start_seconds: float = 15.0
    """From the start of the work until a GPU gets its first batch."""

    @classmethod
    def here(cls) -> Self:
        """This one; where cores compute in bf16 they are so much faster."""
        return cls(cores(), core_rate=2.7e11) if computes_in_bf16() else cls(cores())


def choose_sooner(
    gpus: Devices, machine: Machine, *, n_images: int, n_names: int, of_each: tuple[float, float]
) -> tuple[Devices, str]:
    """Choose GPUs or the cores, whichever would be done first; say in a line which, and why.

    `of_each` is what `operations` says. Cores draw the pictures of both.
    """
    drawn = n_images * machine.draw_seconds / machine.cores
    computed = n_images * of_each[0] + n_names * of_each[1]
    on_cores = machine.core_start_seconds + drawn + computed / (machine.core_rate * machine.cores)
    on_gpus = machine.gpu_start_seconds + max(drawn, computed / (machine.gpu_rate * gpus.n))
    what = f"{n_images:,} pictures" if n_images else f"{n_names:,} names"
    if on_cores <= on_gpus:
        start = f"a GPU starts in {machine.gpu_start_seconds:.0f} s, and would take {on_gpus:,.0f} s in all"
        return Devices("cpu", 1), f"On the CPU: {what} take about {on_cores:,.0f} s there, {start}"
    where = f"{gpus.n} GPUs" if gpus.n > 1 else "the GPU"
    return gpus, f"On {where}: {what} take about {on_gpus:,.0f} s there, {on_cores:,.0f} s on the CPU"
