"""A picture tower of convolutions -> its graph in int8, calibrated over icons and held against what others make.

Static quantisation (Jacob et al., arXiv 1712.05877): uint8 between the layers, one scale each, from ranges over icons;
int8 weights, one scale a channel. Batch norms are folded into the convolutions before them, and what rounding adds to a
channel on average is taken off its bias (Nagel et al., arXiv 1906.04721). The graph holds scales and biases alone: ONNX
Runtime reads the weights from their places and quantises them when the tower is opened.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors import safe_open

from indexer.arrays import Floats, Pixels
from indexer.encoders.graphs import sample_pixels
from indexer.encoders.query_encoder import Tower
from indexer.library.durable import write_file

_QUANTISED = ("Conv", "Add", "AveragePool", "GlobalAveragePool", "MaxPool")
"""Operators that ONNX Runtime has for such numbers."""

_LARGEST_WEIGHT = 63
"""Seven bits: two products of a byte with such a weight fit 16 bits, where processors without units for it add them up.
With 127 they would overflow there, and a library would get other vectors on another machine."""
_LARGEST_BIAS = 2**30
"""In units of input and weight: half of what 32 bits hold, the other half is for the products."""

Weights = Mapping[str, NDArray[Any]]
Ranges = Mapping[str, tuple[float, float]]
"""The least and the largest value of each inner tensor."""
Shifts = Mapping[str, NDArray[np.float64]]
"""By a convolution's output: what is added to each of its channels, (channels,)."""


class Quantising:
    """One graph, whose weights are places, on its way into int8: `weights` by name, `ranges` of its inner tensors."""

    def __init__(self, graph: bytes, weights: Weights, ranges: Ranges, shifts: Shifts) -> None:
        self.model = onnx.load_from_string(graph)
        self.graph: GraphProto = self.model.graph
        self.weights, self.ranges, self.shifts = weights, ranges, shifts
        self.tensors: list[TensorProto] = list(self.graph.initializer)
        self._made_by = {name: node for node in self.graph.node for name in node.output}
        n_users = Counter(name for node in self.graph.node for name in node.input)
        self._convolutions = [node.output[0] for node in self.graph.node if node.op_type == "Conv"]
        alone = {name for name in self._convolutions if n_users[name] == 1}
        norms = (node for node in self.graph.node if node.op_type == "BatchNormalization")
        self._norms = {node.input[0]: node for node in norms if node.input[0] in alone}
        """By the output of the convolution that each belongs to, and that nothing else uses."""
        self._quantised: set[str] = set()

    def quantised(self) -> bytes:
        """The graph in int8."""
        needed, nodes = {output.name for output in self.graph.output}, list[NodeProto]()
        for node in reversed(list(self.nodes())):
            if needed.intersection(node.output):
                needed.update(node.input)
                nodes.insert(0, node)
        replace_parts(self.graph, nodes, [tensor for tensor in self.tensors if tensor.name in needed])
        return bytes(self.model.SerializeToString())

    def inner(self) -> list[str]:
        """Names of tensors that one layer makes for one that is quantised; none where the tower is of another kind."""
        if not self._convolutions or len(self._norms) < len(self._convolutions):
            return []
        constant = {tensor.name for tensor in self.graph.initializer}
        return sorted({
            name
            for node in self.graph.node
            if node.op_type in _QUANTISED and constant.isdisjoint(node.input)
            for name in node.input
            if name in self._made_by and self._made_by[name].op_type not in ("Cast", "Identity")
        })  # fmt: skip

    def convolved(self) -> list[str]:
        """Names of what convolutions give, their norm included, in the order in which they are computed."""
        return [self._norms[name].output[0] for name in self._convolutions]

    def nodes(self) -> Iterator[NodeProto]:
        """All nodes, with what takes numbers into int8 and back before each layer."""
        inner = set(self.inner())
        for node in self.graph.node:
            if node.input and node.input[0] in self._norms:
                continue
            changed = NodeProto.FromString(node.SerializeToString())
            if node.op_type in _QUANTISED:
                for name in node.input:
                    if name in inner - self._quantised:
                        self._quantised.add(name)
                        yield from self._there_and_back(name, name, *self._scale(name))
                changed.input[:] = [f"{name}.dq" if name in inner else name for name in node.input]
            if node.op_type == "Conv":
                yield from self._fold(node, self._norms[node.output[0]], changed)
            yield changed

    def _there_and_back(
        self, source: str, name: str, scale: NDArray[Any], zero: NDArray[Any], **axis: Any
    ) -> list[NodeProto]:
        by = [self._hold(f"{name}.scale", scale), self._hold(f"{name}.zero", zero)]
        there = helper.make_node("QuantizeLinear", [source, *by], [f"{name}.q"], **axis)
        return [there, helper.make_node("DequantizeLinear", [f"{name}.q", *by], [f"{name}.dq"], **axis)]

    def _scale(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        least, most = min(self.ranges[name][0], 0.0), max(self.ranges[name][1], 0.0)
        scale = (most - least) / 255
        return np.array(scale, np.float32), np.array(round(-least / scale), np.uint8)

    def _fold(self, convolution: NodeProto, norm: NodeProto, changed: NodeProto) -> Iterator[NodeProto]:
        """Give a convolution its norm's output, and weights and bias that do what the norm did."""
        name = convolution.input[1]
        gain, shift, mean, variance = (self._weight(name) for name in norm.input[1:5])
        epsilon = next(attribute.f for attribute in norm.attribute if attribute.name == "epsilon")
        factor = gain / np.sqrt(variance + epsilon)
        weight = self._weight(name) * factor[:, None, None, None]
        added = shift - mean * factor + self.shifts.get(norm.output[0], 0.0)
        of_input = self._scale(convolution.input[0])[0]
        least = np.maximum(np.abs(added) / (_LARGEST_BIAS * of_input), 1e-12)  # of channels with next to no weight
        largest = np.abs(weight).reshape(len(weight), -1).max(axis=1)
        scale = np.maximum(largest / _LARGEST_WEIGHT, least).astype(np.float32)
        quantised = self._there_and_back(f"{name}.folded", name, scale, np.zeros(len(scale), np.int8), axis=0)
        folded = self._hold(f"{name}.factor", factor.astype(np.float32)[:, None, None, None])
        yield helper.make_node("Mul", [name, folded], [f"{name}.folded"])
        yield from quantised
        unit = of_input * scale
        bias = self._hold(f"{name}.bias", np.round(added / unit).astype(np.int32))
        by = [self._hold(f"{name}.bias.scale", unit), self._hold(f"{name}.bias.zero", np.zeros(len(scale), np.int32))]
        yield helper.make_node("DequantizeLinear", [bias, *by], [f"{name}.bias.dq"], axis=0)
        changed.input[1:] = [f"{name}.dq", f"{name}.bias.dq"]
        changed.output[0] = norm.output[0]

    def _weight(self, name: str) -> NDArray[np.float64]:
        while (made_by := self._made_by[name]).op_type == "Identity":
            name = made_by.input[0]
        return self.weights[name].astype(np.float64)

    def _hold(self, name: str, values: NDArray[Any]) -> str:
        self.tensors.append(numpy_helper.from_array(np.array(values), name))
        return name


def replace_parts(graph: GraphProto, nodes: list[NodeProto], tensors: list[TensorProto]) -> None:
    """Give a graph other nodes and other tensors, which may be its own."""
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    held = [TensorProto.FromString(tensor.SerializeToString()) for tensor in tensors]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(copies)
    graph.initializer.extend(held)


N_ICONS = 400
"""As many for the ranges as for the look."""
LEAST_COSINE, LEAST_MEAN_COSINE = 0.995, 0.999
"""Between a vector in fp32 and the same picture's in int8."""
_N_COMPARED = 64
"""Icons over which a channel's mean is taken: each has thousands of places."""
_AT_ONCE = 8
"""Pictures whose inner tensors lie in memory together: 40 MB each in a ResNet-50 of 224 px."""


def write_int8_graph(image: Path, weights: Path, *, size: int) -> float | None:
    """Write the int8 graph of a picture tower beside its graph `image`; return the least cosine with fp32.

    None, and nothing written, where the tower is none of convolutions, or loses too much.
    """
    graph, path = image.read_bytes(), image.with_name("image-int8.onnx")
    path.unlink(missing_ok=True)
    if not (inner := Quantising(graph, {}, {}, {}).inner()):
        return None
    icons = _in_other_colours(sample_pixels(size, n=N_ICONS))
    seen = [[(found.min(), found.max()) for found in part] for part in _watch(image, graph, inner, icons)]
    extremes = np.array(seen, np.float64)  # (parts, tensors, 2)
    ranges = dict(zip(inner, zip(extremes[..., 0].min(0), extremes[..., 1].max(0), strict=True), strict=True))
    with safe_open(weights, "numpy") as held:
        stored = {f"model.{name}": held.get_tensor(name) for name in held.keys() if name.startswith("visual.")}  # noqa: SIM118
    shifts = _shifts(image, stored, ranges, icons[:: N_ICONS // _N_COMPARED])
    write_file(path, Quantising(graph, stored, ranges, shifts).quantised())
    others = sample_pixels(size, n=N_ICONS, first=1)
    expected, found = (Tower(tower, threads=0).run("pixels", others) for tower in (image, path))
    cosines = (expected * found).sum(axis=1)
    if cosines.min() < LEAST_COSINE or cosines.mean() < LEAST_MEAN_COSINE:
        path.unlink()
        return None
    return float(cosines.min())


def _in_other_colours(pixels: Pixels) -> Pixels:
    """Change three pictures of four, which are black on white: to white on black, coloured ink, coloured ground."""
    colours, changed = np.random.default_rng(0).random((len(pixels), 1, 1, 3)), pixels.copy()
    changed[1::4] = 255 - pixels[1::4]
    changed[2::4] = 255 - (255 - pixels[2::4]) * colours[2::4]
    changed[3::4] = pixels[3::4] * colours[3::4]
    return changed


def _shifts(image: Path, weights: Weights, ranges: Ranges, pixels: Pixels) -> Shifts:
    """What int8 takes off each channel on average, layer by layer: later ones see what earlier ones have got back."""
    graph, shifts = image.read_bytes(), dict[str, NDArray[np.float64]]()

    def means(graph: bytes, name: str) -> NDArray[np.float64]:
        parts = [found.mean(axis=(0, 2, 3), dtype=np.float64) for [found] in _watch(image, graph, [name], pixels)]
        return np.asarray(np.mean(parts, axis=0), np.float64)

    for name in Quantising(graph, {}, {}, {}).convolved():
        shifts[name] = means(graph, name) - means(Quantising(graph, weights, ranges, shifts).quantised(), name)
    return shifts


def _watch(image: Path, graph: bytes, names: list[str], pixels: Pixels) -> Iterator[list[Floats]]:
    """Yield what tensors of the middle of a graph are for some pictures, a few at a time."""
    model = onnx.load_from_string(graph)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    watched = image.with_name(f".watched-{image.name}")  # beside its weights
    watched.write_bytes(model.SerializeToString())
    try:
        tower = Tower(watched, threads=0)
        parts = np.split(pixels, range(_AT_ONCE, len(pixels), _AT_ONCE))
        yield from (tower.run_all("pixels", part)[1:] for part in parts)
    finally:
        watched.unlink()
