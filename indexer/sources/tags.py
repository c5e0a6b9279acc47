"""What do npm packages say about their icons? One reader a package, from its own file to one form.

A reader takes the package's folder and returns what is said, keyed by the icon's path within its tree of SVGs or by its
file name, without the suffix. To teach another package, write one and name it in `npm.PACKAGES`.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.reading import MAX_TEXT, load_facts, read_regular


@dataclass(frozen=True, slots=True)
class About:
    """What a package says about one icon; `name` where the file name is only a code."""

    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    name: str | None = None


TagReader = Callable[[Path], dict[str, About]]


def read_tags(reader: TagReader, package: Path) -> dict[str, About]:
    """Run a reader.

    Raises:
        OSError: its file is missing.
        SourceError: its file is not built as the reader knows it.
    """
    try:
        return reader(package)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"tags in an unknown form: {type(error).__name__}: {error}") from error


def lucide(package: Path) -> dict[str, About]:
    """`tags.json`: name -> tags."""
    return {name: About(_clean(tags)) for name, tags in load_facts(package, "tags.json").items()}


def tabler(package: Path) -> dict[str, About]:
    """`icons.json`: name -> category, tags."""
    icons = load_facts(package, "icons.json").items()
    return {name: About(_clean(icon["tags"]), _clean([icon["category"]])) for name, icon in icons}


def material(package: Path) -> dict[str, About]:
    """`meta.json`: what is called tags there are categories, and the aliases are what one would search."""
    icons = load_facts(package, "meta.json")
    return {icon["name"]: About(_clean(map(_spaced, icon["aliases"])), _clean(icon["tags"])) for icon in icons}


def phosphor(package: Path) -> dict[str, About]:
    """`dist/index.mjs`: JavaScript, of which three literals are read, and nothing is run."""
    code = _load_code(package, "dist", "index.mjs")
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
    if not found:
        raise SourceError("tags in an unknown form: no icons in dist/index.mjs")
    return found


_MAX_CODE_BYTES = 4_000_000
_STRING = re.compile(r'"(?:[^"\\]|\\.){0,500}+"')
_ENUM = re.compile(r"\(\((\w+)\) => \((.{0,5000}?), \1\)\)\((\w+) \|\|", re.DOTALL)
_PHOSPHOR_ICON = re.compile(
    rf"\bname: (?P<name>{_STRING.pattern}),\s*pascal_name: {_STRING.pattern},\s*"
    rf"(?:alias: \{{\s*name: (?P<alias>{_STRING.pattern})[^}}]{{0,500}}\}},\s*)?"
    rf"categories: \[(?P<categories>[^\]]{{0,5000}})\],\s*figma_category: [\w.]+,\s*"
    rf"tags: \[(?P<tags>(?:[^\]\"]|{_STRING.pattern}){{0,5000}})\]"
)


def carbon(package: Path) -> dict[str, About]:
    """`metadata.json`: aliases, category and subcategory of each file."""
    found = {}
    for icon in load_facts(package, "metadata.json")["icons"]:
        description = About(
            _clean([icon.get("friendlyName", ""), *icon.get("aliases", ())]),
            _clean([icon.get("category", ""), icon.get("subcategory", "")]),
        )
        for asset in icon["assets"]:
            found[asset["filepath"].removesuffix(".svg")] = description
    return found


def font_awesome(package: Path) -> dict[str, About]:
    """`metadata/icon-families.json`: search terms, the label and former names."""
    found = {}
    for name, icon in load_facts(package, "metadata", "icon-families.json").items():
        aliases = icon.get("aliases", {}).get("names", ())
        found[name] = About(_clean([icon.get("label", ""), *icon["search"]["terms"], *map(_spaced, aliases)]))
        # Some versions ship the picture once more under each former name.
        found.update({alias: found[name] for alias in aliases if alias not in found})
    return found


def ionicons(package: Path) -> dict[str, About]:
    """`dist/ionicons.json`: tags of each icon, the style among them left out."""
    icons = load_facts(package, "dist", "ionicons.json")["icons"]
    return {
        icon["name"]: About(_clean(tag for tag in icon["tags"] if tag not in ("outline", "sharp"))) for icon in icons
    }


def octicons(package: Path) -> dict[str, About]:
    """`build/data.json`: keywords of each icon, for all its heights."""
    return {name: About(_clean(icon["keywords"])) for name, icon in load_facts(package, "build", "data.json").items()}


def openmoji(package: Path) -> dict[str, About]:
    """`data/openmoji.json`: files are called by code points, the annotation is the name."""
    found = {}
    for emoji in load_facts(package, "data", "openmoji.json"):
        tags = [emoji["emoji"], *emoji["tags"].split(","), *emoji["openmoji_tags"].split(",")]
        categories = [_spaced(emoji["group"]), _spaced(emoji["subgroups"])]
        [name] = _clean([emoji["annotation"]])
        found[emoji["hexcode"]] = About(_clean(tags), _clean(categories), name)
    return found


def atlaskit(package: Path) -> dict[str, About]:
    """`dist/es2019/metadata-core.js`: JavaScript, of which the keywords are read, and nothing is run."""
    code = _load_code(package, "dist", "es2019", "metadata-core.js")
    found = {}
    for name, keywords in _ATLASKIT_ICON.findall(code):
        words = (word.strip().strip("'\"") for word in keywords.split(","))
        found[name] = About(_clean(word for word in words if word not in ("icon", name, name.replace("-", ""))))
    if not found:
        raise SourceError("tags in an unknown form: no icons in dist/es2019/metadata-core.js")
    return found


_ATLASKIT_ICON = re.compile(r"^  '?([\w-]+)'?: \{\s*keywords: \[([^\]]{0,5000})\]", re.MULTILINE)


def codicons(package: Path) -> dict[str, About]:
    """`dist/metadata.json`: name -> tags, category."""
    icons = load_facts(package, "dist", "metadata.json").items()
    return {name: About(_clean(icon["tags"]), _clean([icon["category"]])) for name, icon in icons}


def vaadin(package: Path) -> dict[str, About]:
    """`assets/vaadin-font-icons.json`: `meta` is what one would search."""
    icons = load_facts(package, "assets", "vaadin-font-icons.json")
    return {icon["name"]: About(_clean(icon.get("meta", ())), _clean(icon.get("categories", ()))) for icon in icons}


def _load_code(package: Path, *names: str) -> str:
    """Read JavaScript that literals are taken from; patterns are searched in it, so it has to be short."""
    inside = os.path.realpath(package)
    return read_regular(package.joinpath(*names), limit=_MAX_CODE_BYTES, inside=inside).decode()


def _spaced(name: str) -> str:
    return name.replace("-", " ")


def _clean(words: Iterable[object]) -> tuple[str, ...]:
    """Strip words, drop repetitions, empty ones and those too long to be words, keep their order."""
    spelled = (str(word).encode(errors="replace").decode().strip() for word in words)
    return tuple(dict.fromkeys(word for word in spelled if 0 < len(word) <= MAX_TEXT))
