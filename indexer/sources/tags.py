"""What do npm packages say about their icons? One reader a package, from its own file to one form.

A reader takes what the file holds and returns what is said, keyed by the icon's path within its tree of SVGs or by its
file name, without the suffix. To teach another package, write one and name it with its file in `npm.PACKAGES`.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.sources.reading import MAX_TEXT, load_facts, read_regular


@dataclass(frozen=True, slots=True)
class About:
    """What a package says about one icon; `name` where the file name is only a code."""

    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    name: str | None = None


_MAX_CODE_BYTES = 4_000_000
"""Of JavaScript: patterns are searched in it, so it has to be short."""
TagReader = Callable[[Any], dict[str, About]]


def read_tags(reader: TagReader, package: Path, file: str) -> dict[str, About]:
    """Run a reader on a file of a package: on its JSON, or on the text of JavaScript, which is not run.

    Raises:
        OSError: its file is missing.
        SourceError: its file is not built as the reader knows it.
    """
    is_code, inside = not file.endswith(".json"), os.path.realpath(package)
    try:
        if is_code:
            found = reader(read_regular(package / file, limit=_MAX_CODE_BYTES, inside=inside).decode())
        else:
            found = reader(load_facts(package / file, inside=inside))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"tags in an unknown form: {type(error).__name__}: {error}") from error
    if is_code and not found:
        raise SourceError(f"tags in an unknown form: no icons in {file}")
    return found


def lucide(icons: Any) -> dict[str, About]:
    """Name -> tags."""
    return {name: About(_clean(tags)) for name, tags in icons.items()}


def tabler(icons: Any) -> dict[str, About]:
    """Name -> category, tags; Codicons have the same form."""
    return {name: About(_clean(icon["tags"]), _clean([icon["category"]])) for name, icon in icons.items()}


def material(icons: Any) -> dict[str, About]:
    """What is called tags there are categories, and the aliases are what one would search."""
    return {icon["name"]: About(_clean(map(_spaced, icon["aliases"])), _clean(icon["tags"])) for icon in icons}


def phosphor(code: str) -> dict[str, About]:
    """JavaScript, of which three literals are read."""
    enums = {}
    for parameter, members, variable in _ENUM.findall(code):
        for key, value in re.findall(rf'\b{parameter}\.(\w+) = ("(?:[^"\\]|\\.)*")', members):
            enums[f"{variable}.{key}"] = json.loads(value)
    found = {}
    for icon in _PHOSPHOR_ICON.finditer(code):
        categories = [enums[member] for member in re.findall(r"\w+\.\w+", icon["categories"])]
        alias = [_spaced(json.loads(icon["alias"]))] if icon["alias"] else []
        tags = [tag for tag in map(json.loads, _STRING.findall(icon["tags"])) if not tag.startswith("*")]
        found[json.loads(icon["name"])] = About(_clean([*alias, *tags]), _clean(categories))
    return found


_STRING = re.compile(r'"(?:[^"\\]|\\.){0,500}+"')
_ENUM = re.compile(r"\(\((\w+)\) => \((.{0,5000}?), \1\)\)\((\w+) \|\|", re.DOTALL)
_PHOSPHOR_ICON = re.compile(
    rf"\bname: (?P<name>{_STRING.pattern}),\s*pascal_name: {_STRING.pattern},\s*"
    rf"(?:alias: \{{\s*name: (?P<alias>{_STRING.pattern})[^}}]{{0,500}}\}},\s*)?"
    rf"categories: \[(?P<categories>[^\]]{{0,5000}})\],\s*figma_category: [\w.]+,\s*"
    rf"tags: \[(?P<tags>(?:[^\]\"]|{_STRING.pattern}){{0,5000}})\]"
)


def carbon(metadata: Any) -> dict[str, About]:
    """Aliases, category and subcategory of each file."""
    found = {}
    for icon in metadata["icons"]:
        description = About(
            _clean([icon.get("friendlyName", ""), *icon.get("aliases", ())]),
            _clean([icon.get("category", ""), icon.get("subcategory", "")]),
        )
        for asset in icon["assets"]:
            found[asset["filepath"].removesuffix(".svg")] = description
    return found


def font_awesome(icons: Any) -> dict[str, About]:
    """Search terms, the label and former names."""
    found: dict[str, About] = {}
    for name, icon in icons.items():
        aliases = icon.get("aliases", {}).get("names", ())
        found[name] = About(_clean([icon.get("label", ""), *icon["search"]["terms"], *map(_spaced, aliases)]))
        # Some versions ship the picture once more under each former name.
        found.update({alias: found[name] for alias in aliases if alias not in found})
    return found


def ionicons(facts: Any) -> dict[str, About]:
    """Tags of each icon, the style among them left out."""
    styles = ("outline", "sharp")
    return {icon["name"]: About(_clean(tag for tag in icon["tags"] if tag not in styles)) for icon in facts["icons"]}


def octicons(icons: Any) -> dict[str, About]:
    """Keywords of each icon, for all its heights."""
    return {name: About(_clean(icon["keywords"])) for name, icon in icons.items()}


def openmoji(emojis: Any) -> dict[str, About]:
    """Files are called by code points, the annotation is the name."""
    found = {}
    for emoji in emojis:
        tags = [emoji["emoji"], *emoji["tags"].split(","), *emoji["openmoji_tags"].split(",")]
        categories = [_spaced(emoji["group"]), _spaced(emoji["subgroups"])]
        [name] = _clean([emoji["annotation"]])
        found[emoji["hexcode"]] = About(_clean(tags), _clean(categories), name)
    return found


def atlaskit(code: str) -> dict[str, About]:
    """JavaScript, of which the keywords are read."""
    found = {}
    for name, keywords in _ATLASKIT_ICON.findall(code):
        words = (word.strip().strip("'\"") for word in keywords.split(","))
        found[name] = About(_clean(word for word in words if word not in ("icon", name, name.replace("-", ""))))
    return found


_ATLASKIT_ICON = re.compile(r"^  '?([\w-]+)'?: \{\s*keywords: \[([^\]]{0,5000})\]", re.MULTILINE)


def vaadin(icons: Any) -> dict[str, About]:
    """`meta` is what one would search."""
    return {icon["name"]: About(_clean(icon.get("meta", ())), _clean(icon.get("categories", ()))) for icon in icons}


def _spaced(name: str) -> str:
    return name.replace("-", " ")


def _clean(words: Iterable[object]) -> tuple[str, ...]:
    """Strip words, drop repetitions, empty ones and those too long to be words, keep their order."""
    spelled = (str(word).encode(errors="replace").decode().strip() for word in words)
    return tuple(dict.fromkeys(word for word in spelled if 0 < len(word) <= MAX_TEXT))
