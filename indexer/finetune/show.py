"""What would a training see? Some of the icons at hand, changed in every way, as one picture."""

from pathlib import Path

import numpy as np
import torch

from indexer.checkpoint import find_checkpoint
from indexer.finetune.augment_sheet import COLUMNS, write_sheet
from indexer.finetune.corpus import build_corpus
from indexer.finetune.options import Places
from indexer.finetune.prepare import Request, Viewer, gather_icons, image_size_of

N_PICTURES = 2 * COLUMNS


def show(request: Request, file: Path, viewer: Viewer) -> None:
    """Write the sheet of augmentations for a random few of the icons; nothing is trained.

    Raises:
        SourceError: there are no icons.
    """
    pixels = _corpus_pixels(request.corpus) if request.corpus else _some_pixels(request, viewer)
    write_sheet(torch.from_numpy(pixels), file, request.options.augmentation, seed=request.options.schedule.seed)
    viewer.note(f"wrote {file}")


def _some_pixels(request: Request, viewer: Viewer) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    learning, seed = request.options.learning, request.options.schedule.seed
    gathered, limits = gather_icons(
        request.sources, exclude=request.exclude, library=request.library, learning=learning, seed=seed
    )
    chosen = np.random.default_rng(seed).permutation(len(gathered.icons))[:N_PICTURES]
    gathered.icons, gathered.reserved = [gathered.icons[row] for row in chosen], []
    folder = Places(request.out).work / "shown"
    size = image_size_of(find_checkpoint(request.choice))
    build_corpus(gathered, folder, limits=limits, workers=request.workers, size=size, report=viewer.rendered)
    n = len(gathered.icons) - gathered.refused["cannot be rendered"]
    return np.array(np.load(folder / "pixels.npy", mmap_mode="r")[:n])


def _corpus_pixels(corpus: Path) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    pixels = np.load(corpus / "pixels.npy", mmap_mode="r")
    rows = np.sort(np.random.default_rng(0).permutation(len(pixels))[:N_PICTURES])
    return np.array(pixels[rows])
