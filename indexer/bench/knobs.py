"""Knobs of embedding and of training, a table for each, and what is compared.

A run holds the knobs that are not as usual. What `icons index` and `icons lab finetune` do is measured by them
(`program=product`); other knobs are turned in the script that everyone writes first (`program=plain`), and then all
values that are compared with each other are. docs/performance.md says what each knob means.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from indexer.errors import BenchError, DeviceError

PRODUCT, PLAIN = "product", "plain"
AUTO = "auto"
Config = Mapping[str, Any]
"""Knobs and their values; one that is not in it is as usual."""
Groups = list[tuple[str, list[dict[str, Any]]]]
"""Configurations by what they are compared in; the first of each is what the others are held against."""


@dataclass(frozen=True, slots=True)
class Knob:
    """Something that can be turned."""

    kind: type | tuple[str, ...]
    """Of its values; a tuple lists them."""
    usual: Any = None
    """None: auto, as the program chooses."""
    tried: tuple[Any, ...] = ()
    """Where nobody says what to try."""
    also: tuple[Any, ...] = ()
    """With `--thorough`."""
    gpu: tuple[Any, ...] = ()
    """Values that only GPUs take."""
    plain: tuple[Any, ...] | None = ()
    """Values that the product has not; None: the whole knob."""
    needs: Mapping[str, Any] = field(default_factory=dict)
    """What its effect can be seen with: a number is the least."""
    group: str = ""
    """What it is compared in, together with others; by itself where this is empty."""
    least: int = 1
    variable: str = ""
    """Of the environment that ranks are started with."""

    def is_plain(self, value: Any) -> bool:
        """Whether a value needs the plain script."""
        return self.plain is None or value in self.plain


Table = Mapping[str, Knob]


_of_ddp = partial(Knob, needs={"devices": 2, "strategy": "ddp"}, group="DDP options")
_of_step = partial(Knob, group="options")
_of_nccl = partial(Knob, needs={"devices": 2}, group="NCCL")
_PRECISIONS = (AUTO, "fp32", "tf32", "bf16", "fp16", "int8")
_ALGORITHMS = (AUTO, "Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT")
EMBED: Table = {
    "program": Knob((PRODUCT, PLAIN), PRODUCT),
    "devices": Knob(int, 1),
    "batch": Knob(int, None, (32, 64, 256, 512), (128, 768, 1024, 1080, 1280, 1400)),
    "workers": Knob(int, None, (1, 2, 4, 8, 16), (0,), least=0),
    "precision": Knob(_PRECISIONS, AUTO, ("fp32", "bf16", "fp16"), gpu=("tf32", "fp16"), plain=("tf32",)),
    "strategy": Knob(("ranks", "data-parallel"), "ranks", gpu=("data-parallel",), plain=None, needs={"devices": 2}),
    "pinned": Knob(bool, False, (True,), gpu=(True,), plain=None),
    "shuffle": Knob(bool, False, (), (True,), plain=None),
    "loader": Knob(("files", "memory"), "files", plain=None),
}
TRAIN: Table = {
    "devices": Knob(int, 1),
    "strategy": Knob(("ddp", "fsdp"), "ddp", ("fsdp",), needs={"devices": 2}),
    "batch": Knob(int, 0, least=2),
    "accumulate": Knob(int, 1, (2,), (4,)),
    "precision": Knob((AUTO, "fp32", "bf16", "fp16"), AUTO, ("fp32", "bf16", "fp16"), gpu=("fp16",)),
    "backend": Knob((AUTO, "nccl", "gloo"), AUTO, ("nccl", "gloo"), gpu=("nccl",), needs={"devices": 2}),
    "bucket_cap_mb": _of_ddp(float, 25.0, (1.0,), (5.0, 100.0)),
    "gradient_as_bucket_view": _of_ddp(bool, True, (False,)),
    "static_graph": _of_ddp(bool, False, (True,)),
    "find_unused_parameters": _of_ddp(bool, False, (True,)),
    "sync_batch_norm": _of_step(bool, False, (True,), gpu=(True,), needs={"devices": 2}),
    "grad_checkpointing": _of_step(bool, False, (True,)),
    "ema": _of_step(float, 0.0, (0.999,)),
    "picture_tower": _of_step(("full", "lora", "locked"), "full", ("lora", "locked")),
    "nccl_min_channels": _of_nccl(int, None, (), (32,), variable="NCCL_MIN_NCHANNELS"),
    "nccl_max_channels": _of_nccl(int, None, (4,), (1,), variable="NCCL_MAX_NCHANNELS"),
    "nccl_buffer": _of_nccl(int, None, (), (1 << 20, 16 << 20), variable="NCCL_BUFFSIZE"),
    "nccl_p2p": _of_nccl(bool, True, (False,), variable="NCCL_P2P_DISABLE"),
    "nccl_shm": _of_nccl(bool, True, (), (False,), variable="NCCL_SHM_DISABLE"),
    "nccl_algo": _of_nccl(_ALGORITHMS, AUTO, ("Ring", "Tree"), variable="NCCL_ALGO"),
    "nccl_proto": _of_nccl((AUTO, "LL", "LL128", "Simple"), AUTO, (), ("LL", "LL128", "Simple"), variable="NCCL_PROTO"),
    "nccl_high_priority": _of_nccl(bool, False, (True,), variable="TORCH_NCCL_HIGH_PRIORITY"),
}


def spell(value: Any) -> str:
    """Spell a knob's value as the command line takes it."""
    known = {None: AUTO, True: "on", False: "off"}
    return (
        known[value]
        if value is None or isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def parse(table: Table, name: str, text: str) -> Any:
    """Read the value of a knob. Raises BenchError: there is no such knob, or it does not take this value."""
    if name not in table:
        raise BenchError(f'no knob "{name}"; there are {", ".join(sorted(table))}')
    knob = table[name]
    switch: dict[str, Any] = {"on": True, "off": False} if knob.kind is bool else {}
    named = {choice: choice for choice in knob.kind} if isinstance(knob.kind, tuple) else switch
    choices = {**named, **({AUTO: None} if knob.usual is None else {})}
    if text in choices:
        return choices[text]
    with suppress(ValueError):
        if knob.kind in (int, float) and (knob.least if knob.kind is int else 1e-9) <= float(text) < math.inf:
            return knob.kind(text)
    numbers = {int: f"a number from {knob.least}", float: "a number above 0"}
    what = ", ".join([*(numbers[kind] for kind in numbers if kind is knob.kind), *choices])
    raise BenchError(f'"{text}" is no value of {name}; it takes {what}')


def parse_setting(table: Table, text: str) -> tuple[str, Any]:
    """Read `KNOB=VALUE`."""
    name, _, value = text.partition("=")
    return name, parse(table, name, value)


def parse_sweep(table: Table, text: str) -> tuple[str, list[Any]]:
    """Read `KNOB=VALUE,VALUE,...`, in this order, each once."""
    name, _, values = text.partition("=")
    return name, list(dict.fromkeys(parse(table, name, value) for value in values.split(",")))


def label(table: Table, config: Config, among: Sequence[Config]) -> str:
    """Name a configuration by what sets it apart from the first of those that it is compared with."""
    values = [{name: other.get(name, knob.usual) for name, knob in table.items()} for other in (*among, config)]
    own, first = values[-1], values[0]
    varied = [name for name in table if any(other[name] != first[name] for other in values)]
    names = [name for name in varied if own[name] != first[name]] or (
        varied if own == first and len(varied) < 4 else []
    )
    return ", ".join(f"{name}={spell(own[name])}" for name in names) or "base"


def turned(table: Table, base: Config, **values: Any) -> dict[str, Any]:
    """Turn knobs of a configuration; one that is turned to the usual is no part of it, but for the devices."""
    return {
        name: value for name, value in {**base, **values}.items() if name == "devices" or value != table[name].usual
    }


def on_one_program(table: Table, configs: Sequence[Config]) -> list[dict[str, Any]]:
    """Have configurations that are compared run in the same program: the product where it has all of their knobs."""
    items = [item for config in configs for item in config.items()]
    is_plain = ("program", PLAIN) in items or any(table[name].is_plain(value) for name, value in items)
    return [{**config, "program": PLAIN} if is_plain else dict(config) for config in configs]


def swept(table: Table, base: Config, sweeps: Sequence[tuple[str, list[Any]]], *, is_grid: bool = False) -> Groups:
    """Vary one knob after the other around a base, or take all combinations."""
    if not is_grid:
        return [(name, _varied(table, base, name, values)) for name, values in sweeps]
    if not sweeps:
        raise BenchError("--grid needs at least one --sweep KNOB=VALUE,VALUE")
    names, values = zip(*sweeps, strict=True)
    grid = [turned(table, base, **dict(zip(names, chosen, strict=True))) for chosen in itertools.product(*values)]
    return [("grid", on_one_program(table, grid))]


def usual_groups(
    table: Table, base: Config, *, kind: str, n_devices: int, is_thorough: bool, most: Mapping[str, int]
) -> Groups:
    """What is compared where nobody says what: every knob by itself, or those of one group each changed alone.

    `most` is the largest value of some knobs.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, knob in table.items():
        tried = [*knob.tried, *(knob.also if is_thorough else ())]
        values = [
            value
            for value in ([base["batch"] // 2, base["batch"] * 2] if table is TRAIN and name == "batch" else tried)
            if name not in most or value <= most[name]
            if kind == "cuda" or not (value in knob.gpu or knob.group == "NCCL")
        ]
        if knob.needs.get("devices", 1) <= n_devices and values:
            own = _with_needed(table, base, name).get(name, knob.usual)
            some = found.setdefault(knob.group or name, [])
            some += [config for config in _varied(table, base, name, [own, *values]) if config not in some]
    return [(name, on_one_program(table, configs)) for name, configs in found.items() if len(configs) > 1]


def _varied(table: Table, base: Config, name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    around = _with_needed(table, base, name)
    configs = [turned(table, around, **{name: value}) for value in values]
    return on_one_program(table, [config for place, config in enumerate(configs) if config not in configs[:place]])


def _with_needed(table: Table, base: Config, name: str) -> dict[str, Any]:
    """A base in which a knob has an effect."""
    return turned(
        table,
        base,
        **{other: value for other, value in table[name].needs.items() if not _has(table, base, other, value)},
    )


def _has(table: Table, config: Config, name: str, needed: Any) -> bool:
    value = config.get(name, table[name].usual)
    return bool((value or 0) >= needed) if isinstance(needed, int) else value == needed


def scaled(table: Table, base: Config, n_devices: int) -> list[dict[str, Any]]:
    """A base on 1 to N devices."""
    counts = [n for n in range(1, n_devices + 1) if n in (1, 2, 3, 4, 6, 8) or n == n_devices]
    return on_one_program(table, [turned(table, base, devices=n) for n in counts])


def strategies(base: Config, *, kind: str, n_devices: int) -> list[dict[str, Any]]:
    """One device and all of them in every way, by the product and by the plain script."""
    counts = sorted({1, n_devices})
    found = [turned(EMBED, base, program=program, devices=n) for program in (PRODUCT, PLAIN) for n in counts]
    is_split = kind == "cuda" and n_devices > 1
    return [*found, *[turned(EMBED, base, program=PLAIN, devices=n_devices, strategy="data-parallel")] * is_split]


def check(table: Table, config: Config, *, kind: str, n_devices: int) -> None:
    """Refuse what can't be measured with so many devices of a kind ("cpu" or "cuda").

    Raises:
        DeviceError, BenchError: with the value that is wrong.
    """
    devices = config["devices"]
    if devices > n_devices:
        what = "GPUs" if kind == "cuda" else "cores, which stand for devices here"
        raise DeviceError(f'devices "{devices}" are more than there are: {n_devices} {what}')
    for name, value in config.items():
        knob, said = table[name], f'{name} "{spell(value)}"'
        if kind == "cpu" and (value in knob.gpu or knob.group == "NCCL"):
            raise DeviceError(f"{said} needs GPUs, and this run is on the CPU; leave it out, or try --devices auto")
        if config.get("program", PRODUCT) == PRODUCT and knob.is_plain(value):
            raise BenchError(f"{said} is no knob of the product; give --set program=plain")
        if config.get("program", PRODUCT) == PLAIN and value == "int8":
            raise BenchError(f"{said} is no knob of the plain script; leave program=plain out")
        for other, needed in knob.needs.items() if value != knob.usual else ():
            if not _has(table, config, other, needed):
                more = " or more" if isinstance(needed, int) else ""
                raise BenchError(f"{said} needs {other}={spell(needed)}{more}")
    parts = devices * config.get("accumulate", 1)
    if table is TRAIN and (config["batch"] % parts or config["batch"] < 2 * parts):
        raise BenchError(
            f'batch "{config["batch"]}" does not give {devices} devices x {parts // devices} micro-batches as much '
            f"each, and two icons at least; give a multiple of {parts}, such as batch={4 * parts}"
        )


def environment(config: Config) -> dict[str, str]:
    """Variables that ranks are started with; a switch that is turned is a variable that is 1."""
    turned_knobs = {TRAIN[name].variable: value for name, value in config.items() if name in TRAIN}
    spelled = {name: "1" if isinstance(value, bool) else str(value) for name, value in turned_knobs.items() if name}
    if algorithm := spelled.get("NCCL_ALGO"):
        # For the operations that have it, Ring for all others (NCCL 2.24 and later): NCCL refuses an operation that is
        # left none, such as the broadcast that DDP begins with.
        operations = {"Ring": (), "PAT": ("allgather", "reducescatter")}.get(algorithm, ("allreduce",))
        spelled["NCCL_ALGO"] = ";".join(["Ring", *(f"{operation}:{algorithm}" for operation in operations)])
    return spelled
