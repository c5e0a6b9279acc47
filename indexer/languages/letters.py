"""Letters of words: without case and accents, as they sound, in scripts without spaces; compounds and inflections."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby, islice, product, takewhile
from operator import eq

_ELISION = re.compile(r"(?<!\w)(?:l|d|qu|jusqu|lorsqu|puisqu|dell|nell|all|dall|sull|un|quest)['\u2019](?=\w)")
"""An article or preposition that French, Italian and Catalan write in one with the word behind it."""
_LETTERS = str.maketrans(
    {
        **{"ł": "l", "đ": "d", "ð": "d", "ø": "o", "æ": "ae", "œ": "oe", "\u0131": "i", "þ": "th", "ħ": "h"},
        # Teh marbuta, alef maksura, Persian yeh and kaf; the stroke that lengthens a word.
        **{"\u0629": "\u0647", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643", "\u0640": None},
        **dict.fromkeys(("\u2019", "'", "\u02bc", "`", "\u200d", "\u00ad")),
        "\u200c": " ",
    }
)
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
    kept, is_marked_freely = list[str](), False
    for char in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(char)
        if kind == "Mn" and (is_marked_freely or char == _NUKTA):
            continue
        if kind != "Mn" and kind[0] not in "PSZC":
            is_marked_freely = char < "\u0700" or "\u1e00" <= char < "\u2000"
        kept.append(" " if kind[0] in "PSZC" else char)
    return _LONG_END.sub("", unicodedata.normalize("NFC", " ".join("".join(kept).split())))


def respelled(word: str) -> Iterator[str]:
    """Spell a folded word with one letter where it may have two for an umlaut: "loeschen" is "loschen"."""
    parts = _TWO_LETTERS.split(word)
    if 1 < len(parts) <= 2 * _MOST_IN_TWO + 1 and len(word) >= _SHORTEST_IN_TWO:
        ways = product(*((part, part[0]) if place % 2 else (part,) for place, part in enumerate(parts)))
        yield from map("".join, islice(ways, 1, None))  # the first is as it stands


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
    return _SAME.get(code := re.split(r"[-_@.]", locale, maxsplit=1)[0].lower(), code)


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
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters: so many take milliseconds to compile, where there are any."""
LOANWORD = re.compile("[\u30a1-\u30ff]+")
"""All katakana, which Japanese spells other languages' words in."""
LONG_VOWEL = "ー"
ENDING = re.compile(f"[\u3041-\u309f{LONG_VOWEL}]+")
"""All hiragana, as endings and particles are, or but a long vowel."""
LONGEST = 12
"""Characters of a piece."""


def is_unspaced(text: str) -> bool:
    """Tell whether a text begins in a script that puts no spaces between words."""
    return not text[:1].isascii() and re.match(f"[{_UNSPACED}]", text) is not None


def runs(word: str) -> Iterator[str]:
    """Cut a word where scripts with and without spaces meet: "wifi設定" is "wifi" and "設定"."""
    found = [word] if word.isascii() else re.findall(f"[{_UNSPACED}]+|[^{_UNSPACED}]+", word)
    return filter(None, found)


def known_pieces(word: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    """A word as it is, or, of scripts without spaces, its known pieces and the signs between them."""
    for run in runs(word):
        yield from cut(run, is_known) if is_unspaced(run) else (run,)


def cut(run: str, is_known: Callable[[str], bool]) -> list[str]:
    """Cut a run without spaces into known pieces and single characters: the fewest of the latter, then of all."""
    best: list[tuple[int, int, int, tuple[str, ...]]] = [(0, 0, 0, ())]
    for end in range(1, len(run) + 1):
        starts = [(start, is_known(run[start:end])) for start in range(max(0, end - LONGEST), end)]
        ways = ((*best[at][:2], at, known) for at, known in starts if known or at == end - 1)
        n_unknown, n_pieces, start = min((n + (not known), n_pieces + 1, at) for n, n_pieces, at, known in ways)
        best.append((n_unknown, n_pieces, start, (*best[start][3], run[start:end])))
    return [*best[-1][3]]


_LEAST_STEM, _STEM_SHARE, _LONGEST_ENDING = 4, 0.6, 3
ENDINGS = {
    code: frozenset(endings.split(" "))
    for code, endings in {
        "cs": " a e i u y ek ka ku ky em ami",
        "da": " e r s en er et ne erne",
        "de": " e n s en er es chen lein",
        "es": " a o s as es os ito ita itos itas",
        "fi": " a i n t en et ia in it ien ja ta",
        "fr": " e s x es",
        "gl": " a o s as es os",
        "hu": " a e i k t ak ek ok at et ot ja je",
        "it": " a e i o he hi",
        "nl": " e n s en je jes tje tjes",
        "no": " a e r s en er et ene",
        "pl": " a e i o u y em ek ka ki ow ami",
        "pt": " a o m s ns as es os ao oes inho inha",
        "ro": " a e i le ul uri",
        "sk": " a e i u y ek ka ku ky om ami",
        "sv": " a n r s an ar en er et na or arna erna orna",
        "tr": " a e i u in un lar ler lari leri ma me mak mek",
        "ru": " \u0430 \u0435 \u0438 \u043e \u0443 \u044b \u044c \u044e \u044f"
        " \u0435\u0439 \u043e\u0432 \u0430\u043c\u0438 \u044f\u043c\u0438",
        "uk": " \u0430 \u0435 \u0438 \u0456 \u043e \u0443 \u044c \u044e \u044f"
        " \u0435\u0439 \u0456\u0432 \u0430\u043c\u0438 \u044f\u043c\u0438",
    }.items()
}
"""Of the forms of words by language, as `fold` spells them; the first is none."""
_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""What Germanic languages put between the parts of a word."""
_LONGEST_COMPOUND = 60
"""Letters: all ways to take a word apart are tried."""
_MOST_PARTS = 3


def split(word: str, is_known: Callable[[str], bool], *, shortest: int) -> list[str]:
    """Split a word that was put together from known parts, as few as there can be, three at most; [] if it was not."""
    if len(word) > _LONGEST_COMPOUND:
        return []
    shortest, links = (1, ("",)) if "\uac00" <= word[0] <= "\ud7a3" else (shortest, _LINKS)
    best: dict[int, list[str]] = {0: []}
    for end in range(shortest, len(word) + 1):
        for start in [start for start in best if end - start >= shortest]:
            part = word[start:end]
            cores = (part.removesuffix(link) for link in (links if end < len(word) else ("",)) if part.endswith(link))
            core = next((core for core in cores if len(core) >= shortest and is_known(core)), None)
            if core and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], core]
    return best[len(word)] if 1 < len(best.get(len(word), ())) <= _MOST_PARTS else []


def stem_of(word: str) -> str:
    """The letters that any word begins with that `n_alike` may find like this one."""
    return word[: max(_LEAST_STEM, round(_STEM_SHARE * len(word)))]


def n_alike(word: str, other: str, language: str, *, is_strict: bool) -> int:
    """How many letters two words of one stem begin with alike where they differ by their endings alone, else 0.

    With `is_strict` neither of them can be a brand: "flagge" and "flagg".
    """
    shared, usual = sum(takewhile(bool, map(eq, word, other))), ENDINGS.get(language, frozenset[str]())
    are_forms = any({word[at:], other[at:]} <= usual for at in range(shared, shared - _LONGEST_ENDING, -1))
    longest = _LONGEST_ENDING if not is_strict else 0 if usual else 1
    return shared if " " not in other and (are_forms or max(len(word), len(other)) - shared <= longest) else 0


MARK = "~"
"""Before a key of consonants: no word is spelt with it."""
LEAST_CLASSES = 2
_BY_CLASS = 0.9
"""What it counts that two words are alike once their consonants are compared by class, beside 1 for their letters."""
_VOWELS = "aeiou"
_SKIPPED = frozenset(("letter", "small", "capital", "final", "short", "long", "mkhedruli", "chillu"))
_SPECIAL = {"alef": "a", "ain": "a", "ayin": "a", "ie": "e", "yeh": "i", "yod": "i"}
_NASALS = frozenset(("anusvara", "candrabindu"))
_ABUGIDAS = frozenset(
    ("devanagari", "bengali", "gurmukhi", "gujarati", "oriya", "tamil", "telugu", "kannada", "malayalam", "sinhala")
) | {"myanmar", "khmer"}
_CLASSES = {"b": "bpfv", "k": "kgqc", "s": "szj", "t": "td", "l": "lr", "m": "m", "n": "n"}
_CLASS_OF = {letter: name for name, letters in _CLASSES.items() for letter in letters} | {it: it for it in _VOWELS}
_SPELLINGS = (
    ("tch", "s"), ("sch", "s"), ("ch", "s"), ("sh", "s"), ("zh", "s"), ("ph", "b"), ("th", "t"), ("ck", "k"),
    ("dge", "s"), ("tion", "sn"), ("sion", "sn"), ("x", "ks"), ("ng", "n"), ("igh", "i"), ("gn", "n"), ("kn", "n"),
)  # fmt: skip
_SOFT = re.compile("([cg])(?=[eiy])")
_AGENT = re.compile("(?:er|or|ar)$")
"""Is an "a" in kana: モニター is "monitor"."""
_DROPPED_R = re.compile(f"(?<=[{_VOWELS}])r(?![{_VOWELS}])")


def letters(word: str) -> str:
    """Spell a word of any script in Latin letters, about as it sounds; "" where its letters have no sound."""
    return "".join(map(_sound, word))


def consonants(latin: str) -> str:
    """The classes of the consonants of a word in Latin letters."""
    return "".join(name for name, _ in groupby(letter for letter in _classed(latin) if letter not in _VOWELS))


def _classed(latin: str) -> str:
    """A word with classes for its consonants; its vowels stay."""
    for spelling, sound in _SPELLINGS:
        latin = latin.replace(spelling, sound)
    return "".join(_CLASS_OF.get(letter, "") for letter in latin)


def key_of(word: str) -> str | None:
    """Key of a word of another script; None where there is too little to go by."""
    classes = consonants(letters(word)) if not word.isascii() else ""
    return MARK + classes if len(classes) >= LEAST_CLASSES else None


def ways_to_say(word: str) -> set[str]:
    """Ways to say an English word: c and g may be soft, and r may be mute."""
    ways = {way for soft in (word, _SOFT.sub("s", word)) for way in (soft, _DROPPED_R.sub("", soft))}
    return ways | {_AGENT.sub("a", word)}


def sounding_like(word: str, candidates: Iterable[str]) -> Iterator[tuple[str, float]]:
    """English words with how alike they sound, 0 to 1, the most alike first."""
    from rapidfuzz import fuzz

    spelled = letters(word)
    said = _classed(spelled)
    by_letter = {other: fuzz.ratio(spelled, other) for other in candidates}
    alike = {
        other: max(ratio, _BY_CLASS * max(fuzz.ratio(said, _classed(way)) for way in ways_to_say(other))) / 100
        for other, ratio in by_letter.items()
    }
    yield from sorted(alike.items(), key=lambda it: (-it[1], -by_letter[it[0]]))


@lru_cache(maxsize=1024)
def _sound(char: str) -> str:
    """How a letter sounds, by its name in Unicode."""
    match unicodedata.name(char, "").lower().split():
        case ["hangul", "syllable", *_, said]:
            return said
        case [_, *words] if not _NASALS.isdisjoint(words) and "syllable" not in words:
            return "n"
        case [_, "vowel", "sign", said, *_] if said[0] in _VOWELS:
            return said[0]
        case [_, "character", said, *_] if said not in ("sara", "mai", "vowel"):
            return _leading(said)
        case [script, "letter" | "small", *words] if "syllable" not in words and (
            named := [word for word in words if word not in _SKIPPED]
        ):
            return _of_letter(script, named[0])
    return ""


def _of_letter(script: str, name: str) -> str:
    match script:
        case _ if name in _SPECIAL:
            return _SPECIAL[name]
        case "katakana" | "hiragana":
            return name
        case "cyrillic" if name in ("hard", "soft"):
            return ""
        case "cyrillic" if len(name) == 2 and name[0] == "e":
            return name[1]
        case _ if script in _ABUGIDAS and name[0] not in _VOWELS:
            return name.removesuffix("a")
    return name[0] if name[0] in _VOWELS else _leading(name)


def _leading(name: str) -> str:
    """The consonants that the name of a letter begins with."""
    return re.split(f"[{_VOWELS}]", name, maxsplit=1)[0]
