"""What do the words of a query ask for? A meaning, a name, and perhaps a style; what is misspelt is put right."""

from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.naming.names import normalise, parse
from indexer.publishing.lexicon import telling
from search.words.spelling import Speller

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
    typed = read(text)
    if not typed:
        raise IconsError('the query is empty; try `icons search "arrow"`')
    spelled = speller.correct(typed)
    whole = spelled or typed
    parsed = parse(whole)
    are_known = any(map(speller.knows, telling(whole).split()))
    return Wording(typed, parsed.words if parsed.style else whole, parsed.style, spelled, are_known)


def read(text: str) -> str:
    """Normalise as much of a text as is looked at: one sign may become eighteen letters by that."""
    return _cut(normalise(_cut(text.replace("\0", " "))))


def _cut(text: str) -> str:
    if len(text) <= MOST_LETTERS:
        return text
    return text[:MOST_LETTERS].rpartition(" ")[0] or text[:MOST_LETTERS]
