"""Which word of a text translates which word of another? IBM's model 1, both ways.

Brown et al., The mathematics of statistical machine translation, Computational Linguistics 19 (1993), section 4.1:
expectation maximisation over pairs of texts, of which each word comes from any word of the other, or from none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Pair = tuple[Sequence[str], Sequence[str]]
"""Words of a text, and of its translation."""
Chances = Mapping[tuple[str, str], float]
"""(from, to) -> chance that a word is translated so."""
_LONGEST = 25
"""Words of a text that are looked at."""
_ROUNDS = 6
_RARE = 0.5
"""What is added to how often a word was seen: what was seen once is believed by two thirds."""
_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class Aligned:
    """A word and what it is translated by, as far as texts tell."""

    onward: float
    """Chance that the word becomes the other."""
    back: float
    """Chance that the other becomes the word."""
    n: int
    """Times that the word was seen beside words of the other language."""


def align(pairs: Iterable[Pair]) -> dict[str, dict[str, Aligned]]:
    """Align words of pairs of texts: word of the first -> word of the second -> how."""
    kept = [(list(first)[:_LONGEST], list(second)[:_LONGEST]) for first, second in pairs]
    seen: dict[str, int] = {}
    for first, second in kept:
        for word in first:
            seen[word] = seen.get(word, 0) + len(second)
    onward, back = chances(kept), chances([(second, first) for first, second in kept])
    found: dict[str, dict[str, Aligned]] = {}
    for (word, other), chance in onward.items():
        if (other, word) in back:
            found.setdefault(word, {})[other] = Aligned(chance, back[other, word], seen[word])
    return found


def chances(pairs: Sequence[Pair]) -> Chances:
    """Chances that a word of the first texts becomes one of the second; those below .02 are left out."""
    if not pairs:
        return {}
    froms, tos = _numbered(first for first, _ in pairs), _numbered(second for _, second in pairs)
    of_from, of_to, place, n_places = [], [], [], 0
    for first, second in pairs:
        sources = [0, *(froms[word] for word in first)]  # 0: from none
        for word in second:
            of_from += sources
            of_to += [tos[word]] * len(sources)
            place += [n_places] * len(sources)
            n_places += 1
    keys, at = np.unique(np.array(of_from, np.int64) << 32 | np.array(of_to, np.int64), return_inverse=True)
    of_key, places = keys >> 32, np.array(place)
    found = np.ones(len(keys))
    for _ in range(_ROUNDS):
        shares = found[at]
        shares /= np.bincount(places, shares, minlength=n_places)[places]
        counts = np.bincount(at, shares, minlength=len(keys))
        found = counts / (np.bincount(of_key, counts)[of_key] + _RARE)
    words, others = list(froms), list(tos)
    likely = np.flatnonzero((found > _LEAST) & (of_key > 0))
    return {
        (words[int(keys[row] >> 32) - 1], others[int(keys[row] & 0xFFFFFFFF) - 1]): float(found[row]) for row in likely
    }


def _numbered(texts: Iterable[Sequence[str]]) -> dict[str, int]:
    """Number words from 1 on, in the order in which they come."""
    numbers: dict[str, int] = {}
    for text in texts:
        for word in text:
            numbers.setdefault(word, len(numbers) + 1)
    return numbers
