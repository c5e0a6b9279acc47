"""What does the engine add to the sum of vectors? Its lexical arm over names alone, for evaluations.

A search's own arm knows tags, too. Where tags are the queries it would find what it was told, so it is left out here.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from indexer.publishing.lexicon import Lexicon
from search.evaluation.corpus import Corpus
from search.words.lexical import LEXICAL_WEIGHT, Lexical
from search.words.spelling import Speller
from search.words.wording import read_words

_FIRST = 10.0
"""More than any similarity: an exact name comes first."""


class NamesArm:
    """Spelling, coverage and exact names of a corpus."""

    def __init__(self, corpus: Corpus, encoder: QueryEncoder) -> None:
        ids = corpus.name_ids.tolist()
        self._words = np.array([corpus.words[name] for name in ids], dtype=object)
        self._rows = corpus.name_rows
        lexicon = Lexicon.of_names(
            zip(ids, self._words, strict=True),
            zip(corpus.name_ids[corpus.name_rows].tolist(), corpus.icon_ids.tolist(), strict=True),
        )
        self._lexical = Lexical(lexicon)
        self._speller = Speller(self._vocabulary, is_borne=self._lexical.knows, is_usual=encoder.has_token)

    def bonus(self, texts: Sequence[str]) -> Floats:
        """What the engine adds for each text to the similarity of each icon, (texts, icons)."""
        return np.stack([self._of_names(text)[self._rows] for text in texts])

    def _of_names(self, text: str) -> Floats:
        wording = read_words(text, self._speller)
        is_name = (self._words == wording.typed) | (self._words == wording.spelled)
        return np.asarray(LEXICAL_WEIGHT * self._lexical.coverage(wording.name) + _FIRST * is_name, np.float32)

    def _vocabulary(self) -> Counter[str]:
        return Counter(word for words in self._words for word in set(words.split()) if len(word) > 1)
