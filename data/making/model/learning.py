"""How a text tower learns words by itself: steps down a loss, shown on a bar."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from indexer.encoders.torch_encoder import TextTower
from indexer.finetune.options import Schedule
from indexer.finetune.step import make_adamw, steps
from indexer.reports.terminal import Bars

WORDS = Schedule(warm_up=0.05, final_rate=0.01)
"""How a text tower learns words by itself."""


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


def encode_by_length(tower: TextTower, tokens: Tensor, *, at_once: int = 512) -> Tensor:
    """Encode tokens in parts of texts of about one length, so that one long text does not lengthen all."""
    order = (tokens != 0).sum(dim=1).argsort()
    return torch.cat([tower.encode_short(tokens[rows]) for rows in torch.split(order, at_once)])[order.argsort()]
