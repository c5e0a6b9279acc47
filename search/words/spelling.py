"""Whether a word was meant as another one that this library knows, and whether it reads like a word at all.

Edit distance alone "corrects" wool to pool and caution to caption. Of 183 tags of four sets that it would change, 161
are made of usual words: an encoder reads these as one piece, and slips of the pen as several.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import log
from typing import Self

from indexer.encoders.query_encoder import QueryEncoder
from indexer.merging.lexicon import Lexicon

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


_SHORTEST = 4
"""Of three letters nearly everything is one letter away from something."""
_LONG = 8
"""From this length two slips are accepted instead of one."""
_MUCH_RARER = 500
"""So often must the right word be more frequent. In large libraries slips have names, too: 4 of Iconify's bear "arow",
3,675 bear "arrow"."""


@dataclass(frozen=True)
class Speller:
    """A vocabulary, and what needs no correction."""

    read_vocabulary: Callable[[], Mapping[str, int]]
    """Gives every word with the number of names that bear it, once it is needed."""
    _: KW_ONLY
    is_name_or_tag: Callable[[str], bool]
    """Whether any name bears a word."""
    is_usual: Callable[[str], bool]
    """Whether a word needs no correction, whoever bears it."""
    could_be: Callable[[str], bool]
    """Whether a word that is neither reads like one."""

    @classmethod
    def of(cls, read_vocabulary: Callable[[], Mapping[str, int]], lexicon: Lexicon, encoder: QueryEncoder) -> Self:
        """Spell as the names and tags of a lexicon do, and as an encoder knows words."""
        could_be = Plausible(encoder.whole_words).reads_like_a_word
        return cls(read_vocabulary, is_name_or_tag=lexicon.knows, is_usual=encoder.has_token, could_be=could_be)

    def knows(self, word: str) -> bool:
        """Tell whether a word means something, here or anywhere, or may do so."""
        return self.is_usual(word) or self.is_name_or_tag(word) or self.could_be(word)

    def correct(self, words: str) -> str | None:
        """Spell normalised words as they were probably meant; None where there is nothing to correct."""
        meant = {word: self._meant(word) or word for word in dict.fromkeys(words.split())}
        corrected = " ".join(meant[word] for word in words.split())
        return None if corrected == words else corrected

    def _meant(self, word: str) -> str | None:
        if self.is_usual(word):
            return None
        return self._far_more_frequent(word) if self.is_name_or_tag(word) else self._nearest(word)

    def _far_more_frequent(self, word: str) -> str | None:
        """The word that is spelled so by a slip of the pen and far more frequent; brands are one letter off, too, so
        that letter must be left out, doubled, or swapped with the next.
        """
        least = _MUCH_RARER * self._n_names.get(word, 1)
        if len(word) < _SHORTEST or self._most_borne < least:
            return None
        likely = [other for other, n in self._n_names.items() if n >= least and word in _slips_of(other)]
        return max(likely, key=lambda other: (self._n_names[other], other), default=None)

    def _nearest(self, word: str) -> str | None:
        """The known word with the fewest slips, of equal ones the most frequent; or two known words run together."""
        if len(word) < _SHORTEST or not word.isalpha():
            return None
        from rapidfuzz import process  # only where a word is unknown
        from rapidfuzz.distance import OSA

        slips = 2 if len(word) >= _LONG else 1
        found = process.extract(word, self._terms, scorer=OSA.distance, score_cutoff=slips, limit=None)
        if found:
            return min(found, key=lambda match: (match[1], -self._n_names[match[0]], match[0]))[0]
        return self._apart(word)

    def _apart(self, word: str) -> str | None:
        cuts = [(word[:cut], word[cut:]) for cut in range(2, len(word) - 1)]
        known = [pair for pair in cuts if all(part in self._n_names for part in pair)]
        if not known:
            return None
        return " ".join(max(known, key=lambda pair: (min(self._n_names[part] for part in pair), pair)))

    @cached_property
    def _n_names(self) -> Mapping[str, int]:
        return self.read_vocabulary()

    @cached_property
    def _most_borne(self) -> int:
        return max(self._n_names.values(), default=0)

    @cached_property
    def _terms(self) -> list[str]:
        return list(self._n_names)


def _slips_of(word: str) -> Iterator[str]:
    """Spell a word with a letter left out, doubled, or swapped with the next; the first letter stays."""
    for place in range(1, len(word)):
        start, letter, rest = word[:place], word[place], word[place + 1 :]
        yield start + rest
        yield start + letter + letter + rest
        yield start + rest[:1] + letter + rest[1:]
