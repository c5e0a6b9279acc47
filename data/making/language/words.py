"""Which words are known: what signs are called in other languages, by which English words icons are called, and which
words count as English.

Signs are read from CLDR's annotations (npm, Unicode-3.0 licence); one in ten is left out of the dictionary, in all
languages, as questions that measure it. Names of icons are those of all sets of `@iconify/json` but
logos, flags and maps. English are words of interfaces, of icons' names, and usual ones that no other language says
more; a word that counts is read as another language's only where the user reads that first.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from data.making.language.texts import Text
from indexer.errors import SourceError
from indexer.languages.dictionary import ENGLISH
from indexer.languages.letters import fold, language_of
from indexer.languages.words import parse
from search.words.wording import VARIANTS

_PACKAGES = ("cldr-annotations-full/annotations", "cldr-annotations-derived-full/annotationsDerived")
_ROMANISED = frozenset(("hi-Latn",))
"""Locales that are left out: half of their words are English, so "morning" would be Hindi."""
_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))


@dataclass(slots=True)
class Annotation:
    """What a language calls a sign."""

    names: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """Names and keywords, each once."""
        return list(dict.fromkeys((*self.names, *self.keywords)))


Annotations = Mapping[str, Mapping[str, Annotation]]
"""Language -> sign -> what it is called."""


def is_left_out(sign: str) -> bool:
    """Tell whether a sign is kept for evaluation: one in ten, by the hash of it."""
    return hashlib.blake2b(sign.encode()).digest()[0] % 10 == 0


def read_annotations(modules: Path, *, left_out: bool = False, spelled: Callable[[str], str] = fold) -> Annotations:
    """Read the annotations of all languages below `node_modules`: those of the dictionary, or those that are left out.

    Names and keywords are folded, or as `spelled` spells them.

    Raises:
        SourceError: they are not there.
    """
    found: dict[str, dict[str, Annotation]] = {}
    for package in _PACKAGES:
        written = (modules / package).glob("*/annotations.json")
        files = sorted((file for file in written if file.parent.name not in _ROMANISED), key=_own_locale_first)
        if not files:
            raise SourceError(f'"{modules / package}" holds no annotations; data/making/README.md says what to install')
        for file in files:
            if file.parent.name in _ROMANISED:
                continue
            signs = found.setdefault(language_of(file.parent.name), {})
            for sign, said in _signs_in(json.loads(file.read_text("utf-8"))):
                if is_left_out(sign) == left_out and not _SKIN_TONES.intersection(sign):
                    held = signs.setdefault(sign, Annotation())
                    held.names += filter(None, map(spelled, said.get("tts", ())))
                    held.keywords += filter(None, map(spelled, said.get("default", ())))
    return found


def _own_locale_first(file: Path) -> tuple[bool, Path]:
    """In which order locales are read: "zh" before "yue" and "zh-Hant", whose words are Chinese, too."""
    locale = file.parent.name
    return locale != language_of(locale), file


def _signs_in(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    [root] = content.values()
    yield from root.get("annotations", {}).items()


def read_signs(package: Path) -> dict[str, str]:
    """Read sign -> English name; what is a letter or a digit says itself."""
    held = json.loads((package / "annotations/en/annotations.json").read_text("utf-8"))
    found = {
        VARIANTS.sub("", sign): _as_named(about["tts"][0].lower())
        for sign, about in held["annotations"]["annotations"].items()
        if "tts" in about and not sign.isalnum()
    }
    return {sign: name for sign, name in found.items() if sign}


def _as_named(annotation: str) -> str:
    """Say it as icons are named: plus sign, right-pointing arrow, red heart and hyphen-minus by a word less."""
    return re.sub(" sign$|-pointing|^red (?=heart$)|^hyphen-(?=minus$)", "", annotation)


_LEFT_OUT = frozenset(("Logos", "Flags / Maps", "Programming"))
"""Categories whose names are no meaning."""
_EMOJI = "Emoji"
"""Category of sets that have a drawing of every sign, searched for or not."""
_BRANDED = frozenset(("logo", "brand", "flag"))
_LEAST_NAMES_OF_WORDS = 8
_LEAST_NAMES_OF_PAIRS = 12


@dataclass(frozen=True, slots=True)
class IconWords:
    """Words of icons' names."""

    words: Counter[str]
    """Word -> names that say it, each name once a set."""
    pairs: Counter[str]
    """Names of two words, likewise."""
    names: Counter[str]
    """Whole names, likewise, but of sets of emoji."""

    @property
    def terms(self) -> list[str]:
        """What other languages' words are held against: usual words, and usual names of two."""
        usual = [
            word for word, n in self.words.items() if n >= _LEAST_NAMES_OF_WORDS and word.isalpha() and len(word) > 1
        ]
        return sorted(usual) + sorted(name for name, n in self.pairs.items() if n >= _LEAST_NAMES_OF_PAIRS)


def read_icon_words(modules: Path) -> IconWords:
    """Read the names of all sets below `node_modules`.

    Raises:
        SourceError: `@iconify/json` is not there.
    """
    files = sorted((modules / "@iconify/json/json").glob("*.json"))
    if not files:
        raise SourceError(f'"{modules}" holds no @iconify/json; `npm install @iconify/json` brings it')
    words, pairs, whole = Counter[str](), Counter[str](), Counter[str]()
    for file in files:
        content = json.loads(file.read_text("utf-8"))
        category = content.get("info", {}).get("category")
        if category in _LEFT_OUT:
            continue
        names = {parse(icon).words for icon in content["icons"]}
        whole.update(names if category != _EMOJI else ())
        for name in names:
            parts = name.split()
            if not _BRANDED.intersection(parts):
                words.update(set(parts))
                pairs.update([name] if len(parts) == 2 else [])
    return IconWords(words, pairs, whole)


_TEXTS_OF_ENGLISH, _NAMES_OF_ENGLISH = 3, 8
"""Texts, or names of icons, that say a word."""
_LEAST_USE, _MUCH_USE = 2.5, 4.0
"""On the scale of `wordfreq`: once in three million words, and once in a hundred thousand."""
_LEAST_ALONE = 1.5
"""Of a word that is usual in no language: "assignee", "concatenate"."""
_MANY_ASK = frozenset({"zh", "pt", "es", "fr", "de", "ru", "ja", "ar", "ko", "hi"})
_LESS, _LESS_OF_MUCH, _LESS_THAN_OTHERS = 0.5, 1.0, 2.5
"""By how much a word may be used less in English than in a language that many ask in ("rust" is English, "amor" and
"tout" are not), and than in others: who states no language and types "bent" is rarely Dutch."""
_LISTS = {"no": "nb", "hr": "sh", "sr": "sh", "bs": "sh"}
"""Languages that `wordfreq` has under another code."""


def english_words(
    texts: Mapping[str, Sequence[Text]],
    names: IconWords,
    known: Mapping[str, Collection[str]],
    asked: Iterable[str],
) -> set[str]:
    """List the words that count as English.

    `known` are keys and the languages that know them; `asked` are words by which people look for icons.
    """
    distinct = {text.english for held in texts.values() for text in held}
    counted = Counter(word for text in distinct for word in set(text.split()))
    said = {word for word, n in counted.items() if n >= _TEXTS_OF_ENGLISH}
    said |= {word for word, n in names.words.items() if n >= _NAMES_OF_ENGLISH}
    candidates = {word for word in (*asked, *known) if word.isascii() and word.isalpha()}
    return said | {word for word in candidates if _is_usual(word, known.get(word, ()))}


def _is_usual(word: str, languages: Collection[str]) -> bool:
    """Whether English uses a word about as much as any language that knows it."""
    use = _use(ENGLISH, word)
    elsewhere = {code: _use(code, word) for code in languages}
    less = _LESS_OF_MUCH if use >= _MUCH_USE else _LESS
    least = max(
        (said - (less if code in _MANY_ASK else _LESS_THAN_OTHERS) for code, said in elsewhere.items()), default=0
    )
    return use >= max(least, _LEAST_USE if any(elsewhere.values()) else _LEAST_ALONE)


def _use(language: str, word: str) -> float:
    return _uses(_LISTS.get(language, language)).get(word, 0.0)


@cache
def _uses(code: str) -> Mapping[str, float]:
    """How often a language uses its words, folded; of others than English the usual ones alone."""
    try:
        from wordfreq import available_languages, freq_to_zipf, get_frequency_dict
    except ImportError as error:
        raise SourceError('English words need "wordfreq": run pip install -e ".[making]"') from error
    size = "best" if code == ENGLISH else "small"
    if code not in available_languages(size):
        return {}
    uses: dict[str, float] = {}
    for word, share in get_frequency_dict(code, size).items():
        key = fold(word)
        uses[key] = max(uses.get(key, 0.0), float(freq_to_zipf(share)))
    return uses
