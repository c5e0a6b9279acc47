"""Which language is a text in? The one that knows most of what English does not."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from indexer.languages.dictionary import ANY, ENGLISH, Dictionary
from indexer.languages.folding import IN_TWO_LETTERS, fold, respelled
from indexer.languages.letters import is_accented, may_be_of
from indexer.languages.scripts import cut, is_unspaced, runs

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
