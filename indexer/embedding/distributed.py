"""Rank facts, process group, and a rank's life: all of torch.distributed that embedding touches."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from indexer.encoders.devices import Device, see_own_gpu, use_device
from indexer.errors import EmbedError, IconsError
from indexer.languages.words import printable
from indexer.process import cores_of_rank, end_at_once, end_with_starter

if TYPE_CHECKING:
    import torch

START_LIMIT = timedelta(minutes=10)
"""How long ranks wait for each other at the start and at the final count."""


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those of its stage, as torchrun says it in the environment."""

    index: int = 0
    local: int = 0
    world: int = 1

    @classmethod
    def from_environment(cls) -> "Rank":
        """Read RANK, LOCAL_RANK and WORLD_SIZE; without them this is the only process."""
        get = os.environ.get
        return cls(int(get("RANK", 0)), int(get("LOCAL_RANK", 0)), int(get("WORLD_SIZE", 1)))

    def device(self, kind: str) -> str:
        """Name this rank's device of a kind: cpu, cuda (one GPU a rank, by its local rank), or auto.

        Raises:
            DeviceError: CUDA_VISIBLE_DEVICES names no GPU for it.
        """
        import torch

        if kind not in ("auto", "cuda"):
            return kind
        own = see_own_gpu(self.local)
        return f"cuda:{own}" if kind == "cuda" or torch.cuda.is_available() else "cpu"


MEETING = "ICONS_MEETING"
"""Folder in which the ranks of one machine meet (`indexer.embedding.torchrun`); else where torchrun says."""


def run_as_rank(work: Callable[[Rank], None]) -> None:
    """Live a rank's life: do its work, and leave word of what ends it early to whoever has started it."""
    end_with_starter()
    rank, refused = Rank.from_environment(), None
    try:
        work(rank)
    except IconsError as error:
        refused = error
    except Exception as error:
        leave_word(error)
        raise
    if refused is not None:  # said here, so that no trace goes with it
        leave_word(refused)
        sys.stderr.write(f"Error: rank {rank.index}: {printable(str(refused))}\n")
        raise SystemExit(1)


def leave_word(error: Exception) -> None:
    """Write the error file of this rank, where torchrun looks for it."""
    if "TORCHELASTIC_ERROR_FILE" in os.environ:
        from torch.distributed.elastic.multiprocessing.errors import get_error_handler

        get_error_handler().record_exception(error)


def share_cores(rank: Rank) -> None:
    """Give this process its share of the cores; torchrun's own default is one thread each."""
    if rank.world > 1:
        import torch

        torch.set_num_threads(cores_of_rank())


def give_up_rank(rank: Rank, error: IconsError) -> NoReturn:
    """Leave word of why this rank hangs, and end it whatever its threads are in."""
    leave_word(error)
    end_at_once(f"rank {rank.index}: {error}")


@contextmanager
def process_group(
    rank: Rank,
    *,
    backend: str,
    device: Device,
    limit: timedelta = START_LIMIT,
) -> Iterator[None]:
    """Make the rank's device that of this thread, and join the other ranks for the block, where there are any.

    `limit` is how long one waits for them. NCCL connects here, while the device has room, not at the first exchange;
    gloo leaves the device alone.
    """
    use_device(device)
    if rank.world == 1:
        yield
        return
    import torch
    import torch.distributed as dist

    folder = os.environ.get(MEETING)
    dist.init_process_group(
        backend,
        store=dist.FileStore(f"{folder}/ranks", rank.world) if folder else None,  # type: ignore[attr-defined]
        timeout=limit,
        rank=rank.index,
        world_size=rank.world,
        device_id=torch.device(str(device)) if "nccl" in backend else None,
    )
    try:
        yield
    finally:
        dist.destroy_process_group()


def total_over_ranks(rank: Rank, count: int, *, device: Device) -> int:
    """Add up a count over all ranks.

    Raises:
        EmbedError: the other ranks can't be reached.
    """
    return _exchanged(rank, count, device, lambda dist, counts: dist.all_reduce(counts))


def number_of_first_rank(rank: Rank, number: int, *, device: Device) -> int:
    """Give every rank the number, below 2^63, that the first one has.

    Raises:
        EmbedError: the other ranks can't be reached.
    """
    return _exchanged(rank, number, device, lambda dist, numbers: dist.broadcast(numbers, 0))


def _exchanged(rank: Rank, number: int, device: Device, exchange: Callable[[Any, "torch.Tensor"], None]) -> int:
    if rank.world == 1:
        return number
    import torch
    import torch.distributed as dist

    where = str(device) if dist.get_backend() == "nccl" else "cpu"  # nccl takes device memory only, gloo the host's
    tensor = torch.tensor([number], dtype=torch.int64, device=where)
    try:
        exchange(dist, tensor)
        return int(tensor.item())
    except RuntimeError as error:  # torch has no class for a rank that is not there
        cause = next(iter(str(error).splitlines()), type(error).__name__)
        raise EmbedError(f'the other ranks can\'t be reached; one that has ended says why ("{cause}")') from error
