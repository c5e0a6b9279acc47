"""What may a library know of its icons while it is asked? None of their tags, half of them, or all: three regimes.

A library that is asked for its own tags finds what it was told; without them it shows what pictures and names say.
Half of them hidden, and asked for, shows whether the others help. Names are asked for as people type them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from indexer.arrays import Ids, Mask
from indexer.naming.names import normalise
from indexer.publishing.told_tags import in_english
from search.evaluation.corpus import Corpus
from search.evaluation.queries import BenchmarkQuery, Question
from search.generation.backend import Ability
from search.generation.opened import Opened

NO_TAGS, HALF, ALL_TAGS = "no tags", "half of the tags", "all tags"
TAG = "tag"
"""Kind of the questions that are a library's own tags."""


@dataclass(frozen=True)
class Tags:
    """Which icon states which tag, a pair each, by icon."""

    words: Sequence[str]
    """As queries are spelled, by code."""
    rows: Ids
    """Rows of the corpus, ascending."""
    codes: Ids

    @classmethod
    def read(cls, opened: Opened) -> "Tags":
        """Read the tags of all icons of a generation, in English."""
        rows, codes = in_english(opened.snapshot.path, opened.in_memory(Ability.EVALUATE).pairs("tag")).astype(np.int64)
        return cls(opened.facets.labels("tag").values, rows, codes)

    def some(self, chosen: Mask) -> "Tags":
        """Keep some of the pairs."""
        return replace(self, rows=self.rows[chosen], codes=self.codes[chosen])

    def stating(self, words: str) -> Ids:
        """Rows of the icons that state a tag, ascending."""
        code = self._code_of.get(words)
        return (
            np.empty(0, np.int64)
            if code is None
            else self.rows[self._by_code[self._starts[code] : self._starts[code + 1]]]
        )

    def half(self, *, seed: int) -> Mask:
        """Choose the pairs that stay visible by lot: of an icon's tags half, of an odd number the smaller half."""
        keys = np.random.default_rng(seed).random(len(self.rows))
        order = np.lexsort((keys, self.rows))
        places = np.empty(len(self.rows), np.int64)
        places[order] = np.arange(len(self.rows)) - np.searchsorted(self.rows, self.rows)
        return places < np.bincount(self.rows)[self.rows] // 2

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {words: code for code, words in enumerate(self.words)}

    @cached_property
    def _by_code(self) -> Ids:
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def _starts(self) -> Ids:
        return np.searchsorted(self.codes[self._by_code], np.arange(len(self.words) + 1))


@dataclass(frozen=True, slots=True)
class Regime:
    """What is known, and what is asked."""

    name: str
    known: Tags
    questions: Sequence[Question]


def regimes(tags: Tags, questions: Sequence[Question], *, n_tags: int, seed: int) -> Iterator[Regime]:
    """Ask some questions, and `n_tags` of the library's own tags by lot, in every regime.

    The last one is that of the library itself, which has a single one where it has no tags.
    """
    questions = [*questions, *_tag_questions(tags, n_tags, seed)]
    yield Regime(NO_TAGS, tags.some(np.zeros(len(tags.rows), bool)), questions)
    if len(tags.rows):
        visible = tags.half(seed=seed)
        known, hidden = tags.some(visible), tags.some(~visible)
        yield Regime(HALF, known, [found for asked in questions if (found := _of_hidden(asked, known, hidden))])
        yield Regime(ALL_TAGS, tags, questions)


def _of_hidden(question: Question, known: Tags, hidden: Tags) -> Question | None:
    """Ask for the icons of which a tag was hidden; others that are right, or still state it, are not wrong."""
    words = normalise(question.query.text)
    right = np.intersect1d(question.right, hidden.stating(words))
    others = np.union1d(question.aside, np.setdiff1d(question.right, right))
    aside = np.union1d(others, known.stating(words))
    return replace(question, right=right, aside=aside) if len(right) else None


def _tag_questions(tags: Tags, n: int, seed: int) -> Iterator[Question]:
    stated = np.unique(tags.codes)
    for code in np.sort(np.random.default_rng(seed).permutation(stated)[:n]).tolist():
        words = tags.words[code]
        yield Question(BenchmarkQuery(words, TAG, (words,)), tags.stating(words))


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
