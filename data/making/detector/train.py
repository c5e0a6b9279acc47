"""Screens -> a trained net -> ONNX.

Reads folders of screens, writes `state.pt` after every stretch of steps: a run that was cut goes on from there.
"""

import io
import json
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from data.making.detector.net import Net, loss_of, targets_of
from data.making.detector.tiles import SIDE, Screens, Tile
from indexer.encoders.export import OPSET, traceable
from indexer.errors import TrainError
from indexer.library.durable import make_folder, write_file
from indexer.process import computes_in_bf16
from indexer.screens.located import GRAPH, STRIDE

FACTS = "training.json"
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


_MOST_BYTES = 3_000_000
_SAMPLE = (1, 320, 352, 3)
"""Another height than width, so that a graph that mixes them up is seen."""
_FURTHEST = 0.02
"""Most that a score may differ from torch's."""


class _Answering(nn.Module):
    """Pixels uint8 (1, height, width, 3) -> scores (1, h, w), 0 where a neighbour has more, and sides (1, 4, h, w)."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        logits, sides = self.net(normalised(pixels))
        scores = logits.sigmoid()
        highest = nn.functional.max_pool2d(scores[:, None], 3, stride=1, padding=1)[:, 0]
        return scores * (scores >= highest), sides


def export(run: Path, out: Path) -> dict[str, Any]:
    """Write the net of a run, and what made it, into a folder; returns those facts.

    Raises:
        TrainError: the graph answers otherwise than torch, or is too large to ship.
    """
    net, made_by = read_average(run)
    answering = _Answering(_folded(net)).eval()
    content = _halved(_traced(answering))
    if len(content) > _MOST_BYTES:
        raise TrainError(f"the detector has {len(content):,} bytes; {_MOST_BYTES:,} may ship")
    make_folder(out)
    write_file(out / GRAPH, content)
    _compare(answering, out / GRAPH)
    facts = {"format": 1, "parameters": sum(weight.numel() for weight in net.parameters()), **made_by}
    write_file(out / FACTS, (json.dumps(facts, indent=1) + "\n").encode())
    return facts


def _folded(net: Net) -> Net:
    """Take each batch norm into the convolution before it."""
    for part in list(net.modules()):
        if isinstance(part, nn.Sequential) and len(part) > 1 and isinstance(part[1], nn.BatchNorm2d):
            part[0], part[1] = fuse_conv_bn_eval(cast(nn.Conv2d, part[0]), part[1]), nn.Identity()
    return net


@torch.inference_mode()
def _traced(answering: nn.Module) -> bytes:
    written = io.BytesIO()
    free = {1: "height", 2: "width"}
    with traceable():
        torch.onnx.export(
            answering,
            (torch.zeros(_SAMPLE, dtype=torch.uint8),),
            cast(Any, written),
            input_names=["pixels"],
            output_names=["scores", "sides"],
            dynamic_axes={"pixels": free, "scores": free, "sides": {2: "height", 3: "width"}},
            opset_version=OPSET,
            dynamo=False,
        )
    return written.getvalue()


def _halved(content: bytes) -> bytes:
    """Keep weights as fp16, each followed by a cast, which ONNX Runtime does once when it opens the graph."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load_from_string(content)
    casts = []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.ndim < 4:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    for place, node in enumerate(casts):
        model.graph.node.insert(place, node)
    return bytes(model.SerializeToString())


def _compare(answering: nn.Module, path: Path) -> None:
    """Hold the graph against torch on a screen of bars and squares."""
    from indexer.encoders.query_encoder import Tower

    lot = np.random.default_rng(0)
    pixels = np.full(_SAMPLE, 240, np.uint8)
    for left, top, width, height in lot.integers((0, 0, 3, 3), (330, 300, 60, 30), (60, 4)).tolist():
        pixels[0, top : top + height, left : left + width] = lot.integers(0, 256, 3)
    with torch.inference_mode():
        scores, _ = answering(torch.from_numpy(pixels))
    found = Tower(path, threads=1).run_all("pixels", pixels)[0]
    apart = float(np.abs(np.asarray(scores) - found).max())
    if not apart <= _FURTHEST:
        raise TrainError(f"the exported detector differs from torch by {apart:.3f} in a score; {_FURTHEST} may be")
