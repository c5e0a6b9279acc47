"""A model folder -> graphs beside its weights that run both towers without torch, if they agree with it.

Reads the folder's config and weights; writes text.onnx, image.onnx and graphs.json (`indexer.encoders.graphs`).
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import cast

import open_clip
import torch
from open_clip.tokenizer import SimpleTokenizer
from torch import Tensor, nn

from indexer.arrays import Floats
from indexer.encoders.checkpoint import LOCAL, WEIGHT_NAMES, Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.export import REFUSALS, trace
from indexer.encoders.graphs import FILE_NAME, GraphFacts
from indexer.encoders.int8 import write_int8_graph
from indexer.encoders.loaded import sample_names, sample_pixels
from indexer.encoders.places import places_in, refer
from indexer.encoders.query_encoder import Shape
from indexer.encoders.tokens import Tower
from indexer.encoders.torch_encoder import ImageTower, TextTower, load_model, normalisation
from indexer.errors import ModelError
from indexer.library.durable import describe_file, with_checksum, write_file

PARITY = 0.9999
"""Least cosine between a vector from torch and the same input's from a graph, both fp32."""


def write_graphs(folder: Path) -> None:
    """Write the graphs of a model folder.

    Raises:
        ModelError: it is no model folder, or its towers, tokenizer or weights have no such form; then nothing is left.
    """
    checkpoint = find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))
    paths = [checkpoint.weights.with_name(name) for name in ("text.onnx", "image.onnx")]
    try:
        shape = _write(checkpoint, *paths)
    except REFUSALS as error:
        for path in paths:
            path.unlink(missing_ok=True)
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f'"{folder}" gets no graphs ({reason}); its towers are exported by `icons index`') from error
    int8 = write_int8_graph(paths[1], checkpoint.weights, size=checkpoint.image_size)
    files = {
        path.name: describe_file(path) for path in (*paths, paths[1].with_name("image-int8.onnx")) if path.exists()
    }
    facts = GraphFacts(checkpoint.weights_digest, shape, files, int8)
    write_file(folder / FILE_NAME, (json.dumps(with_checksum(asdict(facts)), indent=2) + "\n").encode())


def _write(checkpoint: Checkpoint, text_path: Path, image_path: Path) -> Shape:
    """Write both graphs; return what there is to know of the encoder."""
    tokenizer = open_clip.get_tokenizer(checkpoint.open_clip_name)
    if type(tokenizer) is not SimpleTokenizer:
        raise ValueError(f"tokenizer {type(tokenizer).__name__} is not CLIP's own")
    if checkpoint.weights.name != WEIGHT_NAMES[0]:
        raise ValueError(f'tensors of "{checkpoint.weights.name}" have no place that a graph can name')
    model = load_model(checkpoint)
    mean, std = normalisation(model.visual.preprocess_cfg)
    image, text = ImageTower(model, mean=mean, std=std).eval(), TextTower(model).eval()
    pixels, tokens = torch.from_numpy(sample_pixels(checkpoint.image_size)), tokenizer(sample_names())
    is_cut = text.cut_names is not None
    cut = tokens[:, : int(text.lengths(tokens).max())]
    return Shape(
        dim=int(checkpoint.config["model_cfg"]["embed_dim"]),
        image_size=checkpoint.image_size,
        context_length=int(tokenizer.context_length),
        start_token=int(tokenizer.sot_token_id),
        end_token=int(tokenizer.eot_token_id),
        cuts_texts=is_cut,
        text_parity=_parity(_write_tower(_AnyLength(text) if is_cut else text, text_path, cut), text, tokens),
        image_parity=_parity(_write_tower(image, image_path, pixels), image, pixels),
    )


def _write_tower(tower: nn.Module, path: Path, inputs: Tensor) -> Floats:
    """Write the graph of a tower; return its vectors of some inputs."""
    name = "pixels" if isinstance(tower, ImageTower) else "tokens"
    prefix, free = ("tower.model.", ("n", "length")) if isinstance(tower, _AnyLength) else ("model.", ("n",))
    places = {prefix + key: place for key, place in places_in(path.with_name(WEIGHT_NAMES[0])).items()}
    write_file(path, refer(trace(tower, name, inputs, folds=False, free=free), places))
    return Tower(path, threads=0).run(name, inputs.numpy())


def _parity(found: Floats, tower: nn.Module, inputs: Tensor) -> float:
    """The least cosine of vectors with those of torch."""
    with torch.inference_mode():
        expected = tower(inputs).numpy()
    parity = float((found * expected).sum(axis=1).min())
    if not parity >= PARITY:
        raise ValueError(f"its graphs and torch differ: cosine {parity:.5f}")
    return parity


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
            for module in self.tower.modules():
                if isinstance(module, nn.MultiheadAttention):
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
    attended = (weights @ values).transpose(1, 2).reshape(query.shape[0], -1, module.embed_dim)
    return module.out_proj(attended), None
