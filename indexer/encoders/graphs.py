"""How an encoder runs here: through torch, or through the graphs that lie beside a model's weights.

`text.onnx` and `image.onnx` hold no weights: each tensor is a place in `open_clip_model.safetensors`, which has to lie
in the same folder. `graphs.json` says which weights they belong to, and how well they agree with torch.
`indexer.encoders.export` writes all three.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids, Pixels
from indexer.encoders.checkpoint import Checkpoint, ModelChoice
from indexer.encoders.devices import HOST, Device, Place
from indexer.encoders.query_encoder import Shape, Tower, clip_tokenizer, write_facts
from indexer.errors import ModelError, RenderError, SourceError, first_line
from indexer.library.bundled import bundled
from indexer.library.durable import (
    Files,
    copy_file,
    differences,
    folder_aside,
    from_signed,
)
from indexer.library.foreign import Digest, parsed
from indexer.process import computes_in_bf16, cores_of_rank
from indexer.reports.terminal import span
from indexer.sources.records import read_regular

FILE_NAME = "graphs.json"


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What `graphs.json` says, which `indexer.encoders.export` writes."""

    weights: Digest
    """Which weights they belong to."""
    shape: Shape
    files: Files
    int8_parity: float | None = None


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of a checkpoint, whole and of its weights."""

    checkpoint: Checkpoint
    facts: GraphFacts

    @property
    def has_int8(self) -> bool:
        """Whether there is one of the picture tower in int8."""
        return "image-int8.onnx" in self.facts.files

    def path(self, tower: str) -> Path:
        """Where the graph of a tower lies: text, image, or image-int8."""
        return self.checkpoint.weights.with_name(f"{tower}.onnx")


def find_graphs(checkpoint: Checkpoint) -> Graphs | None:
    """Find the graphs beside a checkpoint's weights.

    None where there are none, or not as they were written, or where they belong to other weights: they can be made
    again at any time, and an encoder without them is exported. A graph that somebody has changed and signed anew is
    taken: a model's folder is trusted as far as those who may write it.
    """
    folder = checkpoint.weights.parent
    try:
        facts = from_signed(GraphFacts, parsed(read_regular(folder / FILE_NAME)))
        is_theirs = facts.weights == checkpoint.weights_digest and facts.shape.image_size == checkpoint.image_size
        is_whole = not list(differences(folder, facts.files, sums=True))
    except (OSError, SourceError, ValueError):
        return None
    return Graphs(checkpoint, facts) if is_theirs and is_whole else None


def carry(graphs: Graphs, folder: Path, *, choice: ModelChoice) -> None:
    """Put an encoder that needs no torch into a library's `folder`: the graphs, their weights, and a tokenizer.

    The weights are copied: whoever changes owner, mode or content of a library's files must not change the model's.
    """
    checkpoint = graphs.checkpoint
    with folder_aside(folder, replace=True) as aside:
        for name in ("text.onnx", "image.onnx"):  # queries are fp32
            copy_file(checkpoint.weights.with_name(name), aside / name)
        copy_file(checkpoint.weights, aside / checkpoint.weights.name)
        (aside / "tokenizer.json").write_text(clip_tokenizer().to_str(), "utf-8")
        write_facts(aside, checkpoint, choice, graphs.facts.shape)


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

    def encode_batch(self, tokens: Ids) -> Halves:
        """Encode tokens (n, length), (n, dim)."""

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
    return np.stack([render(path.read_bytes(), size=size).pixels for path in paths[first :: len(paths) // n][:n]])


def sample_names(*, n: int = N_SAMPLES) -> list[str]:
    """Names of the first `n` bundled icons, as words."""
    return [path.stem.replace("-", " ") for path in sorted(bundled("samples").rglob("*.svg"))[:n]]


def check_answers(encoder: LoadedEncoder, checkpoint: Checkpoint) -> None:
    """Refuse an encoder of which pictures, or words, all get the same vector, or one that is no number.

    Raises:
        ModelError: that is so, or it encodes nothing at all.
    """
    words, size = np.empty((len(_WORDS), encoder.dim), np.float32), encoder.image_size
    pixels = np.full((4, size, size, 3), 255, np.uint8)  # white, black, the left half black, and stripes
    pixels[1], pixels[2, :, : size // 2], pixels[3, ::2] = 0, 0, 0
    try:
        pictures = encoder.encode_images(pixels).astype(np.float32)
        for rows, vectors in encoder.encode_text_batches(_WORDS, batch_size=len(_WORDS)):
            words[rows] = vectors
    except Exception as error:  # torch, ONNX Runtime and tokenizers each raise their own
        if isinstance(error, encoder.out_of_memory) or is_no_room(error):
            encoder.make_room()
            return  # whoever embeds finds out for how much there is room
        raise _broken(checkpoint, f"does not encode ({first_line(error)})") from error
    for what, found in (("picture", pictures), ("word", words)):
        if not np.isfinite(found).all():
            raise _broken(checkpoint, f'gives "{found[~np.isfinite(found)][0]}" for a {what}')
        if np.ptp(found, axis=0).max() <= _ALIKE * np.abs(found).max():
            raise _broken(checkpoint, f'gives each {what} the same vector ("{found[0, 0]:.4f}" and so on)')


def _broken(checkpoint: Checkpoint, how: str) -> ModelError:
    return ModelError(f'model "{checkpoint.name}" {how}: its weights are broken; give --model another one')


class OnnxEncoder(LoadedEncoder):
    """Does what `torch_encoder.Encoder` does, a few seconds sooner; several threads may ask it at once.

    Attributes: `image_size` in pixels, `dim` of a vector, `precision` of its picture tower.
    """

    device = HOST
    out_of_memory = MemoryError
    texts_at_once = 32

    def __init__(self, graphs: Graphs, *, precision: Literal["fp32", "int8"], threads: int) -> None:
        """Open both towers; all calls share `threads`, less one, beside their own.

        Raises:
            ModelError: ONNX Runtime refuses a graph.
        """
        self.checkpoint, self.precision, shape = graphs.checkpoint, precision, graphs.facts.shape
        self.image_size, self.dim = shape.image_size, shape.dim
        self._shape, self._tokenizer = shape, clip_tokenizer()
        paths = [graphs.path(name) for name in ("text", "image" if precision == "fp32" else "image-int8")]
        try:
            with ThreadPoolExecutor(len(paths)) as opening:
                self._text, self._image = opening.map(partial(Tower, threads=threads), paths)
        except RuntimeError as error:
            folder = self.checkpoint.weights.parent
            raise ModelError(f'a graph in "{folder}" can\'t be opened ({error}); delete "graphs.json" there') from error

    def take_threads(self, n: int) -> None:
        """All calls share those that it was opened with."""

    def make_room(self) -> None:
        """Nothing is kept for later."""

    def encode_images(self, pixels: NDArray[np.uint8]) -> Halves:
        """Encode uint8 pixels (n, size, size, 3) into unit vectors fp16 (n, dim)."""
        return self._image.run("pixels", pixels).astype(np.float16)

    def tokens(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Tokens (n, context) of texts, and to how many of them each may be cut, (n,)."""
        tokens = self._shape.tokens(self._tokenizer, texts)
        return tokens, (tokens != 0).sum(axis=1) if self._shape.cuts_texts else np.full(len(tokens), tokens.shape[1])

    def encode_batch(self, tokens: Ids) -> Halves:
        """Encode tokens (n, length)."""
        return self._text.run("tokens", tokens).astype(np.float16)


MANY = 1 << 40
"""Pictures of which nobody knows how many there are."""
TORCH_PAYS = {"bf16": 3_200, "fp32": 12_500}
"""Pictures a core, each with a name, from which torch's rate makes up for its import, by what torch computes in there;
docs/log.md has the figures."""


def find_device(name: str) -> Place:
    """Turn "cpu" or "cuda:1" into a device; whether a GPU is there, torch says once an encoder is loaded."""
    return HOST if name == "cpu" else Place("cuda", int(name.removeprefix("cuda:")))


def load_encoder(
    checkpoint: Checkpoint, *, device: Device, precision: AnyPrecision, n_images: int, lanes: int = 1
) -> LoadedEncoder:
    """Load an encoder the way that is done soonest with so many pictures.

    `lanes` is how many threads will ask it at once: with those that they share, there is one a core. Vectors in int8
    are others than those in the other precisions, which are the same to .9999: "auto" is never int8 here.

    Raises:
        ModelError: its weights don't load or are broken, or it has no such precision.
    """
    graphs = find_graphs(checkpoint) if device.type == "cpu" else None
    threads = max(1, cores_of_rank() - lanes + 1)
    torchs_own = "bf16" if precision == "auto" and computes_in_bf16() else "fp32"
    are_few = n_images < TORCH_PAYS[torchs_own] * cores_of_rank()
    encoder: LoadedEncoder
    if precision == "int8" and not (graphs and graphs.has_int8):
        raise ModelError(
            f'model "{checkpoint.name}" can\'t be embedded in int8 on "{device}": that takes a processor, and a model '
            "with a graph for it"
        )
    if graphs and (precision == "int8" or (precision in ("auto", "fp32") and are_few)):
        with span("weights"):
            encoder = OnnxEncoder(graphs, precision="int8" if precision == "int8" else "fp32", threads=threads)
    else:
        with span("imports"):
            from indexer.encoders.torch_encoder import Encoder, resolve_device
        with span("weights"):
            encoder = Encoder(checkpoint, device=resolve_device(str(device)), precision=cast(Any, precision))
    with span("checks"):
        check_answers(encoder, checkpoint)
    return encoder
