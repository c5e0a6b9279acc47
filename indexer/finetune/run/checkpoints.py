"""How does a cut run go on as if nothing had happened? All that a step depends on, written whole or not at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict

from indexer.errors import TrainError
from indexer.finetune.model.average import Average
from indexer.finetune.run.step import Session
from indexer.finetune.run.tensors import (
    put_whole,
    read_facts,
    read_shards,
    read_tensors,
    write_shards,
    write_tensors,
)
from indexer.library.foreign import from_plain

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
    """Write the state of a run; with sharded weights every rank must call this and writes its own.

    Random choices depend on the step alone, so no generator is among it.
    """
    tensors = _tensors(session, average)
    facts = {"scaler": session.scaler.state_dict(), "standing": asdict(standing), "made_by": dict(made_by)}
    if is_sharded(session):
        tensors["optimizer"] = get_optimizer_state_dict(session.student, session.optimizer)["state"]
        write_shards(tensors, facts, path, rank=session.rank, step=standing.step)
    elif session.rank.index == 0:
        write_tensors({**tensors, "optimizer": session.optimizer.state_dict(), **facts}, path)


def restore(session: Session, average: Average | None, path: Path, *, made_by: Mapping[str, Any]) -> Standing:
    """Put a saved state back.

    Raises:
        TrainError: there is none, it is damaged, of another shape, or was made with other options.
    """
    if path.exists() and path.is_dir() != is_sharded(session):
        raise TrainError(
            f'the checkpoint "{path}" was made with another --strategy; give the same one, or --replace to begin anew'
        )
    state = read_facts(path) if is_sharded(session) else read_tensors(path)
    changed = differences(state.get("made_by", {}), made_by)
    if changes := [text for name, text in changed.items() if name not in FREE]:
        raise TrainError(
            f'the checkpoint "{path}" was made with other options ({"; ".join(changes)}); '
            "give the same ones, or --replace to begin anew"
        )
    peaks = [group["peak"] for group in session.optimizer.param_groups]
    try:
        if is_sharded(session):
            _read_sharded(session, average, path)
        else:
            _take(session, average, state)
        session.scaler.load_state_dict(state["scaler"])
        standing = from_plain(Standing, state["standing"])
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise TrainError(f'the checkpoint "{path}" has another shape; --replace begins anew') from error
    for group, peak in zip(session.optimizer.param_groups, peaks, strict=True):
        group["peak"] = peak  # the rate may be another one now
    if changed:
        standing.changed.append({"step": standing.step, "options": list(changed.values())})
    return standing


def _read_sharded(session: Session, average: Average | None, path: Path) -> None:
    """Read each rank's shards into place."""
    optimizer: Any = get_optimizer_state_dict(session.student, session.optimizer)
    read_shards({**_tensors(session, average), "optimizer": optimizer["state"]}, path)
    set_optimizer_state_dict(session.student, session.optimizer, optimizer)
    session.student.limit_scale()


@torch.no_grad()
def _take(session: Session, average: Average | None, state: Mapping[str, Any]) -> None:
    """Put back what a file holds."""
    load_trained(session, state["trained"])
    session.optimizer.load_state_dict(state["optimizer"])
    for name, tensor in average.tensors.items() if average else ():
        put_whole(tensor, state["averaged"][name])


def _tensors(session: Session, average: Average | None) -> dict[str, Any]:
    """What is trained and, where there is one, its average."""
    trained: dict[str, Any] = {"trained": trained_weights(session)}
    return trained | ({"averaged": average.tensors} if average else {})


def keep_best(
    session: Session, average: Average | None, standing: Standing, path: Path, *, made_by: Mapping[str, Any]
) -> None:
    """Write the weights alone, averaged where there is an average; shards by every rank, else by rank 0."""
    best = {"trained": trained_weights(session) if average is None else average.tensors}
    facts = {"step": standing.step, "made_by": dict(made_by)}
    if is_sharded(session):
        write_shards(best, facts, path, rank=session.rank, step=standing.step)
    elif session.rank.index == 0:
        write_tensors({**best, **facts}, path)


def load_best(session: Session, path: Path) -> None:
    """Put back what `keep_best` kept; shards on every rank together.

    Raises:
        TrainError: it is not there, or damaged.
    """
    if is_sharded(session):
        read_shards({"trained": trained_weights(session)}, path)
        session.student.limit_scale()
    else:
        load_trained(session, read_tensors(path)["trained"])


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


def is_sharded(session: Session) -> bool:
    """Whether each rank has a part of the weights."""
    return session.options.distribution.strategy == "fsdp"


def trained_weights(session: Session) -> dict[str, Tensor]:
    """All that training changes, by name: the very tensors, sharded where they are; nothing is copied."""
    names = set(session.student.trained_names())
    return {name: tensor.detach() for name, tensor in session.student.state_dict().items() if name in names}


@torch.no_grad()
def load_trained(session: Session, weights: Mapping[str, Tensor]) -> None:
    """Put back what `trained_weights` gave, whole.

    Raises:
        KeyError, RuntimeError: names or shapes are others.
    """
    own = session.student.state_dict()
    names = set(session.student.trained_names())
    if names != set(weights):
        raise KeyError("other tensors")
    for name in sorted(names):
        put_whole(own[name], weights[name])
    session.student.limit_scale()
