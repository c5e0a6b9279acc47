"""What do the words of a query ask for? A meaning, a name, a style, parts of a drawing; slips are put right."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.naming.affixes import Affixes
from indexer.naming.looks import FILLERS, asked_style
from indexer.naming.names import normalise, parse
from indexer.publishing.lexicon import telling
from search.words.phrases import Phrase, read_phrase
from search.words.signs import spell_signs
from search.words.spelling import Speller
from search.words.synonyms import names_for
from search.words.thesaurus import drawn_for

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
        are_known=bool(drawn or synonyms) or any(map(speller.knows, telling(whole).split())),
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
