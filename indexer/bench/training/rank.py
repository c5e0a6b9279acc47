"""What does a rank of `icons bench train` do? Trains one plan after the other, as the ranks of `icons finetune` do.

    torchrun --nproc-per-node 2 -m indexer.bench.training.rank FOLDER --device cpu --backend gloo --cores 0,1

It waits in FOLDER for `task-N.json` (a configuration, the plan lies beside), writes `done-N-RANK.json`, and lives until
it is ended: loading torch takes longer than what is measured.
"""

import gc
import itertools
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import torch
from torch import Tensor, nn

from indexer.bench.training.accumulation import accumulate_plainly
from indexer.bench.training.knobs import TrainKnobs
from indexer.bench.training.ranks import done_file, places_in, task_file
from indexer.bench.training.simulated import wait_out_step
from indexer.encoders.torch_encoder import products_in
from indexer.errors import BenchError
from indexer.finetune.plan import read_plan
from indexer.finetune.run.batches import Draw, Feed, Part, draw_step, read_part
from indexer.finetune.run.rank import joined_ranks, open_session, shortage_explained
from indexer.finetune.run.step import Session
from indexer.finetune.run.train import train
from indexer.finetune.run.watch import Reporter, TrainingProgress
from indexer.library.foreign import from_json
from indexer.process import cores_of_rank, prepare_for_batches
from indexer.ranks.distributed import Rank, run_as_rank
from indexer.ranks.gauges import peak_memory

_LOOK_SECONDS = 0.05
_SCALARS = ("scale", "bias")
Answers = dict[str, Tensor]


class WholeFeed(Feed):
    """Reads the pictures of the whole batch on every rank, which then uses its part of them."""

    def read(self, step: int) -> tuple[Draw, list[Part]]:
        """Draw a step, read all of it, and keep this rank's micro-batches."""
        draw = draw_step(self.lesson, self.icons_of(step), self.options, step=step, rank=self.rank)
        each = self.options.distribution.accumulate
        parts = self.rank.world * each
        everything = [read_part(self.lesson, draw, self.options, part=place, parts=parts) for place in range(parts)]
        first = self.rank.index * each
        return draw, everything[first : first + each]


class _Spread(nn.Module):
    """A student whose scalars are vectors of one, which can be gathered as its features are."""

    def __init__(self, student: nn.Module) -> None:
        super().__init__()
        self.student = student

    def forward(self, *given: Tensor | None) -> Answers:
        """Features of a part."""
        answers: Answers = self.student(*given)
        return {name: value.reshape(1) if name in _SCALARS else value for name, value in answers.items()}


class _Gathered(nn.Module):
    """Features of a whole batch from a module that shares it out; scale and bias, the same on all devices, once."""

    def __init__(self, shared: nn.Module) -> None:
        super().__init__()
        self.shared = shared

    def forward(self, *given: Tensor | None) -> Answers:
        """Features of a batch."""
        answers: Answers = self.shared(*given)
        return {name: value.mean() if name in _SCALARS else value for name, value in answers.items()}


def take_task(folder: Path, knobs: TrainKnobs, *, rank: Rank, device: torch.device) -> dict[str, Any]:
    """Train the plan in a configuration; the steps' seconds stand in the log, as of any training."""
    places = places_in(folder.parent)
    plan = read_plan(places)
    reports: list[TrainingProgress] = []
    gc.collect()  # what DDP left of the task before
    torch.set_num_threads(cores_of_rank())
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    with size_explained(knobs), shortage_explained(plan.options, rank), products_in(knobs.precision):
        reporter = Reporter(reports.append, TrainingProgress(rank.index, rank.world))
        session, _ = open_session(places, plan, reporter, rank=rank, device=device)
        arrange(session, knobs)
        train(session, None, places=places, made_by={}, resume=False)
    memory = peak_memory(device) if device.type == "cuda" else None
    if device.type == "cuda":
        del session  # other groups of ranks need its memory
        gc.collect()
        torch.cuda.empty_cache()
    return {"waited_share": reports[-1].waited_seconds / reports[-1].seconds, "memory_bytes": memory}


@contextmanager
def size_explained(knobs: TrainKnobs) -> Iterator[None]:
    """Say of a size that the tower does not take that it is one.

    Raises:
        BenchError: it does not.
    """
    try:
        yield
    except (RuntimeError, AssertionError) as error:  # each tower refuses in its own way
        if knobs.size is None:
            raise
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise BenchError(f'size "{knobs.size}" is none that this tower takes ({reason})') from error


def arrange(session: Session, knobs: TrainKnobs) -> None:
    """Put in place what `icons finetune` has not."""
    if knobs.accumulation != "whole":
        session.gradients = partial(accumulate_plainly, exchanges_each=knobs.accumulation == "plain")
    if knobs.step_seconds is not None:
        session.gradients = partial(wait_out_step, seconds=knobs.step_seconds)
    if knobs.strategy == "ddp":
        session.make_feed = WholeFeed
    elif knobs.strategy == "data-parallel":
        spread = nn.DataParallel(_Spread(session.student), device_ids=list(range(knobs.devices)))
        session.wrapped = _Gathered(spread)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--device", default="cpu")
@click.option("--backend", default="auto")
@click.option("--high-priority", "is_high_priority", is_flag=True)
@click.option("--cores", "core_numbers", required=True, help="Numbers of the cores that all ranks share.")
def main(folder: Path, device: str, backend: str, is_high_priority: bool, core_numbers: str) -> None:
    """Do every task that appears, until ended."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [int(number) for number in core_numbers.split(",")])
    prepare_for_batches()

    def work(rank: Rank) -> None:
        where = torch.device(rank.device(device))
        with joined_ranks(backend, rank=rank, device=where, is_high_priority=is_high_priority):
            for number in itertools.count():
                while not task_file(folder, number).is_file():
                    time.sleep(_LOOK_SECONDS)
                knobs = from_json(TrainKnobs, task_file(folder, number).read_bytes())
                found = take_task(folder, knobs, rank=rank, device=where)
                file = done_file(folder, number, rank.index)
                aside = file.with_suffix(".aside")
                aside.write_text(json.dumps(found), "utf-8")
                aside.replace(file)

    run_as_rank(work)  # where one refuses a task, the others wait for it: all end, and are started anew


if __name__ == "__main__":
    main()
