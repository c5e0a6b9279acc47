"""What would a training see? Some of the icons at hand, changed in every way, as one picture."""

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from indexer.encoders.checkpoint import find_checkpoint
from indexer.errors import SourceError
from indexer.finetune.corpus.lesson import open_pixels, read_facts
from indexer.finetune.corpus.rendered import build_corpus
from indexer.finetune.corpus.selection import gather_icons
from indexer.finetune.pictures.augment_sheet import COLUMNS, write_sheet
from indexer.finetune.prepare import Request, Viewer, image_size_of

N_PICTURES = 2 * COLUMNS


def show(request: Request, file: Path, viewer: Viewer) -> None:
    """Write the sheet of augmentations for a random few of the icons; nothing is trained.

    Raises:
        SourceError: there are no icons.
    """
    if request.corpus is not None:
        pixels = _some_of(request.corpus, seed=request.options.schedule.seed)
    else:
        with tempfile.TemporaryDirectory(prefix="icons-") as folder:
            _render_some(request, Path(folder), viewer)
            pixels = _some_of(Path(folder), seed=request.options.schedule.seed)
    if not len(pixels):
        raise SourceError("none of the chosen icons can be rendered; `icons index SOURCE` and `icons failures` say why")
    write_sheet(torch.from_numpy(pixels), file, request.options.augmentation, seed=request.options.schedule.seed)
    viewer.note(f"wrote {file}")


def _render_some(request: Request, folder: Path, viewer: Viewer) -> None:
    learning, seed = request.options.learning, request.options.schedule.seed
    gathered, limits = gather_icons(
        request.sources, exclude=request.exclude, library=request.library, learning=learning, seed=seed
    )
    chosen = np.random.default_rng(seed).permutation(len(gathered.icons))[:N_PICTURES]
    gathered.icons, gathered.reserved = [gathered.icons[row] for row in chosen], []
    size = image_size_of(find_checkpoint(request.choice))
    build_corpus(gathered, folder, limits=limits, workers=request.workers, size=size, report=viewer.rendered)


def _some_of(corpus: Path, *, seed: int) -> npt.NDArray[np.uint8]:
    pixels = open_pixels(corpus, n=len(read_facts(corpus)["words"]))
    rows = np.sort(np.random.default_rng(seed).permutation(len(pixels))[:N_PICTURES])
    return np.array(pixels[rows])
