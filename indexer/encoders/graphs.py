"""Do a model's weights come with graphs that run both towers without torch? They lie beside the weights.

`text.onnx` and `image.onnx` hold no weights: each tensor is a place in `open_clip_model.safetensors`, which has to lie
in the same folder. `graphs.json` says which weights they belong to, and how well they agree with torch.
`indexer.encoders.tracing` writes all three.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from indexer.encoders.checkpoint import Checkpoint, ModelChoice
from indexer.encoders.facts import Shape, write_facts
from indexer.encoders.tokens import clip_tokenizer
from indexer.errors import SourceError
from indexer.library.durable import (
    Files,
    FileSum,
    copy_file,
    describe_file,
    differences,
    folder_aside,
    from_signed,
    write_parts,
)
from indexer.library.foreign import Digest, parsed
from indexer.sources.reading import read_regular

FILE_NAME = "graphs.json"
_AT_ONCE = 1 << 20
"""Bytes."""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What `graphs.json` says, which `indexer.encoders.stored_graphs` writes."""

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
            write_parts(weights, iter(partial(file.read, _AT_ONCE), b""))
