"""Which render workers does a rank take? How many, for batches of which size, and started when."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.embedding.batch_size import ON_CPU, find_batch_size
from indexer.embedding.lanes import n_lanes
from indexer.encoders.checkpoint import Checkpoint
from indexer.process import cores_of_rank
from indexer.rendering.pool import RenderPool

if TYPE_CHECKING:
    import torch

    from indexer.encoders.torch_encoder import Encoder


@dataclass(frozen=True, slots=True)
class Renderers:
    """What a rank's pool is to be for `n_images`; None: `workers` by the cores, `batch_size` by the device."""

    n_images: int
    workers: int | None = None
    batch_size: int | None = None

    @contextmanager
    def start_ahead(self, checkpoint: Checkpoint, device: "torch.device") -> Iterator[RenderPool | None]:
        """Let workers start while the encoder loads; None on a GPU, which has to tell first what a batch may be."""
        if not self.n_images or device.type != "cpu":
            yield None
            return
        with self._start(checkpoint.image_size, self.batch_size or ON_CPU, device) as pool:
            yield pool

    def start(self, encoder: "Encoder") -> RenderPool:
        """Start workers for a loaded encoder."""
        batch_size = self.batch_size or find_batch_size(encoder, n_images=self.n_images)
        return self._start(encoder.image_size, batch_size, encoder.device)

    def _start(self, size: int, batch_size: int, device: "torch.device") -> RenderPool:
        workers = default_workers(self.n_images) if self.workers is None else self.workers
        return RenderPool(size=size, workers=workers, chunk=batch_size, held=n_lanes(device))


def default_workers(n_images: int) -> int:
    """Rendering processes of one rank: its share of the cores, one for a handful of pictures."""
    return 1 if n_images < 500 else cores_of_rank()
