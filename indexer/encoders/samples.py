"""On what is an encoder tried out? Bundled icons, drawn, and their names: known to be harmless in any process."""

import numpy as np
from numpy.typing import NDArray

from indexer.errors import RenderError
from indexer.library.bundled import bundled

N_SAMPLES = 32


def sample_pixels(size: int, *, n: int = N_SAMPLES, first: int = 0) -> NDArray[np.uint8]:
    """Draw `n` bundled icons, evenly spaced from the `first` on: RGB (n, size, size, 3)."""
    from indexer.rendering.render import render

    paths = sorted(bundled("samples").rglob("*.svg"))
    if len(paths) < n:
        raise RenderError("the bundled sample icons are missing; install `icons` again")
    chosen = paths[first :: len(paths) // n][:n]
    return np.stack([render(path.read_bytes(), size=size).pixels for path in chosen])


def sample_names(*, n: int = N_SAMPLES) -> list[str]:
    """Names of the first `n` bundled icons, as words."""
    paths = sorted(bundled("samples").rglob("*.svg"))
    return [path.stem.replace("-", " ") for path in paths[:n]]
