"""What does JPEG leave of a picture? Its 8 x 8 cosine transform, rounded by the standard's tables; in torch, batched.

Tables and their scaling by quality: ITU-T T.81, annex K.1, and libjpeg's `jpeg_quality_scaling`. Colour is kept at full
resolution (4:4:4), as screenshot tools do.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

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
    n, size = len(images), images.shape[-1]
    padding = -size % 8
    padded = functional.pad(images, (0, padding, 0, padding), mode="replicate") if padding else images
    to_ycc, to_rgb, transform, tables = _constants(images.device)
    side = size + padding
    ycc = torch.einsum("ij,njhw->nihw", to_ycc, padded * 255 - 128)
    # Luma of (x - 128) is luma - 128; chroma is centred already. Blocks: (n, 3, rows, 8, columns, 8).
    blocks = ycc.reshape(n, 3, side // 8, 8, side // 8, 8).transpose(3, 4)
    steps = _steps(tables, quality)[:, :, None, None]
    rounded = (transform @ blocks @ transform.T / steps).round() * steps
    back = (transform.T @ rounded @ transform).transpose(3, 4).reshape(n, 3, side, side)
    rgb = torch.einsum("ij,njhw->nihw", to_rgb, back)
    return ((rgb + 128) / 255).clamp(0, 1)[..., :size, :size]


def _steps(tables: Tensor, quality: Tensor) -> Tensor:
    """Quantisation steps (n, 3, 8, 8)."""
    quality = quality.float()
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality)[:, None, None, None]
    return ((tables * scale + 50) / 100).floor().clamp(1, 255)


@lru_cache(maxsize=2)
def _constants(device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """RGB to YCbCr and back (3, 3), the orthonormal DCT-II (8, 8), and the tables of the three channels (3, 8, 8)."""
    place = torch.arange(8, dtype=torch.float32)
    transform = 0.5 * torch.cos((2 * place + 1) * place[:, None] * math.pi / 16)
    transform[0] /= math.sqrt(2)
    brightness, colour = (torch.tensor(table, dtype=torch.float32).reshape(8, 8) for table in (_BRIGHTNESS, _COLOUR))
    to_ycc, tables = torch.tensor(_TO_YCC), torch.stack([brightness, colour, colour])
    to_ycc, to_rgb, transform, tables = (
        part.to(device) for part in (to_ycc, torch.linalg.inv(to_ycc), transform, tables)
    )
    return to_ycc, to_rgb, transform, tables
