"""What do the augmentations look like? One PNG: a row for each kind of change alone, then rows of the mix in use."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor

from indexer.finetune.options import Augmentation
from indexer.finetune.pictures.augment import asked_for, augment, draw_changes
from indexer.library.durable import write_result

COLUMNS, MIXED_ROWS, EDGE, LABEL = 12, 5, 4, 110
SHARES = (
    "inverted", "tinted", "two_colours", "backed", "photographed", "neighbours", "resampled", "blurred", "compressed",
)  # fmt: skip


def sheet(pixels: Tensor, change: Augmentation, *, seed: int) -> Image.Image:
    """Draw at least `COLUMNS` pictures uint8 (n, size, size, 3), unchanged and changed in every way."""

    def only(share: str) -> dict[str, Any]:
        return {share: 1.0}

    images = pixels.permute(0, 3, 1, 2).float() / 255
    none: dict[str, Any] = dict.fromkeys(SHARES, 0.0)
    still = replace(change, **none, smallest_scale=1.0, largest_scale=1.0, shift=0.0)
    rows = {"unchanged": still, "scaled, shifted": replace(change, **none)}
    rows |= {share.replace("_", " "): replace(still, **only(share)) for share in SHARES}
    rows |= {f"mix {number + 1}": change for number in range(MIXED_ROWS)}
    side = images.shape[-1] * max(1, round(64 / images.shape[-1]))
    canvas = Image.new("RGB", (LABEL + COLUMNS * (side + EDGE), len(rows) * (side + EDGE)), (128, 128, 128))
    pen = ImageDraw.Draw(canvas)
    for row, (title, kind) in enumerate(rows.items()):
        pen.text((6, row * (side + EDGE) + side // 2 - 6), title, fill=(255, 255, 255))
        for column, picture in enumerate(_changed(images, kind, seed=seed + row)[:COLUMNS]):
            place = (LABEL + column * (side + EDGE), row * (side + EDGE))
            canvas.paste(picture.resize((side, side), Image.Resampling.NEAREST), place)
    return canvas


def write_sheet(pixels: Tensor, file: Path, change: Augmentation, *, seed: int) -> None:
    """Write the sheet as PNG."""
    from io import BytesIO

    buffer = BytesIO()
    sheet(pixels, change, seed=seed).save(buffer, "PNG")
    write_result(file, buffer.getvalue(), option="--show-augmentations")


def _changed(images: Tensor, change: Augmentation, *, seed: int) -> list[Image.Image]:
    changes = draw_changes(len(images), change, torch.Generator().manual_seed(seed))
    places, _ = asked_for(changes)
    changed = augment(images.clone(), changes, images[places])
    levels = (changed * 255).round().byte().permute(0, 2, 3, 1).numpy()
    return [Image.fromarray(np.ascontiguousarray(picture)) for picture in levels]


assert set(SHARES) <= {field.name for field in fields(Augmentation)}
