"""What do the words of a query ask for? A meaning, a name, and perhaps a style; what is misspelt is put right."""

from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.naming import normalise, parse
from search.lexical import telling
from search.spelling import Speller

MOST_LETTERS = 1_000
"""Of a query that are looked at: more than an encoder's context ever holds."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Words as they are looked for."""

    typed: str
    """Normalised. The encoder is asked with these: it has its own idea of what it does not know."""
    name: str
    """What the name of an icon would say: spelt as the library spells, without a style."""
    style: str | None
    spelled: str | None
    """All words as they were probably meant, where that differs from what was typed."""
    are_known: bool
    """Whether the library or the encoder knows one of them, function words apart."""


def read_words(text: str, speller: Speller) -> Wording:
    """Read the words of a query; "home filled" asks for the name "home" in the style "filled".

    Raises:
        IconsError: there are none.
    """
    if len(text) > MOST_LETTERS:
        text = text[:MOST_LETTERS].rpartition(" ")[0] or text[:MOST_LETTERS]
    typed = normalise(text.replace("\0", " "))
    if not typed:
        raise IconsError('the query is empty; try `icons search "arrow"`')
    spelled = speller.correct(typed)
    whole = spelled or typed
    read = parse(whole)
    are_known = any(map(speller.knows, telling(whole).split()))
    return Wording(typed, read.words if read.style else whole, read.style, spelled, are_known)
