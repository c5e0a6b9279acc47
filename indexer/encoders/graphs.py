"""How an encoder runs here: through torch, or through the graphs that lie beside a model's weights.

`text.onnx` and `image.onnx` hold no weights: each tensor is a place in `open_clip_model.safetensors`, which has to lie
in the same folder. `graphs.json` says which weights they belong to, and how well they agree with torch.
`indexer.encoders.export` writes all three.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.encoders.checkpoint import Checkpoint, ModelChoice
from indexer.encoders.devices import HOST, Device
from indexer.encoders.loaded import AnyPrecision, LoadedEncoder, check_answers
from indexer.encoders.query_encoder import Shape, Tower, clip_tokenizer, write_facts
from indexer.errors import ModelError, SourceError
from indexer.library.durable import (
    Files,
    FileSum,
    copy_file,
    describe_file,
    differences,
    folder_aside,
    from_signed,
    write_file,
)
from indexer.library.foreign import Digest, parsed
from indexer.process import computes_in_bf16, cores_of_rank
from indexer.sources.records import read_regular

FILE_NAME = "graphs.json"
_AT_ONCE = 1 << 20
"""Bytes."""


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
    with folder_aside(folder) as aside:
        for name in ("text.onnx", "image.onnx"):  # queries are fp32
            copy_file(checkpoint.weights.with_name(name), aside / name)
        (aside / "tokenizer.json").write_text(clip_tokenizer().to_str(), "utf-8")
        files = {path.name: describe_file(path) for path in sorted(aside.iterdir())}
        weights = aside / checkpoint.weights.name
        copy_file(checkpoint.weights, weights)
        files[weights.name] = FileSum(weights.stat().st_size, checkpoint.weights_digest)
        write_facts(aside, checkpoint, choice, graphs.facts.shape, files)


def keep_own_weights(checkpoint: Checkpoint, folder: Path) -> None:
    """Copy the weights of an encoder in a library that an older program has linked to the model's file."""
    weights = folder / checkpoint.weights.name
    if weights.is_file() and weights.samefile(checkpoint.weights):
        with weights.open("rb") as file:
            write_file(weights, iter(partial(file.read, _AT_ONCE), b""))


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
        self.checkpoint = graphs.checkpoint
        self.precision = precision
        shape = graphs.facts.shape
        self.image_size, self.dim = shape.image_size, shape.dim
        self._cuts_texts = shape.cuts_texts
        paths = [graphs.path(name) for name in ("text", "image" if precision == "fp32" else "image-int8")]
        try:
            with ThreadPoolExecutor(len(paths)) as opening:
                self._text, self._image = opening.map(partial(Tower, threads=threads), paths)
        except RuntimeError as error:
            folder = self.checkpoint.weights.parent
            raise ModelError(f'a graph in "{folder}" can\'t be opened ({error}); delete "graphs.json" there') from error
        self._tokens = shape.tokens(clip_tokenizer())

    def take_threads(self, n: int) -> None:
        """All calls share those that it was opened with."""

    def make_room(self) -> None:
        """Nothing is kept for later."""

    def encode_images(self, pixels: NDArray[np.uint8]) -> Halves:
        """Encode uint8 pixels (n, size, size, 3) into unit vectors fp16 (n, dim)."""
        return self._image.run("pixels", pixels).astype(np.float16)

    def tokens(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Tokens (n, context) of texts, and to how many of them each may be cut, (n,)."""
        tokens = self._tokens.of(texts)
        return tokens, (tokens != 0).sum(axis=1) if self._cuts_texts else np.full(len(tokens), tokens.shape[1])

    def encode_batch(self, tokens: Ids) -> Halves:
        """Encode tokens (n, length)."""
        return self._text.run("tokens", tokens).astype(np.float16)


MANY = 1 << 40
"""Pictures of which nobody knows how many there are."""
TORCH_PAYS = {"bf16": 3_200, "fp32": 12_500}
"""Pictures a core, each with a name, from which torch's rate makes up for its import, by what torch computes in there;
docs/log.md has the figures."""


def find_device(name: str) -> Device:
    """Turn "cpu" or "cuda:1" into a device that is there.

    Raises:
        DeviceError: it is not.
    """
    if name == "cpu":
        return HOST
    from indexer.encoders.torch_encoder import resolve_device

    return resolve_device(name)


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
    if graphs and graphs.has_int8 and precision == "int8":
        encoder = OnnxEncoder(graphs, precision="int8", threads=threads)
    elif precision == "int8":
        what = f'model "{checkpoint.name}" can\'t be embedded in int8 on "{device}"'
        raise ModelError(f"{what}: that takes a processor, and a model with a graph for it")
    elif graphs and precision in ("auto", "fp32") and are_few:
        encoder = OnnxEncoder(graphs, precision="fp32", threads=threads)
    else:
        from indexer.encoders.torch_encoder import Encoder, resolve_device

        encoder = Encoder(checkpoint, device=resolve_device(str(device)), precision=precision)
    check_answers(encoder, checkpoint)
    return encoder
