"""How a designer's query picture differs from the icon: drawn by chance, then computed on the device, JPEG among it.

The changes of a picture follow from the seed and its place in the batch alone. So a rank draws those of its own
pictures and no others, and a picture changes in the same way whichever rank sees it. Nothing is ever mirrored: left is
not right.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.options import Augmentation

METHODS = ("nearest-exact", "bilinear", "bicubic")
N_RESAMPLE_SIDES = 4
"""How small a resampled picture becomes: from a quarter to three quarters of its side, in so many steps."""
N_WAYS = len(METHODS) ** 2 * N_RESAMPLE_SIDES
GREY = torch.tensor([0.299, 0.587, 0.114])
_GRAIN, _GRAIN_SHAPE = (0.01, 0.08), (24, 24)
"""Standard deviation; pixels of a screenshot at the usual size."""
_NO_BLUR = 1e-4
"""A standard deviation, of the side, that leaves every pixel what it is."""
_NUMBERS = 32
"""Of chance, kept for each picture; its ground and grain have their own."""
_OF_PICTURES, _OF_GROUNDS, _OF_GRAIN = 1, 2, 3
"""What a seed is followed by, so that no two things are drawn from the same numbers."""


def as_floats(pixels: Tensor) -> Tensor:
    """Pictures uint8 (n, size, size, 3) as float32 0..1 (n, 3, size, size)."""
    return pixels.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.contiguous_format).div_(255)


def as_bytes(images: Tensor) -> npt.NDArray[np.uint8]:
    """Turn `as_floats` back."""
    return cast(npt.NDArray[np.uint8], (images * 255).round().byte().permute(0, 2, 3, 1).contiguous().numpy())


@dataclass(frozen=True, slots=True)
class Changes:
    """What happens to n pictures, beside which k others are drawn; a row is a place among the n."""

    theta: Tensor
    """(n + k, 2, 3): where in its picture a place of the result lies; neighbours come last."""
    neighbours: Tensor
    """int64 (k,): their places in the whole batch."""
    beside: Tensor
    """int64 (k,): the rows that they stand beside."""
    dark: Tensor
    """(n, 3, 1, 1): what black becomes."""
    light: Tensor
    backed: Tensor
    """int64 (b,): rows that get a ground."""
    backing: Tensor
    """(b, 3, 12, 12): colours that are blown up to it."""
    front: Tensor
    """(b, 1, 1, 1): black or white, whichever shows on it."""
    grained: Tensor
    """int64 (g,): rows to whose colours something is added."""
    grain: Tensor
    """(g, 1, 24, 24)."""
    smoothed: Tensor
    """int64 (s,): rows that are blurred, resampled, or both."""
    blur: Tensor
    """(s, 1, 1): standard deviation, of the picture's side."""
    way: Tensor
    """int64 (s,): of scaling down and up; -1 is none."""
    compressed: Tensor
    """int64 (c,): rows that go through JPEG."""
    quality: Tensor
    """int64 (c,)."""


def draw_changes(rows: range, n: int, change: Augmentation, *, seed: Sequence[int]) -> Changes:
    """Draw what happens to the pictures at some places in a row, of a batch of `n` over all ranks."""
    bits = np.random.PCG64([*seed, _OF_PICTURES])
    bits.advance(rows.start * _NUMBERS)  # of one endless row of numbers, each place has its own stretch
    numbers = iter(np.random.Generator(bits).random((len(rows), _NUMBERS)).T)

    def between(low: float, high: float, *shape: int) -> npt.NDArray[np.float64]:
        drawn = np.stack(list(islice(numbers, math.prod(shape))), axis=1)
        return low + (high - low) * drawn.reshape(len(rows), *shape)

    scale = change.smallest_scale * (change.largest_scale / change.smallest_scale) ** between(0, 1)
    crowded, both, neighbours = next(numbers) < change.neighbours, next(numbers) < 0.5, between(0, n, 2)
    dark, light = _colours(change, next(numbers), between(0, 1, 2, 3))
    backing, way, is_resampled = next(numbers), between(0, N_WAYS), next(numbers) < change.resampled
    blur = between(0.2, 1) * change.largest_blur
    quality = between(change.lowest_quality, change.highest_quality + 1)
    grained = np.flatnonzero(next(numbers) < change.grained)
    scale = np.where(crowded, between(0.5, 0.75), scale)
    shift, side, gap = between(-1, 1, 2) * 2 * change.shift, between(0, 4).astype(int), between(0.92, 1.1)
    strength, is_blurred = between(*_GRAIN), next(numbers) < change.blurred
    compressed, smoothed = np.flatnonzero(next(numbers) < change.compressed), np.flatnonzero(is_resampled | is_blurred)

    beside, which = np.nonzero(np.stack([crowded, crowded & both], axis=1))
    away = _SIDES[side[beside]] * ((1 - 2 * which) * 2 * scale[beside] * gap[beside])[:, None]
    centres, scales = np.concatenate([shift, shift[beside] + away]), np.concatenate([scale, scale[beside]])
    theta = np.dstack([np.broadcast_to(np.eye(2), (len(scales), 2, 2)), -centres]) / scales[:, None, None]
    backed = np.flatnonzero(backing < change.photographed + change.backed)
    grounds = _backings([rows[row] for row in backed], backing[backed] < change.photographed, seed)
    return Changes(
        theta=torch.from_numpy(theta).float(),
        neighbours=torch.from_numpy(neighbours[beside, which]).long(),
        beside=torch.from_numpy(beside),
        dark=torch.from_numpy(dark).float()[:, :, None, None],
        light=torch.from_numpy(light).float()[:, :, None, None],
        backed=torch.from_numpy(backed),
        backing=grounds,
        front=(grounds.mean((2, 3)) @ GREY < 0.5).float()[:, None, None, None],
        grained=torch.from_numpy(grained),
        grain=torch.from_numpy(strength[grained]).float()[:, None, None, None]
        * _stacked(
            [
                np.random.default_rng([*seed, _OF_GRAIN, rows[row]]).standard_normal((1, *_GRAIN_SHAPE), np.float32)
                for row in grained
            ],
            *(1, *_GRAIN_SHAPE),
        ),
        smoothed=torch.from_numpy(smoothed),
        blur=torch.from_numpy(np.where(is_blurred, blur, _NO_BLUR)[smoothed]).float()[:, None, None],
        way=torch.from_numpy(np.where(is_resampled, way, -1)[smoothed]).long(),
        compressed=torch.from_numpy(compressed),
        quality=torch.from_numpy(quality[compressed]).long(),
    )


def spread(small: Tensor, size: int) -> Tensor:
    """Blow up small pictures smoothly to a side."""
    return functional.interpolate(small, size=(size, size), mode="bicubic", align_corners=True)


_Numbers = npt.NDArray[np.float64]


def _colours(change: Augmentation, kind: _Numbers, drawn: _Numbers) -> tuple[_Numbers, _Numbers]:
    """What black and white become: nearly swapped, tinted towards a dark and a light colour, or two free colours."""
    first, second, grey = drawn[:, 0], drawn[:, 1], GREY.double().numpy()
    kinds = [kind < change.inverted, kind < change.inverted + change.tinted, kind >= 1 - change.two_colours]
    inverted, tinted, free = (those[:, None] for those in kinds)
    # Colours of nearly one brightness would hide the icon: the second is then taken from the other end.
    is_near = (np.abs(first @ grey - second @ grey) < 0.35)[:, None]
    other = np.where(is_near, (first @ grey < 0.5)[:, None], second)
    dark = np.select([inverted, tinted, free], [1 - 0.15 * first, 0.5 * first, first], 0.0)
    return dark, np.select([inverted, tinted, free], [0.2 * second, 1 - 0.3 * second, other], 1.0)


def _backings(places: Sequence[int], is_photo: npt.NDArray[np.bool_], seed: Sequence[int]) -> Tensor:
    """A ground for each of some places in the batch: a gradient between corner colours, or noise of several octaves."""
    generators = [np.random.default_rng([*seed, _OF_GROUNDS, place]) for place in places]
    photographed = torch.from_numpy(is_photo).float()[:, None, None, None]
    corners = _stacked([generator.random((3, 2, 2)) for generator in generators], 3, 2, 2)
    corners = corners.lerp(corners.mean(1, keepdim=True), 0.6 * photographed)  # photographs are less colourful
    grounds = spread(corners, 12)
    for side, strength in ((3, 0.3), (6, 0.2), (12, 0.12)):
        noise = _stacked([generator.standard_normal((3, side, side)) for generator in generators], 3, side, side)
        grounds += spread(noise[:, :1] + noise * 0.3, 12) * (strength * photographed)
    return grounds.clamp_(0, 1)


def _stacked(drawn: Sequence[np.ndarray], *shape: int) -> Tensor:
    return torch.from_numpy(np.reshape(drawn, (len(drawn), *shape))).float()


_BRIGHTNESS = (
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
)  # fmt: skip
_COLOUR = (
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
)  # fmt: skip
_TO_YCC = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))


def compressed(images: Tensor, quality: Tensor) -> Tensor:
    """Pictures 0..1 (n, 3, size, size) after JPEG of a quality (n,) of 1 to 100."""
    size = images.shape[-1]
    padding = -size % 8
    padded = functional.pad(images, (0, padding, 0, padding), mode="replicate") if padding else images
    to_ycc, to_rgb, transform, tables = _constants(images.device, size + padding)
    ycc = torch.einsum("ij,njhw->nihw", to_ycc, padded * 255 - 128)
    # Luma of (x - 128) is luma - 128; chroma is centred already.
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality)[:, None, None, None]
    steps = ((tables * scale + 50) / 100).floor_().clamp_(1, 255)
    rounded = (_separably(ycc, transform) / steps).round_().mul_(steps)
    rgb = torch.einsum("ij,njhw->nihw", to_rgb, _separably(rounded, transform.mT))
    return ((rgb + 128) / 255).clamp_(0, 1)[..., :size, :size]


@lru_cache(maxsize=4)
def _constants(device: torch.device, side: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """RGB to YCbCr and back (3, 3), the orthonormal DCT-II of every eight pixels of a line, and the tables.

    The transform is (side, side), the tables repeat over a picture, (3, side, side).
    """
    place = torch.arange(8, dtype=torch.float32)
    transform = 0.5 * torch.cos((2 * place + 1) * place[:, None] * math.pi / 16)
    transform[0] /= math.sqrt(2)
    brightness, colour = (torch.tensor(table, dtype=torch.float32).reshape(8, 8) for table in (_BRIGHTNESS, _COLOUR))
    to_ycc, tables = torch.tensor(_TO_YCC), torch.stack([brightness, colour, colour]).repeat(1, side // 8, side // 8)
    lines = torch.kron(torch.eye(side // 8), transform)
    return to_ycc.to(device), torch.linalg.inv(to_ycc).to(device), lines.to(device), tables.to(device)


_SIDES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def augment(images: Tensor, changes: Changes) -> Tensor:
    """Change float pictures 0..1, (n + k, 3, size, size): their neighbours come last, and are not returned.

    How many pictures change in a way is known beforehand, so nothing waits for the device.
    """
    n, size, device = len(changes.dark), images.shape[-1], images.device
    ground = _ground(images)
    grid = (changes.theta.flatten(0, 1) @ _centres(device, size)).reshape(-1, 2, size, size).permute(0, 2, 3, 1)
    ink = functional.grid_sample(images - ground, grid, align_corners=False)
    if len(ink) > n:
        ink[:n].index_add_(0, changes.beside, ink[n:])
    images = torch.addcmul(changes.dark, ink[:n].add_(ground[:n]), changes.light - changes.dark).clamp_(0, 1)
    if len(rows := changes.backed):  # on their grounds; what is of one colour in black or white, whichever shows
        backed = images[rows]
        difference = (backed - _ground(backed)).abs_().amax(1, keepdim=True)
        opaque = difference / difference.amax((2, 3), keepdim=True).clamp_(min=0.05)
        lowest, highest = torch.aminmax(backed, dim=1, keepdim=True)
        front = torch.where((highest - lowest).amax((2, 3), keepdim=True) < 0.1, changes.front, backed)
        images.index_copy_(0, rows, spread(changes.backing, size).clamp_(0, 1).lerp_(front, opaque))
    if len(rows := changes.grained):
        images.index_add_(0, rows, spread(changes.grain, size).expand(-1, 3, -1, -1)).clamp_(0, 1)
    if len(rows := changes.smoothed):
        ways, squares = _ways_to_resample(device, size)
        near = torch.exp(squares / (-2 * changes.blur**2))
        weights = ways[changes.way] @ near.div_(near.sum(2, keepdim=True))
        images.index_copy_(0, rows, _separably(images[rows], weights).clamp_(0, 1))
    if len(rows := changes.compressed):
        images.index_copy_(0, rows, compressed(images[rows], changes.quality))
    return images


def _ground(images: Tensor) -> Tensor:
    """The colour of a picture's corners, (n, 3, 1, 1): what lies around it when it shrinks."""
    return images[:, :, :: images.shape[2] - 1, :: images.shape[3] - 1].mean((2, 3), keepdim=True)


def _separably(images: Tensor, weights: Tensor) -> Tensor:
    """Apply linear maps (n, size, size), or one for all, along both axes of each picture."""
    for _ in range(2):
        images = (images.flatten(1, 2) @ weights.mT).reshape(images.shape).mT
    return images


@lru_cache(maxsize=4)
def _centres(device: torch.device, size: int) -> Tensor:
    """Where pixels lie in -1..1: across, down, and 1, (3, size * size)."""
    place = (torch.arange(size) * 2 + 1) / size - 1
    return torch.stack([*torch.meshgrid(place, place, indexing="xy"), torch.ones(size, size)]).flatten(1).to(device)


@lru_cache(maxsize=4)
def _ways_to_resample(device: torch.device, size: int) -> tuple[Tensor, Tensor]:
    """Matrices that scale a line down and up again, (37, size, size), and its squares of distances, (size, size).

    There is one for every pair of methods, to each of four sides, and one that changes nothing. Resizing is linear and
    separable, so one product with such a matrix an axis does what two resizes would.
    """
    unit, ways = torch.eye(size)[None, None], []
    sides = torch.linspace(0.25 * size, 0.75 * size, N_RESAMPLE_SIDES).round().int().tolist()
    for side, down, up in product(sides, METHODS, METHODS):
        smooth = {} if down == "nearest-exact" else {"antialias": True, "align_corners": False}
        small = functional.interpolate(unit, size=(side, size), mode=down, **smooth)
        straight = {} if up == "nearest-exact" else {"align_corners": False}
        ways.append(functional.interpolate(small, size=(size, size), mode=up, **straight)[0, 0])
    place = torch.arange(size) / size
    return torch.stack([*ways, unit[0, 0]]).to(device), ((place[:, None] - place) ** 2).to(device)


FIELDS = 16


def looks_of(pixels: npt.NDArray[np.uint8], live: Callable[[], None]) -> Tensor:
    """Coarse edges float16 (n, 256) of pictures uint8 (n, size, size, 3), read a few at a time.

    `live` is called after each few.
    """
    looks = torch.empty(len(pixels), FIELDS**2, dtype=torch.half)
    for start in range(0, len(pixels), 2048):
        looks[start : start + 2048] = edges(torch.from_numpy(np.array(pixels[start : start + 2048]))).half()
        live()
    return looks


def edges(pixels: Tensor) -> Tensor:
    """Unit vectors float32 (n, 256) of pictures uint8 (n, size, size, 3); an empty picture is a vector of zeros."""
    grey = pixels.float().mean(3)
    across = functional.pad((grey[:, :, 1:] - grey[:, :, :-1]).abs(), (0, 1))
    down = functional.pad((grey[:, 1:] - grey[:, :-1]).abs(), (0, 0, 0, 1))
    return functional.normalize(functional.adaptive_avg_pool2d((across + down)[:, None], FIELDS).flatten(1), dim=1)
