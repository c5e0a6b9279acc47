"""What every loaded encoder does, whatever library it computes with; and bundled icons to try one out on."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Halves, Ids, Pixels
from indexer.encoders.checkpoint import Checkpoint
from indexer.errors import ModelError, RenderError
from indexer.library.bundled import bundled

AnyPrecision = Literal["auto", "fp32", "bf16", "fp16", "int8"]
"""In what an encoder computes; int8 without torch."""


class LoadedEncoder(Protocol):
    """Turns pictures and words into unit vectors; its methods may be called by several threads at once."""

    image_size: int
    """Side of a picture in pixels."""
    dim: int
    precision: Any
    """As it was resolved."""
    texts_at_once: int
    """Names of a batch; another number gives other last digits."""

    @property
    def out_of_memory(self) -> type[Exception]:
        """What is raised where there is no room for a batch."""

    def make_room(self) -> None:
        """Give back what is kept for later, after that was raised."""

    def take_threads(self, n: int) -> None:
        """Compute with so many threads in what the calling thread asks for."""

    def encode_images(self, pixels: Pixels) -> Halves:
        """Encode pictures (n, size, size, 3), (n, dim)."""

    def tokens(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Tokens (n, context) of texts, and to how many of them each may be cut, (n,)."""
        raise NotImplementedError

    def encode_batch(self, tokens: Ids) -> Halves:
        """Encode tokens (n, length), (n, dim)."""
        raise NotImplementedError

    def encode_texts(self, texts: Sequence[str]) -> Halves:
        """Encode texts, (n, dim), in their order; longer ones than the context are cut."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float16)
        for rows, encoded in self.encode_text_batches(texts):
            vectors[rows] = encoded
        return vectors

    def encode_text_batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some of the texts with their vectors, until all were encoded.

        Texts of one length go together, in batches that are filled up to one size: so a text has the same vector, bit
        by bit, in any company.
        """
        batch_size = batch_size or self.texts_at_once
        tokens, lengths = self.tokens(texts)
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length)
            for start in range(0, len(alike), batch_size):
                rows = alike[start : start + batch_size]
                batch = tokens[rows, :length]
                filling = np.repeat(batch[:1], batch_size - len(rows), axis=0)
                yield rows, self.encode_batch(np.concatenate([batch, filling]))[: len(rows)]


_NO_ROOM = ("out of memory", "_ALLOC_FAILED", "allocate memory", "bad_alloc", "start new thread", "create a primitive")
"""What CUDA and its libraries, torch, the system, C++, Python and oneDNN say, which have no class for it."""


def is_no_room(error: BaseException) -> bool:
    """Whether a device, or this process, had no room."""
    is_of_class = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"  # torch's own
    return is_of_class or any(said in str(error) for said in _NO_ROOM)


N_SAMPLES = 32
_WORDS = ("arrow", "home", "user", "x")
_ALIKE = 1e-3
"""Share of the largest number of a vector that fp16 may round it by."""


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


def check_answers(encoder: LoadedEncoder, checkpoint: Checkpoint) -> None:
    """Refuse an encoder of which pictures, or words, all get the same vector, or one that is no number.

    Raises:
        ModelError: that is so, or it encodes nothing at all.
    """
    words = np.empty((len(_WORDS), encoder.dim), np.float32)
    try:
        pictures = encoder.encode_images(_pictures(encoder.image_size)).astype(np.float32)
        for rows, vectors in encoder.encode_text_batches(_WORDS, batch_size=len(_WORDS)):
            words[rows] = vectors
    except Exception as error:  # torch, ONNX Runtime and tokenizers each raise their own
        if isinstance(error, encoder.out_of_memory) or is_no_room(error):
            encoder.make_room()
            return  # whoever embeds finds out for how much there is room
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise _broken(checkpoint, f"does not encode ({reason})") from error
    for what, found in (("picture", pictures), ("word", words)):
        if said := _says_nothing(found, what):
            raise _broken(checkpoint, f"gives {said}")


def _pictures(size: int) -> Pixels:
    """White, black, the left half black, and stripes."""
    pictures = np.full((4, size, size, 3), 255, np.uint8)
    pictures[1], pictures[2, :, : size // 2], pictures[3, ::2] = 0, 0, 0
    return pictures


def _says_nothing(vectors: Floats, what: str) -> str | None:
    if not np.isfinite(vectors).all():
        return f'"{vectors[~np.isfinite(vectors)][0]}" for a {what}'
    if np.ptp(vectors, axis=0).max() <= _ALIKE * np.abs(vectors).max():
        return f'each {what} the same vector ("{vectors[0, 0]:.4f}" and so on)'
    return None


def _broken(checkpoint: Checkpoint, how: str) -> ModelError:
    return ModelError(f'model "{checkpoint.name}" {how}: its weights are broken; give --model another one')
