"""What is the net's answer worth? Varifocal loss for what each cell says it is, GIoU for the sides of the boxes."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from indexer.locating.detector import STRIDE

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
