"""How does a model's picture tower get its int8 graph? Ranges over icons, then a look at what other icons become."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from indexer.arrays import Floats, Pixels
from indexer.encoders.int8 import Ranges, Shifts, Weights, convolved, inner_tensors, quantise, with_outputs
from indexer.encoders.samples import sample_pixels
from indexer.encoders.tower import Tower
from indexer.library.durable import write_file

N_ICONS = 400
"""As many for the ranges as for the look."""
LEAST_COSINE, LEAST_MEAN_COSINE = 0.995, 0.999
"""Between a vector in fp32 and the same picture's in int8."""
_N_COMPARED = 64
"""Icons over which a channel's mean is taken: each has thousands of places."""
_AT_ONCE = 8
"""Pictures whose inner tensors lie in memory together: 40 MB each in a ResNet-50 of 224 px."""


def write_int8_graph(image: Path, weights: Path, *, size: int) -> float | None:
    """Write the int8 graph of a picture tower beside its graph `image`; return the least cosine with fp32.

    None, and nothing written, where the tower is none of convolutions, or loses too much.
    """
    graph, path = image.read_bytes(), image.with_name("image-int8.onnx")
    path.unlink(missing_ok=True)
    if not (inner := inner_tensors(graph)):
        return None
    icons = _in_other_colours(sample_pixels(size, n=N_ICONS))
    ranges = _ranges(image, inner, icons)
    with safe_open(weights, "numpy") as held:
        stored = {f"model.{name}": held.get_tensor(name) for name in held.keys() if name.startswith("visual.")}  # noqa: SIM118
    shifts = _shifts(image, stored, ranges, icons[:: N_ICONS // _N_COMPARED])
    write_file(path, quantise(graph, stored, ranges, shifts))
    others = sample_pixels(size, n=N_ICONS, first=1)
    expected, found = (Tower(tower, threads=0).run("pixels", others) for tower in (image, path))
    cosines = _cosines(expected, found)
    if cosines.min() < LEAST_COSINE or cosines.mean() < LEAST_MEAN_COSINE:
        path.unlink()
        return None
    return float(cosines.min())


def _in_other_colours(pixels: Pixels) -> Pixels:
    """Change three pictures of four, which are black on white: to white on black, coloured ink, coloured ground."""
    colours = np.random.default_rng(0).random((len(pixels), 1, 1, 3))
    changed = pixels.copy()
    changed[1::4] = 255 - pixels[1::4]
    changed[2::4] = 255 - (255 - pixels[2::4]) * colours[2::4]
    changed[3::4] = pixels[3::4] * colours[3::4]
    return changed


def _ranges(image: Path, inner: list[str], pixels: Pixels) -> Ranges:
    """The least and the largest value of each inner tensor over some pictures."""
    within = _watch(image, image.read_bytes(), inner, pixels)
    seen = [[(found.min(), found.max()) for found in part] for part in within]
    extremes = np.array(seen, dtype=np.float64)  # (parts, tensors, 2)
    return {
        name: (float(least), float(most))
        for name, least, most in zip(inner, extremes[..., 0].min(axis=0), extremes[..., 1].max(axis=0), strict=True)
    }


def _shifts(image: Path, weights: Weights, ranges: Ranges, pixels: Pixels) -> Shifts:
    """What int8 takes off each channel on average, layer by layer: later ones see what earlier ones have got back."""
    graph, shifts = image.read_bytes(), dict[str, NDArray[np.float64]]()

    def means(graph: bytes, name: str) -> NDArray[np.float64]:
        parts = [found.mean(axis=(0, 2, 3), dtype=np.float64) for [found] in _watch(image, graph, [name], pixels)]
        return np.asarray(np.mean(parts, axis=0), np.float64)

    for name in convolved(graph):
        shifts[name] = means(graph, name) - means(quantise(graph, weights, ranges, shifts), name)
    return shifts


def _watch(image: Path, graph: bytes, names: list[str], pixels: Pixels) -> Iterator[list[Floats]]:
    """Yield what tensors of the middle of a graph are for some pictures, a few at a time."""
    watched = image.with_name(f".watched-{image.name}")  # beside its weights
    watched.write_bytes(with_outputs(graph, names))
    try:
        tower = Tower(watched, threads=0)
        for start in range(0, len(pixels), _AT_ONCE):
            yield tower.run_all("pixels", pixels[start : start + _AT_ONCE])[1:]
    finally:
        watched.unlink()


def _cosines(expected: Floats, found: Floats) -> Floats:
    return np.asarray((expected * found).sum(axis=1))
