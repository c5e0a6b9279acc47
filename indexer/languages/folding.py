"""How is a word of any language spelt as a key? Without case, accents and whatever else people leave out."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import product

_LATIN = {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "æ": "ae", "œ": "oe", "\u0131": "i", "þ": "th", "ħ": "h"}
_ARABIC = {"\u0629": "\u0647", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643", "\u0640": None}
"""Teh marbuta, alef maksura, Persian yeh and kaf; the stroke that lengthens a word."""
_MARKS = dict.fromkeys(("\u2019", "'", "\u02bc", "`", "\u200d", "\u00ad")) | {"\u200c": " "}
_ELISION = re.compile(r"(?<!\w)(?:l|d|qu|jusqu|lorsqu|puisqu|dell|nell|all|dall|sull|un|quest)['\u2019](?=\w)")
"""An article or preposition that French, Italian and Catalan write in one with the word behind it."""
_LETTERS = str.maketrans({**_LATIN, **_ARABIC, **_MARKS})
"""What is often typed as the other, and does not decompose in Unicode."""
_LONG_END = re.compile("ー(?![ァ-ヺ])")
"""The long vowel at the end of a Japanese loanword: フォルダー is フォルダ."""
_NUKTA = "\u093c"
IN_TWO_LETTERS = frozenset(("de", "da", "no", "sv"))
"""Languages that write ä, ö, ü and å in two letters where there are no others, as in names of files."""
_TWO_LETTERS = re.compile("(ae|oe|ue|aa)")
_MOST_IN_TWO, _SHORTEST_IN_TWO = 4, 4
"""Of a word, since all ways to read it are tried; and letters of one, since "doe" is none."""


def fold(text: str) -> str:
    """Fold a text of any language: words in lower case with single spaces, without accents, signs and vowel points.

    Articles that lost their vowel go, too: "l'étoile" is "etoile". Marks that make another letter stay: those of
    Devanagari, Thai and kana. "" where there is no word.
    """
    text = _ELISION.sub("", unicodedata.normalize("NFKC", text).casefold()).translate(_LETTERS)
    kept: list[str] = []
    is_marked_freely = False
    for char in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(char)
        if kind == "Mn":
            if is_marked_freely or char == _NUKTA:
                continue
        elif kind[0] not in "PSZC":
            is_marked_freely = char < "\u0700" or "\u1e00" <= char < "\u2000"
        kept.append(" " if kind[0] in "PSZC" else char)
    return _LONG_END.sub("", unicodedata.normalize("NFC", " ".join("".join(kept).split())))


def respelled(word: str) -> Iterator[str]:
    """Spell a folded word with one letter where it may have two for an umlaut: "loeschen" is "loschen"."""
    parts = _TWO_LETTERS.split(word)
    if 1 < len(parts) <= 2 * _MOST_IN_TWO + 1 and len(word) >= _SHORTEST_IN_TWO:
        ways = product(*((part, part[0]) if place % 2 else (part,) for place, part in enumerate(parts)))
        next(ways)  # as it stands
        yield from map("".join, ways)
