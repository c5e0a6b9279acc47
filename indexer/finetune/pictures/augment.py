"""How would a designer's query picture differ from the icon? Other colours, grounds, sizes, neighbours, compression.

What happens to a picture is drawn for the whole batch over all ranks beforehand (`draw_changes`), so that a picture
changes in the same way whichever rank sees it; `augment` then computes, on any device. Nothing is ever mirrored: left
is not right.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.options import Augmentation
from indexer.finetune.pictures.compression import compressed

_SIDES = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_METHODS = ("nearest-exact", "bilinear", "bicubic")
N_RESAMPLE_SIDES = 4
"""How small a resampled picture becomes: from a quarter to three quarters of its side, in so many steps."""
_LEAST_CONTRAST = 0.35
_GREY = torch.tensor([0.299, 0.587, 0.114])


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
    resample: Tensor
    """int64 (n,): which way of scaling down and up."""
    blur: Tensor
    quality: Tensor
    """int64 (n,): of JPEG."""

    def of(self, rows: slice | Tensor) -> Self:
        """The changes of some of the pictures; neighbours keep their places in the whole batch."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def draw_changes(n: int, change: Augmentation, generator: torch.Generator) -> Changes:
    """Draw what happens to each of `n` pictures."""

    def chance(share: float) -> Tensor:
        return torch.rand(n, generator=generator) < share

    def between(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(n, *shape, generator=generator)

    def whole(high: int, *shape: int) -> Tensor:
        return torch.randint(0, high, (n, *shape), generator=generator)

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
    resample = whole(len(_METHODS) ** 2 * N_RESAMPLE_SIDES).masked_fill(~chance(change.resampled), -1)
    blur = between(0.2, 1) * change.largest_blur
    quality = torch.randint(change.lowest_quality, change.highest_quality + 1, (n,), generator=generator)
    return Changes(
        scale=torch.where(crowded, between(0.5, 0.75), scale),
        shift=between(-1, 1, 2) * 2 * change.shift,
        dark=dark,
        light=light,
        neighbours=neighbours,
        side=whole(4),
        gap=between(0.92, 1.1),
        backing=_backings(is_backed, photographed, generator),
        is_backed=is_backed,
        resample=resample,
        blur=blur.masked_fill(~chance(change.blurred), 0.0),
        quality=quality.masked_fill(~chance(change.compressed), -1),
    )


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
    apart = (first @ _GREY - second @ _GREY).abs()[:, None]
    second = torch.where(apart < _LEAST_CONTRAST, (first @ _GREY < 0.5).float()[:, None].expand(n, 3), second)
    dark[free], light[free] = first[free], second[free]
    return dark, light


def _backings(is_backed: Tensor, photographed: Tensor, generator: torch.Generator) -> Tensor:
    """A ground for each backed picture: a gradient between corner colours, or noise of several octaves."""
    backing = torch.zeros(len(is_backed), 3, 12, 12)
    places = is_backed.nonzero().flatten()
    corners = torch.rand(len(places), 3, 2, 2, generator=generator)
    is_photo = photographed[places].float()[:, None, None, None]
    corners = corners.lerp(corners.mean(1, keepdim=True), 0.6 * is_photo)  # photographs are less colourful
    grounds = _spread(corners, 12)
    for side, strength in ((3, 0.3), (6, 0.2), (12, 0.12)):
        noise = torch.randn(len(places), 3, side, side, generator=generator)
        shared = noise[:, :1] + noise * 0.3
        grounds += _spread(shared, 12) * (strength * is_photo)
    backing[places] = grounds.clamp(0, 1)
    return backing


def augment(images: Tensor, changes: Changes, neighbours: Tensor | None = None) -> Tensor:
    """Change float pictures 0..1 (n, 3, size, size); `neighbours` (k, 3, size, size) in the order of `asked_for`."""
    ground = _ground(images)
    ink = _placed(images - ground, changes.scale, changes.shift)
    if neighbours is not None and len(neighbours):
        ink = _joined(ink, neighbours, changes)
    images = _coloured(ink.add_(ground), changes)
    images = _backed(images, ground, changes)
    return _resampled(_blurred(images, changes), changes, images.shape[-1])


def asked_for(changes: Changes) -> tuple[Tensor, Tensor]:
    """Which neighbours are needed: their places in the whole batch, and the (picture, side) that each belongs to."""
    wanted = (changes.neighbours >= 0).nonzero()
    return changes.neighbours[wanted[:, 0], wanted[:, 1]], wanted


def _ground(images: Tensor) -> Tensor:
    """The colour of a picture's corners, (n, 3, 1, 1): what lies around it when it shrinks."""
    return images[:, :, :: images.shape[2] - 1, :: images.shape[3] - 1].mean((2, 3), keepdim=True)


def _placed(ink: Tensor, scale: Tensor, centre: Tensor) -> Tensor:
    """Draw ink at a scale around a centre (n, 2) in -1..1; around it there is none."""
    theta = torch.zeros(len(ink), 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = 1 / scale
    theta[:, :, 2] = -centre / scale[:, None]
    grid = functional.affine_grid(theta.to(ink.device), list(ink.shape), align_corners=False)
    return functional.grid_sample(ink, grid, align_corners=False)


def _joined(ink: Tensor, neighbours: Tensor, changes: Changes) -> Tensor:
    """Draw neighbours beside their icons, at the same scale, partly out of sight."""
    _, wanted = asked_for(changes)
    rows, which = wanted[:, 0], wanted[:, 1]
    scale = changes.scale[rows]
    direction = _SIDES[changes.side[rows]] * (1 - 2 * which)[:, None]
    centre = changes.shift[rows] + direction * (2 * scale * changes.gap[rows])[:, None]
    beside = _placed(neighbours - _ground(neighbours), scale, centre)
    return ink.index_add_(0, rows.to(ink.device), beside)


def _coloured(images: Tensor, changes: Changes) -> Tensor:
    touched = _where((changes.dark.amax(1) > 0) | (changes.light.amin(1) < 1), images)
    dark, light = (part.to(images.device)[touched][:, :, None, None] for part in (changes.dark, changes.light))
    images[touched] = images[touched] * (light - dark) + dark
    return images.clamp_(0, 1)


def _backed(images: Tensor, ground: Tensor, changes: Changes) -> Tensor:
    """Put pictures on their grounds. A picture of one colour is drawn in black or white, whichever shows."""
    touched = _where(changes.is_backed, images)
    if not len(touched):
        return images
    own = images[touched]
    difference = (own - _ground(own)).abs().amax(1, keepdim=True)
    opaque = (difference / difference.amax((2, 3), keepdim=True).clamp(min=0.05)).clamp(0, 1)
    backing = _spread(changes.backing.to(images.device)[touched], images.shape[-1]).clamp(0, 1)
    brightness = (backing.mean((2, 3)) @ _GREY.to(images.device))[:, None, None, None]
    is_plain = (own.amax(1) - own.amin(1)).amax((1, 2))[:, None, None, None] < 0.1
    front = torch.where(is_plain, (brightness < 0.5).float(), own)
    images[touched] = backing * (1 - opaque) + front * opaque
    return images


def _blurred(images: Tensor, changes: Changes) -> Tensor:
    touched = _where(changes.blur > 0, images)
    if len(touched):
        size = images.shape[-1]
        place = torch.arange(size, device=images.device, dtype=torch.float32)
        spread = (changes.blur.to(images.device)[touched] * size)[:, None, None].clamp(min=0.1)
        weights = torch.exp(-((place[:, None] - place) ** 2) / (2 * spread**2))
        images[touched] = _separably(images[touched], weights / weights.sum(2, keepdim=True)).clamp_(0, 1)
    return images


def _resampled(images: Tensor, changes: Changes, size: int) -> Tensor:
    touched = _where(changes.resample >= 0, images)
    if len(touched):
        ways = _ways_to_resample(size).to(images.device)
        images[touched] = _separably(images[touched], ways[changes.resample.to(images.device)[touched]]).clamp_(0, 1)
    squeezed = _where(changes.quality >= 0, images)
    if len(squeezed):
        images[squeezed] = compressed(images[squeezed], changes.quality.to(images.device)[squeezed])
    return images


def _separably(images: Tensor, weights: Tensor) -> Tensor:
    """Apply a linear map (k, size, size) along both axes of each picture."""
    along = torch.matmul(weights[:, None], images)
    return torch.matmul(along, weights[:, None].transpose(2, 3))


@lru_cache(maxsize=4)
def _ways_to_resample(size: int) -> Tensor:
    """Matrices (36, size, size) that scale a line down and up again: every pair of methods, to each of four sides.

    Resizing is linear and separable, so one product with such a matrix an axis does what two resizes would.
    """
    sides = torch.linspace(0.25 * size, 0.75 * size, N_RESAMPLE_SIDES).round().int().tolist()
    ways = [_there_and_back(size, side, down, up) for side in sides for down in _METHODS for up in _METHODS]
    return torch.stack(ways)


def _there_and_back(size: int, side: int, down: str, up: str) -> Tensor:
    """What resizing does to the unit matrix, along one axis."""
    unit = torch.eye(size)[None, None]
    smooth = {} if down == "nearest-exact" else {"antialias": True, "align_corners": False}
    small = functional.interpolate(unit, size=(side, size), mode=down, **smooth)
    straight = {} if up == "nearest-exact" else {"align_corners": False}
    return functional.interpolate(small, size=(size, size), mode=up, **straight)[0, 0]


def _spread(small: Tensor, size: int) -> Tensor:
    return functional.interpolate(small, size=(size, size), mode="bicubic", align_corners=True)


def _where(chosen: Tensor, images: Tensor) -> Tensor:
    return chosen.nonzero().flatten().to(images.device)
