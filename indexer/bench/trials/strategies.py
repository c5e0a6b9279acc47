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

from indexer.bench.trials.knobs import fits_index
from indexer.bench.trials.overlap import Overlapped, Streams
from indexer.bench.trials.trial import Trial
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.loading import MANY, load_encoder
from indexer.encoders.onnx_encoder import OnnxEncoder
from indexer.encoders.torch_encoder import Encoder, Precision, autocast, load_model
from indexer.errors import BenchError
from indexer.ranks.devices import HOST, use_device


class Compute(Protocol):
    """A way to turn a batch on the host into vectors on the host, in three steps that can be timed apart."""

    n_under_way: int
    """Newer batches that may be on their way before the vectors of one are brought back."""

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


class Doubled(nn.Module):
    """A tower in fp64 for floats that come in fp32."""

    def __init__(self, tower: nn.Module) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, images: Tensor) -> Tensor:
        """Encode a batch."""
        return cast(Tensor, self.tower(images.double()))


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
    torch.backends.cudnn.benchmark = knobs.cudnn_benchmark
    tower.eval()
    if knobs.compile:
        tower.compile()
    return tower, transform, knobs.precision if is_plain else encoder.precision


def without_torch(trial: Trial) -> "WithoutTorch | None":
    """The way of `icons index` on a processor, where that is not torch's, for one part of it that is timed alone."""
    if trial.part == "all" or trial.kind != "cpu" or not fits_index(trial.knobs):
        return None
    checkpoint = find_checkpoint(trial.material.choice)
    encoder = load_encoder(checkpoint, device=HOST, precision=cast(Any, trial.knobs.precision), n_images=MANY)
    return WithoutTorch(encoder) if isinstance(encoder, OnnxEncoder) else None


class WithoutTorch:
    """Computes by the graphs beside a model's weights."""

    n_under_way = 0

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


def make_compute(trial: Trial, tower: nn.Module, precision: str, device: torch.device, *, batch: int) -> Compute:
    """Choose the way that a trial asks for; batches are of this size at most. Parts are timed without any overlap."""
    knobs, is_double = trial.knobs, trial.knobs.precision == "fp64" and trial.knobs.loader == "files"
    plain = _autocast_precision(precision)
    if is_double:
        tower = Doubled(tower)
    if knobs.copy.startswith("stream") and trial.part == "all":
        queues = Streams(device, is_high=knobs.copy == "stream-high")
        return Overlapped(tower, plain, device, queues=queues, capacity=batch)
    if knobs.strategy == "threads" and knobs.devices > 1:
        devices = [torch.device("cuda", n) if device.type == "cuda" else device for n in range(knobs.devices)]
        return Replicas(tower, plain, devices, n_cores=len(trial.cores))
    if knobs.strategy == "data-parallel" and knobs.devices > 1:
        tower = nn.DataParallel(tower, device_ids=list(range(knobs.devices)))
    return OneDevice(tower, plain, device, by_item=knobs.copy == "item", pinned=knobs.pinned)


class OneDevice:
    """Computes on one device, or on several through a module that scatters the batch itself."""

    n_under_way = 0

    def __init__(
        self, tower: nn.Module, precision: Precision, device: torch.device, *, by_item: bool, pinned: bool
    ) -> None:
        self.tower, self.precision, self.device = tower, precision, device
        self.by_item, self.pinned = by_item, pinned

    def copy_in(self, batch: Tensor) -> Tensor:
        """In one copy, or in one a picture."""
        if self.by_item:
            return torch.stack([picture.to(self.device, non_blocking=self.pinned) for picture in batch])
        return batch.to(self.device, non_blocking=self.pinned)

    @torch.inference_mode()
    def forward(self, there: Tensor) -> Tensor:
        """Encode."""
        with autocast(self.precision, self.device):
            return cast(Tensor, self.tower(there))

    def copy_out(self, vectors: Tensor) -> NDArray[np.float16]:
        """In one copy, which waits for the device."""
        return cast(NDArray[np.float16], vectors.half().cpu().numpy())


class Replicas:
    """One replica a device, each in its thread."""

    n_under_way = 0

    def __init__(
        self, tower: nn.Module, precision: Precision, devices: Sequence[torch.device], *, n_cores: int
    ) -> None:
        self.precision, self.devices = precision, devices
        self.replicas = [tower, *(copy.deepcopy(tower).to(device) for device in devices[1:])]
        share = max(1, n_cores // len(devices))
        limit: Callable[..., None] = torch.set_num_threads  # of the thread that says so, with OpenMP
        self.threads = ThreadPoolExecutor(len(devices), initializer=limit, initargs=(share,))

    def copy_in(self, batch: Tensor) -> list[Tensor]:
        """Split the batch by hand."""
        split = zip(batch.tensor_split(len(self.devices)), self.devices, strict=True)
        return [part.to(device) for part, device in split if len(part)]

    def forward(self, there: list[Tensor]) -> list[Tensor]:
        """Encode all parts at once."""
        return list(self.threads.map(self._encode, self.replicas, there))

    def copy_out(self, vectors: list[Tensor]) -> NDArray[np.float16]:
        """Gather."""
        return np.concatenate([part.half().cpu().numpy() for part in vectors])

    @torch.inference_mode()
    def _encode(self, replica: nn.Module, part: Tensor) -> Tensor:
        use_device(part.device)
        with autocast(self.precision, part.device):
            return cast(Tensor, replica(part))


def _autocast_precision(precision: str) -> Precision:
    return cast(Precision, precision if precision in ("bf16", "fp16") else "fp32")
