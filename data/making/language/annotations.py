"""What are emoji and signs called in other languages? Reads Unicode's CLDR annotations (npm, Unicode-3.0 licence).

One sign in ten is left out of the dictionary, in all languages: `icons evaluate --languages` asks for these.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.languages.codes import language_of
from indexer.languages.folding import fold

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
            raise SourceError(f'"{modules / package}" holds no annotations; docs/languages.md says how to install them')
        for file in files:
            if file.parent.name in _ROMANISED:
                continue
            signs = found.setdefault(language_of(file.parent.name), {})
            for sign, said in _signs(json.loads(file.read_text("utf-8"))):
                if is_left_out(sign) == left_out and not _SKIN_TONES.intersection(sign):
                    held = signs.setdefault(sign, Annotation())
                    held.names += filter(None, map(spelled, said.get("tts", ())))
                    held.keywords += filter(None, map(spelled, said.get("default", ())))
    return found


def _own_locale_first(file: Path) -> tuple[bool, Path]:
    """In which order locales are read: "zh" before "yue" and "zh-Hant", whose words are Chinese, too."""
    locale = file.parent.name
    return locale != language_of(locale), file


def _signs(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    [root] = content.values()
    yield from root.get("annotations", {}).items()
