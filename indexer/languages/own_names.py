"""The names and tags of a set, read in English; which languages they are in, all of them together tell."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from indexer.languages.dictionary import ENGLISH, Dictionary
from indexer.languages.letters import AUTO, fold, known_pieces
from indexer.languages.reading import OF_ENGLISH, SHORT, Reading, Voice, read_in, voice_of
from indexer.languages.words import FILLERS, Name, normalise, parse

_SHARE, _BEYOND = 0.2, 1.5
"""Names that speak a language, for it to be spoken: this share of a set's names and so many more, or all of them."""
_MOST_ASKED = 1_000
"""Of a set's texts, evenly spaced in their order: more of them tell no more."""
_LEAST_ALONE = 2
"""ASCII words of the only name of a set: one may be English that the dictionary does not know, as "brief". And names
that speak other languages, for a set to be a mixed one."""
_MIXED, _BRANDS = 0.03, 0.3
"""Least share of a mixed set's names that speak other languages, and most of those that nobody knows: of 213 sets of
Iconify that are not of brands alone none is mixed."""
_LEAST_MIXED = 4
"""Letters of a name that is read alone in a mixed set."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the texts of a set are in."""

    languages: tuple[str, ...] = ()
    """ISO 639 codes of the languages beside English, that of most texts first."""
    are_first: bool = False
    """Whether more texts are in them than in English: a word of both is theirs."""
    mixed: tuple[str, ...] = ()
    """Languages of which some texts are and that are not spoken by enough of them, that of most texts first."""


NOTHING = Spoken()


def spoken(dictionary: Dictionary, texts: Iterable[str]) -> Spoken:
    """Say what the texts of a set are in; each counts once, and one of signs and digits not at all."""
    distinct = sorted(set(texts))
    asked = distinct[:: -(-len(distinct) // _MOST_ASKED) or 1]
    worded = [(text, words) for text in asked if (words := list(_words(dictionary, text)))]
    if len(worded) != 1:
        return _elected(dictionary, [_voice(dictionary, words) for _, words in worded])
    [(text, words)] = worded
    languages = _of_all(dictionary, words)[:1] if len(words) >= _LEAST_ALONE or not text.isascii() else ()
    return Spoken(languages, are_first=bool(languages))


def alone(dictionary: Dictionary, text: str, mixed: Sequence[str] = ()) -> tuple[str, ...]:
    """Languages of a text that none of its set's explains: it must be known wholly, and hold letters beyond ASCII where
    its set is not `mixed`; the languages of that come first.

    Of 116,388 names of English sets, that leaves none to be misread; ASCII alone would leave 544.
    """
    if text.isascii() and (not mixed or len(text) < _LEAST_MIXED):
        return ()
    voices = [(word, voice_of(dictionary, word)) for word in _words(dictionary, text)]
    telling = [word for word, voice in voices if not mixed or (voice != OF_ENGLISH and (voice or len(word) > SHORT))]
    return tuple(sorted(_of_all(dictionary, telling), key=[*mixed, *dictionary.languages].index))


def is_unread(dictionary: Dictionary, text: str) -> bool:
    """Tell whether a text holds a word that nobody knows."""
    return any(len(word) > SHORT and not voice_of(dictionary, word) for word in _words(dictionary, text))


def _elected(dictionary: Dictionary, voices: Sequence[Voice]) -> Spoken:
    """Elect the language of most texts as long as there are enough, each time among those that are left."""
    order, rest, elected = list(dictionary.languages), voices, list[str]()
    while counts := Counter(code for voice in rest if voice != OF_ENGLISH for code in voice):
        best = min(counts, key=lambda code: (-counts[code], order.index(code)))
        if counts[best] < min(len(voices), _SHARE * len(voices) + _BEYOND):
            break
        elected.append(best)
        rest = [voice for voice in rest if best not in voice]
    n_foreign = sum(1 for voice in rest if voice and voice != OF_ENGLISH)
    is_mixed = n_foreign >= max(_LEAST_ALONE, _MIXED * len(voices)) and voices.count(Voice()) <= _BRANDS * len(voices)
    are_first = len(voices) - len(rest) > (voices.count(OF_ENGLISH) if elected else 0)
    mixed = sorted(counts, key=lambda code: (-counts[code], order.index(code))) if is_mixed else ()
    return Spoken(tuple(elected), are_first, tuple(mixed))


def _of_all(dictionary: Dictionary, words: Sequence[str]) -> tuple[str, ...]:
    """Languages that know each of some words, where English knows none."""
    known = frozenset.intersection(*(voice_of(dictionary, word) for word in words)) if words else Voice()
    return () if ENGLISH in known else tuple(sorted(known, key=list(dictionary.languages).index))


def _words(dictionary: Dictionary, text: str) -> Iterator[str]:
    """Words of a text that hold letters, and known pieces of runs without spaces."""
    for word in fold(text).split():
        for piece in known_pieces(word, lambda piece: bool(voice_of(dictionary, piece))):
            yield from [piece] if any(map(str.isalpha, piece)) else ()


def _voice(dictionary: Dictionary, words: Sequence[str]) -> Voice:
    """What some words are of together: English where it knows all of them, else what knows any that it does not."""
    foreign = [voice for word in words if (voice := voice_of(dictionary, word)) != OF_ENGLISH]
    return frozenset[str]().union(*foreign) if foreign else OF_ENGLISH


RECIPE = 2
"""Version of the rules by which names and tags are read: those that others have read are read anew."""
_AT_ENDS = re.compile("^(?:(?:{0}) )+|(?: (?:{0}))+$".format("|".join(sorted(FILLERS | {"btn"}))))
"""Words that say no more than that this is an icon."""


@dataclass(frozen=True, slots=True)
class EnglishName:
    """What a name in another language says in English."""

    words: str
    style: str | None
    language: str
    """ISO 639 code of what it is in."""
    others: tuple[str, ...]
    """What else it may say, the likeliest first; its own words are among it where these are English, too."""


class SetReader:
    """Reads the names and tags of one set; all of them are shown to it first, since these tell their languages."""

    def __init__(self, dictionary: Dictionary, *, language: str, names: Iterable[str], tags: Iterable[str]) -> None:
        self._dictionary = dictionary
        self._is_judged = language == AUTO
        self._of_names = self._of_tags = NOTHING if language == ENGLISH else Spoken((language,), are_first=True)
        if self._is_judged:
            self._of_names, of_tags = spoken(dictionary, names), spoken(dictionary, tags)
            # Tags may be in the languages of the names, too, however few these are.
            languages = tuple(dict.fromkeys((*of_tags.languages, *self._of_names.languages)))
            self._of_tags = replace(of_tags, languages=languages)
        self._read_tag = cache(self._read_english)

    def name(self, words: str) -> EnglishName | None:
        """Read the words of a name; None where they stay as they are."""
        reading = self._read(_AT_ENDS.sub("", words), self._of_names)
        if reading is None:
            return None
        read = _plain(reading.english)
        own = [words] if reading.is_english_too else []
        _, *others = dict.fromkeys((read.words, *own, *(_plain(other).words for other, _ in reading.others)))
        is_same = read.words == words and not others
        return None if is_same else EnglishName(read.words, read.style, reading.language, tuple(others))

    def tags(self, tags: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
        """Read the tags of an icon: all of them in English, and the languages that they were read in, if any."""
        english, languages = dict[str, None](), set[str]()
        for tag in tags:
            reading = self._read_tag(tag)
            if reading is None or reading.is_english_too:
                english[tag] = None
            if reading is not None:
                english[normalise(reading.english)] = None
                languages.add(reading.language)
        return tuple(english), frozenset(languages)

    def _read_english(self, tag: str) -> Reading | None:
        """Read a tag; None where it says the same in English."""
        reading = self._read(tag, self._of_tags)
        return None if reading is not None and normalise(reading.english) == normalise(tag) else reading

    def _read(self, text: str, spoken: Spoken) -> Reading | None:
        reading = read_in(self._dictionary, text, spoken.languages, are_first=spoken.are_first)
        if reading is not None or not self._is_judged:
            return reading
        return read_in(self._dictionary, text, alone(self._dictionary, text, spoken.mixed), are_first=False)


def _plain(english: str) -> Name:
    """A reading as a name, its style apart."""
    return parse(_AT_ENDS.sub("", normalise(english)))
