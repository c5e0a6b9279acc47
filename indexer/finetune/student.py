"""What is trained: an open_clip model, each tower in full, by low-rank additions, or locked; whole or in shards."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, cast

import torch
import torch.distributed as dist
from open_clip.model import CLIP, CustomTextCLIP, set_model_preprocess_cfg
from open_clip.transform import PreprocessCfg, merge_preprocess_dict
from timm.layers.norm_act import convert_sync_batchnorm
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn import functional
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.nn.utils import parametrize

from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.torch_encoder import Precision, TextTower, autocast
from indexer.errors import ModelError
from indexer.finetune.options import FinetuneOptions, Towers
from indexer.ranks import Rank


class LowRank(nn.Module):
    """Adds `scale` * up @ down to a matrix (rows, columns); `up` starts at zero, so nothing changes at first."""

    def __init__(self, matrix: Tensor, *, rank: int, scale: float) -> None:
        super().__init__()
        (rows, columns), self.scale = matrix.shape, scale
        self.down = nn.Parameter(torch.empty(min(rank, rows, columns), columns, dtype=matrix.dtype))
        self.up = nn.Parameter(torch.zeros(rows, len(self.down), dtype=matrix.dtype))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, matrix: Tensor) -> Tensor:
        """The matrix as the tower sees it."""
        return matrix + self.scale * (self.up @ self.down)


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
        self.model: Any = model
        self.precision, towers = precision, options.towers
        self.encodes_texts = towers.text_tower != "locked"
        self._text_tower = (TextTower(model),)  # no module of this one: weights would have two names
        # FSDP gathers parameters in hooks, which do not let a batch be cut to its texts.
        self._cuts_texts = self._text_tower[0].cut_names is not None and options.distribution.strategy == "ddp"
        self._steady = _prepare_towers(model, towers)
        preprocess = model.visual.preprocess_cfg
        self.register_buffer("mean", torch.tensor(preprocess["mean"]).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(preprocess["std"]).view(3, 1, 1), persistent=False)
        self.text_map = None
        if not self.encodes_texts and towers.text_map and (projection := _projection(model)) is not None:
            name, is_linear = projection
            self.text_map = nn.Parameter(torch.eye(model.state_dict()[name].shape[0 if is_linear else 1]))
        own = getattr(model, "logit_bias", None)
        start = torch.tensor(START_BIAS) if own is None else own.detach().clone()
        self.bias = nn.Parameter(start) if options.loss.kind == "sigmoid" else None
        limit_scale(model.logit_scale)  # log 100 in fp16 lies above that in fp32
        self.train()
        if towers.picture_tower == towers.text_tower == "locked":
            raise ModelError("both towers are locked: there is nothing to train; leave one of them at full or lora")

    def forward(self, images: Tensor, counts: tuple[int, int, int], texts: Tensor, longest: int) -> dict[str, Tensor]:
        """Features of pictures 0..1 (n, 3, size, size) and of texts, as `batches.Part` has them."""
        parts = torch.split(self.encode_texts(texts, longest), list(counts))
        features = {name: part for name, part in zip(("texts", "seconds", "words"), parts, strict=True) if len(part)}
        scale = self.model.logit_scale.exp().reshape(())
        bias = self.bias.reshape(()) if self.bias is not None else torch.zeros_like(scale)
        return {"images": self.encode_images(images), **features, "scale": scale, "bias": bias}

    def encode_images(self, images: Tensor) -> Tensor:
        """Unit vectors (n, dim) of float pictures 0..1."""
        images = ((images - self.mean) / self.std).contiguous(memory_format=torch.channels_last)
        with autocast(self.precision, images.device):
            vectors = self.model.encode_image(images)
        return functional.normalize(vectors.float(), dim=-1)

    def encode_texts(self, texts: Tensor, longest: int | None = None) -> Tensor:
        """Unit vectors (n, dim) of tokens (n, context), or of vectors (n, dim) that the locked tower gave.

        `longest` says to how many tokens texts may be cut; else the host waits for the device to know.
        """
        if texts.is_floating_point():
            vectors = texts.float()
        else:
            [tower], texts = self._text_tower, texts.long()
            cut = tower.encode_short if longest is None else tower.encode_cut
            with autocast(self.precision, texts.device):
                vectors = cut(texts[:, :longest]) if self._cuts_texts else tower(texts)
        return vectors if self.text_map is None else functional.normalize(vectors @ self.text_map, dim=-1)

    def train(self, mode: bool = True) -> "Student":
        """Set the mode; towers that are not trained in full stay as in use, their batch statistics too."""
        super().train(mode)
        for module in self._steady:
            module.eval()
        return self

    def plain_weights(self) -> dict[str, Tensor]:
        """Weights under the names of the model that training began with: additions and the text map are merged."""
        state: dict[str, Tensor] = self.model.state_dict()
        weights = {name: it for name, it in state.items() if "parametrizations." not in name}
        for path, module in self.model.named_modules():
            for name in getattr(module, "parametrizations", ()):
                weights[f"{path}.{name}" if path else name] = getattr(module, name).detach()
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


def text_parameters(model: Any) -> list[nn.Parameter]:
    """Parameters of the text tower, those outside of its modules too."""
    visual = {id(parameter) for parameter in model.visual.parameters()}
    return [
        parameter
        for name, parameter in model.named_parameters()
        if id(parameter) not in visual and not name.startswith("logit_")
    ]


def _prepare_towers(model: Any, towers: Towers) -> list[nn.Module]:
    """Freeze what is not trained, add what is trained instead; return the modules that stay as in use.

    Every linear layer and attention projection of a frozen tower gets a low-rank addition where that is asked for.

    Raises:
        ModelError: a tower holds no such matrix.
    """
    model.requires_grad_(True)
    steady: list[nn.Module] = []
    if getattr(model, "logit_bias", None) is not None:
        model.logit_bias.requires_grad_(False)
    of_texts = [model.text] if hasattr(model, "text") else [model.token_embedding, model.transformer, model.ln_final]
    for kind, modules, parameters in (
        (towers.picture_tower, [model.visual], list(model.visual.parameters())),
        (towers.text_tower, of_texts, text_parameters(model)),
    ):
        if kind != "full":
            steady += modules
            for parameter in parameters:
                parameter.requires_grad_(False)
        matrices = [
            (module, name)
            for module in (part for tower in modules for part in tower.modules())
            for name in ("weight", "in_proj_weight")
            if kind == "lora" and isinstance(getattr(module, name, None), nn.Parameter)
            if name != "weight" or isinstance(module, nn.Linear)
        ]
        if kind == "lora" and not matrices:
            raise ModelError("this tower has no linear layers to add to; train it in full, or leave it locked")
        for module, name in matrices:
            addition = LowRank(getattr(module, name), rank=towers.lora_rank, scale=towers.lora_scale)
            parametrize.register_parametrization(module, name, addition)
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


def make_student(model: Any, options: FinetuneOptions, precision: Precision) -> Student:
    """Make a student of a model as the options have it, on the device of the model.

    Raises:
        ModelError: the model can't compute activations again.
    """
    if options.distribution.grad_checkpointing:
        try:
            model.set_grad_checkpointing(True)
        except Exception as error:  # timm and transformers towers each refuse in their own way
            raise ModelError(f"this model has no gradient checkpointing ({error}); run without it") from error
    if options.distribution.sync_batch_norm:
        # torch's own conversion would lose the activations of timm's batch norms.
        model.visual = convert_sync_batchnorm(model.visual)  # type: ignore[no-untyped-call]
    return Student(model, options, precision=precision)


@contextmanager
def weights_left_out() -> Iterator[None]:
    """Build modules within this context without weights: parameters lie on torch's meta device, buffers are real.

    On the meta device as a whole masks and tables of positions, which no checkpoint holds, would be lost.
    """

    def emptied(_: nn.Module, __: str, parameter: nn.Parameter) -> nn.Parameter:
        return nn.Parameter(parameter.detach().to("meta"), requires_grad=parameter.requires_grad)

    handle = register_module_parameter_registration_hook(emptied)  # type: ignore[arg-type]
    try:
        yield
    finally:
        handle.remove()


def outline(checkpoint: Checkpoint) -> Any:
    """Build the model that a checkpoint holds the weights of, without these, in evaluation mode."""
    with weights_left_out():
        model = build(checkpoint.config["model_cfg"])
    set_model_preprocess_cfg(
        model,
        merge_preprocess_dict(asdict(PreprocessCfg()), checkpoint.config.get("preprocess_cfg", {}))
        | {"size": model.visual.image_size},
    )
    return model.eval()


def build(model_config: Mapping[str, Any]) -> Any:
    """Build a model with random weights by open_clip's config of it."""
    config = json.loads(json.dumps(model_config))
    is_custom = config.pop("custom_text", False) or "hf_model_name" in config["text_cfg"]
    config["vision_cfg"]["timm_model_pretrained"] = config["text_cfg"]["hf_model_pretrained"] = False
    return (CustomTextCLIP if is_custom else CLIP)(**config)


class Average:
    """Moving average of a student's trained tensors; whole numbers, such as counts of batches, are copied."""

    def __init__(self, student: Student, *, decay: float) -> None:
        self.decay, self._student, state = decay, student, student.state_dict(keep_vars=True)
        self._live = {name: state[name] for name in student.trained_names()}
        self.tensors = {name: tensor.detach().clone() for name, tensor in self._live.items()}
        pairs = [(it, self._live[name]) for name, it in self.tensors.items()]
        self._averaged: Any = [*zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)]
        self._counted = [pair for pair in pairs if not pair[0].is_floating_point()]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take the weights after a step (counted from 1) in; the first steps weigh more, as there is little to keep."""
        weight = 1 - min(self.decay, step / (step + 9))
        torch._foreach_lerp_(*self._averaged, weight)  # type: ignore[call-overload]
        for average, live in self._counted:
            average.copy_(live)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the student have the averages for the block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        # FSDP keeps the outermost weights that it has gathered, and would use these, not changed shards.
        for part in (part for part in self._student.modules() if isinstance(part, FSDPModule)):
            part.reshard()
        for name, average in self.tensors.items():
            kept = self._live[name].detach().clone()
            self._live[name].copy_(average)
            average.copy_(kept)


def whole(tensor: Tensor) -> Tensor:
    """Gather a sharded tensor; any other one is itself."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


@torch.no_grad()
def put_whole(tensor: Tensor, value: Tensor) -> None:
    """Copy a whole value into a tensor, sharded or not; of a sharded one rank 0's value counts.

    Raises:
        RuntimeError: the value has another shape.
    """
    if tensor.shape != value.shape:
        raise RuntimeError("another shape")
    tensor.copy_(
        distribute_tensor(value.to(tensor.device), tensor.device_mesh, tensor.placements)
        if isinstance(tensor, DTensor)
        else value
    )


def sharded(whole: Student | None, make: Callable[[], Student], *, rank: Rank, device: torch.device) -> Student:
    """Make a student of which each rank has a part, with the weights of rank 0's `whole` one, on the CPU.

    All ranks build it without weights and shard its blocks and the rest in place; the scalars of the logits stay whole,
    as FSDP takes none. Then rank 0 hands out one tensor after the other: no device holds the whole model.
    """
    with weights_left_out():
        student = make()
    mesh = init_device_mesh(device.type, (rank.world,))  # by itself FSDP takes GPUs where there are any
    scalars = {parameter for parameter in student.parameters() if parameter.ndim == 0}
    for block in blocks(student):
        fully_shard(block, mesh=mesh, ignored_params=scalars)
    in_parts: Any = fully_shard(student, mesh=mesh, ignored_params=scalars)
    for method in ("encode_images", "encode_texts"):
        register_fsdp_forward_method(in_parts, method)
    _fill(student, whole.state_dict() if whole is not None else {}, rank=rank, device=device)
    return student


def blocks(module: nn.Module) -> Iterator[nn.Module]:
    """What a model is a row of, innermost first found: members of lists and sequences that have parts of their own.

    So are transformer blocks wherever they stand in a row, and the blocks of ResNet's and ConvNeXt's stages.
    """
    is_row = isinstance(module, nn.ModuleList | nn.Sequential)
    # Low-rank additions belong to the block that they are added to.
    for child in (it for it in module.children() if not isinstance(it, parametrize.ParametrizationList)):
        own = sum(any(True for _ in part.parameters(recurse=False)) for part in child.modules())
        yield from [*blocks(child)] or [child] * (is_row and own > 1)


@torch.no_grad()
def _fill(student: Student, weights: Mapping[str, Tensor], *, rank: Rank, device: torch.device) -> None:
    """Give a sharded student without weights those that rank 0 has, whole and on the CPU; elsewhere there are none."""
    buffers = {name: buffer.clone() for name, buffer in student.named_buffers()}
    student.to_empty(device=device)
    for name, buffer in student.named_buffers():
        buffer.copy_(buffers[name])
    for name, tensor in student.state_dict().items():  # in one order on all ranks
        value = weights[name] if rank.index == 0 else torch.empty(tensor.shape, dtype=tensor.dtype)
        put_whole(tensor, value)
        if not isinstance(tensor, DTensor):
            dist.broadcast(tensor, src=0)
