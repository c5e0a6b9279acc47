"""Known words in a word: compounds, inflections, and English words that sound like it."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import takewhile

_LEAST_STEM, _STEM_SHARE, _LONGEST_ENDING = 4, 0.6, 3
_LINKS = ("", "s", "n", "en", "es", "er", "e")
"""What Germanic languages put between the parts of a word."""
_LONGEST_COMPOUND = 60
"""Letters: all ways to take a word apart are tried."""
_MOST_PARTS = 3
_LONGEST_ENDING_OF_A_NAME, _LONG_STEM = 2, 6


def split(word: str, is_known: Callable[[str], bool], *, shortest: int) -> list[str]:
    """Split a word that was put together from known parts, as few as there can be, three at most; [] if it was not."""
    if len(word) > _LONGEST_COMPOUND:
        return []
    shortest = 1 if "\uac00" <= word[0] <= "\ud7a3" else shortest
    best: dict[int, list[str]] = {0: []}
    for end in range(shortest, len(word) + 1):
        for start in [start for start in best if end - start >= shortest]:
            core = _without_link(word[start:end], is_known, shortest=shortest, is_last=end == len(word))
            if core and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], core]
    return best[len(word)] if 1 < len(best.get(len(word), ())) <= _MOST_PARTS else []


def _without_link(part: str, is_known: Callable[[str], bool], *, shortest: int, is_last: bool) -> str | None:
    """The known word that a part is, with or without what links it to the next."""
    for link in _LINKS if part.isascii() and not is_last else ("",):
        core = part.removesuffix(link)
        if part.endswith(link) and len(core) >= shortest and is_known(core):
            return core
    return None


def n_shared(word: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))


def is_like(word: str, other: str) -> bool:
    """Tell whether two words differ by no more than their endings."""
    shared = n_shared(word, other)
    is_long = shared >= max(_LEAST_STEM, round(_STEM_SHARE * len(word)))
    return is_long and " " not in other and max(len(word), len(other)) - shared <= _LONGEST_ENDING


def is_form(word: str, other: str) -> bool:
    """Tell whether two words are alike enough to be one, and neither of them a brand: "flagge" and "flagg"."""
    shared = n_shared(word, other)
    n_differing = max(len(word), len(other)) - shared
    return n_differing <= 1 or (n_differing == _LONGEST_ENDING_OF_A_NAME and shared >= _LONG_STEM)


MARK = "~"
"""Before a key of consonants: no word is spelt with it."""
LEAST_CLASSES = 2
_BY_CLASS = 0.9
"""What it counts that two words are alike once their consonants are compared by class, beside 1 for their letters."""
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
    alike = []
    for other in candidates:
        by_sound = _BY_CLASS * max(fuzz.ratio(said, _classed(way)) for way in ways_to_say(other))
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
