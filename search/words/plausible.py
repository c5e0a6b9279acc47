"""Does a word that nobody knows read like one? By the letters that follow each other in words that an encoder knows.

A word that a tokenizer cuts into pieces may be rare or made up. What tells them apart is the mean log-probability of a
word's letters, each after the two before it, over the whole words of the tokenizer (32,875 of CLIP's).
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from math import log

LEAST = -3.0
"""Mean natural log-probability of a letter; a guess among 27 has -3.3. Of 2,043 words of Tabler's, Phosphor's, Carbon's
and Material's tags that CLIP's tokenizer cuts, 90 % reach it; of 400 made-up words that can be spoken, 9 %."""
_SHORT = 4
"""Letters up to which a word may be an abbreviation."""
_SMOOTHING = 0.1
_LETTERS = 27
"""With the end of a word."""


class Plausible:
    """Letter statistics of some words, counted once they are needed."""

    def __init__(self, read_words: Callable[[], Iterable[str]]) -> None:
        self._read_words = read_words

    def reads_like_a_word(self, word: str) -> bool:
        """Tell whether a word could be one; of other scripts, signs and digits nothing is known, so they could."""
        if len(word) <= _SHORT or not _is_plain(word) or not self._pairs:
            return True
        return self._mean(word) >= LEAST

    def _mean(self, word: str) -> float:
        triples = _triples(word)
        chances = (
            (self._counted[triple] + _SMOOTHING) / (self._pairs[triple[:2]] + _SMOOTHING * _LETTERS)
            for triple in triples
        )
        return sum(map(log, chances)) / len(triples)

    @cached_property
    def _counted(self) -> Counter[str]:
        return Counter(triple for word in self._read_words() if _is_plain(word) for triple in _triples(word))

    @cached_property
    def _pairs(self) -> Counter[str]:
        pairs: Counter[str] = Counter()
        for triple, n in self._counted.items():
            pairs[triple[:2]] += n
        return pairs


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _triples(word: str) -> list[str]:
    marked = f"^^{word}$"
    return [marked[place : place + 3] for place in range(len(word) + 1)]
