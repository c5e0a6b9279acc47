"""What is the student given for words? Tokens, or vectors where the text tower is locked; made once and kept."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from indexer.errors import TrainError
from indexer.finetune.corpus.lesson import (
    KeptWords,
    Lesson,
    Material,
    cut_texts,
    encode_texts,
    open_pixels,
    tokenize,
)
from indexer.finetune.options import Places
from indexer.finetune.pictures.twins import looks_of
from indexer.finetune.plan import Plan
from indexer.finetune.run.watch import Reporter
from indexer.library.durable import write_file
from indexer.library.named import read_text

_LOOK_SECONDS = 0.2


def open_lesson(places: Places, plan: Plan, material: Material, encoder: tuple[Any, Any], reporter: Reporter) -> Lesson:
    """Put a corpus into memory, with what `encoder` (model, tokenizer) says of its captions.

    Rank 0 makes what is not kept from an earlier run; the others wait for its files, however long that takes.

    Raises:
        SourceError, TrainError: the pictures are damaged, or the words to keep can't be read.
    """
    pixels = open_pixels(plan.corpus, n=len(material.bases))
    maker = _Maker(places.work, plan, encoder, reporter)
    looks = maker.kept("looks", plan.corpus_key, lambda: looks_of(pixels, reporter.live))
    is_locked = plan.options.towers.text_tower == "locked"
    texts = material.captions.texts
    tokens = maker.tokens(texts)
    text_inputs = maker.vectors(texts) if is_locked else tokens
    words = None
    if plan.options.loss.keep_words_weight:
        listed = kept_words(plan.options.loss.keep_words) or texts
        vectors = maker.vectors(listed)
        words = KeptWords(vectors if is_locked else maker.tokens(listed), vectors, plan.options.loss.keep_words_batch)
    return Lesson(
        pixels,
        material.captions,
        text_inputs,
        material.bases,
        looks,
        train_rows=np.flatnonzero(~material.held_out),
        held_out_rows=np.flatnonzero(material.held_out),
        words=material.facts["words"],
        kept_words=words,
        cut=cut_texts(texts, tokens, encoder[1]),
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    work: Path
    plan: Plan
    encoder: tuple[Any, Any]
    reporter: Reporter

    def kept(self, kind: str, key: str, make: Callable[[], Tensor]) -> Tensor:
        """Read a tensor; rank 0 makes it first where it is not there."""
        file = self.work / f"{kind}-{key}.npy"
        if self.reporter.progress.rank == 0 and not file.is_file():
            self.reporter.begin(f"making {kind} of the corpus")
            content = BytesIO()
            np.save(content, make().numpy())
            write_file(file, content.getvalue())
        self.reporter.join(f"reading {kind} of the corpus")
        while not file.is_file():
            time.sleep(_LOOK_SECONDS)
            self.reporter.live()
        return torch.from_numpy(np.load(file))

    def tokens(self, texts: Sequence[str]) -> Tensor:
        return self.kept("tokens", self._key(texts), lambda: tokenize(texts, self.encoder[1]))

    def vectors(self, texts: Sequence[str]) -> Tensor:
        tokens = self.tokens(texts)
        return self.kept("vectors", self._key(texts), lambda: encode_texts(self.encoder[0], tokens, self.reporter.live))

    def _key(self, texts: Sequence[str]) -> str:
        return hashlib.sha256(json.dumps([self.plan.fingerprint, list(texts)]).encode()).hexdigest()[:16]


def kept_words(file: str | None) -> list[str]:
    """Read the words whose similarities are to be kept, one text a line.

    Raises:
        TrainError: the file is not there, or holds nothing.
    """
    if file is None:
        return []
    lines = read_text(Path(file)).splitlines()
    words = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if len(words) < 2:
        raise TrainError(f'--keep-words "{file}" holds "{len(words)}" texts; give at least two, one a line')
    return words
