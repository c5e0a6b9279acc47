"""Where do the ranks of this machine run? `--devices` as people write it -> a number of processes and their devices."""

import re
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


@dataclass(frozen=True, slots=True)
class Devices:
    """Where the ranks of this machine run: `n` processes, each on a GPU or on its share of the cores."""

    device: str
    n: int
    visible: str | None = None
    """CUDA_VISIBLE_DEVICES for the ranks, where not all GPUs take part."""


def parse_devices(text: str) -> Devices:
    """Read `--devices`: auto, cpu, cpu:2 (two processes), 4 (the first four GPUs), 0,2 (these GPUs).

    Raises:
        DeviceError: it is none of these, or the GPUs are not there.
    """
    if match := re.fullmatch(r"cpu(?::([1-9][0-9]{0,2}))?", text):
        return Devices("cpu", int(match[1] or 1))
    if text == "auto" and not may_have_gpu():
        return Devices("cpu", 1)
    import torch

    n_there = torch.cuda.device_count()
    if text == "auto":
        return Devices("cuda", n_there) if n_there else Devices("cpu", 1)
    if re.fullmatch(r"[1-9][0-9]{0,3}", text):
        wanted = list(range(int(text)))
    elif re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*,?", text) and "," in text:
        wanted = [int(number) for number in text.rstrip(",").split(",")]
    else:
        raise DeviceError(f'--devices "{text}" is not one of auto, cpu, cpu:2, a number of GPUs, or a list such as 0,2')
    if len(set(wanted)) != len(wanted):
        raise DeviceError(f'--devices "{text}" names a GPU twice')
    if max(wanted) >= n_there:
        raise DeviceError(
            f'--devices "{text}" asks for GPU {max(wanted)}, this machine has {n_there}; try --devices cpu'
        )
    return Devices("cuda", len(wanted), ",".join(map(str, wanted)))
