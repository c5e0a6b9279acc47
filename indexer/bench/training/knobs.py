"""What can be varied when a model learns? One frozen configuration, and what is compared with what. No torch here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from indexer.bench.trials.knobs import Configuration, Sweeps, check_devices, spell
from indexer.errors import BenchError

Strategy = Literal["ddp-sampled", "ddp", "fsdp", "data-parallel"]
STRATEGIES: tuple[Strategy, ...] = ("data-parallel", "ddp", "ddp-sampled", "fsdp")
DDP_OPTIONS = ("bucket_cap_mb", "gradient_as_bucket_view", "static_graph", "find_unused_parameters")
NCCL_VARIABLES = {
    "nccl_min_channels": "NCCL_MIN_NCHANNELS",
    "nccl_max_channels": "NCCL_MAX_NCHANNELS",
    "nccl_buffer": "NCCL_BUFFSIZE",
    "nccl_p2p": "NCCL_P2P_DISABLE",
    "nccl_shm": "NCCL_SHM_DISABLE",
    "nccl_algo": "NCCL_ALGO",
    "nccl_proto": "NCCL_PROTO",
}
"""Knobs that the ranks find in their environment, by the variable; a switch that is off is a variable that is 1."""
NCCL_OPTIONS = (*NCCL_VARIABLES, "nccl_high_priority")
MOST_SIMULATED = 64
_OF_GPUS: Mapping[str, Sequence[Any]] = {
    "backend": ["nccl"],
    "precision": ["tf32", "fp16"],
    "strategy": ["data-parallel"],
    "sync_batch_norm": [True],
}
_OF_RANKS = (*DDP_OPTIONS, "sync_batch_norm", "backend", *NCCL_OPTIONS)
_SIZES = (96, 128)
_DECAY = 0.999
_NCCL_USUAL: tuple[dict[str, Any], ...] = (
    {"nccl_max_channels": 4},
    {"nccl_p2p": False},
    {"nccl_algo": "Ring"},
    {"nccl_algo": "Tree"},
    {"nccl_high_priority": True},
)
_NCCL_MORE: tuple[dict[str, Any], ...] = (
    {"nccl_max_channels": 1},
    {"nccl_min_channels": 32},
    {"nccl_buffer": 1 << 20},
    {"nccl_buffer": 16 << 20},
    {"nccl_p2p": False, "nccl_shm": False},
    {"nccl_proto": "LL"},
    {"nccl_proto": "LL128"},
    {"nccl_proto": "Simple"},
)


@dataclass(frozen=True, slots=True)
class TrainKnobs(Configuration):
    """One configuration; docs/performance.md says what each knob means. None stands for "auto"."""

    strategy: Strategy = "ddp-sampled"
    """ddp-sampled: `icons finetune`, whose ranks read their own part of a batch; ddp: ranks that read all of it; fsdp:
    that of `icons finetune --strategy fsdp`."""
    devices: int = 1
    batch: int = 64
    """Icons a step, over all devices."""
    accumulate: int = 1
    accumulation: Literal["whole", "plain", "plain-no-sync"] = "whole"
    """whole: one loss over all micro-batches, as `icons finetune` has it; plain: one each, with ranks that exchange
    gradients after every micro-batch, or after the last."""
    precision: Literal["auto", "fp64", "fp32", "tf32", "bf16", "fp16"] = "auto"
    size: int | None = None
    """Side of a picture in px."""
    step_seconds: float | None = None
    """None: a step is computed. Else it takes so long on a device that is simulated, of which there may be many."""
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    bucket_cap_mb: float = 25.0
    gradient_as_bucket_view: bool = True
    static_graph: bool = False
    find_unused_parameters: bool = False
    """Of DDP: for models that leave some of their weights out of a step."""
    sync_batch_norm: bool = False
    """Batch norms look at the pictures of all ranks, not of each alone; on GPUs."""
    compile: bool = False
    grad_checkpointing: bool = False
    ema: float = 0.0
    """Decay of the moving average that is validated and saved; 0: none."""
    picture_tower: Literal["full", "lora", "locked"] = "full"
    nccl_min_channels: int | None = None
    nccl_max_channels: int | None = None
    nccl_buffer: int | None = None
    """Bytes."""
    nccl_p2p: bool = True
    nccl_shm: bool = True
    nccl_algo: Literal["auto", "Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT"] = "auto"
    nccl_proto: Literal["auto", "LL", "LL128", "Simple"] = "auto"
    nccl_high_priority: bool = False

    def changed(self, names: Sequence[str]) -> dict[str, Any]:
        """Those of some knobs that are not as they usually are."""
        usual = TrainKnobs()
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the ranks are started with."""
        changed = self.changed(tuple(NCCL_VARIABLES)).items()
        found = {NCCL_VARIABLES[name]: "1" if value is False else str(value) for name, value in changed}
        return found | ({"NCCL_ALGO": _algorithms(self.nccl_algo)} if "NCCL_ALGO" in found else {})

    @property
    def is_simulated(self) -> bool:
        """Whether a step is a delay, and needs no device."""
        return self.step_seconds is not None

    @property
    def ranks(self) -> int:
        """Processes."""
        return 1 if self.strategy == "data-parallel" else self.devices


def _algorithms(name: str) -> str:
    """Spell an algorithm for the operations that have it, Ring for all others (NCCL 2.24 and later).

    NCCL refuses an operation for which `NCCL_ALGO` leaves it none, such as the broadcast that DDP begins with.
    """
    if name == "Ring":
        return name
    operations = ("allgather", "reducescatter") if name == "PAT" else ("allreduce",)
    return ";".join(["Ring", *(f"{operation}:{name}" for operation in operations)])


def usual_group_names(kind: str, n_devices: int, *, is_thorough: bool = False) -> list[str]:
    """Name the groups that are compared on so many devices of a kind ("cpu" or "cuda") without sweeps, in order."""
    base = TrainKnobs(devices=n_devices)
    groups = groups_of(base, n_devices=n_devices, kind=kind, sweeps=(), is_thorough=is_thorough)
    return [name for name, _ in groups]


def groups_of(
    base: TrainKnobs, *, n_devices: int, kind: str, sweeps: Sweeps, is_thorough: bool
) -> list[tuple[str, list[TrainKnobs]]]:
    """Configurations by the group that they are compared in; the first of each is what the others are held against.

    Without sweeps what the base's settings rule out is left out.
    """
    if sweeps:
        return [(name, _varied(base, name, values)) for name, values in sweeps]
    found: list[tuple[str, list[TrainKnobs]]] = []
    if n_devices > 1:
        found += _groups_of_ranks(replace(base, devices=n_devices), kind=kind, is_thorough=is_thorough)
    batches = (base.batch // 2, base.batch * 2, *((base.batch * 4, base.batch * 8) if is_thorough else ()))
    precisions = ("fp32", "tf32", "bf16", "fp16") if kind == "cuda" else ("fp32", "bf16")
    found.append(("batch", _varied(base, "batch", batches)))
    found.append(("accumulate", _varied(base, "accumulate", (1, 2, 4) if is_thorough else (2,))))
    found.append(("accumulation", _varied(replace(base, accumulate=2), "accumulation", _accumulations(base))))
    found.append(("precision", _varied(base, "precision", (*(("fp64",) if is_thorough else ()), *precisions))))
    if not base.is_simulated:
        found.append(("options", _options(base, kind=kind)))
    if is_thorough:
        found.append(("size", _varied(base, "size", _SIZES)))
    if n_devices > 2 or (is_thorough and n_devices > 1):
        counts = sorted({1, 2, 4, 8, n_devices} & set(range(1, n_devices + 1)))
        found.append(("devices", [_fitting(replace(base, devices=n)) for n in counts]))
    possible = [(name, [one for one in configurations if not any(_misplaced(one))]) for name, configurations in found]
    return [(name, configurations) for name, configurations in possible if len(configurations) > 1]


def _fitting(knobs: TrainKnobs) -> TrainKnobs:
    """The same without those settings for ranks that have nothing to turn in it."""
    usual = TrainKnobs()
    if knobs.strategy == "data-parallel":
        knobs = replace(knobs, accumulate=usual.accumulate, accumulation=usual.accumulation)
    vain = {name for name, _ in _misplaced(knobs)} & set(_OF_RANKS)
    return replace(knobs, **{name: getattr(usual, name) for name in vain})


def _groups_of_ranks(many: TrainKnobs, *, kind: str, is_thorough: bool) -> list[tuple[str, list[TrainKnobs]]]:
    """What needs several devices: ways to share a batch, options of DDP, and, on GPUs, those of NCCL."""
    is_gpu = kind == "cuda"
    alone = _fitting(replace(many, strategy="ddp-sampled", devices=1))
    ways = [_fitting(replace(many, strategy=way)) for way in STRATEGIES if is_gpu or way != "data-parallel"]
    found = [("strategy", [alone, *ways]), ("DDP options", _ddp_options(many, kind=kind, is_thorough=is_thorough))]
    if is_gpu and many.backend != "gloo":
        changed = (*_NCCL_USUAL, *(_NCCL_MORE if is_thorough else ()))
        found.append(("NCCL", [many, *(replace(many, **one) for one in changed)]))
    return found


def _accumulations(base: TrainKnobs) -> tuple[str, ...]:
    """One rank exchanges nothing; a static graph exchanges always."""
    return ("plain", "plain-no-sync") if base.ranks > 1 and not base.static_graph else ("plain",)


def _varied(base: TrainKnobs, name: str, values: Sequence[Any]) -> list[TrainKnobs]:
    """The base, then the same with each value that it has not."""
    return list(dict.fromkeys([base, *(replace(base, **{name: value}) for value in values)]))


def _ddp_options(base: TrainKnobs, *, kind: str, is_thorough: bool) -> list[TrainKnobs]:
    """The base, then each option of DDP changed alone."""
    changed: list[dict[str, Any]] = [{"bucket_cap_mb": size} for size in ((1.0, 5.0, 100.0) if is_thorough else (1.0,))]
    changed.append({"gradient_as_bucket_view": not base.gradient_as_bucket_view})
    changed.append({"static_graph": not base.static_graph})
    if kind == "cuda":
        changed.append({"backend": "gloo"})
    return [base, *(replace(base, **one) for one in changed)]


def _options(base: TrainKnobs, *, kind: str) -> list[TrainKnobs]:
    """The base, then each option of a student's computing changed alone; of ranks and of GPUs where there are such."""
    changed: list[dict[str, Any]] = [{"grad_checkpointing": not base.grad_checkpointing}]
    if kind == "cuda" and base.strategy != "data-parallel":
        changed.append({"compile": not base.compile})
    if kind == "cuda" and base.ranks > 1:
        changed.append({"sync_batch_norm": not base.sync_batch_norm})
    if base.ranks > 1 and base.strategy != "fsdp" and not base.static_graph:
        changed.append({"find_unused_parameters": not base.find_unused_parameters})
    changed += [{"ema": _DECAY}, {"picture_tower": "lora"}, {"picture_tower": "locked"}]
    return list(dict.fromkeys([base, *(replace(base, **one) for one in changed)]))


def check(knobs: TrainKnobs, *, kind: str, n_devices: int) -> None:
    """Refuse what can't be measured on so many devices of a kind ("cpu" or "cuda").

    Raises:
        DeviceError, BenchError: with the value that is wrong.
    """
    of_gpus = {**_OF_GPUS, **{name: [value] for name, value in knobs.changed(NCCL_OPTIONS).items()}}
    if knobs.is_simulated:
        _check_simulated(knobs, of_gpus)
        kind, n_devices = "cpu", MOST_SIMULATED
    check_devices(knobs, of_gpus, kind=kind, n_devices=n_devices)
    for name, needed in _misplaced(knobs):
        raise BenchError(f'{name} "{spell(getattr(knobs, name))}" {needed}')
    parts = knobs.devices * knobs.accumulate
    if knobs.batch % parts or knobs.batch < 2 * parts:
        raise BenchError(
            f'batch "{knobs.batch}" does not give {knobs.devices} devices x {knobs.accumulate} micro-batches as much '
            f"each, and two icons at least; give a multiple of {parts}, such as batch={4 * parts}"
        )


def _check_simulated(knobs: TrainKnobs, of_gpus: Mapping[str, Sequence[Any]]) -> None:
    """Refuse what only a device that computes can take.

    Raises:
        BenchError: with the value.
    """
    for name, values in of_gpus.items():
        if (value := getattr(knobs, name)) in values:
            raise BenchError(f'{name} "{spell(value)}" needs a device that computes; leave it out, or step_seconds')


def _misplaced(knobs: TrainKnobs) -> Iterator[tuple[str, str]]:
    """Knobs that have nothing to turn in a configuration, and what they need."""
    is_split = knobs.strategy == "data-parallel"
    if knobs.ranks == 1:
        for name in knobs.changed((*_OF_RANKS, "accumulate") if is_split else _OF_RANKS):
            yield name, "needs several ranks; set devices=2 or more, not data-parallel"
    if knobs.strategy != "ddp-sampled" and knobs.devices == 1:
        yield "strategy", "needs devices=2 or more"
    if knobs.backend == "gloo":
        for name in knobs.changed(NCCL_OPTIONS):
            yield name, "needs backend=nccl"
    if knobs.strategy == "fsdp":
        for name in knobs.changed(DDP_OPTIONS):
            yield name, "is an option of DDP; leave it out, or set strategy=ddp-sampled"
        if knobs.precision == "fp16":
            yield "precision", "does not go with strategy=fsdp, which scales no loss; set precision=bf16"
    yield from _misplaced_options(knobs)


def _misplaced_options(knobs: TrainKnobs) -> Iterator[tuple[str, str]]:
    """Of those, the ones that do not go with another option of a step."""
    if knobs.static_graph and knobs.find_unused_parameters:
        yield "find_unused_parameters", "goes with static_graph=off; a static graph finds them by itself"
    if knobs.compile and knobs.strategy == "data-parallel":
        yield "compile", "needs a process a device; set strategy=ddp-sampled"
    if knobs.ema >= 1:
        yield "ema", "is no decay; set a number below 1"
    if knobs.accumulation != "whole" and knobs.accumulate == 1:
        yield "accumulation", "needs accumulate=2 or more"
    if knobs.accumulation == "plain-no-sync" and (knobs.ranks == 1 or knobs.static_graph):
        yield "accumulation", "needs several ranks and static_graph=off; set devices=2 or more"


def check_batch(knobs: TrainKnobs, *, n_icons: int) -> None:
    """Refuse a batch that there are not enough icons for.

    Raises:
        BenchError: with the batch.
    """
    if knobs.batch > n_icons:
        raise BenchError(f'batch "{knobs.batch}" is more than the {n_icons:,} icons; give a smaller one, or a SOURCE')
