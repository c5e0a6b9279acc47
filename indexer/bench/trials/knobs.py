"""What can be varied when pictures become vectors? One frozen configuration, and the ways to vary it. No torch here."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from indexer.errors import BenchError, DeviceError
from indexer.library.shards import BLOCK_SIZE

Strategy = Literal["ranks", "data-parallel", "threads"]
Loader = Literal["icons", "files"]
Route = Literal["index", "loop", "naive"]
Precision = Literal["auto", "fp64", "fp32", "tf32", "bf16", "fp16"]
Copy = Literal["batch", "item", "stream", "stream-high"]
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Knobs:
    """One configuration; docs/performance.md says what each knob means. None stands for "auto": as `index` chooses."""

    path: Route = "index"
    """index: what `icons index` runs; loop: a plain loop with more knobs; naive: the script everyone writes first."""
    strategy: Strategy = "ranks"
    loader: Loader = "icons"
    devices: int = 1
    batch: int | None = None
    workers: int | None = None
    prefetch: int | None = None
    pinned: bool = False
    shuffle: bool = False
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    precision: Precision = "auto"
    size: int | None = None
    compile: bool = False
    channels_last: bool = True
    cudnn_benchmark: bool = False
    copy: Copy = "batch"
    barrier: bool = False

    def label(self, *, of: "Knobs | None" = None) -> str:
        """Spell what differs from another configuration, the default if none is given."""
        return differing(self, of or Knobs())


NAIVE = Knobs(path="naive", loader="files", batch=64, workers=0, precision="fp32", channels_last=False)
"""The script as the original post prints it: PNG files, Pillow, the stock transform, no loader workers, fp32."""
OF_INDEX = ("devices", "batch", "workers", "backend", "precision")
"""Knobs that `icons index` has itself; any other needs the loop."""
_PRECISIONS_OF_INDEX = ("auto", "fp32", "bf16", "fp16")
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


def differing(knobs: Any, other: Any) -> str:
    """Spell where a configuration differs from another one of its kind."""
    before = asdict(other)
    return (
        " ".join(f"{name}={spell(value)}" for name, value in asdict(knobs).items() if value != before[name]) or "base"
    )


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
    if kind is bool:
        choices: Mapping[str, Any] = {"on": True, "off": False}
    elif choices_of := get_args(kind):
        choices = {} if int in choices_of else {choice: choice for choice in choices_of}
    else:
        choices = {}
    if text in choices:
        return choices[text]
    if choices:
        raise BenchError(f'"{text}" is no value of {name}; it takes {", ".join(choices)}')
    if kind is float:
        return _positive(name, text)
    if text == AUTO and kind is not int:
        return None
    least = 0 if name == "workers" else 1
    if not text.isascii() or not text.isdigit() or int(text) < least:
        what = f"a number from {least}" + ("" if kind is int else " or auto")
        raise BenchError(f'"{text}" is no value of {name}; it takes {what}')
    return int(text)


def _positive(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise BenchError(f'"{text}" is no value of {name}; it takes a number above 0')
    return value


def parse_setting(text: str, *, of: type[Any] = Knobs) -> tuple[str, Any]:
    """Read `KNOB=VALUE`."""
    name, _, value = text.partition("=")
    return name, parse(name, value, of=of)


def parse_sweep(text: str, *, of: type[Any] = Knobs) -> tuple[str, list[Any]]:
    """Read `KNOB=VALUE,VALUE,...`, in this order, each once."""
    name, _, values = text.partition("=")
    return name, list(dict.fromkeys(parse(name, value, of=of) for value in values.split(",")))


def one_at_a_time(base: Knobs, sweeps: Sequence[tuple[str, list[Any]]]) -> Iterator[tuple[str, list[Knobs]]]:
    """Vary one knob after the other around a base: (knob, its configurations), all of a knob on one path."""
    for name, values in sweeps:
        needed = {key: _enough(getattr(base, key), value) for key, value in NEEDED.get(name, {}).items()}
        around = replace(base, **needed)
        yield name, _on_one_path([replace(around, **{name: value}) for value in values])


def grid(base: Knobs, sweeps: Sequence[tuple[str, list[Any]]]) -> list[Knobs]:
    """Every combination of the values of all sweeps, all on one path."""
    names = [name for name, _ in sweeps]
    chosen = itertools.product(*(values for _, values in sweeps))
    return _on_one_path([replace(base, **dict(zip(names, values, strict=True))) for values in chosen])


def _enough(has: Any, needed: Any) -> Any:
    """What a base has already counts, where it is enough."""
    return max(has or 0, needed) if isinstance(needed, int) else needed


def _on_one_path(configurations: list[Knobs]) -> list[Knobs]:
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
    if knobs.devices > n_devices:
        what = "GPUs" if kind == "cuda" else "cores, which stand for devices here"
        raise DeviceError(f'devices "{knobs.devices}" are more than there are: {n_devices} {what}')
    if knobs.batch is not None and knobs.path != "naive":  # which is what it is
        _check_batch(knobs, knobs.batch, n_images=n_images)
    if kind == "cpu":
        _check_for_cpu(knobs)
    if knobs.barrier and (knobs.devices == 1 or knobs.strategy != "ranks"):
        raise BenchError('barrier "on" needs strategy=ranks and devices=2 or more')
    if knobs.prefetch is not None and (knobs.loader != "files" or not knobs.workers):
        raise BenchError(f'prefetch "{knobs.prefetch}" needs loader=files and workers=1 or more')


def _check_batch(knobs: Knobs, batch: int, *, n_images: int) -> None:
    """Refuse batches that would never be full."""
    ranks = knobs.devices if knobs.strategy == "ranks" else 1
    if batch > n_images // ranks:
        of = f"{n_images} pictures" + (f" over {ranks} devices" if ranks > 1 else "")
        raise BenchError(f'batch "{batch}" is more than {of} can fill; give --images {batch * ranks}')
    if knobs.path == "index" and batch > BLOCK_SIZE["images"]:
        raise BenchError(
            f'batch "{batch}" is more than a block of `icons index`, {BLOCK_SIZE["images"]} pictures; '
            "sweep a knob beside it that puts both on the loop, such as --set shuffle=on"
        )


def _check_for_cpu(knobs: Knobs) -> None:
    wanted = {
        'backend "nccl"': knobs.backend == "nccl",
        'precision "tf32"': knobs.precision == "tf32",
        'strategy "data-parallel"': knobs.strategy == "data-parallel",
        'pinned "on"': knobs.pinned,
        'cudnn_benchmark "on"': knobs.cudnn_benchmark,
        f'copy "{knobs.copy}"': knobs.copy.startswith("stream"),
    }
    for what, is_wanted in wanted.items():
        if is_wanted:
            raise DeviceError(f"{what} needs GPUs, and this run is on the CPU; leave it out, or try --devices auto")
