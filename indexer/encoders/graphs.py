"""Do a model's weights come with graphs that run both towers without torch? They lie beside the weights.

`text.onnx` and `image.onnx` hold no weights: each tensor is a place in `open_clip_model.safetensors`, which has to lie
in the same folder. `graphs.json` says which weights they belong to, and how well they agree with torch.
`indexer.encoders.tracing` writes all three.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import Checkpoint, ModelChoice
from indexer.encoders.config import impossible_numbers
from indexer.encoders.facts import write_facts
from indexer.encoders.tokens import clip_tokenizer
from indexer.errors import SourceError
from indexer.library.durable import check_own_checksum, describe_file, differences, folder_aside
from indexer.sources.reading import read_regular

FILE_NAME = "graphs.json"


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of a checkpoint, whole and of its weights."""

    checkpoint: Checkpoint
    facts: dict[str, Any]
    """As `indexer.encoders.tracing` has written them: `shape`, `files` by name, and what `weights` they belong to."""

    @property
    def shape(self) -> dict[str, Any]:
        """What `indexer.encoders.facts.write_facts` calls so."""
        return dict(self.facts["shape"])

    @property
    def has_int8(self) -> bool:
        """Whether there is one of the picture tower in int8."""
        return "image-int8.onnx" in self.facts["files"]

    def path(self, tower: str) -> Path:
        """Where the graph of a tower lies: text, image, or image-int8."""
        return self.checkpoint.weights.with_name(f"{tower}.onnx")


def find_graphs(checkpoint: Checkpoint) -> Graphs | None:
    """Find the graphs beside a checkpoint's weights.

    None where there are none, or not as they were written, or where they belong to other weights: they can be made
    again at any time, and an encoder without them is exported.
    """
    folder = checkpoint.weights.parent
    try:
        facts = json.loads(read_regular(folder / FILE_NAME))
        check_own_checksum(facts)
        is_possible = not any(impossible_numbers(facts["shape"]))
        is_theirs = facts["weights"] == checkpoint.weights_digest
        is_theirs &= facts["shape"]["image_size"] == checkpoint.image_size
        is_whole = not list(differences(folder, facts["files"], sums=True))
    except (OSError, SourceError, ValueError, LookupError, AttributeError, TypeError):
        return None
    return Graphs(checkpoint, facts) if is_possible and is_theirs and is_whole else None


def carry(graphs: Graphs, folder: Path, *, choice: ModelChoice) -> None:
    """Put an encoder that needs no torch into a library's `folder`: the graphs, their weights, and a tokenizer.

    The weights are linked where the file system can do that, which takes neither time nor room, else copied.
    """
    checkpoint = graphs.checkpoint
    with folder_aside(folder) as aside:
        for name in ("text.onnx", "image.onnx"):  # queries are fp32
            shutil.copyfile(checkpoint.weights.with_name(name), aside / name)
        (aside / "tokenizer.json").write_text(clip_tokenizer().to_str(), "utf-8")
        files = {path.name: describe_file(path) for path in sorted(aside.iterdir())}
        weights = aside / checkpoint.weights.name
        _link(checkpoint.weights.resolve(), weights)
        files[weights.name] = {"bytes": weights.stat().st_size, "sha256": checkpoint.weights_digest}
        write_facts(aside, checkpoint, choice, graphs.shape, files)


def _link(file: Path, link: Path) -> None:
    try:
        os.link(file, link)
    except OSError:  # another drive, another owner, or a file system without
        shutil.copyfile(file, link)
