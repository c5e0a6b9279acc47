"""What can be varied when a model learns? One frozen configuration, and what is compared with what. No torch here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from indexer.bench.trials.knobs import Configuration, Sweeps, check_devices, spell
from indexer.errors import BenchError

Strategy = Literal["ddp-sampled", "ddp", "data-parallel"]
STRATEGIES: tuple[Strategy, ...] = ("data-parallel", "ddp", "ddp-sampled")
DDP_OPTIONS = ("bucket_cap_mb", "gradient_as_bucket_view", "static_graph")
_OF_GPUS = {"backend": ["nccl"], "precision": ["fp16"], "strategy": ["data-parallel"]}
_OF_RANKS = (*DDP_OPTIONS, "backend", "accumulate")


@dataclass(frozen=True, slots=True)
class TrainKnobs(Configuration):
    """One configuration; docs/performance.md says what each knob means."""

    strategy: Strategy = "ddp-sampled"
    """ddp-sampled: `icons finetune`, whose ranks read their own part of a batch; ddp: ranks that read all of it."""
    devices: int = 1
    batch: int = 64
    """Icons a step, over all devices."""
    accumulate: int = 1
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    bucket_cap_mb: float = 25.0
    gradient_as_bucket_view: bool = True
    static_graph: bool = False

    @property
    def ranks(self) -> int:
        """Processes."""
        return 1 if self.strategy == "data-parallel" else self.devices


def groups_of(
    base: TrainKnobs, *, n_devices: int, kind: str, sweeps: Sweeps, is_thorough: bool
) -> list[tuple[str, list[TrainKnobs]]]:
    """Configurations by the group that they are compared in; the first of each is what the others are held against."""
    if sweeps:
        return [(name, _varied(base, name, values)) for name, values in sweeps]
    found: list[tuple[str, list[TrainKnobs]]] = []
    if n_devices > 1:
        many = replace(base, devices=n_devices)
        alone = replace(base, strategy="ddp-sampled", devices=1)
        ways = [strategy for strategy in STRATEGIES if kind == "cuda" or strategy != "data-parallel"]
        found.append(("strategy", [alone, *(replace(many, strategy=strategy) for strategy in ways)]))
        found.append(("DDP options", _ddp_options(many, kind=kind, is_thorough=is_thorough)))
    batches = (base.batch // 2, base.batch * 2, *((base.batch * 4, base.batch * 8) if is_thorough else ()))
    precisions = ("fp32", "bf16", "fp16") if kind == "cuda" else ("fp32", "bf16")
    found.append(("batch", _varied(base, "batch", batches)))
    found.append(("accumulate", _varied(base, "accumulate", (1, 2, 4) if is_thorough else (2,))))
    found.append(("precision", _varied(base, "precision", precisions)))
    if n_devices > 2 or (is_thorough and n_devices > 1):
        counts = sorted({1, 2, 4, 8, n_devices} & set(range(1, n_devices + 1)))
        found.append(("devices", [replace(base, devices=n) for n in counts]))
    return found


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


def check(knobs: TrainKnobs, *, kind: str, n_devices: int) -> None:
    """Refuse what can't be measured on so many devices of a kind ("cpu" or "cuda").

    Raises:
        DeviceError, BenchError: with the value that is wrong.
    """
    check_devices(knobs, _OF_GPUS, kind=kind, n_devices=n_devices)
    if knobs.ranks == 1:
        for name in _OF_RANKS if knobs.strategy == "data-parallel" else (*DDP_OPTIONS, "backend"):
            value = getattr(knobs, name)
            if value != getattr(TrainKnobs(), name):
                raise BenchError(
                    f'{name} "{spell(value)}" needs several ranks; set devices=2 or more, not data-parallel'
                )
    if knobs.strategy != "ddp-sampled" and knobs.devices == 1:
        raise BenchError(f'strategy "{knobs.strategy}" needs devices=2 or more')
    parts = knobs.devices * knobs.accumulate
    if knobs.batch % parts or knobs.batch < 2 * parts:
        raise BenchError(
            f'batch "{knobs.batch}" does not give {knobs.devices} devices x {knobs.accumulate} micro-batches as much '
            f"each, and two icons at least; give a multiple of {parts}, such as batch={4 * parts}"
        )


def check_batch(knobs: TrainKnobs, *, n_icons: int) -> None:
    """Refuse a batch that there are not enough icons for.

    Raises:
        BenchError: with the batch.
    """
    if knobs.batch > n_icons:
        raise BenchError(f'batch "{knobs.batch}" is more than the {n_icons:,} icons; give a smaller one, or a SOURCE')
