"""Run by torchrun from test_gradients.py: gradients of a step, or weights of a cut run, by case; saved by rank 0."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from lessons import tiny_options, tiny_session

from indexer.finetune.model.student import Average
from indexer.finetune.run.batches import Feed
from indexer.finetune.run.checkpoints import Standing, restore, save_checkpoint, trained_weights, whole
from indexer.finetune.run.loop import set_rates
from indexer.finetune.run.step import compute_gradients, take_step
from indexer.ranks.distributed import Rank, process_group


def main() -> None:
    rank, folder = Rank.from_environment(), Path(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text())
    with process_group(rank, backend="gloo", device=torch.device("cpu")):
        found = {name: gradients_of(chosen, rank) for name, chosen in cases["gradients"].items()}
        found |= {
            name: cut_and_resumed(chosen, rank, folder / f"{name}.checkpoint")
            for name, chosen in cases["resumed"].items()
        }
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


def cut_and_resumed(chosen: dict[str, object], rank: Rank, file: Path) -> dict[str, object]:
    """Weights and averages after four steps: of one run, and of another that goes on from its second step."""
    options = tiny_options(**chosen)

    def run(first: int) -> dict[str, object]:
        session = tiny_session(options, rank=rank)
        average, standing = Average(session.student, decay=options.schedule.ema), Standing()
        feed = Feed(session.lesson, options, rank)
        if first:
            standing = restore(session, average, file, made_by={})
        for step in range(first, 4):
            set_rates(session.optimizer, done=step / 4, schedule=options.schedule)
            draw, parts = feed.read(step)
            take_step(session, draw, parts, step=step)
            average.update(step + 1)
            standing.step = step + 1
            if step == 1 and not first:
                save_checkpoint(session, average, standing, file, made_by={})
                dist.barrier()
        return {"live": trained_weights(session, average=None), "averaged": trained_weights(session, average=average)}

    return {"whole": run(0), "resumed": run(2)}


if __name__ == "__main__":
    main()
    os._exit(0)  # gloo's threads may abort an interpreter that is torn down: pytorch/pytorch#179291
