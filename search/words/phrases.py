"""Which parts has a described drawing, and what should it lack? "bell with a plus, no dot" -> bell + plus, not dot.

Only what stands between other words joins or leaves out: "no smoking", "sign in" and "plus" are names.
"""

import re
from dataclasses import dataclass

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
