"""Both towers -> ONNX, in a library or beside a model's weights; accepted only if they agree with torch.

`export` reads a loaded encoder and writes `encoders/FINGERPRINT/`: text.onnx, image.onnx, tokenizer.json, encoder.json.
`write_graphs` reads a model folder and writes text.onnx, image.onnx, image-int8.onnx and graphs.json beside its weights
(`indexer.encoders.graphs`).
"""

import io
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import open_clip
import torch
from numpy.typing import NDArray
from onnx import NodeProto, StringStringEntryProto, TensorProto, helper, numpy_helper
from open_clip.tokenizer import SimpleTokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn

from indexer.arrays import Floats
from indexer.encoders.checkpoint import LOCAL, WEIGHT_NAMES, Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.graphs import FILE_NAME, GraphFacts, sample_names, sample_pixels
from indexer.encoders.int8 import replace_parts, write_int8_graph
from indexer.encoders.query_encoder import Shape, Tower, clip_tokenizer, write_facts
from indexer.encoders.torch_encoder import Encoder, ImageTower, TextTower, load_model
from indexer.errors import ModelError, first_line
from indexer.library.durable import describe_file, folder_aside, with_checksum, write_file

OPSET = 17
_INPUTS = {"text": "tokens", "image": "pixels"}
PARITY, GRAPH_PARITY = 0.999, 0.9999
"""Least cosine between a vector from torch and the same input's from ONNX Runtime, both fp32: exported, by graphs."""
_REFUSALS = (RuntimeError, ValueError, TypeError, torch.onnx.errors.OnnxExporterError)
"""What a tower that has no such form raises, here or when it is opened."""


@torch.inference_mode()
def trace(tower: nn.Module, name: str, inputs: Tensor, *, folds: bool = True, free: tuple[str, ...] = ("n",)) -> bytes:
    """Trace a tower with an input of this name; its first axes, as many as `free` names, may have any length.

    Without `folds` every weight stays a tensor of its own, under its own name.
    """
    axes, buffer = dict(enumerate(free)), io.BytesIO()
    with traceable():
        torch.onnx.export(
            tower,
            (inputs[:2],),
            cast(Any, buffer),  # a path, say the stubs, though the exporter of this kind writes to files too
            input_names=[name],
            output_names=["vectors"],
            dynamic_axes={name: axes, "vectors": {0: "n"}},
            opset_version=OPSET,
            do_constant_folding=folds,
            dynamo=False,
        )
    return buffer.getvalue()


@contextmanager
def traceable() -> Iterator[None]:
    """Keep attention in operators that ONNX has, and the tracer quiet: what it takes for constant is constant."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@torch.inference_mode()
def _parity(path: Path, inputs: Tensor, tower: nn.Module, whole: Tensor | None = None) -> float:
    """Least cosine between vectors of an exported tower and those of torch; `whole`: what torch sees instead."""
    found = Tower(path, threads=0).run(_INPUTS[path.stem], inputs.cpu().numpy())
    return float((found * tower(inputs if whole is None else whole).cpu().numpy()).sum(axis=1).min())


def _shape(tokenizer: Any, *, dim: int, image_size: int, **agreement: Any) -> Shape:
    start, end = (int(getattr(tokenizer, f"{mark}_token_id", 0)) for mark in ("sot", "eot"))
    return Shape(
        dim=dim,
        image_size=image_size,
        context_length=int(tokenizer.context_length),
        start_token=start,
        end_token=end,
        **agreement,
    )


def export(
    encoder: Encoder,
    folder: Path,
    *,
    choice: ModelChoice,
    texts: Sequence[str],
    pixels: NDArray[np.uint8],
    step: Callable[[str], None] = lambda _: None,
) -> None:
    """Export both towers to `folder`, checked on real `texts` and `pixels` (n, size, size, 3) of the library.

    `step` is told what is done next.

    In `encoder.json`, `served` is "torch" where the export was not accepted, and `files` has the size in bytes and
    sha256 of every other file of the folder.
    """
    with folder_aside(folder, replace=True) as aside:
        try:
            agreement = _export_towers(encoder, aside, texts=texts, pixels=pixels, step=step)
        except _REFUSALS as error:
            agreement = {"reason": first_line(error)}
        shape = _shape(encoder.tokenizer, dim=encoder.dim, image_size=encoder.image_size, **agreement)
        write_facts(aside, encoder.checkpoint, choice, shape)


def _export_towers(
    encoder: Encoder, folder: Path, *, texts: Sequence[str], pixels: NDArray[np.uint8], step: Callable[[str], None]
) -> dict[str, Any]:
    """Write a tokenizer and both ONNX files; return the least cosine of each with torch."""
    (folder / "tokenizer.json").write_text(_tokenizer(encoder.tokenizer).to_str(), "utf-8")
    tokens, pictures = encoder.tokenizer(list(texts)), torch.from_numpy(pixels)
    found = {}
    for name, tower, inputs in (("text", encoder.text_tower, tokens), ("image", encoder.image_tower, pictures)):
        path, on_device = folder / f"{name}.onnx", inputs.to(encoder.device)
        try:
            step(f"tracing the tower of {name}s")
            path.write_bytes(trace(tower, _INPUTS[path.stem], on_device))
            step(f"comparing the tower of {name}s")
            found[f"{name}_parity"] = _parity(path, on_device, tower)
        except _REFUSALS as error:
            raise ValueError(f"the {name} tower does not export: {first_line(error)}") from error
    if min(found.values()) < PARITY:
        differ = ", ".join(f"{cosine:.5f} by {name}" for name, cosine in found.items())
        raise ValueError(f"ONNX and torch differ: cosine {differ}")
    return found


def _tokenizer(tokenizer: Any) -> Tokenizer:
    """Express open_clip's tokenizer in the `tokenizers` library, without the start and end marks."""
    if isinstance(tokenizer, SimpleTokenizer):
        return clip_tokenizer()
    backend = getattr(getattr(tokenizer, "tokenizer", None), "backend_tokenizer", None)
    if backend is None:
        raise ValueError(f"tokenizer {type(tokenizer).__name__} has no form without torch")
    return Tokenizer.from_str(backend.to_str())


def write_graphs(folder: Path) -> None:
    """Write the graphs of a model folder.

    Raises:
        ModelError: it is no model folder, or its towers, tokenizer or weights have no such form; then nothing is left.
    """
    checkpoint = find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))
    text, image, int8 = (checkpoint.weights.with_name(f"{name}.onnx") for name in ("text", "image", "image-int8"))
    try:
        shape = _write_graphs(checkpoint, text, image)
    except _REFUSALS as error:
        for path in (text, image):
            path.unlink(missing_ok=True)
        raise ModelError(
            f'"{folder}" gets no graphs ({first_line(error)}); its towers are exported by `icons index`'
        ) from error
    int8_parity = write_int8_graph(image, checkpoint.weights, size=checkpoint.image_size)
    files = {path.name: describe_file(path) for path in (text, image, int8) if path.exists()}
    facts = GraphFacts(checkpoint.weights_digest, shape, files, int8_parity)
    write_file(folder / FILE_NAME, (json.dumps(with_checksum(asdict(facts)), indent=2) + "\n").encode())


def _write_graphs(checkpoint: Checkpoint, text_path: Path, image_path: Path) -> Shape:
    """Write both graphs; return what there is to know of the encoder."""
    tokenizer = open_clip.get_tokenizer(checkpoint.open_clip_name)
    if type(tokenizer) is not SimpleTokenizer:
        raise ValueError(f"tokenizer {type(tokenizer).__name__} is not CLIP's own")
    if checkpoint.weights.name != WEIGHT_NAMES[0]:
        raise ValueError(f'tensors of "{checkpoint.weights.name}" have no place that a graph can name')
    model = load_model(checkpoint)
    image, text = ImageTower(model, model.visual.preprocess_cfg).eval(), TextTower(model).eval()
    pixels, tokens = torch.from_numpy(sample_pixels(checkpoint.image_size)), tokenizer(sample_names())
    is_cut, cut = text.cut_names is not None, tokens[:, : int(text.lengths(tokens).max())]
    _write_graph(_AnyLength(text) if is_cut else text, text_path, cut)
    _write_graph(image, image_path, pixels)
    agreement = {
        "text_parity": _parity(text_path, cut, text, tokens),
        "image_parity": _parity(image_path, pixels, image),
    }
    if not (least := min(agreement.values())) >= GRAPH_PARITY:
        raise ValueError(f"its graphs and torch differ: cosine {least:.5f}")
    dim = int(checkpoint.config["model_cfg"]["embed_dim"])
    return _shape(tokenizer, dim=dim, image_size=checkpoint.image_size, cuts_texts=is_cut, **agreement)


def _write_graph(tower: nn.Module, path: Path, inputs: Tensor) -> None:
    """Write the graph of a tower, whose tensors are places in the weights beside it."""
    prefix, free = ("tower.model.", ("n", "length")) if isinstance(tower, _AnyLength) else ("model.", ("n",))
    locations = tensor_locations(path.with_name(WEIGHT_NAMES[0]), prefix)
    write_file(path, with_external_weights(trace(tower, _INPUTS[path.stem], inputs, folds=False, free=free), locations))


class _AnyLength(nn.Module):
    """A text tower whose graph takes tokens (n, length) of any length up to its context.

    Its position table and its causal mask are cut as `TextTower.encode_short` has it, but by hand: what that uses can't
    be traced. Nor can torch's own attention, whose trace holds the length of the texts that it was traced with.
    """

    def __init__(self, tower: TextTower) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode a batch that is cut already."""
        positions = torch.ones_like(tokens[0]).cumsum(dim=0) - 1
        with ExitStack() as stack:
            for name in self.tower.cut_names or ():
                stack.enter_context(_cut(self.tower, name, positions))
            for module in (it for it in self.tower.modules() if isinstance(it, nn.MultiheadAttention)):
                module.forward = partial(_attend, module)  # type: ignore[method-assign]
                stack.callback(delattr, module, "forward")
            return cast(Tensor, self.tower(tokens))


@contextmanager
def _cut(tower: nn.Module, name: str, positions: Tensor) -> Iterator[None]:
    """Have a tensor of a tower hold some positions alone, under its name and in its place."""
    path, _, key = name.rpartition(".")
    owner = tower.get_submodule(path)
    kept = cast(dict[str, Tensor], owner._parameters if key in owner._parameters else owner._buffers)
    whole = kept[key]
    kept[key] = whole[positions][:, positions] if key == "attn_mask" else whole[positions]
    try:
        yield
    finally:
        kept[key] = whole


def _attend(
    module: nn.MultiheadAttention, query: Tensor, *_: Tensor, attn_mask: Tensor, need_weights: bool = False
) -> tuple[Tensor, None]:
    """Attention of a sequence (n, length, width) to itself."""
    del need_weights
    packed = nn.functional.linear(query, module.in_proj_weight, module.in_proj_bias)
    heads = [part.reshape(part.shape[0], -1, module.num_heads, module.head_dim) for part in packed.chunk(3, dim=-1)]
    queries, keys, values = (part.transpose(1, 2) for part in heads)
    weights = (queries @ keys.transpose(2, 3) * module.head_dim**-0.5 + attn_mask).softmax(dim=-1)
    return module.out_proj((weights @ values).transpose(1, 2).reshape(query.shape[0], -1, module.embed_dim)), None


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


def tensor_locations(path: Path, prefix: str) -> dict[str, TensorLocation]:
    """Where each tensor of a safetensors file lies (huggingface/safetensors, "Format"), `prefix` before its name."""
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(n_header))
    header.pop("__metadata__", None)
    return {
        prefix + name: TensorLocation(
            path.name, tensor["dtype"], tuple(tensor["shape"]), 8 + n_header + begin, end - begin
        )
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
    used_whole = {
        name
        for node in model.graph.node
        for place, name in enumerate(node.input)
        if node.op_type != "Gather" or place > 0
    }
    nodes: list[NodeProto] = []
    tables: dict[str, str] = {}
    tensors = []
    for tensor in model.graph.initializer:
        name, location = tensor.name, locations.get(tensor.name)
        tensors.append(_external(tensor, location) if location else tensor)
        if not location or location.kind == "F32":
            continue
        tensors[-1].name = f"{tensor.name}.stored"
        if name not in used_whole:
            tables[tensor.name] = location.kind
        elif location.kind == "F8_E4M3":
            raise ValueError(f'"{tensor.name}" is {location.kind}, and no table')
        else:
            nodes.append(helper.make_node("Cast", [tensors[-1].name], [tensor.name], to=TensorProto.FLOAT))
    if any(location.kind == "F8_E4M3" for location in locations.values()):
        tensors.append(numpy_helper.from_array(values_of_bytes(), _OF_BYTES))
    for node in model.graph.node:
        nodes.append(node)
        if node.input and (kind := tables.get(node.input[0])):
            # Only what is taken from a table is cast: 49,408 tokens stay as they are.
            taken, node.input[0] = node.output[0], f"{node.input[0]}.stored"
            node.output[0] = f"{taken}.stored"
            if kind == "F8_E4M3":
                nodes.append(helper.make_node("Cast", [node.output[0]], [f"{taken}.bytes"], to=TensorProto.INT32))
                nodes.append(helper.make_node("Gather", [_OF_BYTES, f"{taken}.bytes"], [taken]))
            else:
                nodes.append(helper.make_node("Cast", [node.output[0]], [taken], to=TensorProto.FLOAT))
    replace_parts(model.graph, nodes, tensors)
    return bytes(model.SerializeToString())


def _external(tensor: TensorProto, location: TensorLocation) -> TensorProto:
    if tuple(tensor.dims) != location.shape or location.kind not in _STORED:
        raise ValueError(f'"{tensor.name}" is {location.kind} {list(location.shape)}, not {list(tensor.dims)}')
    place = {"location": location.file, "offset": location.offset, "length": location.length}
    return TensorProto(
        name=tensor.name,
        dims=tensor.dims,
        data_type=_STORED[location.kind],
        data_location=TensorProto.EXTERNAL,
        external_data=[StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()],
    )


def values_of_bytes() -> Floats:
    """What each byte says in e4m3 (arXiv 2209.05433), (256,)."""
    return np.asarray(torch.arange(256).to(torch.uint8).view(torch.float8_e4m3fn).float())
