"""Rank facts and process group: all of torch.distributed that embedding touches."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

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
        return cls(*(int(os.environ.get(name, default)) for name, default in RANK_VARIABLES))


MEETING = "ICONS_MEETING"
"""Folder in which the ranks of one machine meet (`indexer.ranks.agent`); without it they meet where torchrun says."""
RANK_VARIABLES = (("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1"))


@contextmanager
def process_group(
    rank: Rank, *, backend: str, device: "torch.device", limit: timedelta = START_LIMIT
) -> Iterator[None]:
    """Join the other ranks for the block; nothing to do when there are none. `limit` is how long one waits."""
    if rank.world == 1:
        yield
        return
    import torch.distributed as dist

    device_id = device if device.type == "cuda" else None
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


def total_over_ranks(rank: Rank, counts: list[int], *, device: "torch.device") -> list[int]:
    """Add up counts over all ranks; every rank gets the sums."""
    if rank.world == 1:
        return counts
    import torch
    import torch.distributed as dist

    # nccl reduces device memory only, gloo takes the host's.
    where = device if dist.get_backend() == "nccl" else torch.device("cpu")
    tensor = torch.tensor(counts, dtype=torch.int64, device=where)
    dist.all_reduce(tensor)
    return [int(value) for value in tensor.tolist()]
