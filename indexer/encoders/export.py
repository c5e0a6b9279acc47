"""Both towers -> ONNX in the library, with a tokenizer that needs no torch; accepted only if they agree.

Reads a loaded encoder; writes `encoders/FINGERPRINT/`: text.onnx, image.onnx, tokenizer.json, encoder.json.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from open_clip.tokenizer import SimpleTokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn

from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.query_encoder import Shape, write_facts
from indexer.encoders.tokens import Tower, clip_tokenizer
from indexer.encoders.torch_encoder import Encoder
from indexer.library.durable import describe_file, folder_aside

OPSET = 17
REFUSALS = (RuntimeError, ValueError, TypeError, torch.onnx.errors.OnnxExporterError)
"""What a tower that has no such form raises, here or when it is opened."""


@torch.inference_mode()
def trace(tower: nn.Module, name: str, inputs: Tensor, *, folds: bool = True, free: tuple[str, ...] = ("n",)) -> bytes:
    """Trace a tower with an input of this name; its first axes, as many as `free` names, may have any length.

    Without `folds` every weight stays a tensor of its own, under its own name.
    """
    axes = dict(enumerate(free))
    buffer = io.BytesIO()
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


PARITY = 0.999
"""Least cosine between a vector from torch and the same input's from ONNX Runtime, both fp32."""


class ExportError(Exception):
    """The towers can't leave torch; the message says why. Never leaves this module."""


def export(
    encoder: Encoder, folder: Path, *, choice: ModelChoice, texts: Sequence[str], pixels: NDArray[np.uint8]
) -> None:
    """Export both towers to `folder`, checked on real `texts` and `pixels` (n, size, size, 3) of the library.

    In `encoder.json`, `served` is "torch" where the export was not accepted, and `files` has the size in bytes and
    sha256 of every other file of the folder.
    """
    with folder_aside(folder) as aside:
        parity: tuple[float, float] | None = None
        reason = None
        try:
            (aside / "tokenizer.json").write_text(_tokenizer(encoder.tokenizer).to_str(), "utf-8")
            parity = _export_towers(encoder, aside, texts=texts, pixels=pixels)
        except ExportError as refusal:
            reason = str(refusal)
        shape = Shape(
            dim=encoder.dim,
            image_size=encoder.image_size,
            context_length=encoder.context_length,
            start_token=int(getattr(encoder.tokenizer, "sot_token_id", 0)),
            end_token=int(getattr(encoder.tokenizer, "eot_token_id", 0)),
            reason=reason,
            text_parity=parity[0] if parity else None,
            image_parity=parity[1] if parity else None,
        )
        files = {path.name: describe_file(path) for path in sorted(aside.iterdir())}
        write_facts(aside, encoder.checkpoint, choice, shape, files)


def _export_towers(
    encoder: Encoder, folder: Path, *, texts: Sequence[str], pixels: NDArray[np.uint8]
) -> tuple[float, float]:
    """Write both ONNX files; return the least cosine of each with torch."""
    tokens = encoder.tokenizer(list(texts))
    text = _export_tower(encoder.text_tower, folder / "text.onnx", "tokens", tokens.to(encoder.device))
    images = torch.from_numpy(pixels).to(encoder.device)
    image = _export_tower(encoder.image_tower, folder / "image.onnx", "pixels", images)
    if min(text, image) < PARITY:
        raise ExportError(f"ONNX and torch differ: cosine {text:.5f} on words, {image:.5f} on pictures")
    return text, image


@torch.inference_mode()
def _export_tower(tower: nn.Module, path: Path, name: str, inputs: torch.Tensor) -> float:
    try:
        path.write_bytes(trace(tower, name, inputs))
        found = Tower(path, threads=0).run(name, inputs.cpu().numpy())
    except REFUSALS as error:
        raise ExportError(f"the {name} tower does not export: {str(error).strip().splitlines()[0]}") from error
    expected = tower(inputs).cpu().numpy()
    return float((found * expected).sum(axis=1).min())


def _tokenizer(tokenizer: Any) -> Tokenizer:
    """Express open_clip's tokenizer in the `tokenizers` library, without the start and end marks."""
    if isinstance(tokenizer, SimpleTokenizer):
        return clip_tokenizer()
    backend = getattr(getattr(tokenizer, "tokenizer", None), "backend_tokenizer", None)
    if backend is None:
        raise ExportError(f"tokenizer {type(tokenizer).__name__} has no form without torch")
    return Tokenizer.from_str(backend.to_str())
