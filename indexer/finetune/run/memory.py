"""What does a run say where memory does not suffice, wherever that shows? What helps."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from indexer.errors import TrainError
from indexer.finetune.options import FinetuneOptions
from indexer.ranks.distributed import Rank


@contextmanager
def shortage_explained(options: FinetuneOptions, rank: Rank) -> Iterator[None]:
    """Turn every way in which torch and numpy run out of memory into an error that says what helps.

    Raises:
        TrainError: memory did not suffice.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _is_shortage(error):
            raise
        each = options.loss.batch // rank.world // options.distribution.accumulate
        raise TrainError(
            f'out of memory with "{each}" pictures at once ({str(error).splitlines()[0][:120]}); the last checkpoint '
            "stays: run again with --resume and a larger --accumulate, or with --grad-checkpointing"
        ) from error


def _is_shortage(error: Exception) -> bool:
    """Of a GPU, of Python and numpy, and of torch's allocator for the CPU, which raises no class of its own."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "allocate memory" in str(error)
