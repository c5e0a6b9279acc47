"""What npm packages say about their icons, one reader a form: JSON, CSV, JavaScript, YAML.

A reader takes what the file holds and returns what is said, keyed by the icon's path within its tree of SVGs or by its
file name, without the suffix. To teach another package, name it in `npm.PACKAGES` with its file and the reader.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.sources.records import MAX_TEXT, load_facts, read_regular


@dataclass(frozen=True, slots=True)
class About:
    """What a package says about one icon; `name` where the file name is only a code."""

    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    name: str | None = None

    def joined(self, other: "About") -> "About":
        """Add what another file says about the same icon."""
        return About(
            clean((*self.tags, *other.tags)), clean((*self.categories, *other.categories)), self.name or other.name
        )


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


def listed(name: str, *words: str, categories: str = "", apart: Iterable[str] = ()) -> TagReader:
    """Make a reader of icons in a list, or by name in an object; `name` and `words` are keys of each.

    Under `words` stand lists, or text with commas. What is `apart` stands among them and says nothing of an icon.
    """
    dropped = {*apart, ""}

    def read(icons: Any) -> dict[str, About]:
        icons = icons["icons"] if isinstance(icons, dict) and isinstance(icons.get("icons"), list) else icons
        rows = icons.items() if isinstance(icons, dict) else ((icon[name], icon) for icon in icons)
        found: dict[str, About] = {}
        for key, icon in rows:
            said = [word for field in words for word in _several(icon.get(field))]
            about = About(clean(word for word in said if word not in dropped), clean(_several(icon.get(categories))))
            found[key] = found[key].joined(about) if key in found else about
        return found

    return read


def lucide(icons: Any) -> dict[str, About]:
    """Name -> tags."""
    return {name: About(clean(tags)) for name, tags in icons.items()}


def material(icons: Any) -> dict[str, About]:
    """What is called tags there are categories, and the aliases are what one would search."""
    return {icon["name"]: About(clean(map(spaced, icon["aliases"])), clean(icon["tags"])) for icon in icons}


def carbon(metadata: Any) -> dict[str, About]:
    """Aliases, category and subcategory of each file."""
    found = {}
    for icon in metadata["icons"]:
        description = About(
            clean([icon.get("friendlyName", ""), *icon.get("aliases", ())]),
            clean([icon.get("category", ""), icon.get("subcategory", "")]),
        )
        for asset in icon["assets"]:
            found[asset["filepath"].removesuffix(".svg")] = description
    return found


def font_awesome(icons: Any) -> dict[str, About]:
    """Search terms, the label and former names."""
    found: dict[str, About] = {}
    for name, icon in icons.items():
        aliases = icon.get("aliases", {}).get("names", ())
        found[name] = About(clean([icon.get("label", ""), *icon["search"]["terms"], *map(spaced, aliases)]))
        # Some versions ship the picture once more under each former name.
        found.update({alias: found[name] for alias in aliases if alias not in found})
    return found


def openmoji(emojis: Any) -> dict[str, About]:
    """Files are called by code points, the annotation is the name."""
    found = {}
    for emoji in emojis:
        tags = [emoji["emoji"], *emoji["tags"].split(","), *emoji["openmoji_tags"].split(",")]
        categories = [spaced(emoji["group"]), spaced(emoji["subgroups"])]
        [name] = clean([emoji["annotation"]])
        found[emoji["hexcode"]] = About(clean(tags), clean(categories), name)
    return found


def healthicons(icons: Any) -> dict[str, About]:
    """Title and tags; some tags are names in another program, "dhis2:war"."""
    return {
        icon["path"]: About(
            clean([icon["title"], *(tag for tag in icon["tags"] if ":" not in tag)]), (icon["category"],)
        )
        for icon in icons
    }


def _several(value: object) -> list[Any]:
    """Take a list, or text with commas between."""
    return value if isinstance(value, list) else [part.strip() for part in str(value or "").split(",")]


def spaced(name: str) -> str:
    """Spell a name as words."""
    return name.replace("-", " ")


def clean(words: Iterable[object]) -> tuple[str, ...]:
    """Strip words, drop repetitions, empty ones and those too long to be words, keep their order."""
    spelled = (str(word).encode(errors="replace").decode().strip() for word in words)
    return tuple(dict.fromkeys(word for word in spelled if 0 < len(word) <= MAX_TEXT))


def phosphor(code: str) -> dict[str, About]:
    """JavaScript, of which three literals are read."""
    enums = {}
    for parameter, members, variable in _ENUM.findall(code):
        for key, value in re.findall(rf'\b{parameter}\.(\w+) = ("(?:[^"\\]|\\.)*")', members):
            enums[f"{variable}.{key}"] = json.loads(value)
    found = {}
    for icon in _PHOSPHOR_ICON.finditer(code):
        categories = [enums[member] for member in re.findall(r"\w+\.\w+", icon["categories"])]
        alias = [spaced(json.loads(icon["alias"]))] if icon["alias"] else []
        tags = [tag for tag in map(json.loads, _STRING.findall(icon["tags"])) if not tag.startswith("*")]
        found[json.loads(icon["name"])] = About(clean([*alias, *tags]), clean(categories))
    return found


_STRING = re.compile(r'"(?>(?:[^"\\]|\\.){0,500})"')
_ENUM = re.compile(r"\(\((\w+)\) => \((.{0,5000}?), \1\)\)\((\w+) \|\|", re.DOTALL)
_PHOSPHOR_ICON = re.compile(
    rf"\bname: (?P<name>{_STRING.pattern}),\s*pascal_name: {_STRING.pattern},\s*"
    rf"(?:alias: \{{\s*name: (?P<alias>{_STRING.pattern})[^}}]{{0,500}}\}},\s*)?"
    rf"categories: \[(?P<categories>[^\]]{{0,5000}})\],\s*figma_category: [\w.]+,\s*"
    rf"tags: \[(?P<tags>(?:[^\]\"]|{_STRING.pattern}){{0,5000}})\]"
)


def atlaskit(code: str) -> dict[str, About]:
    """JavaScript, of which the keywords are read."""
    found = {}
    for name, keywords in _ATLASKIT_ICON.findall(code):
        words = (word.strip().strip("'\"") for word in keywords.split(","))
        apart = ("icon", "icon-lab", name, name.replace("-", ""))
        found[name] = About(clean(word for word in words if word not in apart))
    return found


_ATLASKIT_ICON = re.compile(r"^  '?([\w-]+)'?: \{\s*keywords: \[([^\]]{0,5000})\]", re.MULTILINE)


def aksel(code: str) -> dict[str, About]:
    """JavaScript around an object; keywords are English and Norwegian."""
    icons = json.loads(code[code.index("{") : code.rindex("}") + 1])
    return listed("id", "keywords", categories="category")(icons)


def grommet(code: str) -> dict[str, About]:
    """JavaScript, names as of components: `AddCircle: ['create', 'plus']`."""
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "-", name).lower(): About(clean(re.findall(r"'([^'\n]{1,100})'", words)))
        for name, words in _GROMMET_ICON.findall(code)
    }


_GROMMET_ICON = re.compile(r"^  (\w+): \[([^\]]{0,5000})\]", re.MULTILINE)


def red_hat(code: str) -> dict[str, About]:
    """YAML, of which the accepted metaphors are read."""
    return {
        name: About(clean(line.strip().removeprefix("- ").strip("\"'") for line in metaphors.splitlines()))
        for name, metaphors in _RED_HAT_ICON.findall(code)
    }


_RED_HAT_ICON = re.compile(
    r"^ +icon: \"?([\w-]+)\"?\n(?:(?! *- name:).*\n){0,20}? +accepted_metaphors:\n((?: +- (?!name:).*\n)+)",
    re.MULTILINE,
)
