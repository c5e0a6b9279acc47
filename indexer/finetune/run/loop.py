"""What do all trainings share, whatever their objective? One optimizer, one schedule, one loop of steps.

`train` takes its steps from `steps`; a text tower that learns words by itself goes through `learn`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from indexer.finetune.model.student import Student
from indexer.finetune.options import FinetuneOptions, Schedule
from indexer.finetune.run.rates import parameter_groups, set_rates
from indexer.reports.bars import Bars

WORDS = Schedule(warm_up=0.05, final_rate=0.01)
"""How a text tower learns words by itself."""


def make_optimizer(student: Student, options: FinetuneOptions) -> torch.optim.Optimizer:
    """What a student learns by; no fused kernel takes sharded tensors on every device."""
    return make_adamw(parameter_groups(student, options), fused=options.distribution.strategy == "ddp")


def make_adamw(groups: Sequence[dict[str, Any]], *, fused: bool = True) -> torch.optim.Optimizer:
    """AdamW over groups of parameters, each with its highest rate as `peak`."""
    return torch.optim.AdamW(list(groups), lr=groups[0]["peak"], betas=(0.9, 0.98), eps=1e-8, fused=fused)


def steps(optimizer: torch.optim.Optimizer, *, n_steps: int, schedule: Schedule, first: int = 0) -> Iterator[int]:
    """Yield the numbers of the steps to take, every group of the optimizer at its rate for it."""
    for step in range(first, n_steps):
        set_rates(optimizer, done=step / n_steps, schedule=schedule)
        yield step


def learn(
    title: str, groups: Sequence[dict[str, Any]], loss_of: Callable[[int], Tensor], *, n_steps: int, schedule: Schedule
) -> float:
    """Take so many steps down a loss, which is asked for by the number of the step; return the seconds they took."""
    optimizer = make_adamw(groups)
    parameters = [parameter for group in groups for parameter in group["params"]]
    started = time.monotonic()
    with Bars() as bars:
        bars.stage(title)
        for step in steps(optimizer, n_steps=n_steps, schedule=schedule):
            loss = loss_of(step)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(parameters, schedule.clip)
            optimizer.step()
            if step % 10 == 9:
                bars.advance(step + 1, n_steps, f"loss {loss.item():.3f}", unit="steps")
    return time.monotonic() - started
