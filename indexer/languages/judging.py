"""Which languages are the names, or the tags, of a set in? Those that know a fifth of them by words unknown to English.

Measured on 243 sets of English icons (docs/log.md): no language knows more than 3 % of a set's names in that way, but
four in five names of a team that speaks it. So the set decides for its icons: "rust" alone tells nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexer.languages.dictionary import ENGLISH, Dictionary
from indexer.languages.folding import fold
from indexer.languages.identifying import languages_of, tells_nothing
from indexer.languages.scripts import cut, is_unspaced, runs

_SHARE, _BEYOND = 0.2, 1.5
"""Names that speak a language, for it to be spoken: this share of a set's names and so many more, or all of them."""
_MOST_ASKED = 1_000
"""Of a set's texts, evenly spaced in their order: more of them tell no more."""
_LEAST_ALONE = 2
"""ASCII words of the only name of a set: one may be English that the dictionary does not know, as "brief"."""

Voice = frozenset[str]
"""Codes of the languages that a word or text may be of; none where nobody knows it, English alone where that does."""
_OF_ENGLISH: Voice = frozenset((ENGLISH,))


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the texts of a set are in."""

    languages: tuple[str, ...] = ()
    """ISO 639 codes of the languages beside English, that of most texts first."""
    are_first: bool = False
    """Whether more texts are in them than in English: a word of both is theirs."""


NOTHING = Spoken()


class Judge:
    """Judges sets by a dictionary; remembers words, as sets share most of theirs."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._ranks = {code: rank for rank, code in enumerate(dictionary.languages)}
        self._voices: dict[str, Voice] = {}

    def spoken(self, texts: Iterable[str]) -> Spoken:
        """Say what the texts of a set are in; each counts once, and one of signs and digits not at all."""
        distinct = sorted(set(texts))
        asked = distinct[:: -(-len(distinct) // _MOST_ASKED) or 1]
        telling = [(text, words) for text in asked if (words := list(self._words(text)))]
        if len(telling) != 1:
            return self._elected([self._voice(words) for _, words in telling])
        [(text, words)] = telling
        is_enough = len(words) >= _LEAST_ALONE or not text.isascii()
        languages = self._of_all(words)[:1] if is_enough else ()
        return Spoken(languages, are_first=True) if languages else NOTHING

    def alone(self, text: str) -> tuple[str, ...]:
        """Languages of a text that none of its set's explains: it must hold letters beyond ASCII, and be known wholly.

        Of 116,388 names of English sets, that leaves none to be misread; ASCII alone would leave 544.
        """
        return () if text.isascii() else self._of_all(list(self._words(text)))

    def _elected(self, voices: Sequence[Voice]) -> Spoken:
        """Elect the language of most texts as long as there are enough, each time among those that are left."""
        least = min(len(voices), _SHARE * len(voices) + _BEYOND)
        rest, languages = voices, list[str]()
        while counts := Counter(code for voice in rest if voice != _OF_ENGLISH for code in voice):
            best = self._in_order(counts, counts)[0]
            if counts[best] < least:
                break
            languages.append(best)
            rest = [voice for voice in rest if best not in voice]
        n_english = sum(1 for voice in voices if voice == _OF_ENGLISH)
        return Spoken(tuple(languages), are_first=bool(languages) and len(voices) - len(rest) > n_english)

    def _of_all(self, words: Sequence[str]) -> tuple[str, ...]:
        """Languages that know each of some words, where English knows none."""
        voices = [self._voice_of(word) for word in words]
        known = frozenset.intersection(*voices) if voices else Voice()
        return () if ENGLISH in known else self._in_order(known, Counter())

    def _in_order(self, codes: Iterable[str], counts: Counter[str]) -> tuple[str, ...]:
        return tuple(sorted(codes, key=lambda code: (-counts[code], self._ranks[code])))

    def _words(self, text: str) -> Iterator[str]:
        """Words of a text that hold letters, and known pieces of runs without spaces."""
        for word in fold(text).split():
            for run in runs(word):
                pieces = cut(run, lambda piece: bool(self._voice_of(piece))) if is_unspaced(run) else (run,)
                yield from (piece for piece in pieces if any(map(str.isalpha, piece)))

    def _voice(self, words: Sequence[str]) -> Voice:
        """What some words are of together: English where it knows all of them, else what knows any that it does not."""
        voices = [self._voice_of(word) for word in words]
        foreign = [voice for voice in voices if voice != _OF_ENGLISH]
        return frozenset[str]().union(*foreign) if foreign else _OF_ENGLISH

    def _voice_of(self, word: str) -> Voice:
        voice = self._voices.get(word)
        if voice is None:
            voice = self._voices[word] = self._look_up(word)
        return voice

    def _look_up(self, word: str) -> Voice:
        """A word that a language takes over as it is, and does not translate, says nothing for it."""
        meanings = self._dictionary.meanings(word)
        if any(ENGLISH in meaning.languages for meaning in meanings):
            return _OF_ENGLISH
        is_sign = len(word) == 1 and not is_unspaced(word)
        if is_sign or tells_nothing(word):
            return Voice()
        taken_over = (meaning.languages for meaning in meanings if word in dict(meaning.terms))
        return languages_of(self._dictionary, word).difference(*taken_over)
