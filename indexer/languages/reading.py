"""What does a text say in English? Read with a dictionary, in the language that knows most of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from indexer.languages.dictionary import ANY, ENGLISH, Dictionary
from indexer.languages.folding import IN_TWO_LETTERS, fold, respelled
from indexer.languages.scripts import cut, is_unspaced, runs
from indexer.languages.sounding import key_of, sounding_like

LONGEST_PHRASE = 5
"""Words that are looked up as one."""
MOST_WORDS = 24
"""Of a text that are read: an encoder's context holds no more."""
N_OTHERS = 3
"""Readings beside the first that are given at most."""
_SURE_SOUND, _LIKELY_SOUND = 0.7, 0.45
"""How alike a word of another script is spelt to an English one: surely the same, and the same for want of better."""
_N_SOUNDS = 3
_LEAST_WEIGHT = 0.25
"""Of another reading, beside 1 for the first."""
_LEAST_STEM, _STEM_SHARE, _LONGEST_ENDING = 4, 0.6, 3
_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""What Germanic languages put between the parts of a word."""
_SHORTEST_PART, _SHORTEST_PART_OF_A_NAME = 3, 4
_LONGEST_ENDING_OF_A_NAME, _LONG_STEM = 2, 6
_MARKS = ".,:;!?\"'()"
_ARTICLES = {"ar": ("ال", "لل", "وال", "بال"), "he": ("ה",)}
"""What is written in one with the word behind it."""
FUNCTION_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "do", "for", "from", "in", "is", "it", "its", "of", "on", "or")
) | {"that", "the", "this", "to", "with"}
"""English words by which no icon is told from another."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or phrase of a text, as it is typed where it is whole, and what it means in English."""

    text: str
    terms: tuple[tuple[str, float], ...]
    """English terms with weights, the likeliest first; none where it stays as it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text in English."""

    language: str
    """ISO 639 code."""
    pieces: tuple[Piece, ...]
    english: str
    others: tuple[tuple[str, float], ...]
    """Other ways to say it, with weights below 1, the likeliest first."""
    is_english_too: bool
    """Whether the text also says something as it stands."""


def read(dictionary: Dictionary, text: str, *, preferred: Sequence[str] = ()) -> Reading | None:
    """Read a text; None where it is English as far as anybody knows.

    `preferred` are codes of the languages that the user reads, most used first; those that the dictionary lacks do not
    count. A word of English is one of another language only where the user reads that first.
    """
    typed = _typed(text)
    words = [key for _, key in typed]
    if not words:
        return None
    is_english = _is_english(dictionary, words)
    own = [code for code in preferred if code in dictionary.languages]
    language = _language_of(dictionary, words, own, is_english=is_english)
    return None if language is None else _read_as(dictionary, typed, language, is_english=is_english)


def read_in(dictionary: Dictionary, text: str, languages: Sequence[str], *, are_first: bool) -> Reading | None:
    """Read a text of which it is known that it is in one of some languages; None where it stays as it is.

    That is the language which knows most of what English does not, the first of equal ones. A text of English words is
    read where the languages `are_first`, in one that knows all of them. An unknown word is read as a known one only
    where they differ by little more than an s: names hold brands, too.
    """
    typed = _typed(text)
    words = [key for _, key in typed]
    if not words or not languages:
        return None
    if is_english := _is_english(dictionary, words):
        fitting = [code for code in languages if all(_knows(dictionary, code, word) for word in words)]
        if not (are_first and fitting):
            return None
        return _read_as(dictionary, typed, fitting[0], is_english=is_english, is_name=True)
    known = _letters_known(dictionary, words)
    language = max(languages, key=lambda code: known.get(code, 0))
    return _read_as(dictionary, typed, language, is_english=is_english, is_name=True)


def _typed(text: str) -> list[tuple[str, str]]:
    """The words of a text as they are typed, and folded."""
    return [(word, key) for word in text.split() for key in fold(word).split()][:MOST_WORDS]


def _is_english(dictionary: Dictionary, words: Sequence[str]) -> bool:
    return all(_knows(dictionary, ENGLISH, word) for word in words)


def _read_as(
    dictionary: Dictionary,
    typed: Sequence[tuple[str, str]],
    language: str,
    *,
    is_english: bool,
    is_name: bool = False,
) -> Reading | None:
    """Read words in one language; None where it knows none of them."""
    words = [key for _, key in typed]
    spelled = [word.strip(_MARKS) if word.count(" ") == fold(word).count(" ") else key for word, key in typed]
    pieces = tuple(_pieces(dictionary, words, spelled, language, is_name=is_name))
    if not any(piece.terms for piece in pieces):
        return None
    english, *others = _ways_to_say(pieces)
    return Reading(language, pieces, english[0], tuple(others), is_english)


def _language_of(
    dictionary: Dictionary, words: Sequence[str], preferred: Sequence[str], *, is_english: bool
) -> str | None:
    """The language that knows most of what English does not; for a text of English words, one that is preferred."""
    ranks = {code: rank for rank, code in enumerate([*preferred, *dictionary.languages])}
    if is_english:
        own = preferred[0] if preferred else ENGLISH
        return own if own != ENGLISH and all(_knows(dictionary, own, word) for word in words) else None
    known = _letters_known(dictionary, words)
    if not known:
        foreign = [code for code in preferred if code != ENGLISH]
        return foreign[0] if foreign else ANY if any(_sounds(dictionary, word) for word in words) else None
    return min(known, key=lambda code: (-known[code], ranks.get(code, len(ranks))))


def _letters_known(dictionary: Dictionary, words: Sequence[str]) -> dict[str, int]:
    """How many letters of some words each language knows that English does not."""
    known: dict[str, int] = {}
    for piece in _rough_pieces(dictionary, words):
        if _is_english(dictionary, piece.split()):
            continue
        for code in languages_of(dictionary, piece):
            known[code] = known.get(code, 0) + len(piece)
    return known


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


def _knows(dictionary: Dictionary, language: str, key: str) -> bool:
    return any(language in meaning.languages for meaning in dictionary.meanings(key))


def _terms(dictionary: Dictionary, language: str, key: str) -> tuple[tuple[str, float], ...]:
    """What a language means by a key; nothing where it does not know it."""
    meanings = dictionary.meanings(key)
    for code in (language, ANY):
        for found in meanings:
            if code in found.languages and found.terms:
                return found.terms
    return ()


def _pieces(
    dictionary: Dictionary, words: Sequence[str], spelled: Sequence[str], language: str, *, is_name: bool
) -> Iterator[Piece]:
    """Read words in one language, the longest phrases first."""
    at = 0
    while at < len(words):
        for n in range(min(LONGEST_PHRASE, len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + n])
            if terms := _terms(dictionary, language, phrase):
                yield Piece(" ".join(spelled[at : at + n]), terms)
                break
        else:
            n = 1
            for part in _parts_of(dictionary, words[at], language, is_name=is_name):
                yield replace(part, text=spelled[at]) if part.text == words[at] else part
        at += n


def _parts_of(dictionary: Dictionary, word: str, language: str, *, is_name: bool) -> Iterator[Piece]:
    """Read a word that the language does not know as it is: its pieces, its parts, or a word that begins like it."""
    if any(map(is_unspaced, word)):
        for run in runs(word):
            parts = cut(run, lambda part: bool(_terms(dictionary, language, part))) if is_unspaced(run) else [run]
            yield from _joined(dictionary, parts, language)
        return
    if _knows(dictionary, ENGLISH, word):
        yield Piece(word, ())
        return
    if terms := _terms_as_spelt(dictionary, word, language):
        yield Piece(word, terms)
        return
    sounds = _sounds(dictionary, word)
    if sounds and sounds[0][1] >= _SURE_SOUND:
        yield Piece(word, sounds)
        return
    shortest = _SHORTEST_PART_OF_A_NAME if is_name else _SHORTEST_PART
    for spelling in _spellings(word, language):
        if parts := _split(spelling, lambda part: bool(_terms(dictionary, language, part)), shortest=shortest):
            yield from (Piece(part, _terms(dictionary, language, part)) for part in parts)
            return
    like = _stem_mate(dictionary, word, language, is_name=is_name)
    yield Piece(word, _terms(dictionary, language, like) if like else sounds)


def _sounds(dictionary: Dictionary, word: str) -> tuple[tuple[str, float], ...]:
    """English words that a word of another script sounds like, with how alike they are, the most alike first."""
    key = key_of(word)
    candidates = [term for meaning in dictionary.meanings(key) for term, _ in meaning.terms] if key else []
    alike = [(term, weight) for term, weight in sounding_like(word, candidates) if weight >= _LIKELY_SOUND]
    return tuple(alike[:_N_SOUNDS])


def _joined(dictionary: Dictionary, parts: Sequence[str], language: str) -> Iterator[Piece]:
    """Read the pieces of a run without spaces; signs that nobody knows are read together, by their sound."""
    for is_known, group in groupby(parts, lambda part: bool(_terms(dictionary, language, part))):
        if is_known:
            yield from (Piece(part, _terms(dictionary, language, part)) for part in group)
        else:
            unknown = list(group)
            sounds = _sounds(dictionary, "".join(unknown))
            yield from [Piece("".join(unknown), sounds)] if sounds else [Piece(part, ()) for part in unknown]


def _terms_as_spelt(dictionary: Dictionary, word: str, language: str) -> tuple[tuple[str, float], ...]:
    """What a language means by a word without its article, or with umlauts for two letters."""
    bare = (word.removeprefix(article) for article in _ARTICLES.get(language, ()) if word.startswith(article))
    spellings = (*bare, *_spellings(word, language))
    return next((terms for spelling in spellings if (terms := _terms(dictionary, language, spelling))), ())


def _spellings(word: str, language: str) -> tuple[str, ...]:
    return (word, *respelled(word)) if language in IN_TWO_LETTERS else (word,)


def _split(word: str, is_known: Callable[[str], bool], *, shortest: int) -> list[str]:
    """Split a word that was put together from known parts, as few as there can be, three at most; [] if it was not."""
    shortest = 1 if "\uac00" <= word[0] <= "\ud7a3" else shortest
    best: dict[int, list[str]] = {0: []}
    for end in range(shortest, len(word) + 1):
        for start in [start for start in best if end - start >= shortest]:
            part = word[start:end]
            links = _LINKS if end < len(word) and part.isascii() else ("",)
            for link in links:
                core = part.removesuffix(link)
                if part.endswith(link) and len(core) >= shortest and is_known(core):
                    way = [*best[start], core]
                    if end not in best or len(way) < len(best[end]):
                        best[end] = way
                    break
    return best[len(word)] if 1 < len(best.get(len(word), ())) <= 3 else []


def _stem_mate(dictionary: Dictionary, word: str, language: str, *, is_name: bool) -> str | None:
    """The known word that shares most of its beginning with a word, where only endings differ."""
    alike = (key for key in dictionary.neighbours(word) if is_like(word, key))
    if is_name and word.isascii():  # brands are Latin
        alike = (key for key in alike if _is_form(word, key))
    mates = [(-_n_shared(word, key), len(key), key) for key in alike if _terms(dictionary, language, key)]
    return min(mates)[2] if mates else None


def is_like(word: str, other: str) -> bool:
    """Tell whether two words differ by no more than their endings."""
    shared = _n_shared(word, other)
    is_long = shared >= max(_LEAST_STEM, round(_STEM_SHARE * len(word)))
    return is_long and " " not in other and max(len(word), len(other)) - shared <= _LONGEST_ENDING


def _is_form(word: str, other: str) -> bool:
    """Tell whether two words are alike enough to be one, and neither of them a brand: "flagge" and "flagg"."""
    shared = _n_shared(word, other)
    n_differing = max(len(word), len(other)) - shared
    return n_differing <= 1 or (n_differing == _LONGEST_ENDING_OF_A_NAME and shared >= _LONG_STEM)


def _n_shared(word: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))


def _ways_to_say(pieces: Sequence[Piece]) -> list[tuple[str, float]]:
    """Put the likeliest terms together, then each piece's next ones beside the likeliest of all others."""
    telling = [piece for piece in pieces if not _says_nothing(piece)] or list(pieces)
    best = [piece.terms[0][0] if piece.terms else piece.text for piece in telling]
    ways = {" ".join(best): 1.0}
    for place, piece in enumerate(telling):
        for term, weight in piece.terms[1:]:
            said = " ".join([*best[:place], term, *best[place + 1 :]])
            if weight >= _LEAST_WEIGHT:
                ways[said] = max(weight, ways.get(said, 0.0))
    first, *others = ways.items()
    return [first, *sorted(others, key=lambda way: -way[1])[:N_OTHERS]]


def _says_nothing(piece: Piece) -> bool:
    return bool(piece.terms) and set(piece.terms[0][0].split()) <= FUNCTION_WORDS
