"""The language of a text, and of the names or tags of a whole set."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from indexer.languages.dictionary import ANY, ENGLISH, Dictionary
from indexer.languages.letters import IN_TWO_LETTERS, cut, fold, is_accented, is_unspaced, may_be_of, respelled, runs

MOST_WORDS = 24
"""Of a text that are read: an encoder's context holds no more."""
_SHORT = 2
"""Latin letters of a word that tells no language: every such pair is a word somewhere."""
MARKS = ".,:;!?\"'()"
"""Around a word."""
_OF_USER = 1.5
"""What the letters count that a language knows which the user reads."""
_LEAST_SHARE = 4
"""One letter in so many of a Latin text must be foreign for it to be read as that of a user who reads English alone."""
Typed = Sequence[tuple[str, str]]
"""The words of a text as they are typed, and folded."""


def words_of(text: str) -> list[tuple[str, str]]:
    """The words of a text as they are typed, and folded."""
    return [(word, key) for word in text.split() for key in fold(word).split()][:MOST_WORDS]


def _accented(typed: Typed) -> dict[str, str]:
    """The words whose accents a fold has taken, by their keys: "Bär" is no bar."""
    composed = ((unicodedata.normalize("NFC", word.strip(MARKS)), key) for word, key in typed)
    return {key: word for word, key in composed if key.isascii() and any(map(is_accented, word))}


def is_english(dictionary: Dictionary, words: Sequence[str]) -> bool:
    """Tell whether all words are English, whatever else they are."""
    return all(knows(dictionary, ENGLISH, word) for word in words)


def identify(dictionary: Dictionary, words: Typed, preferred: Sequence[str]) -> tuple[str | None, bool]:
    """Name the language of a text, and whether it is known to be that; None for English, or where nobody knows it.

    A text of English words is of another language where that is `preferred` first and knows all of them.
    """
    keys = [key for _, key in words]
    if not keys:
        return None, False
    own = preferred[0] if preferred else ENGLISH
    has_english = is_english(dictionary, keys)
    if has_english and own != ENGLISH and all(knows(dictionary, own, key) for key in keys):
        return own, True
    known = letters_known(dictionary, keys, accented=_accented(words))
    if known and (preferred or _is_much_of(keys, max(known.values()))):
        order = list(dict.fromkeys((*preferred, *dictionary.languages)))
        share = {code: n * (_OF_USER if code in preferred else 1) for code, n in known.items()}
        return min(known, key=lambda code: (-share[code], order.index(code))), True
    foreign = [code for code in preferred if code != ENGLISH]
    return foreign[0] if foreign and not has_english else None, False


def _is_much_of(keys: Sequence[str], letters: int) -> bool:
    """Tell whether so many letters are more than one odd word in an English text: "two bent arrows, one above"."""
    return not all(map(str.isascii, keys)) or letters * _LEAST_SHARE >= sum(map(len, keys))


def letters_known(
    dictionary: Dictionary, words: Sequence[str], *, accented: Mapping[str, str] = MappingProxyType({})
) -> dict[str, int]:
    """How many letters of some words each language knows that English does not, or would not write so."""
    known: dict[str, int] = {}
    for piece in _rough_pieces(dictionary, words):
        parts = piece.split()
        spelt = [accented[part] for part in parts if part in accented]
        if (tells_nothing(piece) or is_english(dictionary, parts)) and not spelt:
            continue
        for code in languages_of(dictionary, piece) - {ENGLISH}:
            if all(may_be_of(code, word) for word in spelt):
                known[code] = known.get(code, 0) + len(piece)
    return known


def tells_nothing(word: str) -> bool:
    """Tell whether a folded word is too short to be of any language."""
    return word.isascii() and len(word) <= _SHORT


def languages_of(dictionary: Dictionary, key: str) -> frozenset[str]:
    """Codes of the languages that know a folded word or phrase; those of umlauts also where these are two letters."""
    known = _speaking(dictionary, key)
    if not known and key.isascii():
        known = frozenset[str]().union(*(_speaking(dictionary, spelt) & IN_TWO_LETTERS for spelt in respelled(key)))
    return known - {ANY}


def _speaking(dictionary: Dictionary, key: str) -> frozenset[str]:
    return frozenset(code for meaning in dictionary.meanings(key) if meaning.terms for code in meaning.languages)


def _rough_pieces(dictionary: Dictionary, words: Sequence[str]) -> Iterator[str]:
    """Words, phrases of two, and known pieces of runs without spaces."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        for run in runs(word):
            yield from cut(run, lambda part: bool(dictionary.meanings(part))) if is_unspaced(run) else (run,)
        if after:
            yield f"{word} {after}"


def knows(dictionary: Dictionary, language: str, key: str) -> bool:
    """Tell whether a language has a folded word or phrase, or English a word."""
    return any(language in meaning.languages for meaning in dictionary.meanings(key))


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
        worded = [(text, words) for text in asked if (words := list(self._words(text)))]
        if len(worded) != 1:
            return self._elected([self._voice(words) for _, words in worded])
        [(text, words)] = worded
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
