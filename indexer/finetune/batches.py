"""What does a step see? Icons in a seeded order, changed as screenshots would change them, with a caption each."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.captions import Captions, Ids

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How pictures are changed; shares are of the pictures in a batch, lengths of the picture's side."""

    inverted: float = 0.25
    tinted: float = 0.15
    smallest_scale: float = 0.85
    largest_scale: float = 1.35
    shift: float = 0.12
    resampled: float = 0.2
    smallest_resample: float = 0.25
    largest_resample: float = 0.75


@dataclass(frozen=True, slots=True)
class Batch:
    """One step of one rank."""

    images: Tensor
    """float32 (n, 3, size, size), normalised to -1..1."""
    captions: Ids
    """The caption drawn for each icon, as a number into `Captions.texts`."""
    icons: Ids


def epoch(rows: Ids, *, batch: int, seed: int, number: int, rank: int = 0, world: int = 1) -> Iterator[Ids]:
    """Cut a pass over `rows` into global batches and yield this rank's part of each; the ragged end is left out.

    The order depends on seed and number alone, so any number of ranks sees the same global batches.
    """
    order = np.random.default_rng((seed, number)).permutation(rows)
    for start in range(0, len(order) - batch + 1, batch):
        yield order[start : start + batch][rank * batch // world : (rank + 1) * batch // world]


def make_batch(
    pixels: Pixels, captions: Captions, icons: Ids, *, seed: tuple[int, ...], change: Augmentation | None
) -> Batch:
    """Read, change and caption the icons of one step; `seed` names the step and the rank."""
    generator = np.random.default_rng(seed)
    order = np.sort(icons)  # neighbours in the file are read together
    images = torch.from_numpy(pixels[order]).permute(0, 3, 1, 2).float().div_(255)
    drawn = captions.draw(order, generator)
    if change is not None:
        images = augment(images, change, torch.Generator().manual_seed(int(generator.integers(2**62))))
    return Batch(images.sub_(0.5).div_(0.5).contiguous(memory_format=torch.channels_last), drawn, order)


def augment(images: Tensor, change: Augmentation, generator: torch.Generator) -> Tensor:
    """Move, scale, resample, tint and invert float pictures 0..1 (n, 3, size, size) on white ground."""
    ink = _moved(1 - images, change, generator)
    ink = _resampled(ink, change, generator).clamp_(0, 1)
    return _tinted(1 - ink, change, generator)


def _moved(ink: Tensor, change: Augmentation, generator: torch.Generator) -> Tensor:
    n = len(ink)
    low, high = change.smallest_scale, change.largest_scale
    scale = low * (high / low) ** torch.rand(n, generator=generator)
    shift = (torch.rand(n, 2, generator=generator) * 2 - 1) * change.shift
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = 1 / scale
    theta[:, :, 2] = shift
    grid = functional.affine_grid(theta, list(ink.shape), align_corners=False)
    return functional.grid_sample(ink, grid, align_corners=False)


def _resampled(ink: Tensor, change: Augmentation, generator: torch.Generator) -> Tensor:
    """Shrink some pictures to one smaller side, a new one in every batch, and blow them up again."""
    n, size = round(len(ink) * change.resampled), ink.shape[-1]
    if n == 0:
        return ink
    low, high = int(size * change.smallest_resample), int(size * change.largest_resample)
    side = int(torch.randint(low, high, (), generator=generator))
    chosen = torch.randperm(len(ink), generator=generator)[:n]
    small = functional.interpolate(ink[chosen], size=(side, side), mode="bilinear", antialias=True, align_corners=False)
    ink[chosen] = functional.interpolate(small, size=(size, size), mode="bilinear", align_corners=False)
    return ink


def _tinted(images: Tensor, change: Augmentation, generator: torch.Generator) -> Tensor:
    """Map black and white of some pictures to two other colours; swapped and nearly pure where inverted."""
    n = len(images)
    kind = torch.rand(n, generator=generator)
    colours = torch.rand(n, 2, 3, generator=generator)
    inverted, tinted = kind < change.inverted, kind >= 1 - change.tinted
    black = torch.zeros(n, 3)
    white = torch.ones(n, 3)
    black[inverted], white[inverted] = 1 - 0.15 * colours[inverted, 0], 0.2 * colours[inverted, 1]
    black[tinted], white[tinted] = 0.5 * colours[tinted, 0], 1 - 0.3 * colours[tinted, 1]
    return images * (white - black)[:, :, None, None] + black[:, :, None, None]
