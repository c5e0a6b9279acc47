"""Run by torchrun from test_gpu.py: two ranks take some steps, on one device or on two; rank 0 notes the losses.

    torchrun --standalone --nproc-per-node 2 tests/gpu/training_ranks.py FOLDER cuda:0 ddp

"cuda" is a GPU for each, which meet through NCCL; ranks that share a device need gloo.
"""

import json
import os
import sys
from pathlib import Path

import torch
from lessons import tiny_lesson, tiny_model, tiny_options

from indexer.finetune.model.student import Student
from indexer.finetune.run.batches import Feed
from indexer.finetune.run.loop import make_optimizer
from indexer.finetune.run.rank import wrap
from indexer.finetune.run.step import Session, take_step
from indexer.ranks.distributed import Rank, process_group


def main() -> None:
    rank, folder, where, strategy = Rank.from_environment(), Path(sys.argv[1]), *sys.argv[2:]
    device = torch.device(f"cuda:{rank.local}" if where == "cuda" else where)
    options = tiny_options(strategy=strategy)
    with process_group(rank, backend="nccl" if where == "cuda" else "gloo", device=device):
        model = tiny_model()
        lesson = tiny_lesson(model, options)
        torch.manual_seed(options.schedule.seed)
        student = Student(model, options, precision="bf16").to(device)
        wrapped = wrap(student, options.distribution, rank=rank, device=device, precision="bf16")
        optimizer = make_optimizer(student, options)
        scaler = torch.amp.GradScaler(device.type, enabled=False)
        session = Session(student, wrapped, optimizer, scaler, lesson, options, rank, device)
        feed = Feed(lesson, options, rank)
        losses = []
        for step in range(3):
            draw, parts = feed.read(step)
            losses.append(take_step(session, draw, parts, step=step).loss)
    if rank.index == 0:
        (folder / "losses.json").write_text(json.dumps(losses))


if __name__ == "__main__":
    main()
    os._exit(0)  # gloo's threads may abort an interpreter that is torn down: pytorch/pytorch#179291
