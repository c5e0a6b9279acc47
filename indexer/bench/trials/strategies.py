"""How is a batch computed: on one device, by nn.DataParallel, or by replicas in threads? One tower, three ways.

Ranks are processes, each of which computes on one device; nn.DataParallel takes GPUs only. Where there is no GPU, the
devices of replicas are threads with their share of the cores.
"""

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from indexer.bench.trials.knobs import Knobs, fits_index
from indexer.bench.trials.trial import Trial
from indexer.embedding.options import EmbedOptions
from indexer.embedding.planning import one_precision
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.loading import load_encoder
from indexer.encoders.onnx_encoder import OnnxEncoder
from indexer.encoders.torch_encoder import Encoder, autocast, load_model
from indexer.errors import BenchError
from indexer.ranks.devices import HOST


class Compute(Protocol):
    """A way to turn a batch on the host into vectors on the host, in three steps that can be timed apart."""

    def copy_in(self, batch: Tensor) -> Any:
        """Bring a batch to the device, or its parts to the devices."""

    def forward(self, there: Any) -> Any:
        """Compute unit vectors there."""

    def copy_out(self, vectors: Any) -> NDArray[np.float16]:
        """Bring the vectors back."""


class FloatTower(nn.Module):
    """Normalised float images (n, 3, size, size) -> unit vectors: for loaders that do the transform on the host."""

    def __init__(self, model: Any, *, channels_last: bool) -> None:
        super().__init__()
        self.model: Any = model
        self.format = torch.channels_last if channels_last else torch.contiguous_format

    def forward(self, images: Tensor) -> Tensor:
        """Encode a batch."""
        vectors = self.model.encode_image(images.to(memory_format=self.format))
        return nn.functional.normalize(vectors.float(), dim=-1)


class PixelTower(nn.Module):
    """uint8 pixels (n, size, size, 3) -> unit vectors, in either layout of memory."""

    def __init__(self, tower: nn.Module, *, channels_last: bool) -> None:
        super().__init__()
        self.tower, self.channels_last = tower, channels_last

    def forward(self, pixels: Tensor) -> Tensor:
        """Encode a batch."""
        if not self.channels_last:  # same shape, planes behind each other in memory, which what follows preserves
            pixels = pixels.permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1)
        return cast(Tensor, self.tower(pixels))


def load_tower(trial: Trial, device: torch.device) -> tuple[nn.Module, Any, str]:
    """The tower that a trial asks for on a device, its stock transform for files, and its precision as resolved."""
    from open_clip.transform import PreprocessCfg, image_transform_v2

    knobs, checkpoint = trial.knobs, find_checkpoint(trial.material.choice)
    if knobs.path == "naive":
        model = load_model(checkpoint)
        preprocess = model.visual.preprocess_cfg
        tower: nn.Module = FloatTower(model.to(device), channels_last=False)
        return tower.eval(), image_transform_v2(PreprocessCfg(**preprocess), is_train=False), "fp32"
    if knobs.precision == "int8":
        raise BenchError('precision "int8" goes with knobs that `icons index` has')
    is_plain = knobs.precision in ("fp64", "tf32")
    encoder = Encoder(checkpoint, device=device, precision="fp32" if is_plain else cast(Any, knobs.precision))
    # what the model's own config says of its input, with what open_clip takes for granted
    preprocess = {"size": trial.material.image_size, **checkpoint.config.get("preprocess_cfg", {})}
    if knobs.size:
        preprocess["size"] = knobs.size
    transform = image_transform_v2(PreprocessCfg(**preprocess), is_train=False)
    layout = torch.channels_last if knobs.channels_last else torch.contiguous_format
    encoder.model.to(memory_format=layout)
    if knobs.loader == "files":
        tower = FloatTower(encoder.model, channels_last=knobs.channels_last)
    else:
        tower = PixelTower(encoder.image_tower, channels_last=knobs.channels_last)
    if knobs.precision == "fp64":
        tower = tower.double()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = knobs.precision == "tf32"
    torch.backends.cudnn.benchmark = knobs.cudnn_benchmark
    tower.eval()
    if knobs.compile:
        tower.compile()
    return tower, transform, knobs.precision if is_plain else encoder.precision


def without_torch(trial: Trial) -> "WithoutTorch | None":
    """The way of `icons index` on a processor, where that is not torch's, for one part of it that is timed alone."""
    options = EmbedOptions(trial.kind, cast(Any, trial.knobs.precision))
    if trial.part == "all" or trial.kind != "cpu" or not fits_index(trial.knobs):
        return None
    checkpoint = find_checkpoint(trial.material.choice)
    precision = one_precision(checkpoint, options, held=set())
    encoder = load_encoder(checkpoint, device=HOST, precision=precision, n_images=trial.n_images)
    return WithoutTorch(encoder) if isinstance(encoder, OnnxEncoder) else None


class WithoutTorch:
    """Computes by the graphs beside a model's weights."""

    def __init__(self, encoder: OnnxEncoder) -> None:
        self.encoder = encoder

    def copy_in(self, batch: Tensor) -> Any:
        """Look at the same memory."""
        return batch.numpy()

    def forward(self, there: Any) -> Any:
        """Encode."""
        return self.encoder.encode_images(there)

    def copy_out(self, vectors: Any) -> NDArray[np.float16]:
        """They are here."""
        return cast(NDArray[np.float16], vectors)


def make_compute(knobs: Knobs, tower: nn.Module, precision: str, device: torch.device, *, n_cores: int) -> Compute:
    """Choose the way that a configuration asks for."""
    is_double = knobs.precision == "fp64" and knobs.loader == "files"
    if knobs.strategy == "threads" and knobs.devices > 1:
        devices = [torch.device("cuda", n) if device.type == "cuda" else device for n in range(knobs.devices)]
        return Replicas(tower, precision, devices, n_cores=n_cores, double=is_double)
    if knobs.strategy == "data-parallel" and knobs.devices > 1:
        tower = nn.DataParallel(tower, device_ids=list(range(knobs.devices)))
    return OneDevice(tower, precision, device, knobs=knobs, double=is_double)


class OneDevice:
    """Computes on one device, or on several through a module that scatters the batch itself."""

    def __init__(self, tower: nn.Module, precision: str, device: torch.device, *, knobs: Knobs, double: bool) -> None:
        self.tower, self.precision, self.device = tower, precision, device
        self.by_item, self.pinned, self.double = knobs.copy == "item", knobs.pinned, double
        self.stream: Any = None
        if knobs.copy.startswith("stream"):
            self.stream = cast(Any, torch.cuda.Stream)(device, priority=-1 if knobs.copy == "stream-high" else 0)

    def copy_in(self, batch: Tensor) -> Tensor:
        """In one copy, in one a picture, or in one on a stream of its own, which the forward pass then waits for."""
        if self.by_item:
            there = torch.stack([picture.to(self.device, non_blocking=self.pinned) for picture in batch])
        elif self.stream is not None:
            with torch.cuda.stream(self.stream):
                there = batch.to(self.device, non_blocking=True)
        else:
            there = batch.to(self.device, non_blocking=self.pinned)
        return there.double() if self.double else there

    @torch.inference_mode()
    def forward(self, there: Tensor) -> Tensor:
        """Encode."""
        if self.stream is not None:
            torch.cuda.current_stream(self.device).wait_stream(self.stream)
            there.record_stream(torch.cuda.current_stream(self.device))
        with autocast(cast(Any, _autocast_precision(self.precision)), self.device):
            return cast(Tensor, self.tower(there))

    def copy_out(self, vectors: Tensor) -> NDArray[np.float16]:
        """In one copy, which waits for the device."""
        return cast(NDArray[np.float16], vectors.half().cpu().numpy())


class Replicas:
    """One replica a device, each in its thread."""

    def __init__(
        self, tower: nn.Module, precision: str, devices: Sequence[torch.device], *, n_cores: int, double: bool
    ) -> None:
        self.precision, self.devices, self.double = precision, devices, double
        self.replicas = [tower, *(copy.deepcopy(tower).to(device) for device in devices[1:])]
        share = max(1, n_cores // len(devices))
        limit: Callable[..., None] = torch.set_num_threads  # of the thread that says so, with OpenMP
        self.threads = ThreadPoolExecutor(len(devices), initializer=limit, initargs=(share,))

    def copy_in(self, batch: Tensor) -> list[Tensor]:
        """Split the batch by hand."""
        split = zip(batch.tensor_split(len(self.devices)), self.devices, strict=True)
        parts = [part.to(device) for part, device in split if len(part)]
        return [part.double() for part in parts] if self.double else parts

    def forward(self, there: list[Tensor]) -> list[Tensor]:
        """Encode all parts at once."""
        return list(self.threads.map(self._encode, self.replicas, there))

    def copy_out(self, vectors: list[Tensor]) -> NDArray[np.float16]:
        """Gather."""
        return np.concatenate([part.half().cpu().numpy() for part in vectors])

    @torch.inference_mode()
    def _encode(self, replica: nn.Module, part: Tensor) -> Tensor:
        with autocast(cast(Any, _autocast_precision(self.precision)), part.device):
            return cast(Tensor, replica(part))


def _autocast_precision(precision: str) -> str:
    return precision if precision in ("bf16", "fp16") else "fp32"
