"""A trained net -> `icons.onnx`: weights in fp16, answers as the reader takes them, peaks alone."""

import io
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from data.making.detector.net import Net
from data.making.detector.train import normalised, read_average
from indexer.encoders.tracing import OPSET, traceable
from indexer.errors import TrainError
from indexer.library.durable import make_folder, write_file
from indexer.locating.detector import FACTS, GRAPH

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
    from indexer.encoders.tower import Tower

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
