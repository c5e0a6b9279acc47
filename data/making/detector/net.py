"""The net that looks for icons in a screen, and what its answer is worth: 1.2 million parameters, one answer for each 4
x 4 pixels.

A convolutional backbone down to a 32nd of the picture tells what kind of place it is, a pyramid (Lin et al. 2017,
FPN) carries that back to a fourth, where an icon of 12 px still has three cells a side. Each cell says how surely it
is the middle of an icon, and how far the icon's four sides are (as FCOS, Tian et al. 2019). Varifocal loss for what
each cell says it is, GIoU for the sides of the boxes.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from indexer.screens.located import STRIDE

WIDTHS = (16, 32, 64, 112, 144)
"""Channels at a 2nd, 4th, 8th, 16th and 32nd of the picture."""
_BLOCKS = (0, 1, 2, 2, 1)
_PYRAMID = 48
_FIRST_SIDE = 2.0
"""Cells that an untrained net takes each side to be away."""
_FIRST_SCORE = -4.6
"""Logit of the share of cells that are an icon's middle: without it the first steps learn nothing but that."""


class Net(nn.Module):
    """Normalised pixels (n, 3, height, width) -> logits (n, h, w) and distances in pixels (n, 4, h, w).

    Height and width are multiples of 32; h and w a fourth of them. Distances are to the left, top, right, bottom side
    from the middle of a cell.
    """

    def __init__(self) -> None:
        super().__init__()
        inputs = (3, *WIDTHS[:-1])
        self.stages = nn.ModuleList(
            nn.Sequential(_convolution(before, width, stride=2), *(_Block(width) for _ in range(n)))
            for before, width, n in zip(inputs, WIDTHS, _BLOCKS, strict=True)
        )
        self.laterals = nn.ModuleList(nn.Conv2d(width, _PYRAMID, 1) for width in WIDTHS[1:])
        self.smoothing = _convolution(_PYRAMID, _PYRAMID)
        self.head = _convolution(_PYRAMID, _PYRAMID)
        self.answer = nn.Conv2d(_PYRAMID, 5, 1)
        nn.init.zeros_(self.answer.weight)
        self.answer.bias = nn.Parameter(torch.tensor([_FIRST_SCORE, *[math.log(_FIRST_SIDE)] * 4]))

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Answer for each cell."""
        levels = []
        for stage in self.stages:
            pixels = stage(pixels)
            levels.append(pixels)
        merged: Any = None
        for lateral, level in zip(reversed(self.laterals), reversed(levels[1:]), strict=True):
            merged = lateral(level) if merged is None else lateral(level) + _doubled(merged)
        answer = self.answer(self.head(self.smoothing(merged))).float()
        return answer[:, 0], answer[:, 1:].clamp(max=5).exp() * STRIDE


class _Block(nn.Module):
    """Two convolutions beside what they are given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _convolution(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, pixels: Tensor) -> Tensor:
        added: Tensor = nn.functional.relu(pixels + self.second(self.first(pixels)))
        return added


def _convolution(inputs: int, outputs: int, *, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


def _doubled(level: Tensor) -> Tensor:
    return nn.functional.interpolate(level, scale_factor=2.0, mode="nearest")


_BOX_WEIGHT = 2.0
_NEGATIVE_WEIGHT = 0.75
_GAMMA = 2.0
_RADIUS = 1.5
"""Cells around an icon's middle that answer for it, to each side."""


class Targets(NamedTuple):
    """What the cells of a batch should say."""

    box: Tensor
    """(n, 4, h, w): the sides of the icon that a cell answers for, in pixels of its tile; only where `is_middle`."""
    is_middle: Tensor
    """(n, h, w)"""
    counts: Tensor
    """(n, h, w): whether the cell is asked at all; inside of icons that are cut or too small it is not."""


def targets_of(boxes: list[Tensor], ignored: list[Tensor], *, cells: tuple[int, int]) -> Targets:
    """Lay boxes (k, 4) of each tile on its cells; smaller icons take cells from larger ones."""
    height, width = cells
    box = torch.zeros(len(boxes), 4, height, width)
    is_middle = torch.zeros(len(boxes), height, width, dtype=torch.bool)
    counts = torch.ones(len(boxes), height, width, dtype=torch.bool)
    rows = (torch.arange(height) + 0.5) * STRIDE
    columns = (torch.arange(width) + 0.5) * STRIDE
    for tile, (found, unsure) in enumerate(zip(boxes, ignored, strict=True)):
        for left, top, right, bottom in unsure.tolist():
            inside = ((rows > top) & (rows < bottom))[:, None] & ((columns > left) & (columns < right))
            counts[tile] &= ~inside
        order = torch.argsort((found[:, 2] - found[:, 0]) * (found[:, 3] - found[:, 1]), descending=True)
        for left, top, right, bottom in found[order].tolist():
            middle = _near(rows, top, bottom)[:, None] & _near(columns, left, right)
            is_middle[tile] |= middle
            counts[tile] |= middle
            box[tile][:, middle] = torch.tensor([left, top, right, bottom])[:, None]
    return Targets(box, is_middle, counts)


def _near(places: Tensor, low: float, high: float) -> Tensor:
    """Cells near the middle of a side, and inside of it but for the nearest one."""
    away = (places - (low + high) / 2).abs()
    reach = min(_RADIUS * STRIDE, (high - low) / 2)
    return away <= max(reach, float(away.min()))


def loss_of(logits: Tensor, sides: Tensor, targets: Targets) -> tuple[Tensor, Tensor]:
    """Loss of the scores, and of the boxes, each a scalar by icon cells."""
    is_middle = targets.is_middle
    n = is_middle.sum().clamp(min=1)
    iou, giou = _overlaps(_at(boxes_of(sides), is_middle), _at(targets.box, is_middle))
    quality = torch.zeros_like(logits)
    quality[is_middle] = iou.detach().clamp(min=0.05)
    scores = logits.sigmoid().detach()
    weight = torch.where(is_middle, quality, _NEGATIVE_WEIGHT * scores**_GAMMA) * targets.counts
    entropy = binary_cross_entropy_with_logits(logits, quality, reduction="none")
    return (weight * entropy).sum() / n, _BOX_WEIGHT * (1 - giou).sum() / n


def boxes_of(sides: Tensor) -> Tensor:
    """Distances of each cell's sides -> corners, both (n, 4, h, w), in pixels."""
    height, width = sides.shape[-2:]
    rows = ((torch.arange(height) + 0.5) * STRIDE)[:, None]
    columns = (torch.arange(width) + 0.5) * STRIDE
    left, top, right, bottom = sides.unbind(1)
    return torch.stack([columns - left, rows - top, columns + right, rows + bottom], dim=1)


def _at(values: Tensor, mask: Tensor) -> Tensor:
    """Values (n, 4, h, w) at the cells of a mask (n, h, w), (k, 4)."""
    return values.permute(0, 2, 3, 1)[mask]


def _overlaps(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """IoU and generalised IoU (Rezatofighi et al. 2019) of pairs of boxes (k, 4)."""
    shared = _area(torch.maximum(one[:, :2], other[:, :2]), torch.minimum(one[:, 2:], other[:, 2:]))
    union = _area(one[:, :2], one[:, 2:]) + _area(other[:, :2], other[:, 2:]) - shared
    hull = _area(torch.minimum(one[:, :2], other[:, :2]), torch.maximum(one[:, 2:], other[:, 2:]))
    iou = shared / union.clamp(min=1e-6)
    return iou, iou - (hull - union) / hull.clamp(min=1e-6)


def _area(low: Tensor, high: Tensor) -> Tensor:
    width, height = (high - low).clamp(min=0).unbind(1)
    return width * height
