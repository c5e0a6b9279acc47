"""A tower of torch -> the bytes of an ONNX graph."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn

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
