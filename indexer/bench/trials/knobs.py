"""What can be varied when pictures become vectors? One frozen configuration, and the ways to vary it. No torch here."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from indexer.errors import BenchError, DeviceError
from indexer.library.plans import BLOCK_SIZE

Strategy = Literal["ranks", "data-parallel", "threads"]
Sweeps = Sequence[tuple[str, list[Any]]]
"""Knobs and the values that each of them takes."""
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Knobs of any benchmark."""

    def label(self, *, of: Self | None = None) -> str:
        """Spell what differs from another configuration, the default if none is given."""
        before, now = asdict(of or type(self)()), asdict(self)
        return " ".join(f"{name}={spell(now[name])}" for name in now if now[name] != before[name]) or "base"


@dataclass(frozen=True, slots=True)
class Knobs(Configuration):
    """One configuration; docs/performance.md says what each knob means. None stands for "auto": as `index` chooses."""

    path: Literal["index", "loop", "naive"] = "index"
    """index: what `icons index` runs; loop: a plain loop with more knobs; naive: the script everyone writes first."""
    strategy: Strategy = "ranks"
    loader: Literal["icons", "files", "memory"] = "icons"
    devices: int = 1
    batch: int | None = None
    """Of one device: strategies that split a batch by themselves get as many times as much."""
    workers: int | None = None
    prefetch: int | None = None
    pinned: bool = False
    shuffle: bool = False
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    precision: Literal["auto", "fp64", "fp32", "tf32", "bf16", "fp16", "int8"] = "auto"
    size: int | None = None
    compile: bool = False
    channels_last: bool = True
    cudnn_benchmark: bool = False
    copy: Literal["batch", "item", "stream", "stream-high"] = "batch"
    barrier: bool = False


NAIVE = Knobs(path="naive", loader="files", batch=64, workers=0, precision="fp32", channels_last=False)
"""The script as the original post prints it: PNG files, Pillow, the stock transform, no loader workers, fp32."""
OF_INDEX = ("devices", "batch", "workers", "backend", "precision")
"""Knobs that `icons index` has itself; any other needs the loop."""
_OF_GPUS: Mapping[str, Sequence[Any]] = {
    "backend": ["nccl"],
    "precision": ["tf32"],
    "strategy": ["data-parallel"],
    "pinned": [True],
    "cudnn_benchmark": [True],
    "copy": ["stream", "stream-high"],
}
_PRECISIONS_OF_INDEX = ("auto", "fp32", "bf16", "fp16", "int8")
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "prefetch": {"loader": "files", "workers": 2},
    "barrier": {"devices": 2},
    "backend": {"devices": 2},
    "strategy": {"devices": 2},
}
"""What a knob's effect can be seen with: put into the base of its sweep, where the base has it not."""


def spell(value: Any) -> str:
    """Spell a knob's value as the command line takes it."""
    if value is None:
        return AUTO
    if isinstance(value, float):
        return f"{value:g}"
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def parse(name: str, text: str, *, of: type[Any] = Knobs) -> Any:
    """Read the value of a knob of a configuration, a dataclass.

    Raises:
        BenchError: there is no such knob, or it does not take this value.
    """
    kinds = {field.name: field.type for field in fields(of)}
    if name not in kinds or name == "path":
        known = ", ".join(sorted(kinds.keys() - {"path"}))
        raise BenchError(f'no knob "{name}"; there are {known}')
    kind = kinds[name]
    choices: dict[str, Any] = {choice: choice for choice in get_args(kind) if isinstance(choice, str)}
    if kind is bool:
        choices = {"on": True, "off": False}
    if text in choices:
        return choices[text]
    least = 0 if name == "workers" else 1
    if choices:
        what = ", ".join(choices)
    elif kind is float or kind == float | None:
        what = "a number above 0" + ("" if kind is float else " or auto")
        if text == AUTO and kind is not float:
            return None
        with suppress(ValueError):
            if 0 < float(text) < math.inf:
                return float(text)
    else:
        what = f"a number from {least}" + ("" if kind is int else " or auto")
        if text == AUTO and kind is not int:
            return None
        if text.isascii() and text.isdigit() and int(text) >= least:
            return int(text)
    raise BenchError(f'"{text}" is no value of {name}; it takes {what}')


def parse_setting(text: str, *, of: type[Any] = Knobs) -> tuple[str, Any]:
    """Read `KNOB=VALUE`."""
    name, _, value = text.partition("=")
    return name, parse(name, value, of=of)


def parse_sweep(text: str, *, of: type[Any] = Knobs) -> tuple[str, list[Any]]:
    """Read `KNOB=VALUE,VALUE,...`, in this order, each once."""
    name, _, values = text.partition("=")
    return name, list(dict.fromkeys(parse(name, value, of=of) for value in values.split(",")))


def one_at_a_time(base: Knobs, sweeps: Sweeps) -> Iterator[tuple[str, list[Knobs]]]:
    """Vary one knob after the other around a base: (knob, its configurations), all of a knob on one path."""
    for name, values in sweeps:
        needed = {key: _enough(getattr(base, key), value) for key, value in NEEDED.get(name, {}).items()}
        around = replace(base, **needed)
        yield name, on_one_path([replace(around, **{name: value}) for value in values])


def grid(base: Knobs, sweeps: Sweeps) -> list[Knobs]:
    """Every combination of the values of all sweeps, all on one path."""
    names = [name for name, _ in sweeps]
    chosen = itertools.product(*(values for _, values in sweeps))
    return on_one_path([replace(base, **dict(zip(names, values, strict=True))) for values in chosen])


def _enough(has: Any, needed: Any) -> Any:
    """What a base has already counts, where it is enough."""
    return max(has or 0, needed) if isinstance(needed, int) else needed


def on_one_path(configurations: list[Knobs]) -> list[Knobs]:
    """Put configurations that are compared with each other on one path: that of `index`, where all of them can be."""
    is_possible = all(fits_index(knobs) for knobs in configurations)
    return [replace(knobs, path="index" if is_possible else "loop") for knobs in configurations]


def fits_index(knobs: Knobs) -> bool:
    """Whether `icons index` can run a configuration itself."""
    plain = Knobs(**{name: getattr(knobs, name) for name in OF_INDEX})
    return replace(knobs, path="index") == plain and knobs.precision in _PRECISIONS_OF_INDEX


def check(knobs: Knobs, *, kind: str, n_devices: int, n_images: int) -> None:
    """Refuse what can't be measured with so many devices of a kind ("cpu" or "cuda") and so many pictures.

    Raises:
        DeviceError, BenchError: with the value that is wrong.
    """
    check_devices(knobs, _OF_GPUS, kind=kind, n_devices=n_devices)
    if knobs.batch is not None and knobs.path != "naive":  # which is what it is
        if knobs.batch > n_images // knobs.devices:
            of = f"{n_images} pictures" + (f" over {knobs.devices} devices" if knobs.devices > 1 else "")
            needed = knobs.batch * knobs.devices
            raise BenchError(f'batch "{knobs.batch}" is more than {of} can fill; give --images {needed}')
        if knobs.path == "index" and knobs.batch > BLOCK_SIZE["images"]:
            raise BenchError(
                f'batch "{knobs.batch}" is more than a block of `icons index`, {BLOCK_SIZE["images"]} pictures; '
                "sweep a knob beside it that puts both on the loop, such as --set shuffle=on"
            )
    if knobs.barrier and (knobs.devices == 1 or knobs.strategy != "ranks"):
        raise BenchError('barrier "on" needs strategy=ranks and devices=2 or more')
    if knobs.prefetch is not None and (knobs.loader != "files" or not knobs.workers):
        raise BenchError(f'prefetch "{knobs.prefetch}" needs loader=files and workers=1 or more')
    if knobs.copy != "batch" and knobs.strategy != "ranks":
        raise BenchError(f'copy "{knobs.copy}" needs strategy=ranks; {knobs.strategy} copies in its own way')
    if knobs.loader == "memory" and knobs.workers is not None:
        raise BenchError(f'workers "{knobs.workers}" have nothing to do with loader=memory; leave them out')


def check_devices(knobs: Any, of_gpus: Mapping[str, Sequence[Any]], *, kind: str, n_devices: int) -> None:
    """Refuse more devices than there are of a kind, and on CPUs the values of knobs that only GPUs take.

    Raises:
        DeviceError: with the value that is wrong.
    """
    if knobs.devices > n_devices:
        what = "GPUs" if kind == "cuda" else "cores, which stand for devices here"
        raise DeviceError(f'devices "{knobs.devices}" are more than there are: {n_devices} {what}')
    for name, values in of_gpus.items() if kind == "cpu" else ():
        if (value := getattr(knobs, name)) in values:
            what = f'{name} "{spell(value)}"'
            raise DeviceError(f"{what} needs GPUs, and this run is on the CPU; leave it out, or try --devices auto")
