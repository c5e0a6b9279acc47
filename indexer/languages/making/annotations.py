"""What are emoji and signs called in other languages? Reads Unicode's CLDR annotations (npm, Unicode-3.0 licence).

One sign in ten is left out of the dictionary, in all languages: `icons evaluate --languages` asks for these.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.languages.codes import language_of
from indexer.languages.folding import fold

_PACKAGES = ("cldr-annotations-full/annotations", "cldr-annotations-derived-full/annotationsDerived")
_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))


@dataclass(slots=True)
class Annotation:
    """What a language calls a sign, folded."""

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


def read_annotations(modules: Path, *, left_out: bool = False) -> Annotations:
    """Read the annotations of all languages below `node_modules`: those of the dictionary, or those that are left out.

    Raises:
        SourceError: they are not there.
    """
    found: dict[str, dict[str, Annotation]] = {}
    for package in _PACKAGES:
        files = sorted((modules / package).glob("*/annotations.json"))
        if not files:
            raise SourceError(f'"{modules / package}" holds no annotations; docs/languages.md says how to install them')
        for file in files:
            signs = found.setdefault(language_of(file.parent.name), {})
            for sign, said in _signs(json.loads(file.read_text("utf-8"))):
                if is_left_out(sign) == left_out and not _SKIN_TONES.intersection(sign):
                    held = signs.setdefault(sign, Annotation())
                    held.names += filter(None, map(fold, said.get("tts", ())))
                    held.keywords += filter(None, map(fold, said.get("default", ())))
    return found


def _signs(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    [root] = content.values()
    yield from root.get("annotations", {}).items()
