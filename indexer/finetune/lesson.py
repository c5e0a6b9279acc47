"""What does a training run hold in memory? Pixels, captions, their vectors, and which icons are for validation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from indexer.encoder import TextTower
from indexer.errors import SourceError
from indexer.finetune.batches import Pixels
from indexer.finetune.captions import Captions, Ids, is_held_out, make_captions
from indexer.finetune.corpus import base_of
from indexer.finetune.distill import tokenize


@dataclass(frozen=True, slots=True)
class Lesson:
    """A corpus, ready to train on. Rows are icons; `bases` numbers the base name of each."""

    pixels: Pixels
    captions: Captions
    text_vectors: Tensor
    """float16, one unit vector for each of `captions.texts`."""
    bases: Ids
    train_rows: Ids
    held_out_rows: Ids
    words: list[str]
    tags: list[list[str]]


def open_lesson(corpus: Path, model: Any, *, seed: int, vectors: Path | None = None) -> Lesson:
    """Open a corpus folder and encode its captions with `model`'s text tower, or read them from the file `vectors`."""
    facts = read_facts(corpus)
    words, tags = facts["words"], facts["tags"]
    pixels = np.load(corpus / "pixels.npy", mmap_mode="r")
    captions = make_captions(words, tags, seed=seed)
    names = [base_of(name) for name in words]
    _, bases = np.unique(names, return_inverse=True)
    held_out = np.array([is_held_out(name) for name in names])
    encoded = (
        torch.from_numpy(np.load(vectors)) if vectors and vectors.exists() else encode_texts(model, captions.texts)
    )
    return Lesson(pixels, captions, encoded, bases, np.flatnonzero(~held_out), np.flatnonzero(held_out), words, tags)


def read_facts(corpus: Path) -> dict[str, Any]:
    """Read what a corpus says about itself."""
    if not (corpus / "corpus.json").is_file() or not (corpus / "pixels.npy").is_file():
        raise SourceError(f'"{corpus}" is no corpus; run python -m indexer.finetune corpus SOURCE... --out "{corpus}"')
    facts: dict[str, Any] = json.loads((corpus / "corpus.json").read_text("utf-8"))
    return facts


@torch.inference_mode()
def encode_texts(model: Any, texts: Sequence[str], *, batch: int = 1024) -> Tensor:
    """Unit vectors float16 (n, dim) of the text tower, in order; encoded by length, so that little is padded."""
    tower = TextTower(model.eval())
    tokens = tokenize(texts)
    order = (tokens != 0).sum(1).argsort()
    vectors: Tensor | None = None
    for rows in torch.split(order, batch):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            encoded = tower.encode_short(tokens[rows]).half()
        if vectors is None:
            vectors = torch.empty(len(tokens), encoded.shape[1], dtype=torch.float16)
        vectors[rows] = encoded
    assert vectors is not None
    return vectors.clone()
