"""Which pictures look the same? Their edges in 16 x 16 fields, as unit vectors: a cosine near 1 is a twin.

An edge is as strong on a dark ground as on a light one, so a twin of swapped colours is one too; and a filled circle
with an arrow in it differs from one with a cross, which their ink would not tell.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from indexer.durable import write_file

FIELDS = 16


def looks_of(corpus: Path, pixels: npt.NDArray[np.uint8], *, n: int) -> Tensor:
    """Coarse edges float16 (n, 256) of the first `n` pictures of a corpus; from its file, once computed."""
    file = corpus / "looks.npy"
    if file.is_file():
        known = np.load(file)
        if len(known) == n:
            return torch.from_numpy(known)
    parts = [edges(torch.from_numpy(np.array(pixels[start : min(n, start + 2048)]))) for start in range(0, n, 2048)]
    looks = torch.cat(parts).half()
    _keep(file, looks)
    return looks


def edges(pixels: Tensor) -> Tensor:
    """Unit vectors float32 (n, 256) of pictures uint8 (n, size, size, 3); an empty picture is a vector of zeros."""
    grey = pixels.float().mean(3)
    across = functional.pad((grey[:, :, 1:] - grey[:, :, :-1]).abs(), (0, 1))
    down = functional.pad((grey[:, 1:] - grey[:, :-1]).abs(), (0, 0, 0, 1))
    fields = functional.adaptive_avg_pool2d((across + down)[:, None], FIELDS).flatten(1)
    return functional.normalize(fields, dim=1)


def _keep(file: Path, looks: Tensor) -> None:
    """Save for the next run; a corpus that can't be written is computed again."""
    from io import BytesIO

    buffer = BytesIO()
    np.save(buffer, looks.numpy())
    try:
        write_file(file, buffer.getvalue())
    except PermissionError:
        return
