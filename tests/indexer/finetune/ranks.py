"""Run by torchrun from tests: gradients of a step, weights of a cut run, what an exam sees; saved by rank 0."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from lessons import TOKENIZER, tiny_model, tiny_options, tiny_session
from torch import Tensor

from indexer.finetune.batches import Feed
from indexer.finetune.checkpoints import (
    TrainingState,
    gathered,
    keep_best,
    load_best,
    restore,
    save_checkpoint,
    trained_weights,
)
from indexer.finetune.step import Session, check_sound, compute_gradients, steps, take_step
from indexer.finetune.student import Average, Student, whole
from indexer.ranks import Rank, process_group


def main() -> None:
    rank, folder = Rank.from_environment(), Path(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text())
    with process_group(rank, backend="gloo", device=torch.device("cpu")):
        found = {name: gradients_of(chosen, rank) for name, chosen in cases["gradients"].items()}
        found |= {
            name: cut_and_resumed(chosen, rank, folder / f"{name}.checkpoint")
            for name, chosen in cases["resumed"].items()
        }
        if cases.get("memory"):
            found |= {"most at once": most_at_once(rank)}
        found |= {name: examined(chosen, rank, folder / f"{name}.best") for name, chosen in cases["examined"].items()}
        if rank.index == 0:
            torch.save(found, folder / "found.pt")


def gradients_of(chosen: dict[str, object], rank: Rank) -> dict[str, object]:
    """Under DDP or FSDP; or, by hand, from the bare student with all gradients averaged afterwards."""
    chosen = dict(chosen)
    by_hand, tower = chosen.pop("by_hand", False), chosen.pop("tower", None)
    options = tiny_options(**chosen)
    unused = torch.nn.Linear(2, 2) if chosen.get("find_unused_parameters") else None
    session = tiny_session(options, rank=Rank() if by_hand else rank, beside=unused, tower=tower)
    session.rank = rank
    draw, parts = Feed(session.lesson, options, rank).read(0)
    loss, _ = compute_gradients(session, draw, parts, step=0)
    if unused is not None:  # of weights that the first step lacked DDP would complain in the next one
        session.student.zero_grad()
        loss, _ = compute_gradients(session, draw, parts, step=0)
    named = [pair for pair in session.student.named_parameters() if pair[1].grad is not None]
    if by_hand:
        for _, parameter in named:
            dist.all_reduce(parameter.grad)
            parameter.grad /= rank.world
    return {"loss": loss.item(), "gradients": {name: whole(parameter.grad).clone() for name, parameter in named}}


def cut_and_resumed(chosen: dict[str, object], rank: Rank, file: Path) -> dict[str, object]:
    """Weights and averages after four steps: of one run, and of another that goes on from its second step."""
    options = tiny_options(**chosen)

    def run(first: int) -> dict[str, object]:
        session = tiny_session(options, rank=rank)
        average, standing = Average(session.student, decay=options.schedule.ema), TrainingState()
        feed = Feed(session.lesson, options, rank)
        if first:
            standing = restore(session, average, file, made_by={})
        for step in steps(session.optimizer, n_steps=4, schedule=options.schedule, first=first):
            draw, parts = feed.read(step)
            take_step(session, draw, parts, step=step)
            average.update(step + 1)
            standing.step = step + 1
            if step == 1 and not first:
                save_checkpoint(session, average, standing, file, made_by={})
                dist.barrier()
        return {
            "live": gathered(trained_weights(session), rank=rank),
            "averaged": gathered(average.tensors, rank=rank),
        }

    def at_save() -> dict[str, object]:
        """What the state that was written says, read by both ranks again, and where it lies."""
        session = tiny_session(options, rank=rank)
        average = Average(session.student, decay=options.schedule.ema)
        restore(session, average, file, made_by={})
        kinds = {"live": trained_weights(session), "averaged": average.tensors}
        return {"path": str(file)} | {kind: gathered(tensors, rank=rank) for kind, tensors in kinds.items()}

    return {"whole": run(0), "resumed": run(2), "written": at_save()}


def most_at_once(rank: Rank) -> float:
    """The largest share of a sharded model's numbers that lies whole on this rank at any time of a step."""
    session = tiny_session(tiny_options(strategy="fsdp"), rank=rank, tower="convnext_atto")
    total, seen = sum(it.numel() for it in session.student.parameters()), [0]

    def count(*_: object) -> None:
        seen.append(sum(it.numel() for it in session.student.parameters() if not hasattr(it, "full_tensor")))

    for module in session.student.modules():
        module.register_forward_pre_hook(count)
        module.register_forward_hook(count)
        module.register_full_backward_pre_hook(count)
    draw, parts = Feed(session.lesson, session.options, rank).read(0)
    take_step(session, draw, parts, step=0)
    return max(seen) / total


def examined(chosen: dict[str, object], rank: Rank, file: Path) -> dict[str, object]:
    """What the averaged student says after some steps, and what a plain model says with the weights that were saved.

    The same for the student itself afterwards, and for one that has read the weights back.
    """
    options = tiny_options(**chosen)
    session = tiny_session(options, rank=rank)
    average, feed = Average(session.student, decay=options.schedule.ema), Feed(session.lesson, options, rank)
    for step in range(3):
        draw, parts = feed.read(step)
        take_step(session, draw, parts, step=step)
        average.update(step + 1)
    check_sound(session, parts[0], step=2)  # after which FSDP keeps the outermost weights that it has gathered
    with average.in_use():
        averaged = features(session.student)
    live = features(session.student)
    keep_best(session, average, TrainingState(step=3), file, made_by={})
    dist.barrier()
    found = {"averaged": averaged, "live": live, "live saved": said_by_saved(session)}
    load_best(session, file)
    return found | {"averaged saved": said_by_saved(session)}


def said_by_saved(session: Session) -> Tensor:
    """Features of a plain model with a student's weights."""
    model, weights = tiny_model(seed=99), gathered(session.student.plain_weights(), rank=session.rank)
    if session.rank.index == 0:
        model.load_state_dict(weights)
    return features(Student(model, tiny_options(), precision="fp32"))


@torch.no_grad()
def features(student: Student) -> Tensor:
    """Vectors of some pictures and texts."""
    student.eval()
    pictures = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    return torch.cat([student.encode_images(pictures), student.encode_texts(TOKENIZER(["arrow up", "bin"]))])


if __name__ == "__main__":
    main()
    os._exit(0)  # gloo's threads may abort an interpreter that is torn down: pytorch/pytorch#179291
