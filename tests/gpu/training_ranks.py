"""Run by torchrun from tests: two ranks take some steps, on one device or on two; rank 0 notes the losses.

    torchrun --standalone --nproc-per-node 2 tests/gpu/training_ranks.py FOLDER cuda:0 ddp

"cuda" is a GPU for each, which meet through NCCL; ranks that share a device need gloo. The last step is taken twice:
the second time with the weights of a checkpoint, which was written before it.
"""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from lessons import tiny_options, tiny_session

from indexer.finetune.batches import Feed
from indexer.finetune.checkpoints import TrainingState, restore, save_checkpoint
from indexer.finetune.step import Session, read_results, take_step
from indexer.ranks import Rank, process_group

N_STEPS = 3


def main() -> None:
    rank, folder, where, strategy = Rank.from_environment(), Path(sys.argv[1]), *sys.argv[2:]
    device = torch.device(f"cuda:{rank.local}" if where == "cuda" else where)
    options, file = tiny_options(strategy=strategy), folder / "last.checkpoint"
    with process_group(rank, backend="nccl" if where == "cuda" else "gloo", device=device):
        session = tiny_session(options, rank=rank, where=str(device), precision="bf16")
        losses = [loss_of(session, step) for step in range(N_STEPS - 1)]
        save_checkpoint(session, None, TrainingState(step=N_STEPS - 1), file, made_by={})
        dist.barrier()
        losses.append(loss_of(session, N_STEPS - 1))
        session = tiny_session(options, rank=rank, where=str(device), precision="bf16")
        losses.append(loss_of(session, restore(session, None, file, made_by={}).step))
    if rank.index == 0:
        (folder / "losses.json").write_text(json.dumps(losses))


def loss_of(session: Session, step: int) -> float:
    """Take a step, and return its loss."""
    [(draw, parts)] = Feed(session.lesson, session.options, session.rank).ahead(step, step + 1, session.device)
    [result] = read_results(session, [take_step(session, draw, parts, step=step)])
    return float(result["loss"])


if __name__ == "__main__":
    main()
    os._exit(0)  # gloo's threads may abort an interpreter that is torn down: pytorch/pytorch#179291
