"""An ONNX graph without weights: each tensor of it is a place in a safetensors file that lies in the same folder."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from indexer.arrays import Floats

_STORED = {"F16": TensorProto.FLOAT16, "F32": TensorProto.FLOAT, "F8_E4M3": TensorProto.UINT8}
"""Numbers of eight bits are looked up by their bytes: ONNX's `Gather` takes none."""
_OF_BYTES = "fp8.values"


@dataclass(frozen=True, slots=True)
class TensorLocation:
    """Where a tensor lies in a safetensors file, in bytes from its start."""

    file: str
    kind: str
    """As safetensors calls it: F16, F32 ..."""
    shape: tuple[int, ...]
    offset: int
    length: int


def tensor_locations(path: Path) -> dict[str, TensorLocation]:
    """Where each tensor of a safetensors file lies (huggingface/safetensors, "Format")."""
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(n_header))
    header.pop("__metadata__", None)
    return {
        name: TensorLocation(path.name, tensor["dtype"], tuple(tensor["shape"]), 8 + n_header + begin, end - begin)
        for name, tensor in header.items()
        for begin, end in [tensor["data_offsets"]]
    }


def with_external_weights(graph: bytes, locations: Mapping[str, TensorLocation]) -> bytes:
    """Replace the weights of a graph by their locations; each is cast to fp32 where it is stored in less.

    Raises:
        ValueError: the file has a tensor in another shape, or in a type that is none of F16 and F32; one of F8_E4M3
            is no table from which some rows are taken.
    """
    model = onnx.load_from_string(graph)
    users: dict[str, list[NodeProto]] = defaultdict(list)
    for node in model.graph.node:
        for name in node.input:
            users[name].append(node)
    nodes: list[NodeProto] = []
    tables: dict[str, str] = {}
    tensors = []
    for tensor in model.graph.initializer:
        location = locations.get(tensor.name)
        tensors.append(_external(tensor, location) if location else tensor)
        if not location or location.kind == "F32":
            continue
        tensors[-1].name = f"{tensor.name}.stored"
        if all(user.op_type == "Gather" and user.input[0] == tensor.name for user in users[tensor.name]):
            tables[tensor.name] = location.kind
        elif location.kind == "F8_E4M3":
            raise ValueError(f'"{tensor.name}" is {location.kind}, and no table')
        else:
            nodes += _cast(f"{tensor.name}.stored", tensor.name)
    if any(location.kind == "F8_E4M3" for location in locations.values()):
        tensors.append(numpy_helper.from_array(values_of_bytes(), _OF_BYTES))
    for node in model.graph.node:
        nodes.append(node)
        if node.input and (kind := tables.get(node.input[0])):
            # Only what is taken from a table is cast: 49,408 tokens stay as they are.
            taken, node.input[0] = node.output[0], f"{node.input[0]}.stored"
            node.output[0] = f"{taken}.stored"
            nodes += (_looked_up if kind == "F8_E4M3" else _cast)(node.output[0], taken)
    replace_parts(model.graph, nodes, tensors)
    return bytes(model.SerializeToString())


def replace_parts(graph: GraphProto, nodes: list[NodeProto], tensors: list[TensorProto]) -> None:
    """Give a graph other nodes and other tensors, which may be its own."""
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    held = [TensorProto.FromString(tensor.SerializeToString()) for tensor in tensors]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(copies)
    graph.initializer.extend(held)


def _external(tensor: TensorProto, location: TensorLocation) -> TensorProto:
    if tuple(tensor.dims) != location.shape or location.kind not in _STORED:
        raise ValueError(f'"{tensor.name}" is {location.kind} {list(location.shape)}, not {list(tensor.dims)}')
    external = TensorProto(
        name=tensor.name, dims=tensor.dims, data_type=_STORED[location.kind], data_location=TensorProto.EXTERNAL
    )
    for key, value in {"location": location.file, "offset": location.offset, "length": location.length}.items():
        external.external_data.add(key=key, value=str(value))
    return external


def _cast(stored: str, name: str) -> list[NodeProto]:
    return [helper.make_node("Cast", [stored], [name], to=TensorProto.FLOAT)]


def _looked_up(stored: str, name: str) -> list[NodeProto]:
    looked_at = f"{name}.bytes"
    cast = helper.make_node("Cast", [stored], [looked_at], to=TensorProto.INT32)
    return [cast, helper.make_node("Gather", [_OF_BYTES, looked_at], [name])]


def values_of_bytes() -> Floats:
    """What each byte says in e4m3: sign, four bits of exponent from -6 up, three of mantissa (arXiv 2209.05433)."""
    sign, exponent, mantissa = (np.arange(256) >> shift & mask for shift, mask in ((7, 1), (3, 15), (0, 7)))
    size = np.where(exponent > 0, np.ldexp(1 + mantissa / 8, exponent - 7), np.ldexp(mantissa / 8, -6))
    size[exponent * 8 + mantissa == 127] = np.nan
    return np.asarray(np.where(sign == 1, -size, size), np.float32)
