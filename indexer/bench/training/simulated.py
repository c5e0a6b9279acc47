"""Does data keep up with devices that are faster than these? A step whose computing is a delay, on real data.

Ranks read, change and gather what they always do; instead of the passes they wait, and meet as DDP would have them.
"""

import time

import torch
import torch.distributed as dist

from indexer.finetune.run.batches import Draw, Part
from indexer.finetune.run.step import Session


def wait_out_step(
    session: Session, draw: Draw, parts: list[Part], *, step: int, seconds: float
) -> tuple[float, dict[str, float]]:
    """Take `seconds` for a step without computing; return no loss and no terms. Weights stay as they are."""
    del draw, parts, step
    time.sleep(seconds)
    if session.rank.world > 1:
        dist.all_reduce(torch.zeros(1))
    return 0.0, {}
