"""What do the names and tags of a set say in English? What is English already stays as it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexer.languages.dictionary import ENGLISH, Dictionary
from indexer.languages.identifying import NOTHING, Judge, Spoken
from indexer.languages.letters import AUTO, is_unspaced
from indexer.languages.names import FILLERS, Name, parse
from indexer.languages.reading import Reading, read_in
from indexer.languages.words import normalise

RECIPE = 1
"""Version of the rules by which names and tags are read: those that others have read are read anew."""
_FILLERS = FILLERS | {"btn"}


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

    def __init__(
        self, dictionary: Dictionary, judge: Judge, *, language: str, names: Iterable[str], tags: Iterable[str]
    ) -> None:
        self._dictionary, self._judge = dictionary, judge
        self._is_judged = language == AUTO
        stated = NOTHING if language == ENGLISH else Spoken((language,), are_first=True)
        self._of_names = judge.spoken(names) if self._is_judged else stated
        self._of_tags = _beside(judge.spoken(tags), self._of_names) if self._is_judged else stated
        self._tags: dict[str, Reading | None] = {}

    def name(self, words: str) -> EnglishName | None:
        """Read the words of a name; None where they stay as they are."""
        reading = self._read(_without_fillers(words), self._of_names)
        if reading is None:
            return None
        read = _plain(reading.english)
        others = [*([words] if reading.is_english_too else ()), *(_plain(other).words for other, _ in reading.others)]
        distinct = tuple(other for other in dict.fromkeys(others) if other != read.words)
        if read.words == words and not distinct:
            return None
        return EnglishName(read.words, read.style, reading.language, distinct)

    def tags(self, tags: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
        """Read the tags of an icon: all of them in English, and the languages that they were read in, if any."""
        readings = {tag: self._read_tag(tag) for tag in tags}
        english: dict[str, None] = {}
        for tag, reading in readings.items():
            if reading is None or reading.is_english_too:
                english[tag] = None
            if reading is not None:
                english[normalise(reading.english)] = None
        return tuple(english), frozenset(reading.language for reading in readings.values() if reading is not None)

    def _read_tag(self, tag: str) -> Reading | None:
        if tag not in self._tags:
            reading = self._read(tag, self._of_tags)
            is_same = reading is not None and normalise(reading.english) == normalise(tag)
            self._tags[tag] = None if is_same else reading
        return self._tags[tag]

    def _read(self, text: str, spoken: Spoken) -> Reading | None:
        for languages, are_first in ((spoken.languages, spoken.are_first), (self._alone(text), False)):
            if languages and (reading := read_in(self._dictionary, text, languages, are_first=are_first)):
                return reading
        return None

    def _alone(self, text: str) -> tuple[str, ...]:
        return self._judge.alone(text) if self._is_judged else ()


def _beside(of_tags: Spoken, of_names: Spoken) -> Spoken:
    """The languages of a set's tags, which may be in those of its names, too, however few these are."""
    return Spoken(tuple(dict.fromkeys((*of_tags.languages, *of_names.languages))), of_tags.are_first)


def _plain(english: str) -> Name:
    """A reading as a name: without signs that nobody knew, its style apart."""
    words = normalise(english).split()
    known = [word for word in words if not is_unspaced(word)] or words
    return parse(_without_fillers(" ".join(known)))


def _without_fillers(text: str) -> str:
    """Words without those at their ends that say no more than that this is an icon."""
    words = text.split()
    while len(words) > 1 and words[0] in _FILLERS:
        words.pop(0)
    while len(words) > 1 and words[-1] in _FILLERS:
        words.pop()
    return " ".join(words)
