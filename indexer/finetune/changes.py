"""What happens to each picture of a step, drawn by chance: colours, grounds, sizes, neighbours.

The changes of a picture follow from the seed and its place in the batch alone. So a rank draws those of its own
pictures and no others, and a picture changes in the same way whichever rank sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.options import Augmentation

METHODS = ("nearest-exact", "bilinear", "bicubic")
N_RESAMPLE_SIDES = 4
"""How small a resampled picture becomes: from a quarter to three quarters of its side, in so many steps."""
GREY = torch.tensor([0.299, 0.587, 0.114])
_LEAST_CONTRAST = 0.35
_GRAIN, _GRAIN_SIDE = (0.01, 0.08), 24
"""Standard deviation; pixels of a screenshot at the usual size."""
_NUMBERS = 32
"""Of chance, kept for each picture; its ground and grain have their own."""
_OF_PICTURES, _OF_GROUNDS, _OF_GRAIN = 1, 2, 3
"""What a seed is followed by, so that no two things are drawn from the same numbers."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What happens to n pictures, on the CPU; a place of -1 is nothing."""

    scale: Tensor
    shift: Tensor
    """(n, 2) in -1..1 over the picture."""
    dark: Tensor
    """(n, 3): what black becomes."""
    light: Tensor
    neighbours: Tensor
    """int64 (n, 2): places in the batch of the icons at either side."""
    side: Tensor
    """int64 (n,): right, left, below, above is the first neighbour's."""
    gap: Tensor
    backing: Tensor
    """(n, 3, 12, 12): colours that are blown up to a ground, where `is_backed`."""
    is_backed: Tensor
    grain: Tensor
    """(n, 1, 24, 24): what is added to every colour where `is_grained`."""
    is_grained: Tensor
    resample: Tensor
    """int64 (n,): which way of scaling down and up."""
    blur: Tensor
    quality: Tensor
    """int64 (n,): of JPEG."""

    def of(self, rows: slice | Tensor) -> Self:
        """The changes of some of the pictures; neighbours keep their places in the whole batch."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def draw_changes(rows: range, n: int, change: Augmentation, *, seed: Sequence[int]) -> Changes:
    """Draw what happens to the pictures at some places in a row, of a batch of `n` over all ranks."""
    numbers = _Numbers(rows, seed)
    chance, between, whole = numbers.chance, numbers.between, numbers.whole
    ratio = change.largest_scale / change.smallest_scale
    scale = change.smallest_scale * ratio ** between(0, 1)
    crowded = chance(change.neighbours)
    both = chance(0.5)
    neighbours = whole(n, 2).masked_fill(~crowded[:, None], -1)
    neighbours[:, 1] = neighbours[:, 1].masked_fill(~both, -1)
    dark, light = _colours(change, between(0, 1), between(0, 1, 2, 3))
    drawn_backing = between(0, 1)
    photographed = drawn_backing < change.photographed
    is_backed = drawn_backing < change.photographed + change.backed
    resample = whole(len(METHODS) ** 2 * N_RESAMPLE_SIDES).masked_fill(~chance(change.resampled), -1)
    blur = between(0.2, 1) * change.largest_blur
    quality = change.lowest_quality + whole(change.highest_quality + 1 - change.lowest_quality)
    is_grained = chance(change.grained)
    return Changes(
        scale=torch.where(crowded, between(0.5, 0.75), scale),
        shift=between(-1, 1, 2) * 2 * change.shift,
        dark=dark,
        light=light,
        neighbours=neighbours,
        side=whole(4),
        gap=between(0.92, 1.1),
        backing=_backings(is_backed, photographed, rows, seed),
        is_backed=is_backed,
        grain=_grain(is_grained, between(*_GRAIN), rows, seed),
        is_grained=is_grained,
        resample=resample,
        blur=blur.masked_fill(~chance(change.blurred), 0.0),
        quality=quality.masked_fill(~chance(change.compressed), -1),
    )


def asked_for(changes: Changes) -> tuple[Tensor, Tensor]:
    """Which neighbours are needed: their places in the whole batch, and the (picture, side) that each belongs to."""
    wanted = (changes.neighbours >= 0).nonzero()
    return changes.neighbours[wanted[:, 0], wanted[:, 1]], wanted


def spread(small: Tensor, size: int) -> Tensor:
    """Blow up small pictures smoothly to a side."""
    return functional.interpolate(small, size=(size, size), mode="bicubic", align_corners=True)


class _Numbers:
    """Numbers of chance for some places of a batch: of one endless row of them, each place has its own stretch."""

    def __init__(self, rows: range, seed: Sequence[int]) -> None:
        bits = np.random.PCG64([*seed, _OF_PICTURES])
        bits.advance(rows.start * _NUMBERS)
        self._left = torch.from_numpy(np.random.Generator(bits).random((len(rows), _NUMBERS)))

    def _take(self, *shape: int) -> Tensor:
        """The next float64 numbers in 0..1 of each place."""
        count = int(np.prod(shape))
        taken, self._left = self._left[:, :count], self._left[:, count:]
        return taken.reshape(len(taken), *shape)

    def chance(self, share: float) -> Tensor:
        return self._take() < share

    def between(self, low: float, high: float, *shape: int) -> Tensor:
        return (low + (high - low) * self._take(*shape)).float()

    def whole(self, high: int, *shape: int) -> Tensor:
        return (self._take(*shape) * high).long()


def _colours(change: Augmentation, kind: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """What black and white become: nearly swapped, tinted towards a dark and a light colour, or two free colours."""
    n = len(kind)
    dark, light = torch.zeros(n, 3), torch.ones(n, 3)
    inverted = kind < change.inverted
    tinted = (kind >= change.inverted) & (kind < change.inverted + change.tinted)
    free = (kind >= 1 - change.two_colours) & ~inverted & ~tinted
    dark[inverted], light[inverted] = 1 - 0.15 * drawn[inverted, 0], 0.2 * drawn[inverted, 1]
    dark[tinted], light[tinted] = 0.5 * drawn[tinted, 0], 1 - 0.3 * drawn[tinted, 1]
    first, second = drawn[:, 0], drawn[:, 1]
    # Colours of nearly one brightness would hide the icon: the second is then taken from the other end.
    apart = (first @ GREY - second @ GREY).abs()[:, None]
    second = torch.where(apart < _LEAST_CONTRAST, (first @ GREY < 0.5).float()[:, None].expand(n, 3), second)
    dark[free], light[free] = first[free], second[free]
    return dark, light


def _backings(is_backed: Tensor, photographed: Tensor, rows: range, seed: Sequence[int]) -> Tensor:
    """A ground for each backed picture: a gradient between corner colours, or noise of several octaves."""
    backing = torch.zeros(len(is_backed), 3, 12, 12)
    places = is_backed.nonzero().flatten()
    if not len(places):
        return backing
    generators = [np.random.default_rng([*seed, _OF_GROUNDS, rows[place]]) for place in places.tolist()]
    corners = _stacked([generator.random((3, 2, 2)) for generator in generators])
    is_photo = photographed[places].float()[:, None, None, None]
    corners = corners.lerp(corners.mean(1, keepdim=True), 0.6 * is_photo)  # photographs are less colourful
    grounds = spread(corners, 12)
    for side, strength in ((3, 0.3), (6, 0.2), (12, 0.12)):
        noise = _stacked([generator.standard_normal((3, side, side)) for generator in generators])
        shared = noise[:, :1] + noise * 0.3
        grounds += spread(shared, 12) * (strength * is_photo)
    backing[places] = grounds.clamp(0, 1)
    return backing


def _grain(is_grained: Tensor, strength: Tensor, rows: range, seed: Sequence[int]) -> Tensor:
    """Normal noise for each grained picture, a number a pixel of a small screenshot."""
    grain = torch.zeros(len(is_grained), 1, _GRAIN_SIDE, _GRAIN_SIDE)
    for place in is_grained.nonzero().flatten().tolist():
        generator = np.random.default_rng([*seed, _OF_GRAIN, rows[place]])
        noise = generator.standard_normal((1, _GRAIN_SIDE, _GRAIN_SIDE), np.float32)
        grain[place] = torch.from_numpy(noise) * strength[place]
    return grain


def _stacked(drawn: Sequence[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.stack(drawn)).float()
