"""What the words of a query ask for: a meaning, a name, a style, parts of a drawing, keywords."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.languages.names import FILLERS, Affixes, asked_style, parse
from indexer.languages.words import normalise
from indexer.merging.lexicon import without_stopwords
from search.words.spelling import Speller
from search.words.terms import drawn_for, names_for, spell_signs

MOST_PARTS = 16
"""Of a drawing: each is held against every candidate. Of more none is told apart."""
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


def read_words(text: str, speller: Speller, *, is_borne: Callable[[str], bool] = lambda _: False) -> Wording:
    """Read the words of a query; "home filled" and "solid home" ask for the name "home" in the style "filled".

    A text that is a name or a tag here, as `is_borne` tells, is not taken apart.

    Raises:
        IconsError: there are no words.
    """
    literal = read(text)
    if not literal:
        raise IconsError('the query is empty; try `icons search "arrow"`')
    said = spell_signs(_cut(text.replace("\0", " ")))
    spellings = tuple(dict.fromkeys((literal, read(said) or literal)))
    phrase = read_phrase(said)
    is_name = not phrase.is_explicit and _says_more(phrase, spellings[-1]) and any(map(is_borne, spellings))
    if is_name:
        phrase = Phrase(said, (), ())
    typed = read(phrase.words) or literal
    if not is_name:
        typed = _without_filler(typed)
    parts = tuple(filter(None, map(read, phrase.parts)))
    told = " ".join(map(_without_number, parts)) if len(parts) > 1 else typed
    drawn, synonyms = ((), ()) if len(parts) > 1 else (drawn_for(typed), names_for(typed))
    spelled = None if drawn or synonyms else speller.correct(told)
    whole = spelled or told
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


def _without_number(part: str) -> str:
    """How many there are of a thing is seen, and rarely said by a name."""
    return _NUMBER.sub("", part)


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
    wanted: dict[str, int] = {}
    excluded: dict[str, int] = {}
    """Terms, each with the number of its words."""
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = [word for word in normalise(written).split() if any(map(str.isalnum, word))]
        if words:
            is_prefix = bool(part["word"]) and written.endswith("*")
            (excluded if part["minus"] else wanted)[_term(words, is_prefix=is_prefix)] = len(words)
    if (n_words := sum((*wanted.values(), *excluded.values()))) > MOST_WORDS:
        raise IconsError(f"the keyword query holds {n_words:,} words; ask with {MOST_WORDS} or fewer")
    if excluded and not wanted:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    return " AND ".join(wanted) + "".join(f" NOT {term}" for term in excluded) or None


def _term(words: Sequence[str], *, is_prefix: bool) -> str:
    """Spell words in a row for FTS5, the last of them perhaps only begun."""
    if is_prefix and len(words[-1]) < SHORTEST_PREFIX:
        raise IconsError(f'"{words[-1]}*" begins a word with one letter; write {SHORTEST_PREFIX} or more before *')
    quoted = '"' + " ".join(words).replace('"', '""') + '"'
    return f"{quoted} *" if is_prefix else quoted
