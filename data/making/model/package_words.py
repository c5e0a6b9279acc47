"""Which words do npm packages bring for icons of any set? Tags by name, in English; their pictures are left alone.

Packages are those of `indexer.sources.packages`, and OpenStreetMap's presets, which say what a map's icons stand for.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.finetune.corpus.admission import is_reserved, refuse_licence
from indexer.languages.dictionary import ENGLISH, Dictionary
from indexer.languages.folding import fold
from indexer.naming.names import common_affixes, normalise, parse
from indexer.sources.npm import is_package, packages_in, read_words
from indexer.sources.reading import load_facts

_LANGUAGES = {"@icon-park/svg": "zh", "@navikt/aksel-icons": "no"}
"""Languages, beside English, of the tags of some packages."""
_MISREAD = frozenset(("\u8868\u60c5", "\u56fe\u5f62", "\u5de6\u5bf9\u9f50"))
"""Chinese for expression, graphic, align left, which the dictionary reads as disappointed, plots, zigzag."""
_LEAST_WEIGHT, _MOST_MEANINGS = 0.6, 2
"""Of what a tag of another language may mean, and how many of its meanings are taken."""
_SAYS_NOTHING = frozenset(
    ("icon", "icons", "symbol", "logo", "brand", "brands", "brand logo", "third party", "solid", "outline", "filled")
) | {"line", "duotone", "borderless"}
"""Tags that say what a set is or how it is drawn."""

_PRESETS, _PRESET_NAMES = "dist/presets.json", "dist/translations/en.json"
_MAP_ICONS = ("maki", "temaki", "roentgen")
"""Sets drawn for maps; presets borrow from others what comes near enough."""
_MOST_PRESETS = 2
"""Of one icon: one that stands for more things is the picture of none of them."""


def words_of_packages(folders: Iterable[Path]) -> dict[str, list[str]]:
    """Read tags by name from several packages, or folders of them."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in folders:
        for name, tags in words_in(folder).items():
            found[name] += tags
    return dict(found)


def words_in(folder: Path) -> dict[str, list[str]]:
    """Read tags by name from a package, or from each package in a node_modules folder that is known to bring some.

    Raises:
        SourceError: the folder brings no words, or a package's files are not built as is known.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for package in [folder] if is_package(folder) else packages_in(folder)[0]:
        words = _words_of(package)
        for name, tags in words.items():
            found[name] += tags
        if words:
            sys.stderr.write(f"{package.relative_to(folder.parent)}: {sum(map(len, words.values())):,} tags\n")
    if not found:
        raise SourceError(f'no words in "{folder}"; give an npm package that names tags, such as emojilib')
    return dict(found)


def _words_of(package: Path) -> dict[str, list[str]]:
    icon_set, said = read_words(package)
    by_icon = {about.name or key.rsplit("/", 1)[-1]: about.tags for key, about in said.items()}
    if (package / _PRESETS).is_file():
        by_icon = _map_words(package)
    reason = "reserved" if is_reserved(icon_set) else refuse_licence(icon_set.licence)
    if by_icon and reason:
        sys.stderr.write(f"{package.name}: left out, {reason}\n")
        return {}
    if language := _LANGUAGES.get(icon_set.key):
        dictionary = Dictionary.bundled()
        by_icon = {name: tuple(_in_english(tags, language, dictionary)) for name, tags in by_icon.items()}
    return _by_name(by_icon)


def _by_name(by_icon: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Spell names as those of icons are, without the styles of their set, and tags as queries are.

    A tag that only repeats words of the name says nothing new.
    """
    affixes = common_affixes(list(by_icon))
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name, tags in by_icon.items():
        words = parse(name, affixes).words
        spelled = dict.fromkeys(normalise(tag) for tag in tags)
        repeated = set(words.split())
        new = (tag for tag in spelled if _says_something(tag) and not repeated.issuperset(tag.split()))
        found[words].update(dict.fromkeys(new))
    return {name: list(tags) for name, tags in found.items() if tags}


def _says_something(tag: str) -> bool:
    return tag not in _SAYS_NOTHING and any(map(str.isalpha, tag))


def _in_english(tags: Sequence[str], language: str, dictionary: Dictionary) -> Iterator[str]:
    """Keep tags whose words are English, and translate those that the dictionary has as a whole."""
    for tag in tags:
        if all(_is_english(word, dictionary) for word in fold(tag).split()):
            yield tag
        elif tag not in _MISREAD:
            meanings = (meaning for meaning in dictionary.meanings(fold(tag)) if language in meaning.languages)
            terms = [term for meaning in meanings for term, weight in meaning.terms if weight >= _LEAST_WEIGHT]
            yield from terms[:_MOST_MEANINGS]


def _is_english(word: str, dictionary: Dictionary) -> bool:
    return any(ENGLISH in meaning.languages for meaning in dictionary.meanings(word))


def _map_words(package: Path) -> dict[str, tuple[str, ...]]:
    """Names, aliases and terms of the things that an icon stands for on a map."""
    inside = os.path.realpath(package)
    presets: dict[str, Any] = load_facts(package / _PRESETS, inside=inside)
    said = load_facts(package / _PRESET_NAMES, inside=inside)["en"]["presets"]["presets"]
    uses: dict[str, list[str]] = defaultdict(list)
    for key, preset in presets.items():
        uses[preset.get("icon", "")].append(key)
    found: dict[str, tuple[str, ...]] = {}
    for icon, keys in uses.items():
        icon_set, _, name = icon.partition("-")
        if icon_set in _MAP_ICONS and len(keys) <= _MOST_PRESETS:
            words = [word for key in keys if presets[key].get("searchable", True) for word in _preset_words(said[key])]
            found[name] = (*found.get(name, ()), *words)
    return found


def _preset_words(said: Mapping[str, str]) -> Iterator[str]:
    yield said.get("name", "")
    yield from said.get("aliases", "").split("\n")
    yield from said.get("terms", "").split(",")
