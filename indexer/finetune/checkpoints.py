"""How a cut run goes on as if nothing had happened: all that a step depends on, whole or in shards."""

import pickle
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint import api, default_planner, filesystem, state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict

from indexer.errors import TrainError
from indexer.finetune.step import Session
from indexer.finetune.student import Average, limit_scale, put_whole, whole
from indexer.library.durable import ASIDE, naming, sync, write_by
from indexer.library.foreign import from_plain
from indexer.ranks import Rank

_FACTS = "facts.pt"
_HARMLESS = {
    *(("torch", "Size"), ("torch.serialization", "_get_layout"), ("pathlib", "PosixPath")),
    ("pathlib._local", "PosixPath"),  # from Python 3.13 on
}


def gathered(tensors: Mapping[str, Tensor], *, rank: Rank) -> dict[str, Tensor]:
    """Whole tensors on the CPU of rank 0, one after the other; elsewhere none stays. All ranks call it together."""
    return {
        name: found.detach().cpu()
        for name, found in ((name, whole(tensor)) for name, tensor in tensors.items())
        if rank.index == 0
    }


def write_tensors(state: Mapping[str, Any], path: Path) -> None:
    """Write a dictionary of tensors and plain values under its final name, all of it or nothing."""
    with naming(path):
        try:
            write_by(path, partial(torch.save, dict(state)))
        except RuntimeError as error:  # that the file has an end where none was expected, as it could not be written
            raise error.__context__ if isinstance(error.__context__, OSError) else error from None


def read_tensors(path: Path) -> dict[str, Any]:
    """Read what `write_tensors` wrote.

    Raises:
        TrainError: it is not there, or damaged.
    """
    if not path.is_file():
        raise TrainError(f'no checkpoint at "{path}"; run without --resume')
    try:
        return cast(dict[str, Any], torch.load(path, weights_only=True, map_location="cpu"))
    except Exception as error:  # a damaged file makes torch, zipfile or pickle raise, each their own
        raise _damaged(path, error) from error


def write_shards(tensors: Mapping[str, Any], facts: Mapping[str, Any], path: Path, *, rank: Rank, step: int) -> None:
    """Write nested dictionaries of tensors, each rank its shards, and plain values; all ranks call it together.

    Raises:
        OSError: a rank could not write; what was there before stays.
    """
    folder = path / f"step-{step:09}"
    aside = folder.with_name(f"{ASIDE}{folder.name}")
    if rank.index == 0:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        write_tensors(facts, aside / _FACTS)
    dist.barrier()
    # Batch norms differ between ranks: what is not sharded is that of rank 0.
    planner = default_planner.DefaultSavePlanner(dedup_save_to_lowest_rank=True)
    try:
        state_dict_saver.save(dict(tensors), storage_writer=filesystem.FileSystemWriter(aside), planner=planner)
    except api.CheckpointException as error:  # no `Exception` for Python
        shutil.rmtree(aside, ignore_errors=True)
        cause = str(next(iter(error.failures.values()))[0])
        raise OSError(None, cause.splitlines()[0] if cause else "its ranks do not say why", str(folder)) from error
    if rank.index == 0:
        sync(aside)
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
        sync(path)
        for other in {*path.glob("step-*")} - {folder}:
            shutil.rmtree(other)


def read_shards(tensors: Mapping[str, Any], path: Path) -> None:
    """Read shards into tensors that are there, whatever number of ranks wrote them; all ranks call it together.

    Raises:
        TrainError: there are none, or they are damaged or of other tensors.
    """
    try:
        state_dict_loader.load(dict(tensors), storage_reader=_Reader(_newest(path)))
    except Exception as error:  # on one rank or on all, of torch, pickle or the file system
        raise _damaged(path, error) from error


def _newest(path: Path) -> Path:
    return max(path.glob("step-*"), default=path / "step")


def _damaged(path: Path, error: Exception) -> TrainError:
    return TrainError(f'the checkpoint "{path}" is damaged ({type(error).__name__}); --replace begins anew')


class _Reader(filesystem.FileSystemReader):
    """Reads shards, and the list of them without running what a pickle may hold."""

    def read_metadata(self, *_: Any, **__: Any) -> Metadata:
        """Read which tensor lies where."""
        with (Path(self.path) / ".metadata").open("rb") as file:
            metadata = _Restricted(file).load()
        assert isinstance(metadata, Metadata)
        assert metadata.storage_meta is not None
        metadata.storage_meta.load_id = self.load_id
        return metadata


def _member(kind: Any, name: str) -> Enum:
    """Find a member of an enumeration, as `getattr` does in pickles of Python 3.11.0 to 3.11.3."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[name]
    raise pickle.UnpicklingError(f"an attribute of {kind}")


class _Restricted(pickle.Unpickler):
    """Takes what torch lists shards with, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Find what may stand in a list of shards: torch's own plain classes, kinds of numbers, and paths."""
        if (module, name) == ("builtins", "getattr"):
            return _member
        if "." in name:  # which pickle would follow into what a module has imported
            raise pickle.UnpicklingError(f"{module}.{name}")
        found = super().find_class(module, name)
        is_listed = isinstance(found, type) and module.startswith("torch.distributed.checkpoint.")
        if is_listed or isinstance(found, torch.dtype) or (module, name) in _HARMLESS:
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")


FREE = ("rate", "clip", "patience")
"""Options that may differ from those of a checkpoint: what helps where a loss exploded or nothing improved."""


@dataclass(slots=True)
class TrainingState:
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
    session: Session, average: Average | None, state: TrainingState, path: Path, *, made_by: Mapping[str, Any]
) -> None:
    """Write the state of a run; with sharded weights every rank must call this and writes its own.

    Random choices depend on the step alone, so no generator is among it.
    """
    tensors, student = _tensors(session, average), session.student
    facts = {"scaler": session.scaler.state_dict(), "standing": asdict(state), "made_by": dict(made_by)}
    parted = get_optimizer_state_dict(student, session.optimizer)["state"] if is_sharded(session) else None
    tensors["optimizer"] = session.optimizer.state_dict() if parted is None else parted
    _write(session, tensors, facts, path, step=state.step)


def _write(session: Session, tensors: Mapping[str, Any], facts: Mapping[str, Any], path: Path, *, step: int) -> None:
    if is_sharded(session):
        write_shards(tensors, facts, path, rank=session.rank, step=step)
    elif session.rank.index == 0:
        write_tensors({**tensors, **facts}, path)


def restore(session: Session, average: Average | None, path: Path, *, made_by: Mapping[str, Any]) -> TrainingState:
    """Put a saved state back.

    Raises:
        TrainError: there is none, it is damaged, of another shape, or was made with other options.
    """
    if path.exists() and path.is_dir() != is_sharded(session):
        raise TrainError(
            f'the checkpoint "{path}" was made with another strategy; give the same one, or --replace to begin anew'
        )
    saved = read_tensors(_newest(path) / _FACTS if is_sharded(session) else path)
    changed = differences(saved.get("made_by", {}), made_by)
    if changes := [text for name, text in changed.items() if name not in FREE]:
        raise TrainError(
            f'the checkpoint "{path}" was made with other options ({"; ".join(changes)}); '
            "give the same ones, or --replace to begin anew"
        )
    peaks = [group["peak"] for group in session.optimizer.param_groups]
    try:
        if is_sharded(session):
            optimizer: Any = get_optimizer_state_dict(session.student, session.optimizer)
            read_shards({**_tensors(session, average), "optimizer": optimizer["state"]}, path)
            set_optimizer_state_dict(session.student, session.optimizer, optimizer)
            limit_scale(session.student.model.logit_scale)
        else:
            load_trained(session, saved["trained"])
            session.optimizer.load_state_dict(saved["optimizer"])
            for name, tensor in average.tensors.items() if average else ():
                put_whole(tensor, saved["averaged"][name])
        session.scaler.load_state_dict(saved["scaler"])
        state = from_plain(TrainingState, saved["standing"])
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise TrainError(f'the checkpoint "{path}" has another shape; --replace begins anew') from error
    for group, peak in zip(session.optimizer.param_groups, peaks, strict=True):
        group["peak"] = peak  # the rate may be another one now
    if changed:
        state.changed.append({"step": state.step, "options": list(changed.values())})
    return state


def _tensors(session: Session, average: Average | None) -> dict[str, Any]:
    """What is trained and, where there is one, its average."""
    return {"trained": trained_weights(session), **({"averaged": average.tensors} if average else {})}


def keep_best(
    session: Session, average: Average | None, state: TrainingState, path: Path, *, made_by: Mapping[str, Any]
) -> None:
    """Write the weights alone, averaged where there is an average; shards by every rank, else by rank 0."""
    best = {"trained": trained_weights(session) if average is None else average.tensors}
    _write(session, best, {"step": state.step, "made_by": dict(made_by)}, path, step=state.step)


def load_best(session: Session, path: Path) -> None:
    """Put back what `keep_best` kept; shards on every rank together.

    Raises:
        TrainError: it is not there, or damaged.
    """
    if is_sharded(session):
        read_shards({"trained": trained_weights(session)}, path)
        limit_scale(session.student.model.logit_scale)
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


def load_trained(session: Session, weights: Mapping[str, Tensor]) -> None:
    """Put back what `trained_weights` gave, whole.

    Raises:
        KeyError, RuntimeError: names or shapes are others.
    """
    own = trained_weights(session)
    for name in sorted({**own, **weights}):  # also what only one of them has
        put_whole(own[name], weights[name])
    limit_scale(session.student.model.logit_scale)
