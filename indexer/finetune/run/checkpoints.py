"""How does a cut run go on as if nothing had happened? All that a step depends on, written whole or not at all."""

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)

from indexer.errors import TrainError
from indexer.finetune.model.student import Average
from indexer.finetune.run.step import Session
from indexer.library.durable import ASIDE, sync

FREE = ("rate", "clip", "patience")
"""Options that may differ from those of a checkpoint: what helps where a loss exploded or nothing improved."""


@dataclass(slots=True)
class Standing:
    """Where a run stands; `step` counts over all passes."""

    step: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    """Every validation: step, loss, figures."""
    parent: dict[str, Any] | None = None
    """Figures of the model that training began with, on the same questions."""
    best: float = -1.0
    best_step: int = 0
    since_best: int = 0
    """Validations without a better figure."""
    changed: list[dict[str, Any]] = field(default_factory=list)
    """Options that were others from a step on: step, and what changed in words."""


def save_checkpoint(
    session: Session, average: Average | None, standing: Standing, path: Path, *, made_by: Mapping[str, Any]
) -> None:
    """Write the state of a run; with sharded weights every rank must call this, and rank 0 writes.

    Random choices depend on the step alone, so no generator is among it.
    """
    trained = trained_weights(session, average=None)
    averaged = trained_weights(session, average=average) if average else None
    if session.options.distribution.strategy == "fsdp":
        optimizer = get_optimizer_state_dict(session.student, session.optimizer, options=_WHOLE)
    else:
        optimizer = session.optimizer.state_dict()
    if session.rank.index == 0:
        state = {
            "trained": trained,
            "averaged": averaged,
            "optimizer": optimizer,
            "scaler": session.scaler.state_dict(),
            "standing": asdict(standing),
            "made_by": dict(made_by),
        }
        write_tensors(state, path)


def restore(session: Session, average: Average | None, path: Path, *, made_by: Mapping[str, Any]) -> Standing:
    """Put a saved state back.

    Raises:
        TrainError: there is none, it is damaged, of another shape, or was made with other options.
    """
    state = read_tensors(path)
    changed = differences(state.get("made_by", {}), made_by)
    if changes := [text for name, text in changed.items() if name not in FREE]:
        raise TrainError(
            f'the checkpoint "{path}" was made with other options ({"; ".join(changes)}); '
            "give the same ones, or run without --resume"
        )
    peaks = [group["peak"] for group in session.optimizer.param_groups]
    try:
        load_trained(session, state["trained"])
        if session.options.distribution.strategy == "fsdp":
            set_optimizer_state_dict(session.student, session.optimizer, state["optimizer"], options=_WHOLE)
        else:
            session.optimizer.load_state_dict(state["optimizer"])
        for group, peak in zip(session.optimizer.param_groups, peaks, strict=True):
            group["peak"] = peak  # the rate may be another one now
        session.scaler.load_state_dict(state["scaler"])
        if average is not None:
            with torch.no_grad():
                for name, tensor in average.tensors.items():
                    put_whole(tensor, state["averaged"][name])
        standing = Standing(**state["standing"])
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise TrainError(f'the checkpoint "{path}" has another shape; run without --resume') from error
    if changed:
        standing.changed.append({"step": standing.step, "options": list(changed.values())})
    return standing


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """Say of each option that differs between two runs what it was and what it is."""
    changes: dict[str, str] = {}
    for name, value in now.items():
        before = then.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            changes |= differences(before, value)
        elif before != value:
            changes[name] = f'{name} was "{before}", now "{value}"'
    return changes


def trained_weights(session: Session, *, average: Average | None) -> dict[str, Tensor]:
    """All that training changes, whole and on the CPU, by name; averaged where an average is given."""
    names = set(session.student.trained_names())
    with average.in_use() if average else nullcontext():
        state = session.student.state_dict()
        return {name: whole(tensor).detach().cpu().clone() for name, tensor in state.items() if name in names}


@torch.no_grad()
def load_trained(session: Session, weights: Mapping[str, Tensor]) -> None:
    """Put back what `trained_weights` gave.

    Raises:
        KeyError, RuntimeError: names or shapes are others.
    """
    own = session.student.state_dict()
    names = set(session.student.trained_names())
    if names != set(weights):
        raise KeyError("other tensors")
    for name in sorted(names):  # in one order on all ranks, which scatter sharded tensors together
        put_whole(own[name], weights[name])
    session.student.limit_scale()


def whole(tensor: Tensor) -> Tensor:
    """Gather a sharded tensor; any other one is itself."""
    gather: Callable[[], Tensor] | None = getattr(tensor, "full_tensor", None)
    return gather() if gather is not None else tensor


def put_whole(tensor: Tensor, value: Tensor) -> None:
    """Copy a whole value into a tensor, sharded or not."""
    if hasattr(tensor, "full_tensor"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(tensor, DTensor)
        value = distribute_tensor(value.to(tensor.device), tensor.device_mesh, tensor.placements)
    elif tensor.shape != value.shape:
        raise RuntimeError("another shape")
    tensor.copy_(value)


def write_tensors(state: Mapping[str, Any], path: Path) -> None:
    """Write a dictionary of tensors and plain values under its final name, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{ASIDE}{os.getpid()}-{path.name}")
    torch.save(dict(state), aside)
    sync(aside)
    aside.replace(path)
    sync(path.parent)


def read_tensors(path: Path) -> dict[str, Any]:
    """Read what `write_tensors` wrote.

    Raises:
        TrainError: it is not there, or damaged.
    """
    if not path.is_file():
        raise TrainError(f'no checkpoint at "{path}"; run without --resume')
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # a damaged file makes torch, zipfile or pickle raise, each their own
        raise TrainError(
            f'the checkpoint "{path}" is damaged ({type(error).__name__}); run without --resume'
        ) from error
    return state


_WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)
