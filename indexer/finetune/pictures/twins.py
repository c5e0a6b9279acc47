"""Which pictures look the same? Their edges in 16 x 16 fields, as unit vectors: a cosine near 1 is a twin.

An edge is as strong on a dark ground as on a light one, so a twin of swapped colours is one too; and a filled circle
with an arrow in it differs from one with a cross, which their ink would not tell.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

FIELDS = 16


def looks_of(pixels: npt.NDArray[np.uint8], live: Callable[[], None]) -> Tensor:
    """Coarse edges float16 (n, 256) of pictures uint8 (n, size, size, 3), read a few at a time.

    `live` is called after each few.
    """
    parts = []
    for start in range(0, len(pixels), 2048):
        parts.append(edges(torch.from_numpy(np.array(pixels[start : start + 2048]))).half())
        live()
    return torch.cat(parts)


def edges(pixels: Tensor) -> Tensor:
    """Unit vectors float32 (n, 256) of pictures uint8 (n, size, size, 3); an empty picture is a vector of zeros."""
    grey = pixels.float().mean(3)
    across = functional.pad((grey[:, :, 1:] - grey[:, :, :-1]).abs(), (0, 1))
    down = functional.pad((grey[:, 1:] - grey[:, :-1]).abs(), (0, 0, 0, 1))
    fields = functional.adaptive_avg_pool2d((across + down)[:, None], FIELDS).flatten(1)
    return functional.normalize(fields, dim=1)
