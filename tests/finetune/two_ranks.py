"""Run by torchrun from test_distributed_training.py: one backward pass under DDP, gradients saved by rank 0."""

import sys

import torch
from lessons import tiny_lesson, tiny_pair
from torch.nn.parallel import DistributedDataParallel

from indexer.distributed import Rank, process_group
from indexer.finetune.batches import epoch, make_batch
from indexer.finetune.train import batch_loss


def main() -> None:
    rank = Rank.from_environment()
    with process_group(rank, backend="gloo", device=torch.device("cpu")):
        lesson, pair = tiny_lesson(), tiny_pair()
        rows = next(epoch(lesson.train_rows, batch=16, seed=5, number=0, rank=rank.index, world=rank.world))
        batch = make_batch(lesson.pixels, lesson.captions, rows, seed=(5, 0, rank.index), change=None)
        wrapped = DistributedDataParallel(pair)  # held until after the backward pass: it averages in hooks of its own
        loss = batch_loss(wrapped, batch, lesson, half=False)
        loss.backward()  # type: ignore[no-untyped-call]
        if rank.index == 0:
            gradients = {name: parameter.grad for name, parameter in pair.named_parameters()}
            torch.save({"loss": loss.detach(), "gradients": gradients}, sys.argv[1])


if __name__ == "__main__":
    main()
