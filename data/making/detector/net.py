"""The net that looks for icons in a screen: 1.2 million parameters, one answer for each 4 x 4 pixels.

A convolutional backbone down to a 32nd of the picture tells what kind of place it is, a pyramid (Lin et al. 2017, FPN)
carries that back to a fourth, where an icon of 12 px still has three cells a side. Each cell says how surely it is the
middle of an icon, and how far the icon's four sides are (as FCOS, Tian et al. 2019).
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from indexer.locating.detector import STRIDE

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
