"""Screens -> a trained net: `python -m data.making.detector train --screens screens --out work/detector`.

Reads folders of screens, writes `state.pt` after every stretch of steps: a run that was cut goes on from there.
"""

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from data.making.detector.loss import loss_of, targets_of
from data.making.detector.net import Net
from data.making.detector.tiles import SIDE, Screens, Tile
from indexer.library.durable import make_folder
from indexer.locating.detector import STRIDE
from indexer.process import computes_in_bf16

STATE = "state.pt"
_AHEAD = 4
"""Batches that are made while one is learnt."""
_DECAY = 0.999
_CLIP = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a net is trained."""

    steps: int = 6_000
    batch: int = 8
    rate: float = 2e-3
    warm_up: int = 200
    decay: float = 0.02
    seed: int = 0
    save_every: int = 250


@dataclass(slots=True)
class Training:
    """A net, its moving average, and where it stands."""

    net: Net
    average: Net
    optimizer: torch.optim.Optimizer
    step: int = 0
    seconds: float = 0.0


Told = Callable[[int, float, float, float], None]
"""Called with the step, its losses of scores and boxes, and tiles a second."""


def train(screens: list[Path], out: Path, recipe: Recipe, *, told: Told) -> Training:
    """Train a net, or go on with one."""
    make_folder(out)
    seen = Screens(screens, cache=out / "screens.raw")
    training = _begin(out / STATE, recipe)
    began, since = time.monotonic(), training.step
    torch.manual_seed(recipe.seed + training.step)
    for batch in _batches(seen, recipe, begin=training.step):
        losses = _learn(training, batch, recipe)
        if training.step % 20 == 0:
            rate = (training.step - since) * recipe.batch / (time.monotonic() - began)
            told(training.step, losses[0], losses[1], rate)
        if training.step % recipe.save_every == 0 or training.step == recipe.steps:
            _save(training, out / STATE, recipe)
    return training


def read_average(out: Path) -> tuple[Net, dict[str, Any]]:
    """The net of a run as it stands: the moving average, with what made it."""
    state = torch.load(out / STATE, weights_only=True)
    net = Net()
    net.load_state_dict(state["average"])
    return net.eval(), {"step": state["step"], "recipe": state["recipe"]}


def _begin(path: Path, recipe: Recipe) -> Training:
    torch.manual_seed(recipe.seed)
    net, average = Net(), Net()
    net.to(memory_format=torch.channels_last)
    average.load_state_dict(net.state_dict())
    decayed = [weight for weight in net.parameters() if weight.ndim > 1]
    others = [weight for weight in net.parameters() if weight.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": recipe.decay}, {"params": others, "weight_decay": 0.0}]
    training = Training(net, average.eval(), torch.optim.AdamW(groups, lr=recipe.rate))
    if path.exists():
        state = torch.load(path, weights_only=True)
        net.load_state_dict(state["net"])
        average.load_state_dict(state["average"])
        training.optimizer.load_state_dict(state["optimizer"])
        training.step = state["step"]
    return training


def _save(training: Training, path: Path, recipe: Recipe) -> None:
    aside = path.with_suffix(".aside")
    state = {
        "net": training.net.state_dict(),
        "average": training.average.state_dict(),
        "optimizer": training.optimizer.state_dict(),
        "step": training.step,
        "recipe": asdict(recipe),
    }
    torch.save(state, aside)
    aside.replace(path)


def _batches(screens: Screens, recipe: Recipe, *, begin: int) -> Iterator[list[Tile]]:
    """Batches from a step on, made ahead in threads."""

    def made(step: int) -> list[Tile]:
        numbers = range(step * recipe.batch, (step + 1) * recipe.batch)
        return [screens.tile(number, seed=recipe.seed) for number in numbers]

    with ThreadPoolExecutor(2) as pool:
        waiting: list[Future[list[Tile]]] = []
        for step in range(begin, recipe.steps):
            waiting.append(pool.submit(made, step))
            if len(waiting) > _AHEAD:
                yield waiting.pop(0).result()
        yield from (future.result() for future in waiting)


def _learn(training: Training, batch: list[Tile], recipe: Recipe) -> tuple[float, float]:
    """One step; returns the losses of scores and of boxes."""
    training.step += 1
    for group in training.optimizer.param_groups:
        group["lr"] = recipe.rate * _share(training.step, recipe)
    pixels = normalised(torch.from_numpy(np.stack([tile.pixels for tile in batch])))
    targets = targets_of(
        [torch.from_numpy(tile.boxes) for tile in batch],
        [torch.from_numpy(tile.ignored) for tile in batch],
        cells=(SIDE // STRIDE, SIDE // STRIDE),
    )
    with torch.autocast("cpu", torch.bfloat16, enabled=computes_in_bf16()):
        logits, sides = training.net(pixels)
    of_scores, of_boxes = loss_of(logits, sides, targets)
    training.optimizer.zero_grad(set_to_none=True)
    (of_scores + of_boxes).backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(training.net.parameters(), _CLIP)
    training.optimizer.step()
    _take_in(training)
    return of_scores.item(), of_boxes.item()


def normalised(pixels: Tensor) -> Tensor:
    """uint8 (n, h, w, 3) -> (n, 3, h, w) about -1 to 1, channels last."""
    return pixels.permute(0, 3, 1, 2).to(torch.float32).sub(127.5).div(64)


def _share(step: int, recipe: Recipe) -> float:
    """Share of the learning rate at a step: up in a line, down in half a cosine."""
    if step <= recipe.warm_up:
        return step / recipe.warm_up
    done = (step - recipe.warm_up) / max(recipe.steps - recipe.warm_up, 1)
    return 0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2


@torch.no_grad()
def _take_in(training: Training) -> None:
    """Take a step's weights into the average; the first ones weigh more."""
    weight = 1 - min(_DECAY, training.step / (training.step + 9))
    live = training.net.state_dict()
    for name, kept in training.average.state_dict().items():
        if kept.is_floating_point():
            kept.lerp_(live[name], weight)
        else:
            kept.copy_(live[name])
