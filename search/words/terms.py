"""What signs and terms mean in the words of icon sets: emoji, synonyms, and terms of user interfaces.

`data/language/terms.json`: "paywall" -> lock, credit card, crown; written by hand, the best first.
"""

import json
import re
import unicodedata
from functools import cache, lru_cache

from indexer.languages.dictionary import Dictionary
from indexer.library.bundled import bundled
from indexer.merging.lexicon import without_stopwords


def drawn_for(words: str) -> tuple[str, ...]:
    """What is customarily drawn for some normalised words, the best first; nothing for what is no term."""
    terms = _terms()
    for spelling in (words, without_stopwords(words), _singular(words)):
        if spelling in terms:
            return terms[spelling]
    return ()


def _singular(words: str) -> str:
    return re.sub(r"(\w{3,}[^s ])s\b", r"\1", words)


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
