"""How do tensors get onto disk and back? One file of whole ones, or a folder in which each rank writes its shards.

Either has its final name only when all of it is written. A folder holds the newest state as `step-N`; it is read by any
number of ranks.
"""

import pickle
import shutil
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import IO, Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from indexer.errors import TrainError
from indexer.library.durable import ASIDE, sync, write_by
from indexer.ranks.distributed import Rank

_FACTS = "facts.pt"
_HARMLESS = {("torch", "Size"), ("torch.serialization", "_get_layout"), ("pathlib", "PosixPath")}
_HARMLESS |= {("pathlib._local", "PosixPath")}  # from Python 3.13 on


def whole(tensor: Tensor) -> Tensor:
    """Gather a sharded tensor; any other one is itself."""
    gather: Callable[[], Tensor] | None = getattr(tensor, "full_tensor", None)
    return gather() if gather is not None else tensor


def gathered(tensors: Mapping[str, Tensor], *, rank: Rank) -> dict[str, Tensor]:
    """Whole tensors on the CPU of rank 0, one after the other; elsewhere none stays. All ranks call it together."""
    kept = {}
    for name, tensor in tensors.items():
        found = whole(tensor)
        if rank.index == 0:
            kept[name] = found.detach().cpu()
    return kept


def put_whole(tensor: Tensor, value: Tensor) -> None:
    """Copy a whole value into a tensor, sharded or not; of a sharded one rank 0's value counts.

    Raises:
        RuntimeError: the value has another shape.
    """
    if tensor.shape != value.shape:
        raise RuntimeError("another shape")
    if hasattr(tensor, "full_tensor"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(tensor, DTensor)
        value = distribute_tensor(value.to(tensor.device), tensor.device_mesh, tensor.placements)
    tensor.copy_(value)


def write_tensors(state: Mapping[str, Any], path: Path) -> None:
    """Write a dictionary of tensors and plain values under its final name, all of it or nothing."""
    write_by(path, partial(_save, dict(state)))


def _save(state: Mapping[str, Any], file: IO[bytes]) -> None:
    try:
        torch.save(state, file)
    except RuntimeError as error:  # that the file has an end where none was expected, as it could not be written
        if isinstance(error.__context__, OSError):
            raise error.__context__ from None
        raise


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
        raise _damaged(path, error) from error
    return state


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
    planner = DefaultSavePlanner(dedup_save_to_lowest_rank=True)
    try:
        save(dict(tensors), storage_writer=FileSystemWriter(aside), planner=planner)
    except CheckpointException as error:  # no `Exception` for Python
        shutil.rmtree(aside, ignore_errors=True)
        cause = str(next(iter(error.failures.values()))[0])
        raise OSError(None, cause.splitlines()[0] if cause else "its ranks do not say why", str(folder)) from error
    if rank.index == 0:
        sync(aside)
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
        sync(path)
        for other in path.glob("step-*"):
            if other != folder:
                shutil.rmtree(other)


def read_facts(path: Path) -> dict[str, Any]:
    """Read the plain values beside shards.

    Raises:
        TrainError: there are no shards, or they are damaged.
    """
    return read_tensors(_newest(path) / _FACTS)


def read_shards(tensors: Mapping[str, Any], path: Path) -> None:
    """Read shards into tensors that are there, whatever number of ranks wrote them; all ranks call it together.

    Raises:
        TrainError: there are none, or they are damaged or of other tensors.
    """
    try:
        load(dict(tensors), storage_reader=_Reader(_newest(path)))
    except TrainError:
        raise
    except Exception as error:  # on one rank or on all, of torch, pickle or the file system
        raise _damaged(path, error) from error


def _newest(path: Path) -> Path:
    found = sorted(path.glob("step-*"))
    if not found:
        raise TrainError(f'no checkpoint at "{path}"; run without --resume')
    return found[-1]


def _damaged(path: Path, error: Exception) -> TrainError:
    return TrainError(f'the checkpoint "{path}" is damaged ({type(error).__name__}); --replace begins anew')


class _Reader(FileSystemReader):
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
        found = super().find_class(module, name)
        is_listed = isinstance(found, type) and module.startswith("torch.distributed.checkpoint.")
        if is_listed or isinstance(found, torch.dtype) or (module, name) in _HARMLESS:
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")
