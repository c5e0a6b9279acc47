"""What packages and people say of icons, to be learnt from beside what icon sets say; and the file of synonyms.

Tags come by name and in English, from the packages of `indexer.sources.npm` and from presets of OpenStreetMap,
which say what icons of a map stand for. Written words are a folder of three files, an entry a line, best first:
`keywords.txt` ("trash: bin, rubbish, delete"), names that many sets draw; `pictures.txt` ("purity: droplet,
sparkles"), words that are no icon's name, and what an icon would draw; `drawings.tsv`, how some icons look: the first
10 digits of a picture's digest, set and name for people, descriptions between "|". Each may be packed as `.xz`.
Synonyms are the names under which sets draw what a word says, for `search.words.wording`.
"""

import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.making.language.writing import write_dictionary
from data.making.model.admission import is_reserved, named_icons
from indexer.errors import SourceError
from indexer.finetune.captions import Lists, Placed, TrainingIcon, base_of, refuse_licence
from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning
from indexer.languages.letters import fold
from indexer.languages.words import common_affixes, normalise, parse
from indexer.library.named import PACKED, read_text
from indexer.sources.folders import reason_of
from indexer.sources.npm import (
    PACKAGES,
    About,
    Package,
    clean,
    describe,
    is_package,
    listed,
    packages_in,
    read_descriptions,
    spaced,
)
from indexer.sources.records import IconSet, load_facts

KEYWORDS, PICTURES, DRAWINGS = "keywords.txt", "pictures.txt", "drawings.tsv"
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class WrittenWords:
    """All normalised: names as icons bear them, words as people type them."""

    keywords: Lists = field(default_factory=dict)
    """By name."""
    pictures: Lists = field(default_factory=dict)
    """Names by word."""
    drawings: Lists = field(default_factory=dict)
    """Descriptions by the first digits of a picture's digest."""

    def of_drawing(self, digest: bytes) -> Sequence[str]:
        """How a picture looks; nothing where nobody wrote of it."""
        return self.drawings.get(digest.hex()[:_DIGITS], ())

    def tags_by_name(self) -> Lists:
        """Words by name, from both; keywords twice, since they were written for that name."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, words in self.keywords.items():
            found[name] += [*words, *words]
        for word, names in self.pictures.items():
            for name in names:
                found[name].append(word)
        return dict(found)


def read_written(folder: Path | None) -> WrittenWords:
    """Read the files of a folder; without one nothing is written.

    Raises:
        SourceError: a file is missing, or has a line that is no entry.
    """
    if folder is None:
        return WrittenWords()
    return WrittenWords(_entries(folder / KEYWORDS), _entries(folder / PICTURES), _drawings(folder / DRAWINGS))


def _entries_of(file: Path) -> Sequence[str]:
    packed = file.with_name(file.name + PACKED)
    if not (file.is_file() or packed.is_file()):
        raise SourceError(f'no "{file}"; give a folder of {KEYWORDS}, {PICTURES} and {DRAWINGS}')
    return read_text(file if file.is_file() else packed).splitlines()


def _drawings(file: Path) -> Lists:
    entries = {}
    for number, line in enumerate(_entries_of(file), 1):
        digits, *_, descriptions = line.split("\t")
        listed = [spelt for text in descriptions.split("|") if (spelt := normalise(text))]
        if len(digits) != _DIGITS or not listed:
            raise SourceError(f'"{file}", line {number}: "{line}" is no entry; write digest, icon and descriptions')
        entries[digits] = listed
    return entries


def _entries(file: Path) -> Lists:
    entries = {}
    for number, line in enumerate(_entries_of(file), 1):
        key, _, words = line.partition(": ")
        listed = dict.fromkeys(spelt for word in words.split(", ") if (spelt := normalise(word)))
        if not (normalise(key) and listed):
            raise SourceError(f'"{file}", line {number}: "{line}" is no entry; write "trash: bin, rubbish"')
        entries[normalise(key)] = list(listed)
    return entries


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


def read_words(location: Path) -> tuple[IconSet, dict[str, About]]:
    """Read what a package says about icons, by path or file name; a package that is not known says nothing.

    Raises:
        SourceError: a file of it can't be read, or is not built as is known.
    """
    icon_set = describe(location)
    problems: dict[str, Exception] = {}
    found = read_descriptions((PACKAGES | WORDS).get(icon_set.key, Package(())), location, problems)
    for file, error in problems.items():
        raise SourceError(f'"{location / file}": {reason_of(error)}') from error
    return icon_set, found


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
    icons = named_icons(placed)
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


def emojilib(emoji: Any) -> dict[str, About]:
    """Words of each emoji, the first of which is its name."""
    words = ([spaced(word.replace("_", " ")) for word in given] for given in emoji.values())
    return {
        given[0]: About(clean(word for word in given[1:] if any(map(str.isalpha, word)))) for given in words if given
    }


def kendo(icons: Any) -> dict[str, About]:
    """Tags and aliases; categories stand among the tags."""
    return {
        icon["name"]: About(
            clean(
                [*(tag for tag in icon.get("tags", ()) if tag not in icon["categories"]), *map(spaced, icon["aliases"])]
            ),
            clean(icon["categories"]),
        )
        for icon in icons
    }


def proicons(code: str) -> dict[str, About]:
    """Calls that make icons; names are words, "Add Circle"."""
    return {
        name.lower().replace(" ", "-"): About(clean(re.findall(r'"([^"\n]{1,100})"', words)))
        for name, words in _PROICON.findall(code)
    }


_PROICON = re.compile(r'\bname: "([^"\n]{1,100})",\s+tags: \[([^\]]{0,5000})\]')


def vibe(code: str) -> dict[str, About]:
    """A list of objects without line breaks; names as of components, tags with commas between."""
    return {name: About(clean(words.split(","))) for name, words in _VIBE_ICON.findall(code)}


_VIBE_ICON = re.compile(r'\{name:"(\w+)",file:"[^"]{1,200}"(?:,description:"[^"]{0,500}")?,tags:"([^"]{0,1000})"')


WORDS = {
    "@blueprintjs/icons": Package((), ("icons.json",), listed("iconName", "tags")),
    "@icon-park/svg": Package((), ("icons.json",), listed("name", "title", "tag", categories="category")),
    "@progress/kendo-svg-icons": Package((), ("dist/icons.json",), kendo),
    "@vibe/icons": Package((), ("dist/iconsMetaData.js",), vibe),
    "emojilib": Package((), ("dist/emoji-en-US.json",), emojilib),
    "proicons": Package((), ("dist/cjs/proicons.cjs",), proicons),
}
"""Packages that say something of icons, and whose own pictures are no set."""
