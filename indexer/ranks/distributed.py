"""Rank facts, process group, and a rank's life: all of torch.distributed that embedding touches."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from indexer.errors import IconsError
from indexer.naming.printable import printable
from indexer.process import end_with_starter
from indexer.ranks.devices import Device

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
        """Name this rank's device of a kind: cpu, cuda (one GPU a rank, by its local rank), or auto."""
        import torch

        if kind == "auto":
            kind = "cuda" if torch.cuda.is_available() else "cpu"
        return f"cuda:{self.local}" if kind == "cuda" else kind


MEETING = "ICONS_MEETING"
"""Folder in which the ranks of one machine meet (`indexer.ranks.agent`); without it they meet where torchrun says."""


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
    if refused is not None:  # told here, so that no trace goes with it
        leave_word(refused)
        sys.stderr.write(f"Error: rank {rank.index}: {printable(str(refused))}\n")
        raise SystemExit(1)


def leave_word(error: Exception) -> None:
    """Write the error file of this rank, where torchrun looks for it."""
    if "TORCHELASTIC_ERROR_FILE" in os.environ:
        from torch.distributed.elastic.multiprocessing.errors import get_error_handler

        get_error_handler().record_exception(error)


@contextmanager
def process_group(rank: Rank, *, backend: str, device: Device, limit: timedelta = START_LIMIT) -> Iterator[None]:
    """Join the other ranks for the block; nothing to do when there are none. `limit` is how long one waits."""
    if rank.world == 1:
        yield
        return
    import torch
    import torch.distributed as dist

    device_id = torch.device(str(device)) if device.type == "cuda" else None
    folder = os.environ.get(MEETING)
    dist.init_process_group(
        backend,
        init_method=f"file://{folder}/ranks" if folder else "env://",
        timeout=limit,
        rank=rank.index,
        world_size=rank.world,
        device_id=device_id,
    )
    try:
        yield
    finally:
        dist.destroy_process_group()


def total_over_ranks(rank: Rank, counts: list[int], *, device: Device) -> list[int]:
    """Add up counts over all ranks; every rank gets the sums."""
    if rank.world == 1:
        return counts
    import torch
    import torch.distributed as dist

    # nccl reduces device memory only, gloo takes the host's.
    where = str(device) if dist.get_backend() == "nccl" else "cpu"
    tensor = torch.tensor(counts, dtype=torch.int64, device=where)
    dist.all_reduce(tensor)
    return [int(value) for value in tensor.tolist()]
