"""What does a training run hold in memory? Pixels, captions, tokens or vectors, and which icons are for validation."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from indexer.arrays import Ids
from indexer.encoders.torch_encoder import TextTower, autocast
from indexer.errors import SourceError
from indexer.finetune.corpus.captions import Captions, is_held_out, make_captions, share_held_out
from indexer.finetune.corpus.gather import base_of
from indexer.finetune.options import Learning
from indexer.sources.reading import MAX_FACTS_BYTES, read_regular

Tokenizer = Callable[[list[str]], Tensor]


@dataclass(frozen=True, slots=True)
class KeptWords:
    """Words whose similarities the text tower shall keep; `text_inputs` are tokens, or vectors for a locked tower."""

    text_inputs: Tensor
    vectors: Tensor
    """The parent's unit vectors, float16 (n, dim)."""
    batch: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """A corpus, ready to train on. Rows are icons; `bases` numbers the base name of each."""

    pixels: npt.NDArray[np.uint8]
    captions: Captions
    text_inputs: Tensor
    """What the student is given for each of `captions.texts`: tokens int32 (n, context) or vectors float16 (n, dim)."""
    bases: Ids
    looks: Tensor
    """float16 (n, 256): coarse edges of every picture, unit length."""
    train_rows: Ids
    held_out_rows: Ids
    words: list[str]
    kept_words: KeptWords | None = None
    cut: Sequence[str] = ()
    """Captions that fill the text tower's whole context, so that they may have been cut."""

    def texts_of(self, numbers: Ids) -> Tensor:
        """What the student takes for some captions."""
        return _widened(self.text_inputs[torch.from_numpy(numbers)])

    def words_of(self, numbers: Ids) -> Tensor:
        """What the student takes for some words that are to be kept."""
        assert self.kept_words is not None
        return _widened(self.kept_words.text_inputs[torch.from_numpy(numbers)])


@dataclass(frozen=True, slots=True)
class Material:
    """A corpus as read, before any encoder looks at it."""

    facts: dict[str, Any]
    captions: Captions
    bases: Ids
    held_out: npt.NDArray[np.bool_]
    one_in: int
    """One base name in so many is held out."""


def read_material(corpus: Path, learning: Learning, *, seed: int) -> Material:
    """Number a corpus' captions and split its icons."""
    facts = read_facts(corpus)
    captions = make_captions(facts["words"], facts["tags"], seed=seed, own=facts.get("own"))
    names = [base_of(name) for name in facts["words"]]
    distinct, bases = np.unique(names, return_inverse=True)
    one_in = learning.held_out or share_held_out(len(distinct))
    held_out = np.array([is_held_out(name, one_in=one_in) for name in names], dtype=bool)
    return Material(facts, captions, bases, held_out, one_in)


def open_pixels(corpus: Path, *, n: int) -> npt.NDArray[np.uint8]:
    """Map the first `n` pictures of a corpus: the rest of the file is room for those that could not be used.

    Raises:
        SourceError: the file is damaged.
    """
    try:
        pixels: npt.NDArray[np.uint8] = np.load(corpus / "pixels.npy", mmap_mode="r")[:n]
    except (ValueError, EOFError) as error:
        raise SourceError(f'"{corpus / "pixels.npy"}" is damaged ({error}); render the corpus anew') from error
    if len(pixels) < n:
        raise SourceError(f'"{corpus / "pixels.npy"}" holds "{len(pixels)}" of {n} pictures; render the corpus anew')
    return pixels


def read_facts(corpus: Path) -> dict[str, Any]:
    """Read what a corpus says about itself.

    Raises:
        SourceError: the folder holds none, or a damaged one.
    """
    if not (corpus / "corpus.json").is_file() or not (corpus / "pixels.npy").is_file():
        raise SourceError(f'"{corpus}" is no corpus; give SOURCES, which are rendered into one')
    try:
        facts = json.loads(read_regular(corpus / "corpus.json", limit=MAX_FACTS_BYTES))
        list(zip(facts["words"], facts["tags"], strict=True))  # as many names as lists of tags
    except (SourceError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise SourceError(f'"{corpus / "corpus.json"}" is damaged ({error}); render the corpus anew') from error
    assert isinstance(facts, dict)
    return facts


def tokenize(texts: Sequence[str], tokenizer: Tokenizer) -> Tensor:
    """Token ids int32 (n, context); longer texts are cut."""
    parts = [tokenizer(list(texts[start : start + 4096])).int() for start in range(0, len(texts), 4096)]
    return torch.cat(parts)


def cut_texts(texts: Sequence[str], tokens: Tensor, tokenizer: Tokenizer) -> list[str]:
    """List the texts whose tokens fill the whole context, so that they may have been cut."""
    padding = tokenizer([""])[0, -1]
    is_full = tokens[:, -1] != padding
    return [texts[place] for place in is_full.nonzero().flatten().tolist()]


def cut_warning(cut: Sequence[str]) -> str:
    """Say in a line which captions may have been cut."""
    return f'{len(cut):,} captions fill the whole context and may have been cut, the first "{cut[0][:60]}..."'


@torch.inference_mode()
def encode_texts(model: Any, tokens: Tensor, live: Callable[[], None] = lambda: None) -> Tensor:
    """Unit vectors float16 (n, dim) of the text tower, in order; encoded by length, so that little is padded.

    `live` is called after every 1,024 texts.
    """
    tower, device = TextTower(model.eval()), next(model.parameters()).device
    order, parts = (tokens != 0).sum(1).argsort(), []
    with autocast("auto", device):
        for rows in torch.split(order, 1024):
            parts.append(tower.encode_short(tokens[rows].long().to(device)).half().cpu())
            live()
    return torch.cat(parts)[order.argsort()]


def _widened(inputs: Tensor) -> Tensor:
    return inputs.float() if inputs.is_floating_point() else inputs.long()
