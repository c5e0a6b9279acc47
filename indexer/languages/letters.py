"""Letters and keys: the language of a locale, words without case and accents, scripts without spaces."""

import re
import unicodedata
from collections.abc import Callable, Iterator
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


AUTO = "auto"
"""In place of a code: the language that a set's own words tell."""
NO_LANGUAGES = frozenset(("mul", "und", "zxx"))
"""Codes of ISO 639 that stand for no single language."""
_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh", "yue": "zh"}
"""What is written nearly alike, or is an older code."""
_LOCALE = re.compile(r"[a-z]{2,3}(?:[-_@.][a-z0-9]+)*", re.IGNORECASE)
_LONGEST = 35
"""Letters that are to be kept of a language tag (RFC 5646, section 4.4.1)."""


def is_locale(text: str) -> bool:
    """Tell whether a text is spelt as locales are: "de", "pt-BR", "zh_Hant_TW.UTF-8"; such a language need not be."""
    return len(text) <= _LONGEST and _LOCALE.fullmatch(text) is not None


def language_of(locale: str) -> str:
    """ISO 639 code of a locale, as files and folders are called by it."""
    code = re.split(r"[-_@.]", locale, maxsplit=1)[0].lower()
    return _SAME.get(code, code)


_LETTERS_OF = {
    "az": "çəğıöşü",
    "bs": "čćđšž",
    "ca": "àçèéíïòóúü",
    "cs": "áčďéěíňóřšťúůýž",
    "cy": "âêîôûŵŷ",
    "da": "åæø",
    "de": "äöüß",
    "es": "áéíñóúü",
    "et": "äõöüšž",
    "eu": "çñ",
    "fi": "åäö",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "ga": "áéíóú",
    "gl": "áéíñóú",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áéíóúýðþæö",
    "it": "àèéìíîòóùú",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "nl": "áéëíïóöúü",
    "no": "åæøéò",
    "pl": "ąćęłńóśźż",
    "pt": "àáâãçéêíóôõú",
    "ro": "ăâîșşțţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sq": "çë",
    "sr": "čćđšž",
    "sv": "åäöé",
    "tr": "âçğıîöşüû",
    "vi": "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}


def may_be_of(language: str, word: str) -> bool:
    """Tell whether a language in Latin script writes all letters of a word."""
    return all(letter in _LETTERS_OF.get(language, "") for letter in word.casefold() if is_accented(letter))


def is_accented(letter: str) -> bool:
    """Tell whether a letter is one beyond ASCII; a typographic apostrophe is none."""
    return letter.isalpha() and not letter.isascii()


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_KATAKANA = re.compile("[\u30a1-\u30ff]+")
LONG_VOWEL = "ー"
_ENDING = re.compile(f"[\u3041-\u309f{LONG_VOWEL}]+")
LONGEST = 12
"""Characters of a piece."""


def is_unspaced(text: str) -> bool:
    """Tell whether a text begins in a script that puts no spaces between words."""
    return bool(_IS_UNSPACED.match(text))


def is_loanword(run: str) -> bool:
    """Tell whether a run is all katakana, which Japanese spells other languages' words in."""
    return bool(_KATAKANA.fullmatch(run))


def is_ending(run: str) -> bool:
    """Tell whether a run is all hiragana, as endings and particles are, or but a long vowel."""
    return bool(_ENDING.fullmatch(run))


def runs(word: str) -> Iterator[str]:
    """Cut a word where scripts with and without spaces meet: "wifi設定" is "wifi" and "設定"."""
    return (found[0] for found in _RUN.finditer(word))


def known_pieces(word: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    """A word as it is, or, of scripts without spaces, its known pieces and the signs between them."""
    for run in runs(word):
        yield from cut(run, is_known) if is_unspaced(run) else (run,)


def cut(run: str, is_known: Callable[[str], bool]) -> list[str]:
    """Cut a run without spaces into known pieces and single characters: the fewest of the latter, then of all."""
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(run) + 1):
        ways = []
        for start in range(max(0, end - LONGEST), end):
            unknown, pieces, _ = best[start]
            if is_known(run[start:end]):
                ways.append((unknown, pieces + 1, start))
            elif end - start == 1:
                ways.append((unknown + 1, pieces + 1, start))
        best.append(min(ways))
    found, at = list[str](), len(run)
    while at:
        found.append(run[best[at][2] : at])
        at = best[at][2]
    return found[::-1]
