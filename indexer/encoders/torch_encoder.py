"""Pictures and words -> unit vectors: open_clip, wrapped once for embedding, export and evaluation."""

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call
from torch.fx.experimental.optimization import fuse

from indexer.arrays import Halves, Ids
from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.devices import find_gpus
from indexer.encoders.graphs import LoadedEncoder, is_no_room
from indexer.errors import DeviceError, ModelError, first_line

Result = TypeVar("Result")
Precision = Literal["auto", "fp32", "bf16", "fp16"]
TEXTS_AT_ONCE = {"cpu": 64, "cuda": 512}
"""By kind of device. Larger ones are no faster on a CPU, smaller ones not the same for any number of threads."""
HALVES: dict[str, torch.dtype] = {"bf16": torch.bfloat16, "fp16": torch.float16}
_TYPES: dict[str, torch.dtype] = {**HALVES, "fp32": torch.float32}


class ImageTower(nn.Module):
    """uint8 pixels (n, size, size, 3) -> unit vectors (n, dim); the device normalises, the host never holds floats."""

    scale: Tensor
    shift: Tensor

    def __init__(self, model: Any, preprocess: Mapping[str, Any]) -> None:
        """Take a model, and how its config has pictures normalised: the mean of each channel and its deviation."""
        super().__init__()
        self.model: Any = model
        mean = torch.tensor(preprocess.get("mean") or open_clip.OPENAI_DATASET_MEAN)
        std = torch.tensor(preprocess.get("std") or open_clip.OPENAI_DATASET_STD)
        self.register_buffer("scale", 1 / (255 * std))
        self.register_buffer("shift", -mean / std)

    def forward(self, pixels: Tensor) -> Tensor:
        """Encode a batch; the first step and the last are fp32 whatever the precision of the weights."""
        width = pixels.shape[2]  # a row at a time: over three numbers a CPU takes ten times as long
        rows = pixels.flatten(2).float() * self.scale.repeat(width) + self.shift.repeat(width)
        images = rows.reshape(pixels.shape).permute(0, 3, 1, 2)
        kind = next(self.model.visual.parameters()).dtype
        cast_images = images if images.dtype == kind else images.to(kind)  # an exported graph keeps an idle cast
        return nn.functional.normalize(self.model.encode_image(cast_images).float(), dim=-1)


class TextTower(nn.Module):
    """Tokens (n, context) -> unit vectors (n, dim)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model: Any = model
        self.cut_names = _names_to_cut(model)
        """The position table and the causal mask, where texts may be cut to their lengths; else None."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode a batch."""
        return nn.functional.normalize(self.model.encode_text(tokens).float(), dim=-1)

    def encode_short(self, tokens: Tensor) -> Tensor:
        """Encode a batch after cutting it to its longest text: the same vectors, several times faster."""
        return self.encode_cut(tokens[:, : int(self.lengths(tokens).max())])

    def encode_cut(self, tokens: Tensor) -> Tensor:
        """Encode a batch that is cut already."""
        if self.cut_names is None:
            return cast(Tensor, self(tokens))
        n, (positions, mask) = tokens.shape[1], self.cut_names
        cut = {positions: attrgetter(positions)(self)[:n], mask: attrgetter(mask)(self)[:n, :n]}
        return cast(Tensor, functional_call(self, cut, (tokens,), tie_weights=False))

    def lengths(self, tokens: Tensor) -> Tensor:
        """To how many tokens each text (n, context) may be cut, (n,)."""
        return (tokens != 0).sum(dim=1) if self.cut_names else torch.full((len(tokens),), tokens.shape[1])


def _names_to_cut(model: Any) -> tuple[str, str] | None:
    """Name the position table and the causal mask of open_clip's own text transformer; None for any other.

    Where attention is causal nothing after a text's end counts, so both may be cut to the longest text of a batch.
    """
    tower = getattr(model, "text", model)
    pool = getattr(tower, "text_pool_type", getattr(tower, "pool_type", None))
    causal = isinstance(getattr(tower, "attn_mask", None), Tensor)
    if not causal or pool not in {"argmax", "eos"} or getattr(tower, "cls_emb", None) is not None:
        return None
    prefix = "model.text." if tower is not model else "model."
    return f"{prefix}positional_embedding", f"{prefix}attn_mask"


class Encoder(LoadedEncoder):
    """A loaded encoder on one device.

    Attributes: `image_size` in pixels, `dim` of a vector, `precision` as it was resolved.
    """

    out_of_memory = torch.OutOfMemoryError

    def __init__(self, checkpoint: Checkpoint, *, device: torch.device, precision: Precision = "auto") -> None:
        self.checkpoint, self.device, self.texts_at_once = checkpoint, device, TEXTS_AT_ONCE[device.type]
        self.precision, self.model = resolve_precision(precision, device), load_model(checkpoint)
        preprocess = self.model.visual.preprocess_cfg
        self.model.visual = _without_batch_norm(self.model.visual)
        # Weights are cast once: autocast would cast them for every batch. Pixels come channels last; convolutions in
        # that layout are three times as fast here in bf16.
        self.model.to(device, _TYPES[self.precision], memory_format=torch.channels_last)
        self.tokenizer = open_clip.get_tokenizer(checkpoint.open_clip_name)
        self.image_size, size = checkpoint.image_size, preprocess["size"]
        if {self.image_size} != ({size} if isinstance(size, int) else set(size)):
            raise ModelError(
                f'config of model "{checkpoint.name}" says image_size "{checkpoint.image_size}", the tower takes '
                f'"{size}"; save the model again'
            )
        # The exporter restores the mode of what it exports, down to the model inside.
        self.image_tower = ImageTower(self.model, preprocess).to(device).eval()
        self.text_tower = TextTower(self.model).eval()
        if device.type == "cpu" and self.precision in ("fp32", resolve_precision("auto", device)):
            multiply_small_maps(self.model.visual)
        tokens, text = self.tokenizer(["icon"]), checkpoint.config["model_cfg"]["text_cfg"]
        if (n_known := text.get("vocab_size")) and not text.get("hf_model_name") and int(tokens.max()) >= n_known:
            raise ModelError(
                f'config of model "{checkpoint.name}" says text_cfg.vocab_size "{n_known}", its tokenizer gives token '
                f'"{int(tokens.max())}"; save the model again'
            )
        self.dim = int(self.encode_tokens(tokens).shape[1])

    def take_threads(self, n: int) -> None:
        """Compute with so many threads in what the calling thread asks for."""
        torch.set_num_threads(n)

    def make_room(self) -> None:
        """Give back what the device keeps for later, after `out_of_memory` was raised."""
        torch.cuda.empty_cache()

    @torch.inference_mode()
    def encode_images(self, pixels: NDArray[np.uint8]) -> NDArray[np.float16]:
        """Encode uint8 pixels (n, size, size, 3) into unit vectors fp16 (n, dim)."""
        vectors = self.encode_on_device(torch.from_numpy(pixels).to(self.device))
        return cast(NDArray[np.float16], vectors.half().cpu().numpy())

    def encode_on_device(self, pixels: Tensor) -> Tensor:
        """Encode uint8 pixels (n, size, size, 3) on the device: unit vectors fp32 (n, dim), which stay there."""
        return cast(Tensor, self.image_tower(pixels))

    def tokens(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Tokens (n, context) of texts, and to how many of them each may be cut, (n,)."""
        tokens = self.tokenizer(list(texts))
        return tokens.numpy(), self.text_tower.lengths(tokens).numpy()

    @torch.inference_mode()
    def encode_batch(self, tokens: Ids) -> Halves:
        """Encode tokens (n, length)."""
        return cast(Halves, self.text_tower.encode_cut(torch.from_numpy(tokens).to(self.device)).half().cpu().numpy())

    def encode_tokens(self, tokens: Tensor) -> Tensor:
        """Encode tokens (n, context) as they are, all at once: unit vectors fp32 (n, dim), on the device."""
        with torch.inference_mode():
            return self.text_tower.encode_short(tokens.to(self.device))


_PADDED_3X3 = {"kernel_size": (3, 3), "padding": (1, 1), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}


def multiply_small_maps(tower: nn.Module) -> None:
    """Have the convolutions of a tower that make a map of 2 x 2 do so by `SmallMap`."""
    for module in tower.modules():
        is_padded = type(module) is nn.Conv2d and all(getattr(module, key) == it for key, it in _PADDED_3X3.items())
        if is_padded and module.stride in ((1, 1), (2, 2)):
            module.__class__ = SmallMap


class SmallMap(nn.Conv2d):
    """A convolution that multiplies maps of 2 x 2, and with a stride of 2 of 4 x 4, and convolves all others.

    Much of what a kernel touches there is padding, and oneDNN reaches a fraction of the rate of a matrix product. Such
    layers took 40 % of the bundled model's time; docs/performance.md has the figures.
    """

    @cached_property
    def _windows(self) -> list[tuple[slice, slice, Tensor]]:
        """For each pixel of the result the rows and columns that it sees, and their weights, (seen, channels)."""
        stride = self.stride[0]
        spans = [(max(0, stride * at - 1), min(2 * stride, stride * at + 2), 1 - stride * at) for at in range(2)]
        windows = []
        for (top, bottom, down), (left, right, along) in itertools.product(spans, spans):
            kernel = self.weight.detach()[:, :, top + down : bottom + down, left + along : right + along]
            product = kernel.permute(2, 3, 1, 0).reshape(-1, self.out_channels).contiguous()
            windows.append((slice(top, bottom), slice(left, right), product))
        return windows

    def forward(self, maps: Tensor) -> Tensor:
        """Convolve maps (n, channels, height, width).

        An exported graph holds the plain operator. So does a single picture: it waits for the weights, of which there
        are more here.
        """
        if torch.onnx.is_in_onnx_export() or len(maps) < 2 or {*maps.shape[2:]} != {2 * self.stride[0]}:
            return super().forward(maps)
        seen = maps.permute(0, 2, 3, 1)
        convolved = torch.stack(
            [seen[:, rows, columns].flatten(1) @ product for rows, columns, product in self._windows], 1
        )
        if self.bias is not None:
            convolved += self.bias
        return convolved.reshape(-1, 2, 2, self.out_channels).permute(0, 3, 1, 2)


def load_model(checkpoint: Checkpoint) -> Any:
    """Build a checkpoint's model in fp32 on the CPU, in evaluation mode.

    Raises:
        ModelError: the weights don't load, hold code, or have another shape.
        MemoryError: there is no room for them.
    """
    try:
        with warnings.catch_warnings():
            # open_clip warns of QuickGELU for any OpenAI-like name; the checkpoint's own config decides.
            warnings.filterwarnings("ignore", message="QuickGELU mismatch")
            model = open_clip.create_model(
                checkpoint.open_clip_name, pretrained=checkpoint.pretrained, weights_only=True, require_pretrained=True
            )
    except Exception as error:  # open_clip, timm, torch and safetensors each raise their own
        if is_no_room(error):
            raise MemoryError(first_line(error)) from error
        raise ModelError(
            f'"{checkpoint.weights}" does not load as model "{checkpoint.name}" ({first_line(error)}); '
            "check that weights and --model belong together"
        ) from error
    return model.eval()


def _without_batch_norm(tower: nn.Module) -> nn.Module:
    """Fold each batch norm into the convolution before it: the same function, a tenth faster with the bundled model."""
    if not any(isinstance(module, nn.BatchNorm2d) for module in tower.modules()):
        return tower
    try:
        return fuse(tower)
    except torch.fx.proxy.TraceError:  # its path depends on the input
        return tower


def resolve_device(name: str) -> torch.device:
    """Turn "auto", "cpu", "cuda" or "cuda:1" into a device that is there.

    Raises:
        DeviceError: it is not.
    """
    kind = name.replace("auto", "cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device("cuda:0" if kind == "cuda" else kind)
    if device.type == "cuda" and device.index >= (n_usable := torch.cuda.device_count()):
        why = find_gpus().why or "`nvidia-smi` says more"
        raise DeviceError(f'no GPU "{name}": torch can use {n_usable} ({why}); --devices cpu works everywhere')
    return device


def resolve_precision(precision: Precision, device: torch.device) -> Precision:
    """Choose bf16 where the device computes in it, fp16 on older GPUs, fp32 else."""
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.get_device_capability(device) >= (8, 0) else "fp16"  # GPUs of a machine may differ
    is_wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return "bf16" if is_wide and torch.cpu._is_avx512_bf16_supported() else "fp32"


def autocast(precision: Precision, device: torch.device) -> torch.autocast:
    """Compute in a precision within this context; weights stay what they are."""
    kind = HALVES.get(resolve_precision(precision, device))
    return torch.autocast(device.type, dtype=kind, enabled=kind is not None)


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Have GPUs multiply fp32 numbers exactly in the block where that is the precision; with any other as is.

    By itself cuDNN rounds to tf32, while matrix products are exact.
    """
    backends: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [(backend, backend.allow_tf32) for backend in backends]
    for backend, is_allowed in before:
        backend.allow_tf32 = is_allowed and precision != "fp32"
    try:
        yield
    finally:
        for backend, is_allowed in before:
            backend.allow_tf32 = is_allowed


_failed_captures: list[Any] = []
"""Kept, for torch's allocator goes on asking them which streams are their own (`CUDAGraph::capture_end` throws before
`endAllocateToPool`), and would read freed memory at the next capture."""


def capture(compute: Callable[[], Result], *, stream: Any = None, pool: Any = None) -> tuple[Any, Result]:
    """Capture what a function launches as a CUDA graph, on a stream or on one for that alone; nothing is computed yet.

    Returns the graph and what the function has returned, which each replay writes anew. `pool` is that of a graph whose
    memory may be used, too: of the two one is replayed after the other.

    Raises:
        DeviceError: it can't be captured.
    """
    graph = cast(Any, torch.cuda.CUDAGraph)()
    try:
        # Other threads may ask CUDA things that end a capture in the mode "global", a watchdog of NCCL for one.
        with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
            return graph, compute()
    except RuntimeError as error:
        _failed_captures.append(graph)
        # Leaving the capture raises an error of its own (`capture_end`); the one before it says what was wrong.
        raise DeviceError(first_line(error.__context__ or error)) from error
