"""Run by torchrun from test_gradients.py: the gradients of one step for each case, saved by rank 0."""

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from lessons import tiny_options, tiny_session

from indexer.distributed import Rank, process_group
from indexer.finetune.checkpoints import whole
from indexer.finetune.feed import Feed
from indexer.finetune.step import compute_gradients


def main() -> None:
    rank, folder = Rank.from_environment(), Path(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text())
    with process_group(rank, backend="gloo", device=torch.device("cpu")):
        found = {name: gradients_of(chosen, rank) for name, chosen in cases.items()}
        if rank.index == 0:
            torch.save(found, folder / "found.pt")


def gradients_of(chosen: dict[str, object], rank: Rank) -> dict[str, object]:
    """Under DDP or FSDP; or, by hand, from the bare student with all gradients averaged afterwards."""
    chosen = dict(chosen)
    by_hand = chosen.pop("by_hand", False)
    options = tiny_options(**chosen)
    session = tiny_session(options, rank=Rank() if by_hand else rank)
    session.rank = rank
    draw, parts = Feed(session.lesson, options, rank).read(0)
    loss, _ = compute_gradients(session, draw, parts, step=0)
    named = [pair for pair in session.student.named_parameters() if pair[1].grad is not None]
    if by_hand:
        for _, parameter in named:
            dist.all_reduce(parameter.grad)
            parameter.grad /= rank.world
    return {"loss": loss, "gradients": {name: whole(parameter.grad).clone() for name, parameter in named}}


if __name__ == "__main__":
    main()
