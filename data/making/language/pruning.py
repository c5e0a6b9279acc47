"""Which words need not stand in the dictionary? Those that are read all the same, and those that no icon shows."""

import math
import re
from collections.abc import Iterable, Mapping
from itertools import takewhile

from data.making.language.weighing import Terms, Weighed
from indexer.languages.reading import FUNCTION_WORDS
from indexer.languages.scripts import cut, is_unspaced

N_TERMS = 4
_LEAST = 0.25
"""Weight of a term, beside the likeliest."""
_FUNCTION = 1_000
"""Names that say a function word, as far as use is reckoned."""
_SINGLE_KANA = re.compile("[\u3040-\u30ff]")
"""Means nothing by itself: a loanword that nobody knows would be read as a row of them."""
_SURE = 2.0
"""Strength from which on a meaning is as sure as any."""


def prune(weighed: Mapping[str, Weighed], *, names: Mapping[str, int], most: int) -> dict[str, Terms]:
    """Keep up to `most` words and phrases of a language: those that icons are called by most; `names` counts words.

    A phrase is left out if its kept words say the same.
    """
    telling = ((word, known) for word, known in weighed.items() if not _SINGLE_KANA.fullmatch(word))
    shown = {word: terms for word, known in telling if (terms := _shown(known.terms, names))}
    kept: dict[str, Terms] = {}
    for word in _by_length_and_strength(shown, weighed):
        if not _is_read_anyway(word, shown[word], kept):
            kept[word] = shown[word]
    return {word: _shortened(kept[word]) for word in _most_useful(kept, weighed, names)[:most]}


def _shown(terms: Terms, names: Mapping[str, int]) -> Terms:
    """The terms whose words icons are called by, with weights from 1 down."""
    found = [(term, weight) for term, weight in terms if _n_icons(term, names)]
    return tuple((term, weight / found[0][1]) for term, weight in found)


def _n_icons(term: str, names: Mapping[str, int]) -> int:
    """How many names, at most, say a term."""
    return min(names.get(word, _FUNCTION if word in FUNCTION_WORDS else 0) for word in term.split())


def _most_useful(kept: Mapping[str, Terms], weighed: Mapping[str, Weighed], names: Mapping[str, int]) -> list[str]:
    """Words by how many icons are called so; of those that mean the same, the second counts half, the third a third."""
    by_term: dict[str, list[str]] = {}
    for word, terms in kept.items():
        by_term.setdefault(terms[0][0], []).append(word)
    use = {}
    for term, words in by_term.items():
        for place, word in enumerate(sorted(words, key=lambda word: -weighed[word].strength)):
            use[word] = math.log1p(_n_icons(term, names)) * min(_SURE, weighed[word].strength) / (1 + place)
    return sorted(use, key=lambda word: (-use[word], word))


def _by_length_and_strength(words: Iterable[str], weighed: Mapping[str, Weighed]) -> list[str]:
    """Words before phrases, short runs before long ones: what a phrase is read by is there before it."""

    def key(word: str) -> tuple[int, float, str]:
        return len(word) if is_unspaced(word) else word.count(" "), -weighed[word].strength, word

    return sorted(words, key=key)


def _is_read_anyway(word: str, terms: Terms, kept: Mapping[str, Terms]) -> bool:
    """Whether the parts of a phrase, or of a run without spaces, say what the whole says."""
    parts = cut(word, kept.__contains__) if is_unspaced(word) and " " not in word else word.split()
    if len(parts) < 2 or any(part not in kept for part in parts):
        return False
    said = {spoken for part in parts for spoken in kept[part][0][0].split()} - FUNCTION_WORDS
    return said == set(terms[0][0].split()) - FUNCTION_WORDS


def _shortened(terms: Terms) -> Terms:
    return tuple(takewhile(lambda term: term[1] >= _LEAST, terms))[:N_TERMS]
