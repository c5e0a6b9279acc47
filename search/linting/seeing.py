"""Which encoder looks at the icons? That of the library, else the bundled one; by ONNX graphs, never through torch."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.facts import read_facts
from indexer.encoders.graphs import find_graphs
from indexer.encoders.onnx_encoder import OnnxEncoder
from indexer.encoders.query_encoder import OnnxQueryEncoder
from indexer.errors import IconsError, ModelError
from indexer.library.folder import Library
from indexer.process import cores
from indexer.publishing.manifest import Manifest

_AT_ONCE = 32


class Seer(Protocol):
    """Turns pictures and words into unit vectors."""

    image_size: int

    def pictures(self, pixels: Pixels) -> Floats:
        """Encode pictures (n, size, size, 3), (n, dim)."""

    def words(self, texts: Sequence[str]) -> Floats:
        """Encode texts, (n, dim)."""


def open_seer(library: Library | None) -> Seer:
    """Open the encoder that answers in a library, if there is one that needs no torch; else the bundled one.

    Raises:
        ModelError: the bundled one has no graphs.
    """
    checkpoint = find_checkpoint(ModelChoice.bundled())
    fingerprint = _fingerprint(library)
    if library is not None and fingerprint not in (None, checkpoint.fingerprint):
        folder = library.encoder(fingerprint)
        with suppress(OSError, ValueError):
            facts = read_facts(folder)
            if facts.served == "onnx":
                return _OfLibrary(OnnxQueryEncoder(folder, facts))
    graphs = find_graphs(checkpoint)
    if graphs is None:
        raise ModelError(f'the graphs of model "{checkpoint.name}" are missing; install `icons` again')
    # In int8 six times as many pictures a second; what is compared here are pictures of one encoder among each other.
    return _Bundled(OnnxEncoder(graphs, precision="int8" if graphs.has_int8 else "fp32", threads=cores()))


def _fingerprint(library: Library | None) -> str | None:
    """Which encoder a library searches with; None where there is no library."""
    if library is None or not library.exists():
        return None
    for generation in library.candidates():
        with suppress(IconsError):
            return Manifest.read(generation).fingerprint
    return None


class _Bundled:
    def __init__(self, encoder: OnnxEncoder) -> None:
        self._encoder = encoder
        self.image_size = encoder.image_size

    def pictures(self, pixels: Pixels) -> Floats:
        parts = [self._encoder.encode_images(some) for some in _batches(pixels)]
        return np.concatenate(parts).astype(np.float32)

    def words(self, texts: Sequence[str]) -> Floats:
        return self._encoder.encode_texts(texts).astype(np.float32)


class _OfLibrary:
    """A query encoder has one thread a call; here so many calls run at once as there are cores."""

    def __init__(self, encoder: OnnxQueryEncoder) -> None:
        self._encoder = encoder
        self.image_size = encoder.image_size
        self._threads = ThreadPoolExecutor(cores(), "encode")

    def pictures(self, pixels: Pixels) -> Floats:
        return np.concatenate(list(self._threads.map(self._encoder.encode_many_pictures, _batches(pixels))))

    def words(self, texts: Sequence[str]) -> Floats:
        some = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(list(self._threads.map(self._encoder.encode_many_words, some)))


def _batches(pixels: Pixels) -> Iterator[Pixels]:
    for start in range(0, len(pixels), _AT_ONCE):
        yield pixels[start : start + _AT_ONCE]
