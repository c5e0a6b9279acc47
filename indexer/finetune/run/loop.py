"""What do all trainings share, whatever their objective? One optimizer, one schedule, one loop of steps.

Parameters learn by groups of tower and shape; their rates warm up, then follow a cosine.
`train` takes its steps from `steps`; a text tower that learns words by itself goes through `learn`.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from indexer.finetune.model.student import Student, text_parameters
from indexer.finetune.options import FinetuneOptions, Schedule
from indexer.reports.bars import Bars

REFERENCE_BATCH = 512
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


def parameter_groups(student: Student, options: FinetuneOptions) -> list[dict[str, Any]]:
    """Parameters with their highest rate; norms, biases, positions, the text map and the logits' scale do not decay."""
    groups: list[dict[str, Any]] = []
    peak = peak_rate(options)
    for name, factor, parameters in _towers(student, options):
        for decay, chosen in ((options.schedule.weight_decay, True), (0.0, False)):
            members = [parameter for title, parameter in parameters if decays(title, parameter) == chosen]
            if members:
                groups.append({"params": members, "name": name, "peak": peak * factor, "weight_decay": decay})
    return groups


def peak_rate(options: FinetuneOptions) -> float:
    """The highest rate, scaled with the global batch where that was asked for."""
    ratio = options.loss.batch / REFERENCE_BATCH
    factor = {"none": 1.0, "linear": ratio, "sqrt": math.sqrt(ratio)}[options.schedule.scale_rate]
    return options.schedule.rate * factor


def rate_share(done: float, schedule: Schedule) -> float:
    """Share of the peak rate after a share `done` of all steps: linear from near zero, then a cosine to the end."""
    if done < schedule.warm_up:
        return 0.01 + 0.99 * done / schedule.warm_up
    left = (done - schedule.warm_up) / max(1e-9, 1 - schedule.warm_up)
    return schedule.final_rate + (1 - schedule.final_rate) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, left)))


def set_rates(optimizer: torch.optim.Optimizer, *, done: float, schedule: Schedule) -> None:
    """Give every group its rate for the next step."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * rate_share(done, schedule)


def decays(name: str, parameter: nn.Parameter) -> bool:
    """Whether weight decay pulls at a parameter: only matrices, and not those that say where a token stands."""
    last = name.rsplit(".", 1)[-1]
    return parameter.ndim > 1 and last not in {"text_map", "positional_embedding", "pos_embed", "cls_token"}


def _towers(student: Student, options: FinetuneOptions) -> list[tuple[str, float, list[tuple[str, nn.Parameter]]]]:
    texts = {id(parameter) for parameter in text_parameters(student.model)}
    visual = {id(parameter) for parameter in student.model.visual.parameters()}
    trained = [pair for pair in student.named_parameters() if pair[1].requires_grad]
    towers = options.towers
    return [
        ("pictures", towers.picture_rate, [pair for pair in trained if id(pair[1]) in visual]),
        ("texts", towers.text_rate, [pair for pair in trained if id(pair[1]) in texts]),
        ("map", towers.map_rate, [pair for pair in trained if id(pair[1]) not in visual | texts]),
    ]
