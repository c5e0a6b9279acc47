"""What the words of a query ask for: a meaning, a name, a style, parts of a drawing, keywords."""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from indexer.errors import IconsError
from indexer.languages.dictionary import Dictionary
from indexer.languages.names import FILLERS, Affixes, asked_style, parse
from indexer.languages.words import normalise
from indexer.library.bundled import bundled
from indexer.merging.lexicon import without_stopwords
from search.words.spelling import Speller


def drawn_for(words: str) -> tuple[str, ...]:
    """What is customarily drawn for some normalised words, the best first; nothing for what is no term."""
    terms = _terms()
    singular = re.sub(r"(\w{3,}[^s ])s\b", r"\1", words)
    for spelling in (words, without_stopwords(words), singular):
        if spelling in terms:
            return terms[spelling]
    return ()


@cache
def _terms() -> dict[str, tuple[str, ...]]:
    held = json.loads((bundled("language") / "terms.json").read_text("utf-8"))
    return {term: tuple(drawings) for term, drawings in held.items()}


def names_for(words: str) -> tuple[tuple[str, float], ...]:
    """Names of icons of which some normalised words are said, with weights from 1 down; none where nobody says them."""
    for spelling in dict.fromkeys((words, without_stopwords(words))):
        if meanings := _said().meanings(spelling):
            return meanings[0].terms
    return ()


@cache
def _said() -> Dictionary:
    return Dictionary(bundled("language") / "synonyms.bin")


_SEPARATING = frozenset(",.;:-_/\\|'\"`~()[]{}&+<>^")
"""Signs that stand between words; they are said only where there are no words."""
VARIANTS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Marks that choose how a sign is drawn: as text or picture, and colours of skin."""
_REGION = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
"""A flag: the two letters of a country."""
_JOINER = "\u200d"
_ARROWS = {"->": "right arrow", "-->": "right arrow", "=>": "right arrow", "<-": "left arrow", "<--": "left arrow"}
_KINDS = ("So", "Sm", "Sc", "Sk", "Po")


@lru_cache(maxsize=16)  # a query's language is read from what this gives, then its words are
def spell_signs(text: str) -> str:
    """Put the names of signs in their place: "🔔 off" becomes "bell off", "?" "question mark".

    Within a word, and between words, punctuation and signs of ASCII stay as they are: c++, a/b, this + that, “bell”.
    """
    if text.isascii() and any(map(str.isalnum, text)) and not re.search(r"(?:^|\s)[^\w\s]+(?:\s|$)", text):
        return text
    has_words = any(map(str.isalnum, text))
    tokens = _REGION.sub(_flag_of, VARIANTS.sub("", text)).split()
    return " ".join(" ".join(_spell(token, has_words=has_words) for token in tokens).split())


def _spell(token: str, *, has_words: bool) -> str:
    if (name := _ARROWS.get(token)) is not None:
        return name
    if token.isascii():
        if any(map(str.isalnum, token)) or (has_words and _SEPARATING.issuperset(token)):
            return token
        return " ".join(name_of(sign) for sign in dict.fromkeys(token))
    if (name := _annotations().get(token)) is not None and not (has_words and _is_punctuation(token)):
        return name
    signs = token.replace(_JOINER, " ") if any(map(_is_sign, token)) else token  # it joins letters, too
    return "".join(f" {name_of(sign)} " if _is_said(sign, has_words=has_words) else sign for sign in signs)


def _flag_of(region: re.Match[str]) -> str:
    letters = (chr(ord("a") + ord(sign) - 0x1F1E6) for sign in region.group())
    return f" flag {''.join(letters)} "


def name_of(sign: str) -> str:
    """Name of one sign, in lower case; "" where it has none."""
    return _annotations().get(sign) or unicodedata.name(sign, "").lower()


def _is_said(sign: str, *, has_words: bool) -> bool:
    return _is_sign(sign) and not (has_words and _is_punctuation(sign))


def _is_sign(sign: str) -> bool:
    return not sign.isascii() and (unicodedata.category(sign) in _KINDS or sign in _annotations())


def _is_punctuation(sign: str) -> bool:
    return len(sign) == 1 and unicodedata.category(sign).startswith("P")


@cache
def _annotations() -> dict[str, str]:
    found: dict[str, str] = json.loads((bundled("language") / "signs.json").read_text("utf-8"))
    return found


MOST_PARTS = 16
"""Of a drawing: each is held against every candidate. More are not taken apart."""
MINUS = re.compile(r"(?<!\S)-(?=\w)(\S+)")
"""Before a word that is to be left out."""
_ARTICLE = "(?:an?|the|any|its) "
_NAMED = "to|found|allowed|available|equals?|disturb|enter|started|verified|saved|supported|sent|delivered|listed|rated"
_NOT = rf"(?:but )?(?<!\bdo )(?<!\bdoes )not(?= (?!(?:{_NAMED})\b)\S)"
"""Before a style or a thing; "do not disturb" and "page not found" are names."""
_LEAVING_OUT = re.compile(rf"[ ,] ?(?:with no|without|w/o|no|except|excluding|{_NOT}) ", re.IGNORECASE)
_SHAPE = r"(?:circle|square|box|frame|triangle|hexagon|diamond|shield|cloud|folder|heart|hand|bubble|window)\b"
_JOINING = re.compile(
    rf" (?:with|and|inside|within|containing|plus|w/|\+|&|in(?= (?:{_ARTICLE}|{_SHAPE}))) ", re.IGNORECASE
)
_OR = re.compile(r",|\b(?:or|nor|and)\b", re.IGNORECASE)
_UNFILLED = re.compile(r"\b(?:unfilled|hollow|non-?filled) (?=\S)", re.IGNORECASE)
_LEADING = re.compile(rf"^(?:(?:in|inside|with) )?(?:{_ARTICLE})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A described drawing, as it was typed."""

    words: str
    """All that it should show."""
    parts: tuple[str, ...]
    """What is joined, two or more; none where nothing is, or too much."""
    without: tuple[str, ...]
    is_explicit: bool = False
    """Whether a minus says what to leave out, which no name has."""


def read_phrase(text: str) -> Phrase:
    """Take a text apart; a text that only leaves out is read as it stands."""
    spaced = _spaced(MINUS.sub(" ", text))
    shown, *left_out = _LEAVING_OUT.split(_UNFILLED.sub("", spaced))
    if not shown.strip(" ,"):
        return Phrase(text, (), ())
    parts = _apart(_JOINING, shown)
    without = [*MINUS.findall(text), *("filled" for _ in _UNFILLED.findall(spaced))]
    without += [*(word for phrase in left_out for word in _apart(_OR, phrase))]
    is_explicit = MINUS.search(text) is not None
    return Phrase(shown.strip(" ,"), parts if 1 < len(parts) <= MOST_PARTS else (), tuple(without), is_explicit)


def _spaced(text: str) -> str:
    """Leave single spaces: a pattern that begins with any number of them takes seconds for ten thousand."""
    return " ".join(text.split())


def _apart(separator: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Cut a text, without the articles that parts begin with."""
    parts = (_LEADING.sub("", part.strip(" ,")) for part in separator.split(text))
    return tuple(filter(None, parts))


_NUMBER = re.compile("^(?:one|two|three|four|five|several|many) (?=.)")
"""How many there are of a thing: seen, and rarely said by a name."""
MOST_LETTERS = 1_000
"""Of a query that are looked at: more than an encoder's context ever holds."""

_ASKED = Affixes(
    styles=frozenset(("solid", "fill")),
    leading_styles=frozenset(
        ("filled", "solid", "outline", "outlined", "duotone", "twotone", "colored", "coloured", "sharp", "rounded")
    ),
)
"""What people put before or behind what they look for; "line" and "color" are as often what is looked for."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Words as they are looked for, normalised."""

    spellings: tuple[str, ...]
    """What an icon is called or tagged that was asked for itself: as typed, and with signs in words."""
    typed: str
    """What it shows or means. The encoder is asked with this: it has its own idea of what it does not know."""
    name: str
    """What the name of an icon would say: spelt as the library spells, without a style and what joins parts."""
    style: str | None
    spelled: str | None
    """All words as they were probably meant, where that differs from what was typed."""
    are_known: bool
    """Whether the library, the encoder or the thesaurus knows one of them or could, function words apart."""
    parts: tuple[str, ...]
    """What is joined by "with", "and", "in a"; two or more, or none."""
    without: tuple[str, ...]
    """What is to be left out."""
    drawn: tuple[str, ...]
    """What is customarily drawn for it, the best first; none where it is no term of the thesaurus."""
    synonyms: tuple[tuple[str, float], ...]
    """Names of icons of which other sets say it, with weights from 1 down."""


def read_words(text: str, speller: Speller, *, is_name_or_tag: Callable[[str], bool] = lambda _: False) -> Wording:
    """Read the words of a query; "home filled" and "solid home" ask for the name "home" in the style "filled".

    A text that is a name or a tag here, as `is_name_or_tag` tells, is not taken apart.

    Raises:
        IconsError: there are no words.
    """
    literal = read(text)
    if not literal:
        raise IconsError('the query is empty; try `icons search "arrow"`')
    said = spell_signs(_cut(text.replace("\0", " ")))
    spellings = tuple(dict.fromkeys((literal, read(said) or literal)))
    phrase = read_phrase(said)
    is_name = not phrase.is_explicit and _says_more(phrase, spellings[-1]) and any(map(is_name_or_tag, spellings))
    if is_name:
        phrase = Phrase(said, (), ())
    typed = read(phrase.words) or literal
    if not is_name:
        typed = _without_filler(typed)
    parts = tuple(filter(None, map(read, phrase.parts)))
    shown = " ".join(_NUMBER.sub("", part) for part in parts) if len(parts) > 1 else typed
    drawn, synonyms = ((), ()) if len(parts) > 1 else (drawn_for(typed), names_for(typed))
    spelled = None if drawn or synonyms else speller.correct(shown)
    whole = spelled or shown
    name, style = (whole, None) if is_name and not parse(whole).style else _name_and_style(whole)
    return Wording(
        spellings=spellings if is_name else tuple(dict.fromkeys((*spellings, typed)))[-1 if phrase.without else 0 :],
        typed=typed,
        name=name,
        style=style,
        spelled=spelled,
        are_known=bool(drawn or synonyms) or any(map(speller.knows, without_stopwords(whole).split())),
        parts=parts if len(parts) > 1 else (),
        without=tuple(filter(None, map(read, phrase.without))),
        drawn=drawn,
        synonyms=synonyms,
    )


def _name_and_style(words: str) -> tuple[str, str | None]:
    """Take off a style, at the end as names have it, or at the start as people say it: "star filled", "filled star"."""
    parsed = parse(words, _ASKED)
    style = asked_style(parsed.style or "")
    return (parsed.words, style) if style else (words, None)


def _says_more(phrase: Phrase, words: str) -> bool:
    """Whether a text is read otherwise than as it stands, unless it is a name."""
    first, *rest = words.split()
    has_style = bool(rest) and first in _ASKED.leading_styles
    return bool(phrase.parts or phrase.without) or has_style or (bool(rest) and rest[-1] in FILLERS)


def _without_filler(words: str) -> str:
    """A "bell icon" is a bell."""
    first, *rest = words.split()
    while rest and rest[-1] in FILLERS:
        rest.pop()
    return " ".join((first, *rest))


def read(text: str) -> str:
    """Normalise as much of a text as is looked at: one sign may become eighteen letters by that."""
    return _cut(normalise(_cut(text.replace("\0", " "))))


def _cut(text: str) -> str:
    if len(text) <= MOST_LETTERS:
        return text
    return text[:MOST_LETTERS].rpartition(" ")[0] or text[:MOST_LETTERS]


MOST_WORDS = 32
"""Of one query: each costs a walk through the names that bear it, and one that is only begun through many."""
SHORTEST_PREFIX = 2
"""Letters: of what a single one begins, nearly every name has a word."""

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


def read_keywords(text: str) -> str | None:
    """Spell a keyword query for FTS5's MATCH; None where it holds only signs. What is written twice counts once.

    Raises:
        IconsError: it only excludes, holds too many words, or begins a word with a single letter.
    """
    required: dict[str, int] = {}
    excluded: dict[str, int] = {}
    """Terms, each with the number of its words."""
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = [word for word in normalise(written).split() if any(map(str.isalnum, word))]
        if words:
            is_prefix = bool(part["word"]) and written.endswith("*")
            (excluded if part["minus"] else required)[_term(words, is_prefix=is_prefix)] = len(words)
    if (n_words := sum((*required.values(), *excluded.values()))) > MOST_WORDS:
        raise IconsError(f"the keyword query holds {n_words:,} words; ask with {MOST_WORDS} or fewer")
    if excluded and not required:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    return " AND ".join(required) + "".join(f" NOT {term}" for term in excluded) or None


def _term(words: Sequence[str], *, is_prefix: bool) -> str:
    """Spell words in a row for FTS5, the last of them perhaps only begun."""
    if is_prefix and len(words[-1]) < SHORTEST_PREFIX:
        raise IconsError(f'"{words[-1]}*" begins a word with one letter; write {SHORTEST_PREFIX} or more before *')
    quoted = '"' + " ".join(words).replace('"', '""') + '"'
    return f"{quoted} *" if is_prefix else quoted
