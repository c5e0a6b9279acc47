"""Where encoders run: `--devices` as people write it -> devices of this machine, one a process."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from indexer.errors import DeviceError
from indexer.process import may_have_gpu


class Device(Protocol):
    """A device of torch, or the processor without torch; `str` gives the name that torch knows it by."""

    @property
    def type(self) -> str:
        """Cpu or cuda."""


@dataclass(frozen=True, slots=True)
class Host:
    """The processor, for what needs no torch."""

    type: Literal["cpu"] = "cpu"

    def __str__(self) -> str:
        return self.type


HOST = Host()

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
    if text == "auto" and not may_have_gpu():
        return Devices("cpu", 1)
    n_there = _count_gpus()
    if text == "auto":
        return Devices("cuda", n_there, os.environ.get(MASK)) if n_there else Devices("cpu", 1)
    if re.fullmatch(r"[1-9][0-9]{0,3}", text):
        numbers = list(range(int(text)))
    elif re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*,?", text) and "," in text:
        numbers = [int(number) for number in text.rstrip(",").split(",")]
    else:
        raise DeviceError(f'--devices "{text}" is not one of auto, cpu, cpu:2, a number of GPUs, or a list such as 0,2')
    if len(set(numbers)) != len(numbers):
        raise DeviceError(f'--devices "{text}" names a GPU twice')
    if max(numbers) >= n_there:
        mask = os.environ.get(MASK)
        there = f"this machine has {n_there}" if mask is None else f'{MASK} "{mask}" shows {n_there}'
        raise DeviceError(f'--devices "{text}" asks for GPU {max(numbers)}, {there}; try --devices cpu')
    return _gpus(numbers)


def first_devices(kind: str, n: int) -> Devices:
    """The first `n` GPUs, or `n` processes on the cores."""
    return _gpus(range(n)) if kind == "cuda" else Devices(kind, n)


def use_device(device: Device) -> None:
    """Make a GPU the one of this thread; to be called by each thread that uses CUDA.

    A thread's GPU is number 0 at first, where whatever names no device would open a context of half a gigabyte.
    """
    if device.type == "cuda":
        import torch

        torch.cuda.set_device(torch.device(str(device)))


def see_own_gpu(local: int) -> int:
    """Have a rank see its own GPU, before it touches CUDA; return the GPU's number as CUDA counts from then on.

    Ranks see all of their machine's GPUs, for NCCL's sake, but of parts of GPUs their own alone.
    """
    mask = _mask()
    if mask is None or not mask[0].startswith(_MIG):
        return local
    if local >= len(mask):
        shown = f'{MASK} "{",".join(mask)}" shows {len(mask)}'
        raise DeviceError(f'no GPU for local rank "{local}": {shown}; start as many ranks here, or name more')
    os.environ[MASK] = mask[local]
    return 0


def _mask() -> list[str] | None:
    """Entries of CUDA_VISIBLE_DEVICES, where it is set."""
    mask = os.environ.get(MASK)
    return None if mask is None else [entry.strip() for entry in mask.split(",")]


def _count_gpus() -> int:
    """How many ranks could have a GPU of their own, or a part of one."""
    import torch

    n, mask = torch.cuda.device_count(), _mask()
    return len(mask) if n and mask and mask[0].startswith(_MIG) else n


def _gpus(numbers: Sequence[int]) -> Devices:
    """GPUs by their numbers, as this process counts those that it sees."""
    mask = _mask()
    visible = [str(number) if mask is None else mask[number] for number in numbers]
    return Devices("cuda", len(numbers), ",".join(visible), first=numbers[0])
