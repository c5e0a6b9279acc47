"""Are icons found by their names, as people type them? Questions made from a library's own names, by a seed."""

import random
from collections.abc import Iterator

import numpy as np

from search.evaluation.corpus import Corpus
from search.evaluation.queries import BenchmarkQuery, Question

AS_IT_IS, TURNED, SLIPPED = "name", "name, turned round", "name, misspelt"
_SHORTEST = 5
"""Of a word in which a slip is made: shorter ones become other words."""


def name_questions(corpus: Corpus, *, n: int, seed: int) -> Iterator[Question]:
    """Ask for `n` names by lot: as they are, those of several words back to front, and with a slip in the longest word.

    Right are all icons that bear the name.
    """
    lot = np.random.default_rng(seed).permutation(len(corpus.name_ids))[:n]
    order = np.argsort(corpus.name_rows, kind="stable")
    starts = np.searchsorted(corpus.name_rows[order], np.arange(len(corpus.name_ids) + 1))
    for row in sorted(lot.tolist()):
        words = corpus.words[int(corpus.name_ids[row])]
        right = np.sort(order[starts[row] : starts[row + 1]])
        for kind, text in _ways_to_type(words, random.Random(f"{seed} {words}")):
            yield Question(BenchmarkQuery(text, kind, (words,)), right)


def _ways_to_type(words: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    yield AS_IT_IS, words
    parts = words.split()
    if len(parts) > 1:
        yield TURNED, " ".join(reversed(parts))
    longest = max(parts, key=len)
    if len(longest) >= _SHORTEST and longest.isalpha():
        yield SLIPPED, " ".join(_slipped(part, chance) if part == longest else part for part in parts)


def _slipped(word: str, chance: random.Random) -> str:
    """Leave a letter out, double one, or swap two; never the first."""
    place = chance.randrange(1, len(word) - 1)
    start, letter, rest = word[:place], word[place], word[place + 1 :]
    return chance.choice((start + rest, start + letter + letter + rest, start + rest[0] + letter + rest[1:]))
