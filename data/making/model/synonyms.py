"""Under which names do icon sets draw what a word says? Tags of all sets -> the file that a search asks.

    python -m data.making.model synonyms node_modules --out data/language/synonyms.bin

Reads the same sources as `corpus`; reserved sets, and licences that forbid it, stay out.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from indexer.finetune.corpus.gather import Lists, Placed, TrainingIcon, base_of, named_icons
from indexer.languages.dictionary import ENGLISH, Meaning, write_dictionary
from indexer.naming.names import normalise

MOST_NAMES = 12
"""Of a word: four fewer lose .003 of R@10 (docs/log.md, 2026-11-23)."""
_LEAST_SETS = 2
"""That bear a name: what one set alone calls an icon is no name that another library is likely to have."""
_MOST_WORDS = 3
"""Of a tag."""
_ELSEWHERE = "list"
"""Stands, with its number, for a set of tags that come without pictures."""
Bearers = Mapping[str, Mapping[str, set[str]]]
"""Word -> name -> sets that say the word of an icon with this name."""


def write_synonyms(placed: Sequence[Placed], path: Path, *, extra_tags: Sequence[Lists]) -> int:
    """Write for each tag the names that most sets give it to; return how many tags there are.

    `extra_tags` are tags by name that come without pictures; each of the lists counts as one set.
    """
    icons = list(named_icons(placed, "shippable"))
    borne: dict[str, set[str]] = defaultdict(set)
    for icon in icons:
        borne[icon.words].add(icon.placed.record.set.key)
    usual = {name for name, sets in borne.items() if len(sets) >= _LEAST_SETS}
    keys = {}
    for word, names in bearers_of_tags(icons, extra_tags).items():
        known = {name: sets for name, sets in names.items() if name in usual}
        if known and _is_asked(word):
            keys[word] = (Meaning(frozenset((ENGLISH,)), weighed(known)),)
    write_dictionary(path, keys, names={ENGLISH: "English"})
    return len(keys)


def bearers_of_tags(icons: Iterable[TrainingIcon], extra_tags: Sequence[Lists]) -> Bearers:
    """Collect who says which word of which name. An alias is a name of the same picture, so it is a tag too."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    by_picture: dict[bytes, dict[str, str]] = defaultdict(dict)
    for icon in icons:
        key = icon.placed.record.set.key
        by_picture[icon.placed.record.digest][icon.words] = key
        for tag in icon.tags:
            found[tag][icon.words].add(key)
    for names in by_picture.values():
        for name, key in names.items():
            for other in names:
                found[other][name].add(key)
    for number, tags_by_name in enumerate(extra_tags):
        for name, tags in tags_by_name.items():
            for tag in map(normalise, tags):
                found[tag][normalise(name)].add(f"{_ELSEWHERE} {number}")
    return {word: others for word, names in found.items() if (others := _others(word, names))}


def _is_asked(word: str) -> bool:
    """Whether people may type it: signs are spelt in words before."""
    return len(word) > 1 and any(map(str.isalpha, word)) and len(word.split()) <= _MOST_WORDS


def _others(word: str, names: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Names that are not the word itself."""
    return {name: sets for name, sets in names.items() if base_of(name) != base_of(word)}


def weighed(names: Mapping[str, set[str]]) -> tuple[tuple[str, float], ...]:
    """Weigh names by the logarithm of how many sets agree, 1 for the first."""
    order = sorted(names, key=lambda name: (-len(names[name]), name))[:MOST_NAMES]
    most = math.log1p(len(names[order[0]]))
    return tuple((name, math.log1p(len(names[name])) / most) for name in order)
