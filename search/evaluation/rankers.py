"""In what order does each ranker put all icons? Scores of a whole corpus, exact, a block of questions at a time.

Larger is better; minus infinity is "not ranked". Scores are worked out once a distinct name and a distinct picture, so
that icons that share one are tied to the last bit.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from indexer.naming.names import normalise
from indexer.publishing.manifest import Weights
from indexer.publishing.vectors import TagVectors
from search.evaluation.contenders import CorpusVectors
from search.evaluation.corpus import Corpus
from search.evaluation.engine_ranker import EngineRanker
from search.evaluation.regimes import Tags
from search.generation.opened import Opened

SCORES_AT_ONCE = 8_000_000
"""Scores of one ranker in memory at a time: 32 MB."""

ENCODED_AT_ONCE = 64


class Rankers(Protocol):
    """One or several rankers that answer a question together."""

    def scores(self, texts: Sequence[str]) -> Mapping[str, Floats]:
        """Score every icon for each text: (texts, icons) by the ranker's name."""


class KeywordRanker:
    """BM25 over the words of names and tags (SQLite FTS5); an icon that bears no word of the query is not ranked."""

    def __init__(self, corpus: Corpus, known: Tags) -> None:
        self._n = len(corpus)
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE icons USING fts5 (name, tags, tokenize = 'porter unicode61')")
        tags: defaultdict[int, list[str]] = defaultdict(list)
        for row, code in zip(known.rows.tolist(), known.codes.tolist(), strict=True):
            tags[row].append(known.words[code])
        rows = (
            (row, corpus.words[name], " ; ".join(tags[row]))
            for row, name in enumerate(corpus.name_ids[corpus.name_rows].tolist())
        )
        self._connection.executemany("INSERT INTO icons (rowid, name, tags) VALUES (?, ?, ?)", rows)

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its BM25, a word of the name as three of tags."""
        return {"keyword": np.stack([self._of_icons(text) for text in texts])}

    def _of_icons(self, text: str) -> Floats:
        scores = np.full(self._n, -np.inf, np.float32)
        found = self._connection.execute(
            "SELECT rowid, -bm25(icons, 3.0, 1.0) FROM icons WHERE icons MATCH ?", (any_word_of(text),)
        ).fetchall()
        if found:
            rows, values = zip(*found, strict=True)
            scores[list(rows)] = values
        return scores


def any_word_of(text: str) -> str:
    """Spell a query for FTS5: any of its words, each quoted, since most signs are operators there."""
    quoted = ('"' + word.replace('"', '""').replace("\0", "") + '"' for word in normalise(text).split())
    return " OR ".join(quoted)


class VectorRankers:
    """Names, pictures and tags by inner product with the query's vector, their weighted sum, and the engine."""

    def __init__(
        self, opened: Opened, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags | None = None
    ) -> None:
        self._corpus = corpus
        self._vectors = vectors
        self._weights = weights
        known = known or Tags.read(opened)
        self._means = TagVectors(vectors.tags, known.rows, known.codes).means(np.arange(len(corpus)))
        self._is_tagged = self._means.any(axis=1)
        self._engine = EngineRanker(opened, corpus, vectors, weights, known)
        self._unseen = ~vectors.has_image[corpus.image_rows]

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its name, its picture and its tags, by all three, and by where the engine puts it."""
        queries = encode_texts(self._vectors.encoder, texts)
        names = (queries @ self._vectors.names.T)[:, self._corpus.name_rows]
        pictures = (queries @ self._vectors.images.T)[:, self._corpus.image_rows]
        fused = self._weights.picture * pictures + (1 - self._weights.picture) * names
        found = {"names": names, "pictures": pictures}
        if self._is_tagged.any():
            tags = queries @ self._means.T
            share = self._weights.tags * self._is_tagged
            fused = (1 - share) * fused + share * tags
            tags[:, ~self._is_tagged] = -np.inf
            found["tags"] = tags
        for scores in (pictures, fused):
            scores[:, self._unseen] = -np.inf
        return {**found, "fused": fused, "engine": self._engine.scores(texts, queries)}


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
