"""Which English word may a word of another script be that sounds like it? सिंगल is "single", サーバー "server".

Letters sound as Unicode names them. Words are held together by what their consonants have in common in all scripts, and
the spelling decides among those: as Soundex does it (Russell, US patent 1,261,167, 1918), with classes for loanwords.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

SOUNDS = "zxx"
"""Code under which a dictionary holds English words by their consonants."""
_MARK = "~"
"""Before a key of consonants: no word is spelt with it."""
MOST_WORDS = 24
"""Of the same consonants."""
_LEAST_CLASSES = 2
_BY_CLASS = 0.9
"""What it counts that two words are alike once their consonants are told by class, beside 1 for their letters."""
_VOWELS = "aeiou"
_SKIPPED = frozenset(("small", "capital", "final", "short", "long", "mkhedruli", "chillu"))
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
    classes = [letter for letter in _classed(latin) if letter not in _VOWELS]
    return "".join(name for place, name in enumerate(classes) if place == 0 or name != classes[place - 1])


def _classed(latin: str) -> str:
    """A word with classes for its consonants; its vowels stay."""
    for spelling, sound in _SPELLINGS:
        latin = latin.replace(spelling, sound)
    return "".join(_CLASS_OF.get(letter, "") for letter in latin)


def key_of(word: str) -> str | None:
    """Key of a word of another script; None where there is too little to go by."""
    classes = consonants(letters(word)) if not word.isascii() else ""
    return _MARK + classes if len(classes) >= _LEAST_CLASSES else None


def keys_of_english(word: str) -> set[str]:
    """Keys of an English word: c and g may be soft, and r may be mute."""
    return {_MARK + classes for way in _ways_to_say(word) if len(classes := consonants(way)) >= _LEAST_CLASSES}


def _ways_to_say(word: str) -> set[str]:
    ways = {way for soft in (word, _SOFT.sub("s", word)) for way in (soft, _DROPPED_R.sub("", soft))}
    return ways | {_AGENT.sub("a", word)}


def group_by_sound(words: Iterable[str]) -> Mapping[str, list[str]]:
    """Group English words, the most used first, by their keys."""
    found: dict[str, list[str]] = {}
    for word in words:
        for key in keys_of_english(word):
            if len(held := found.setdefault(key, [])) < MOST_WORDS:
                held.append(word)
    return found


def sounding_like(word: str, candidates: Iterable[str]) -> Iterator[tuple[str, float]]:
    """English words with how alike they sound, 0 to 1, the most alike first."""
    from rapidfuzz import fuzz

    spelled = letters(word)
    said = _classed(spelled)
    alike = []
    for other in candidates:
        by_sound = _BY_CLASS * max(fuzz.ratio(said, _classed(way)) for way in _ways_to_say(other))
        by_letter = fuzz.ratio(spelled, other)
        alike.append((max(by_letter, by_sound) / 100, by_letter, other))
    yield from ((other, weight) for weight, _, other in sorted(alike, key=lambda it: (-it[0], -it[1])))


@lru_cache(maxsize=1024)
def _sound(char: str) -> str:
    script, *words = unicodedata.name(char, "").lower().split() or [""]
    if "syllable" in words:
        return words[-1] if script == "hangul" else ""
    if not _NASALS.isdisjoint(words):
        return "n"
    if words[:2] == ["vowel", "sign"]:
        return _shortened(words[2])
    if words[:1] == ["character"]:
        return "" if words[1] in ("sara", "mai", "vowel") else _leading(words[1])
    if words[:1] not in (["letter"], ["small"]):
        return ""
    named = [part for part in words if part not in _SKIPPED and part != "letter"]
    return _of_letter(script, named[0]) if named else ""


def _of_letter(script: str, name: str) -> str:
    if name in _SPECIAL:
        return _SPECIAL[name]
    if script in ("katakana", "hiragana"):
        return name
    if script in _ABUGIDAS:
        return name.removesuffix("a") if name[0] not in _VOWELS else _shortened(name)
    if script == "cyrillic" and len(name) == 2 and name[0] == "e":
        return name[1]
    if script == "cyrillic" and name in ("hard", "soft"):
        return ""
    return name[0] if name[0] in _VOWELS else _leading(name)


def _leading(name: str) -> str:
    """The consonants that the name of a letter begins with."""
    return re.split(f"[{_VOWELS}]", name, maxsplit=1)[0]


def _shortened(vowel: str) -> str:
    return vowel[0] if vowel[0] in _VOWELS else ""
