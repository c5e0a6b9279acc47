"""Texts in any language, read in English with a dictionary: which language one is in, and what it says."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from indexer.languages.dictionary import ANY, ENGLISH, Dictionary
from indexer.languages.letters import (
    ENDING,
    ENDINGS,
    IN_TWO_LETTERS,
    LOANWORD,
    LONG_VOWEL,
    cut,
    fold,
    is_accented,
    is_unspaced,
    key_of,
    known_pieces,
    may_be_of,
    n_alike,
    respelled,
    runs,
    sounding_like,
    split,
    stem_of,
)
from indexer.languages.words import CERTAIN

MOST_WORDS = 24
"""Of a text that are read: an encoder's context holds no more."""
SHORT = 2
"""Latin letters of a word that tells no language: every such pair is a word somewhere."""
MARKS = ".,:;!?\"'()"
"""Around a word."""
_LEAST_ASCII, _SHORTEST_COMPOUND, _LONGEST_ENDING = 4, 10, 4
"""Of a word that is neither English nor a brand: its stem has more letters, or, of a compound, it so many bytes. Most
letters of an ending."""
_OF_USER = 1.5
"""What the letters count that a language knows which the user reads."""
_LEAST_SHARE = 4
"""One letter in so many of a Latin text must be foreign for it to be read as that of a user who reads English alone."""
Typed = Sequence[tuple[str, str]]
"""The words of a text as they are typed, and folded."""


def words_of(text: str) -> list[tuple[str, str]]:
    """The words of a text as they are typed where that is one word, and folded."""
    folded = [(unicodedata.normalize("NFC", word.strip(MARKS)), fold(word).split()) for word in text.split()]
    return [(word if len(keys) == 1 else key, key) for word, keys in folded for key in keys][:MOST_WORDS]


def identify(
    dictionary: Dictionary, words: Typed, preferred: Sequence[str], is_slip: Callable[[str], bool]
) -> tuple[str | None, bool]:
    """Name the language of a text, and whether it is known to be that; None for English, or where nobody knows it.

    A text of English words is of another language where that is `preferred` first and knows all of them.
    """
    keys = [key for _, key in words]
    has_english = knows(dictionary, ENGLISH, *keys)
    if has_english and preferred and preferred[0] != ENGLISH and knows(dictionary, preferred[0], *keys):
        return preferred[0], True
    known = letters_known(dictionary, words)
    alike = {} if known or has_english else letters_alike(dictionary, words, is_slip)
    # More than one odd word in an English text: "two bent arrows, one above".
    is_much = not all(map(str.isascii, keys)) or max(known.values(), default=0) * _LEAST_SHARE >= sum(map(len, keys))
    if alike or (known and (preferred or is_much)):
        order = list(dict.fromkeys((*preferred, *dictionary.languages)))
        share = {code: n * (_OF_USER if code in preferred else 1) for code, n in (known or alike).items()}
        return min(share, key=lambda code: (-share[code], order.index(code))), bool(known)
    return next((code for code in preferred if code != ENGLISH and not has_english), None), False


def _accented(words: Typed) -> dict[str, str]:
    """The words whose accents a fold has taken, by what it left: "Bär" is no bar."""
    return {key: word for word, key in words if key.isascii() and any(map(is_accented, word))}


def letters_known(dictionary: Dictionary, words: Typed) -> dict[str, int]:
    """How many letters of some words each language knows that English does not, or would not write so."""
    known, accented = dict[str, int](), _accented(words)
    for word, after in pairwise([*(key for _, key in words), ""]):
        # Words, phrases of two, and known pieces of runs without spaces.
        for piece in (
            *known_pieces(word, lambda part: bool(dictionary.meanings(part))),
            *[f"{word} {after}"][: len(after)],
        ):
            spelt = [accented[part] for part in piece.split() if part in accented]
            for code in (languages_of if spelt else voice_of)(dictionary, piece) - OF_ENGLISH:
                known[code] = known.get(code, 0) + len(piece) * all(may_be_of(code, it) for it in spelt)
    return {code: n for code, n in known.items() if n}


def letters_alike(dictionary: Dictionary, words: Typed, is_slip: Callable[[str], bool]) -> dict[str, int]:
    """How many letters of words that nobody knows are of forms or compounds of what a language knows.

    What is rather a slip in English is of no other language: "floder" is no river.
    """
    found = Counter[str]()
    for word, key in words:
        if any(map(str.isalpha, key)) and not voice_of(dictionary, key):
            letters = _letters_of_forms(dictionary, word, key) or {
                code: len(key) for code in _COMPOUNDING if _is_compound(dictionary, key, code)
            }
            found.update({} if letters and is_slip(key) else letters)
    return found


def _letters_of_forms(dictionary: Dictionary, word: str, key: str) -> dict[str, int]:
    """What is typed in ASCII may be English or a brand: it must end as forms do, and be less like English ones."""
    found, is_ascii = Counter[str](), word.isascii()
    near = (  # those that differ by their endings alone, before their languages are looked up, which takes longer
        other
        for other in dictionary.beginning(max(stem_of(key), key[:-_LONGEST_ENDING], key=len))
        if key.startswith(other[:-_LONGEST_ENDING])
    )
    for other in near:
        for code in languages_of(dictionary, other) | voice_of(dictionary, other):
            found[code] = max(found[code], n_alike(key, other, code, is_strict=is_ascii and code != ENGLISH))
    least, most = (max(found[ENGLISH], _LEAST_ASCII), len(key) - 1) if is_ascii else (0, len(key))
    return {
        code: found[code]
        for code in (ENDINGS if is_ascii else found)
        if least < found[code] <= most and (may_be_of(code, word) or not key.isascii())
    }


def _is_compound(dictionary: Dictionary, key: str, language: str) -> bool:
    """Tell whether a language put a word together; a short one, or of English words, may be a brand."""
    parts = _compound(dictionary, key, language, is_strict=True) if len(key.encode()) >= _SHORTEST_COMPOUND else []
    return bool(parts) and all(voice_of(dictionary, part) != OF_ENGLISH for part in parts)


Voice = frozenset[str]
"""Codes of the languages that a word or text may be of; none where nobody knows it, English alone where that does."""
OF_ENGLISH: Voice = frozenset((ENGLISH,))


@lru_cache(maxsize=1 << 16)
def voice_of(dictionary: Dictionary, key: str) -> Voice:
    """What a folded word or phrase is of; remembered, as sets share most of theirs.

    One that a language takes over as it is, and does not translate, says nothing for it; nor does one of few letters.
    """
    if knows(dictionary, ENGLISH, *key.split()):
        return OF_ENGLISH
    if len(key) <= (SHORT if key.isascii() else 0 if is_unspaced(key) else 1):
        return Voice()
    taken_over = (meaning.languages for meaning in dictionary.meanings(key) if key in dict(meaning.terms))
    return languages_of(dictionary, key).difference(*taken_over)


def languages_of(dictionary: Dictionary, key: str) -> frozenset[str]:
    """Codes of the languages that know a folded word or phrase; those of umlauts also where these are two letters."""
    for spelt, writing in ((key, None), *((it, IN_TWO_LETTERS) for it in respelled(key) if key.isascii())):
        speaking = (meaning.languages for meaning in dictionary.meanings(spelt) if meaning.terms)
        if known := frozenset[str]().union(*speaking) & (writing or dictionary.languages.keys()) - {ANY}:
            return known
    return frozenset()


def knows(dictionary: Dictionary, language: str, *keys: str) -> bool:
    """Tell whether a language has all of some folded words or phrases, or English words."""
    return all(any(language in meaning.languages for meaning in dictionary.meanings(key)) for key in keys)


LONGEST_PHRASE = 5
"""Words that are looked up as one."""
N_OTHERS = 3
"""Readings beside the first at most."""
_SURE_SOUND, _LIKELY_SOUND = 0.7, 0.45
"""How alike a word of another script is spelt to an English one: surely the same, and the same for want of better."""
_N_SOUNDS = 3
_LEAST_WEIGHT = 0.25
"""Of another reading, beside 1 for the first."""
_SHORTEST_PART, _SHORTEST_SURE_PART = 3, 4
_COMPOUNDING = frozenset(("af", "da", "de", "et", "fi", "hu", "is", "ko", "nl", "no", "sv"))
"""Languages that write words in one that belong together; in others that is a slip."""
_ARTICLES = {"ar": ("ال", "لل", "وال", "بال"), "he": ("ה",)}
"""What is written in one with the word behind it."""
FUNCTION_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "do", "for", "from", "in", "is", "it", "its", "of", "on", "or")
) | {"that", "the", "this", "to"}
"""English words by which no icon differs from another; "with" joins the parts of a drawing."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A word or phrase of a text, as it is typed where it is whole, and what it means in English."""

    text: str
    terms: tuple[tuple[str, float], ...]
    """English terms with weights, the likeliest first; none where it stays as it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text in English."""

    language: str
    """ISO 639 code."""
    pieces: tuple[Segment, ...]
    english: str
    others: tuple[tuple[str, float], ...]
    """Other ways to say it, with weights below 1, the likeliest first."""
    is_english_too: bool
    """Whether the text also says something as it stands."""


def read(
    dictionary: Dictionary,
    text: str,
    *,
    preferred: Sequence[str] = (),
    is_slip: Callable[[str], bool] = lambda _: False,
) -> Reading | None:
    """Read a text; None where it is English as far as anybody knows, or a slip of the pen in it as `is_slip` tells.

    `preferred` are codes of the languages that the user reads, most used first; those that the dictionary lacks do not
    count. A word of English is one of another language only where the user reads that first, or accents say so.
    """
    typed = words_of(text)
    language, is_known = identify(
        dictionary, typed, [code for code in preferred if code in dictionary.languages], is_slip
    )
    has_english = knows(dictionary, ENGLISH, *(key for _, key in typed))
    if language is None and (_accented(typed) if has_english else any(_sounds(dictionary, key) for _, key in typed)):
        language = ANY
    return _read_as(dictionary, typed, language, is_english_too=has_english, is_strict=not is_known)


def read_in(dictionary: Dictionary, text: str, languages: Sequence[str], *, are_first: bool) -> Reading | None:
    """Read a text of which it is known that it is in one of some languages; None where it stays as it is.

    That is the language which knows most of what English does not, the first of equal ones. A text of English words is
    read where the languages `are_first`, in one that knows all of them. An unknown word is read as a known one only
    where they differ by little more than an s: names hold brands, too.
    """
    if not languages:
        return None
    typed = words_of(text)
    words = [key for _, key in typed]
    if has_english := knows(dictionary, ENGLISH, *words):
        language = next((code for code in languages if are_first and knows(dictionary, code, *words)), None)
    else:
        known = letters_known(dictionary, typed)
        language = max(languages, key=lambda code: known.get(code, 0))
    return _read_as(dictionary, typed, language, is_english_too=has_english, is_strict=True)


def _read_as(
    dictionary: Dictionary,
    typed: Typed,
    language: str | None,
    *,
    is_english_too: bool,
    is_strict: bool,
) -> Reading | None:
    """Read words in one language; None where it knows none of them, or they say the same in English."""
    if language is None:
        return None
    pieces, is_accented_english = (
        tuple(_pieces(dictionary, typed, language, is_strict=is_strict)),
        bool(_accented(typed)),
    )
    if not any(piece.terms for piece in pieces) and not (is_english_too and is_accented_english):
        return None
    english, *others = _ways_to_say(pieces)
    if english[0] == " ".join(key for _, key in typed) and not is_accented_english:
        return None
    return Reading(language, pieces, english[0], tuple(others), is_english_too and not is_accented_english)


def _terms(dictionary: Dictionary, language: str, key: str) -> tuple[tuple[str, float], ...]:
    """What a language means by a key, a style of icons first; nothing where it does not know it."""
    meant = ((code, found) for code in (language, ANY) for found in dictionary.meanings(key))
    terms = next((found.terms for code, found in meant if code in found.languages and found.terms), ())
    return tuple(sorted(terms, key=lambda term: term[0] not in CERTAIN))


def _pieces(dictionary: Dictionary, typed: Typed, language: str, *, is_strict: bool) -> Iterator[Segment]:
    """Read words in one language, the longest phrases first."""
    while typed:
        for n in range(min(LONGEST_PHRASE, len(typed)), 0, -1):
            if terms := _terms(dictionary, language, " ".join(key for _, key in typed[:n])):
                yield Segment(" ".join(word for word, _ in typed[:n]), terms)
                break
        else:
            [(word, key), *_] = typed
            for part in _parts_of(dictionary, key, language, is_strict=is_strict):
                yield replace(part, text=word) if part.text == key else part
        typed = typed[n:]


def _parts_of(dictionary: Dictionary, word: str, language: str, *, is_strict: bool) -> Iterator[Segment]:
    """Read a word that the language does not know as it is: its pieces, its parts, or a word that begins like it."""
    if any(map(is_unspaced, word)):
        for run in runs(word):
            yield from _joined(dictionary, _cut(dictionary, run, language), language)
    elif knows(dictionary, ENGLISH, word):
        yield Segment(word, ())
    elif terms := _terms_as_spelt(dictionary, word, language):
        yield Segment(word, terms)
    elif (sounds := _sounds(dictionary, word)) and sounds[0][1] >= _SURE_SOUND:
        yield Segment(word, sounds)
    elif language in _COMPOUNDING and (parts := _compound(dictionary, word, language, is_strict=is_strict)):
        yield from (Segment(part, _terms(dictionary, language, part)) for part in parts)
    else:
        like = _stem_mate(dictionary, word, language, is_strict=is_strict and word.isascii())
        yield Segment(word, _terms(dictionary, language, like) if like else sounds)


def _compound(dictionary: Dictionary, word: str, language: str, *, is_strict: bool) -> list[str]:
    """The known parts that a word was put together from."""
    spellings = (word, *respelled(word)) if language in IN_TWO_LETTERS else (word,)
    shortest = _SHORTEST_SURE_PART if is_strict else _SHORTEST_PART
    ways = (split(it, lambda part: bool(_terms(dictionary, language, part)), shortest=shortest) for it in spellings)
    return next(filter(None, ways), [])


def _cut(dictionary: Dictionary, run: str, language: str) -> list[str]:
    """Cut a run where words of the language end; a loanword in shreds that sounds like an English word stays whole."""
    parts = cut(run, lambda part: bool(_terms(dictionary, language, part))) if is_unspaced(run) else [run]
    is_shredded = any(len(part) < _SHORTEST_PART for part in parts if part != LONG_VOWEL)
    sounds = _sounds(dictionary, run) if is_shredded and LOANWORD.fullmatch(run) else ()
    return [run] if sounds and sounds[0][1] >= _SURE_SOUND else parts


def _sounds(dictionary: Dictionary, word: str) -> tuple[tuple[str, float], ...]:
    """English words that a word of another script sounds like, with how alike they are, the most alike first."""
    key = key_of(word)
    candidates = [term for meaning in dictionary.meanings(key) for term, _ in meaning.terms] if key else []
    alike = [(term, weight) for term, weight in sounding_like(word, candidates) if weight >= _LIKELY_SOUND]
    return tuple(alike[:_N_SOUNDS])


def _joined(dictionary: Dictionary, parts: Sequence[str], language: str) -> Iterator[Segment]:
    """Read the pieces of a run without spaces; signs that nobody knows are read by their sound, endings left out."""
    for is_known, group in groupby(parts, lambda part: bool(_terms(dictionary, language, part))):
        if is_known:
            yield from (Segment(part, _terms(dictionary, language, part)) for part in group)
        elif not ENDING.fullmatch(unknown := "".join(group)):
            sounds = _sounds(dictionary, unknown)
            yield from [Segment(unknown, sounds)] if sounds else [Segment(sign, ()) for sign in unknown]


def _terms_as_spelt(dictionary: Dictionary, word: str, language: str) -> tuple[tuple[str, float], ...]:
    """What a language means by a word without its article, with umlauts for two letters, or in another form."""
    bare = (word.removeprefix(article) for article in _ARTICLES.get(language, ()) if word.startswith(article))
    # A form of a word in another script is surer than how it sounds; brands are Latin.
    form = None if word.isascii() else _stem_mate(dictionary, word, language, is_strict=True)
    spellings = (*bare, word, *(respelled(word) if language in IN_TWO_LETTERS else ()), form or word)
    return next((terms for spelling in spellings if (terms := _terms(dictionary, language, spelling))), ())


def _stem_mate(dictionary: Dictionary, word: str, language: str, *, is_strict: bool) -> str | None:
    """The known word that shares most of its beginning with a word, where only endings differ."""
    alike = ((n_alike(word, key, language, is_strict=is_strict), key) for key in dictionary.beginning(stem_of(word)))
    mates = [(-n, len(key), key) for n, key in alike if n and _terms(dictionary, language, key)]
    return min(mates)[2] if mates else None


def _ways_to_say(pieces: Sequence[Segment]) -> list[tuple[str, float]]:
    """Put the likeliest terms together, then each piece's next ones beside the likeliest of all others."""
    said = [(piece.terms[0][0] if piece.terms else fold(piece.text), piece) for piece in pieces]
    meaningful = [
        (words, piece)
        for words, piece in said
        if words.isascii() and not (piece.terms and {*words.split()} <= FUNCTION_WORDS)
    ] or said
    best = [words for words, _ in meaningful]
    ways = {" ".join(best): 1.0}
    for place, (_, piece) in enumerate(meaningful):
        for term, weight in piece.terms[1:]:
            other = " ".join([*best[:place], term, *best[place + 1 :]])
            if weight >= _LEAST_WEIGHT:
                ways[other] = max(weight, ways.get(other, 0.0))
    return sorted(ways.items(), key=lambda way: -way[1])[: 1 + N_OTHERS]
