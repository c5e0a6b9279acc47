"""By which English words are icons called? Counts names of all sets of `@iconify/json` but logos, flags and maps."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceError
from indexer.naming.names import parse

_LEFT_OUT = frozenset(("Logos", "Flags / Maps", "Programming"))
"""Categories whose names are no meaning."""
_EMOJI = "Emoji"
"""Category of sets that have a drawing of every sign, searched for or not."""
_BRANDED = frozenset(("logo", "brand", "flag"))
_LEAST_NAMES = 8
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
        usual = [word for word, n in self.words.items() if n >= _LEAST_NAMES and word.isalpha() and len(word) > 1]
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
