"""How do pictures reach a loop? From a pool of renderers, one by one in this process, from PNG files, from memory."""

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from indexer.bench.trials.knobs import Knobs
from indexer.embedding.page_lock import page_locked
from indexer.errors import BenchError, RenderError
from indexer.ranks.distributed import Rank
from indexer.rendering.pool import RenderPool
from indexer.rendering.render import render
from indexer.rendering.slots import Job
from indexer.sources.source import read_picture


@dataclass(slots=True)
class StageClock:
    """Adds up the seconds of stages. `device`: wait for it at the end of each; None: only the host's time counts."""

    device: torch.device | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block."""
        started = time.perf_counter()
        yield
        if self.device is not None:
            synchronise(self.device)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def synchronise(device: torch.device) -> None:
    """Wait until a device has done what it was given; a CPU always has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def rendered(pool: RenderPool, jobs: Sequence[Job], knobs: Knobs, *, device: torch.device) -> Iterator[Tensor]:
    """Batches of uint8 pixels (n, size, size, 3) as `icons index` gets them, drawn ahead by worker processes.

    Pinned, the memory that the workers draw into is page-locked as a whole: nothing is copied on the host.
    """
    locked: Any = page_locked(pool.memory, device) if knobs.pinned else nullcontext()
    with pool, locked as refusal:
        if refusal is not None:
            raise BenchError(f'pinned "on" can\'t be measured: {refusal}')
        for chunk in pool.render([_shuffled(jobs, knobs)]):
            yield torch.from_numpy(chunk.pixels)


def from_memory(pixels: Tensor, *, n_images: int) -> Iterator[Tensor]:
    """The same batch again and again, until so many pictures were given; the last one is cut."""
    for start in range(0, n_images, len(pixels)):
        yield pixels[: n_images - start]


def rendered_here(jobs: Sequence[Job], *, size: int, batch: int, clock: StageClock) -> Iterator[Tensor]:
    """The same, read and drawn one after the other in this process, with a clock on both.

    What can't be drawn is left out, as `icons index` does.
    """
    for start in range(0, len(jobs), batch):
        with clock.stage("read"):
            contents = [
                read_picture(job.kind, Path(job.location), job.path, job.member, digest=job.digest)
                for job in jobs[start : start + batch]
            ]
        with clock.stage("render"):
            drawn = []
            for content in contents:
                with suppress(RenderError):
                    drawn.append(render(content, size=size).pixels)
        if drawn:
            yield torch.from_numpy(np.stack(drawn))


class Pictures(Dataset[Tensor]):
    """PNG files, opened with Pillow and put through the model's stock transform: float (3, size, size)."""

    def __init__(self, files: Sequence[Path], transform: Any) -> None:
        self.files, self.transform = files, transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, position: int) -> Tensor:
        """Read and transform one."""
        transformed: Tensor = self.transform(Image.open(self.files[position]).convert("RGB"))
        return transformed


def from_files(
    files: Sequence[Path], knobs: Knobs, *, transform: Any, batch: int, workers: int, rank: Rank
) -> Iterator[Tensor]:
    """Batches of floats from PNG files through a DataLoader.

    Ranks share them as `DistributedSampler` does, on the naive path with its padding and shuffling.
    """
    is_naive, many = knobs.path == "naive", rank.world > 1
    dataset = Pictures(files if is_naive or not many else files[rank.index :: rank.world], transform)
    sampler: Any = DistributedSampler(dataset, rank.world, rank.index) if is_naive and many else None
    yield from DataLoader(
        dataset,
        batch_size=batch,
        sampler=sampler,
        shuffle=knobs.shuffle if sampler is None else None,
        generator=torch.Generator().manual_seed(0),
        num_workers=workers,
        prefetch_factor=knobs.prefetch,
        pin_memory=knobs.pinned,
        multiprocessing_context="fork" if workers else None,  # what scripts have; this process' own is a forkserver
    )


def opened_here(files: Sequence[Path], *, transform: Any, batch: int, clock: StageClock) -> Iterator[Tensor]:
    """The same floats, with a clock on reading and on what follows it."""
    for start in range(0, len(files), batch):
        with clock.stage("read"):
            contents = [file.read_bytes() for file in files[start : start + batch]]
        with clock.stage("render"):
            images = torch.stack([transform(Image.open(io.BytesIO(content)).convert("RGB")) for content in contents])
        yield images


def _shuffled(jobs: Sequence[Job], knobs: Knobs) -> Sequence[Job]:
    order = np.random.default_rng(0).permutation(len(jobs)) if knobs.shuffle else range(len(jobs))
    return [jobs[position] for position in order]
