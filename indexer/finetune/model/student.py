"""What is trained? An open_clip model, each tower in full, through low-rank additions, or locked."""

import math
from collections.abc import Iterator
from typing import Any, cast

import torch
from timm.layers.norm_act import convert_sync_batchnorm
from torch import Tensor, nn
from torch.nn import functional

from indexer.encoders.torch_encoder import Precision, TextTower, autocast
from indexer.errors import ModelError
from indexer.finetune.model.lora import add_lora, merged_weights
from indexer.finetune.options import FinetuneOptions, Towers

MAX_SCALE = 100.0
START_BIAS = -10.0
"""Of the sigmoid loss, where the model brings none: at first nearly all pairs are wrong (Zhai et al. 2023)."""


class Student(nn.Module):
    """An open_clip model under training; `forward` gives named features, as `objective.Features` says.

    Attributes: `encodes_texts` is False where the text tower is locked: then texts come as its vectors, encoded once.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, model: Any, options: FinetuneOptions, *, precision: Precision) -> None:
        super().__init__()
        towers = options.towers
        self.model: Any = model
        self.precision = precision
        self.encodes_texts = towers.text_tower != "locked"
        # FSDP gathers parameters in hooks and compiled code wants one shape: neither lets a batch be cut to its texts.
        self.cuts_texts = options.distribution.strategy == "ddp" and not options.distribution.compile
        self._steady = _prepare_towers(model, towers)
        preprocess = model.visual.preprocess_cfg
        self.register_buffer("mean", torch.tensor(preprocess["mean"]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(preprocess["std"]).view(3, 1, 1), persistent=False)
        has_map = not self.encodes_texts and towers.text_map and _projection(model) is not None
        self.text_map = nn.Parameter(torch.eye(_width(model))) if has_map else None
        self.bias = _bias(model) if options.loss.kind == "sigmoid" else None
        self.limit_scale()  # log 100 in fp16 lies above that in fp32
        self.train()
        if towers.picture_tower == towers.text_tower == "locked":
            raise ModelError("both towers are locked: there is nothing to train; leave one of them at full or lora")

    def forward(
        self, images: Tensor, texts: Tensor, seconds: Tensor | None = None, words: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Features of pictures 0..1 (n, 3, size, size) and texts: tokens int64 (n, context), or vectors (n, dim)."""
        given = {"texts": texts, "seconds": seconds, "words": words}
        present = {name: part for name, part in given.items() if part is not None}
        encoded = self.encode_texts(torch.cat(list(present.values())))
        counts = [len(part) for part in present.values()]
        features = dict(zip(present, torch.split(encoded, counts), strict=True))
        scale = self.model.logit_scale.exp().reshape(())
        bias = self.bias.reshape(()) if self.bias is not None else torch.zeros_like(scale)
        return {"images": self.encode_images(images), **features, "scale": scale, "bias": bias}

    def encode_images(self, images: Tensor) -> Tensor:
        """Unit vectors (n, dim) of float pictures 0..1."""
        images = ((images - self.mean) / self.std).contiguous(memory_format=torch.channels_last)
        with autocast(self.precision, images.device):
            vectors = self.model.encode_image(images)
        return functional.normalize(vectors.float(), dim=-1)

    def encode_texts(self, texts: Tensor) -> Tensor:
        """Unit vectors (n, dim) of tokens, or of vectors that the locked tower gave."""
        if texts.is_floating_point():
            vectors = texts.float()
        else:
            with autocast(self.precision, texts.device):
                tower = TextTower(self.model)
                vectors = tower.encode_by_length(texts) if self.cuts_texts else tower(texts)
        return vectors if self.text_map is None else functional.normalize(vectors @ self.text_map, dim=-1)

    def train(self, mode: bool = True) -> "Student":
        """Set the mode; towers that are not trained in full stay as in use, their batch statistics too."""
        super().train(mode)
        for module in self._steady:
            module.eval()
        return self

    def limit_scale(self) -> None:
        """Bring the logits' scale back to 100 where a step, or a loaded state, has it above."""
        limit_scale(self.model.logit_scale)

    def plain_weights(self) -> dict[str, Tensor]:
        """Weights under the names of the model that training began with: additions and the text map are merged."""
        weights = merged_weights(self.model)
        if self.bias is not None and "logit_bias" in weights:
            weights["logit_bias"] = self.bias.detach()
        if self.text_map is not None:
            name, is_linear = cast(tuple[str, bool], _projection(self.model))
            grown = self.text_map.detach().T if is_linear else self.text_map.detach()
            weights[name] = grown @ weights[name] if is_linear else weights[name] @ grown
            bias = name.removesuffix("weight") + "bias"
            if is_linear and bias in weights:
                weights[bias] = weights[bias] @ self.text_map.detach()
        return weights

    def trained_names(self) -> Iterator[str]:
        """Names in `state_dict` of all that training changes: trained parameters, and statistics of full towers."""
        steady = {id(tensor) for module in self._steady for tensor in module.buffers()}
        yield from (name for name, parameter in self.named_parameters() if parameter.requires_grad)
        kept = self.state_dict().keys()
        yield from (name for name, buffer in self.named_buffers() if id(buffer) not in steady and name in kept)


@torch.no_grad()
def limit_scale(scale: Tensor) -> None:
    """Keep the logarithm of a logits' scale at that of 100 or below, in place.

    A clamp in the forward pass would stop the gradient of a scale above it for good.
    """
    scale.clamp_(max=math.log(MAX_SCALE))


def text_modules(model: Any) -> list[nn.Module]:
    """The modules of the text tower, wherever open_clip keeps it."""
    if hasattr(model, "text"):
        return [model.text]
    return [model.token_embedding, model.transformer, model.ln_final]


def text_parameters(model: Any) -> list[nn.Parameter]:
    """Parameters of the text tower, those outside of its modules too."""
    visual = {id(parameter) for parameter in model.visual.parameters()}
    named = model.named_parameters()
    return [parameter for name, parameter in named if id(parameter) not in visual and not name.startswith("logit_")]


def _prepare_towers(model: Any, towers: Towers) -> list[nn.Module]:
    """Freeze what is not trained, add what is trained instead; return the modules that stay as in use."""
    model.requires_grad_(True)
    steady: list[nn.Module] = []
    if getattr(model, "logit_bias", None) is not None:
        model.logit_bias.requires_grad_(False)
    for kind, modules, parameters in (
        (towers.picture_tower, [model.visual], list(model.visual.parameters())),
        (towers.text_tower, text_modules(model), text_parameters(model)),
    ):
        if kind == "full":
            continue
        steady += modules
        for parameter in parameters:
            parameter.requires_grad_(False)
        if kind == "lora":
            add_lora(modules, rank=towers.lora_rank, scale=towers.lora_scale)
    return steady


def _projection(model: Any) -> tuple[str, bool] | None:
    """Name of the matrix that ends the text tower and whether it belongs to a linear layer; None: there is no such."""
    tower, prefix = (model.text, "text.") if hasattr(model, "text") else (model, "")
    for name in ("text_projection", "proj"):
        part = getattr(tower, name, None)
        if isinstance(part, nn.Linear):
            return f"{prefix}{name}.weight", True
        if isinstance(part, Tensor):
            return f"{prefix}{name}", False
    return None


def _width(model: Any) -> int:
    name, is_linear = cast(tuple[str, bool], _projection(model))
    matrix = model.state_dict()[name]
    return int(matrix.shape[0] if is_linear else matrix.shape[1])


def _bias(model: Any) -> nn.Parameter:
    own = getattr(model, "logit_bias", None)
    return nn.Parameter(own.detach().clone() if own is not None else torch.tensor(START_BIAS))


def enable_memory_saving(model: Any) -> None:
    """Compute activations again in the backward pass instead of keeping them.

    Raises:
        ModelError: the model can't.
    """
    try:
        model.set_grad_checkpointing(True)
    except Exception as error:  # timm and transformers towers each refuse in their own way
        raise ModelError(f"this model has no gradient checkpointing ({error}); run without it") from error


def make_student(model: Any, options: FinetuneOptions, precision: Precision) -> Student:
    """Make a student of a model as the options have it, on the device of the model."""
    if options.distribution.grad_checkpointing:
        enable_memory_saving(model)
    if options.distribution.sync_batch_norm:
        # torch's own conversion would lose the activations of timm's batch norms.
        model.visual = convert_sync_batchnorm(model.visual)  # type: ignore[no-untyped-call]
    student = Student(model, options, precision=precision)
    if options.distribution.compile:
        compile_towers(student)
    return student


def compile_towers(student: Student) -> None:
    """Compile the towers in place, so that weights keep their names."""
    for name in ("visual", "text", "transformer"):
        tower = getattr(student.model, name, None)
        if isinstance(tower, nn.Module):
            tower.compile()
