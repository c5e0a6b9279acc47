"""In what order does each ranker put all icons? Scores of a whole corpus, exact, a block of questions at a time.

Larger is better; minus infinity is "not ranked". Scores are worked out once a distinct name and a distinct picture, so
that icons that share one are tied to the last bit.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from indexer.naming.names import normalise
from search.evaluation.contenders import CorpusVectors
from search.evaluation.corpus import Corpus
from search.evaluation.engine_ranker import EngineRanker
from search.generation.opened import Opened

SCORES_AT_ONCE = 8_000_000
"""Scores of one ranker in memory at a time: 32 MB."""

ENCODED_AT_ONCE = 64


class Rankers(Protocol):
    """One or several rankers that answer a question together."""

    def scores(self, texts: Sequence[str]) -> Mapping[str, Floats]:
        """Score every icon for each text: (texts, icons) by the ranker's name."""


class KeywordRanker:
    """BM25 over the words of names (SQLite FTS5); an icon that bears no word of the query is not ranked."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE names USING fts5 (words, tokenize = 'porter unicode61')")
        rows = ((place, corpus.words[name]) for place, name in enumerate(corpus.name_ids.tolist()))
        self._connection.executemany("INSERT INTO names (rowid, words) VALUES (?, ?)", rows)

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its name's BM25."""
        return {"keyword": np.stack([self._of_names(text)[self._corpus.name_rows] for text in texts])}

    def _of_names(self, text: str) -> Floats:
        scores = np.full(len(self._corpus.name_ids), -np.inf, np.float32)
        found = self._connection.execute(
            "SELECT rowid, -bm25(names) FROM names WHERE names MATCH ?", (any_word_of(text),)
        ).fetchall()
        if found:
            places, values = zip(*found, strict=True)
            scores[list(places)] = values
        return scores


def any_word_of(text: str) -> str:
    """Spell a query for FTS5: any of its words, each quoted, since most signs are operators there."""
    quoted = ('"' + word.replace('"', '""').replace("\0", "") + '"' for word in normalise(text).split())
    return " OR ".join(quoted)


class VectorRankers:
    """Names only, pictures only, and their weighted sum, by inner product with the query's vector; and the engine."""

    def __init__(self, opened: Opened, corpus: Corpus, vectors: CorpusVectors, *, picture_weight: float) -> None:
        self._corpus = corpus
        self._vectors = vectors
        self._weight = picture_weight
        self._engine = EngineRanker(opened, corpus, vectors, picture_weight=picture_weight)
        self._unseen = ~vectors.has_image[corpus.image_rows]

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its name, by its picture, by both, and by where the engine puts it."""
        queries = encode_texts(self._vectors.encoder, texts)
        names = (queries @ self._vectors.names.T)[:, self._corpus.name_rows]
        pictures = (queries @ self._vectors.images.T)[:, self._corpus.image_rows]
        fused = self._weight * pictures + (1 - self._weight) * names
        for scores in (pictures, fused):
            scores[:, self._unseen] = -np.inf
        return {"names": names, "pictures": pictures, "fused": fused, "engine": self._engine.scores(texts, queries)}


def encode_texts(encoder: QueryEncoder, texts: Sequence[str]) -> Floats:
    """Encode texts as a search does, (texts, dim)."""
    words = [normalise(text) for text in texts]
    parts = [words[start : start + ENCODED_AT_ONCE] for start in range(0, len(words), ENCODED_AT_ONCE)]
    return np.concatenate([encoder.encode_many_words(part) for part in parts])


def in_blocks(n: int, *, n_candidates: int, most: int = 1024) -> Iterator[slice]:
    """Cut `n` questions into blocks of at most `most` whose scores over all candidates fit in memory."""
    size = min(most, max(1, SCORES_AT_ONCE // max(1, n_candidates)))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
