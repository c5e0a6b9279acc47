"""A sheet of what a training would see: some icons, changed in each way alone, then in the mix in use."""

import tempfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image, ImageDraw
from torch import Tensor

from indexer.encoders.checkpoint import find_checkpoint
from indexer.errors import SourceError
from indexer.finetune.augment import asked_for, augment, draw_changes
from indexer.finetune.lesson import build_corpus, open_pixels, read_facts
from indexer.finetune.options import Augmentation
from indexer.finetune.session import Request, Viewer
from indexer.library.named import write_result

COLUMNS, MIXED_ROWS, EDGE, LABEL = 12, 5, 4, 110
N_PICTURES = 2 * COLUMNS
SHARES = (
    "inverted", "tinted", "two_colours", "backed", "photographed", "grained", "neighbours", "resampled", "blurred",
    "compressed",
)  # fmt: skip


def show(request: Request, file: Path, viewer: Viewer) -> None:
    """Write the sheet of augmentations for a random few of the icons; nothing is trained.

    Raises:
        SourceError: there are no icons.
    """
    seed = request.options.schedule.seed
    if request.corpus is not None:
        pixels = _some_of(request.corpus, seed=seed)
    else:
        with tempfile.TemporaryDirectory(prefix="icons-") as folder:
            gathered, limits = request.gather()
            chosen = np.random.default_rng(seed).permutation(len(gathered.icons))[:N_PICTURES]
            gathered.icons, gathered.reserved = [gathered.icons[row] for row in chosen], []
            size, report = find_checkpoint(request.choice).image_size, viewer.rendered
            build_corpus(gathered, Path(folder), limits=limits, workers=request.workers, size=size, report=report)
            pixels = _some_of(Path(folder), seed=seed)
    if not len(pixels):
        raise SourceError(
            "none of the chosen icons can be rendered; `icons index SOURCE` and `icons status --failures` say why"
        )
    write_sheet(torch.from_numpy(pixels), file, request.options.augmentation, seed=seed)
    viewer.note(f"wrote {file}")


def _some_of(corpus: Path, *, seed: int) -> npt.NDArray[np.uint8]:
    pixels = open_pixels(corpus, n=len(read_facts(corpus)["words"]))
    rows = np.sort(np.random.default_rng(seed).permutation(len(pixels))[:N_PICTURES])
    return np.array(pixels[rows])


def write_sheet(pixels: Tensor, file: Path, change: Augmentation, *, seed: int) -> None:
    """Write at least `COLUMNS` pictures uint8 (n, size, size, 3), unchanged and changed in every way, as PNG."""
    images = pixels.permute(0, 3, 1, 2).float() / 255
    none: dict[str, Any] = dict.fromkeys(SHARES, 0.0)
    alone = none | {"smallest_scale": 1.0, "largest_scale": 1.0, "shift": 0.0}
    rows = {"unchanged": replace(change, **alone), "scaled, shifted": replace(change, **none)}
    rows |= {share.replace("_", " "): replace(change, **alone | {share: 1.0}) for share in SHARES}
    rows |= {f"mix {number + 1}": change for number in range(MIXED_ROWS)}
    side = images.shape[-1] * max(1, round(64 / images.shape[-1]))
    canvas = Image.new("RGB", (LABEL + COLUMNS * (side + EDGE), len(rows) * (side + EDGE)), (128, 128, 128))
    pen = ImageDraw.Draw(canvas)
    for row, (title, kind) in enumerate(rows.items()):
        pen.text((6, row * (side + EDGE) + side // 2 - 6), title, fill=(255, 255, 255))
        for column, picture in enumerate(_changed(images, kind, seed=seed + row)[:COLUMNS]):
            place = (LABEL + column * (side + EDGE), row * (side + EDGE))
            canvas.paste(picture.resize((side, side), Image.Resampling.NEAREST), place)
    buffer = BytesIO()
    canvas.save(buffer, "PNG")
    write_result(file, buffer.getvalue(), option="--show-augmentations")


def _changed(images: Tensor, change: Augmentation, *, seed: int) -> list[Image.Image]:
    changes = draw_changes(range(len(images)), len(images), change, seed=(seed,))
    places, _ = asked_for(changes)
    changed = augment(images.clone(), changes, images[places])
    levels = (changed * 255).round().byte().permute(0, 2, 3, 1).numpy()
    return [Image.fromarray(np.ascontiguousarray(picture)) for picture in levels]
