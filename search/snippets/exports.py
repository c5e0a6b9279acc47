"""What does a package of a set export for an icon? Checked against the packages themselves; where nothing, said so.

Each family has a rule. What the rule gets wrong of all icons that Iconify's sets and the packages of pictures hold
stands in data/snippets/exports.json: names that are exported as another's ("notifications" is mdiBell), and names that
are not exported at all. `python tests/search/snippets/test_exports.py NODE_MODULES` makes it again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from indexer.errors import IconsError
from indexer.library.bundled import bundled
from search.snippets.drawn import NamedIcon
from search.snippets.frameworks import Framework
from search.snippets.keys import folders, font_awesome_style

GLOBALS = frozenset((
    "Array", "Boolean", "Date", "Error", "File", "Function", "History", "Image", "Infinity", "Link", "Map", "Math",
    "Navigation", "Notification", "Number", "Object", "Option", "Proxy", "Range", "Screen", "Set", "String", "Symbol",
    "Text", "Touch", "Worker",
))  # fmt: skip
"""What a script would miss if an icon took its name: such an icon is called MapIcon."""
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""As all these packages spell icons."""
_WEIGHT = re.compile(r"(.+)-(thin|light|bold|fill|duotone)")
_HEROICON = re.compile(r"(.+?)(?:-(16|20))?-solid")
_AFTER_DIGIT = re.compile(r"(?<=[0-9])[a-z]")


@dataclass(frozen=True, slots=True)
class Export:
    """What is imported for one icon."""

    module: str
    name: str
    weight: str | None = None
    """Of Phosphor, whose components take it as a property."""
    folder: str = ""
    """What tells its module from others of its family."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the rule of a family looks for an icon."""

    base: str
    """The name that is put in capitals."""
    folder: str = ""
    """What the module's name is filled in with, and, behind the family, whose exceptions hold."""
    weight: str | None = None


@dataclass(frozen=True, slots=True)
class Exceptions:
    """What the rule gets wrong."""

    instead: Mapping[str, str]
    absent: frozenset[str]


@cache
def exceptions() -> Mapping[str, Exceptions]:
    """Read them, by family and folder."""
    written = json.loads(bundled("snippets/exports.json").read_bytes())
    return {
        family: Exceptions(
            {name: other for other, names in kinds["instead"].items() for name in names.split()},
            frozenset(kinds["absent"].split()),
        )
        for family, kinds in written.items()
    }


def exported(icon: NamedIcon, framework: Framework) -> Export:
    """Tell what a framework's package exports for an icon of a set that it serves.

    Raises:
        IconsError: nothing, or nothing that could be imported.
    """
    place = _PLACES[framework.family](icon)
    known = exceptions().get(f"{framework.family} {place.folder}".strip())
    base = known.instead.get(place.base, place.base) if known else place.base
    spelt = _SPELT.get(framework.family, capitals)(base)
    if (known and base in known.absent) or not _NAME.fullmatch(base):
        raise IconsError(
            f'"{icon.key}" is not exported by {framework.packages[0]}; --format {_INSTEAD[framework.language]} writes '
            "the drawing itself"
        )
    return Export(framework.module.format(place.folder), framework.spelling.format(spelt), place.weight, place.folder)


def local_names(exports: Sequence[Export]) -> list[str]:
    """What exports are called in a script that imports them: of two modules' faStar the second is faStarRegular."""
    taken: dict[str, tuple[str, str]] = {}
    names = []
    for one in exports:
        plain, itself = free_name(one.name), (one.module, one.name)
        name = plain if taken.get(plain, itself) == itself else f"{plain}{capitals(one.folder)}"
        taken[name] = itself
        names.append(name)
    return names


def free_name(name: str) -> str:
    """A name that hides none that every script knows."""
    return f"{name}Icon" if name in GLOBALS else name


def capitals(name: str) -> str:
    """`arrow-left` -> `ArrowLeft`."""
    return "".join(word[0].upper() + word[1:] for word in _BETWEEN.split(name) if word)


def _heroicon_capitals(name: str) -> str:
    """`squares-2x2` -> `Squares2X2`."""
    return _AFTER_DIGIT.sub(lambda letter: letter[0].upper(), capitals(name))


def _plain(icon: NamedIcon) -> _Place:
    return _Place(icon.name)


def _tabler(icon: NamedIcon) -> _Place:
    """The package of pictures has outline and filled icons of one name, Iconify tells them apart by name."""
    is_filled = icon.set.startswith("@") and "filled" in folders(icon)
    return _Place(f"{icon.name}-filled" if is_filled else icon.name)


def _phosphor(icon: NamedIcon) -> _Place:
    weight = _WEIGHT.fullmatch(icon.name)
    return _Place(weight[1], weight=weight[2]) if weight else _Place(icon.name)


def _heroicon(icon: NamedIcon) -> _Place:
    """By the name's end (Iconify), or by folders (the package of pictures)."""
    if said := _HEROICON.fullmatch(icon.name):
        return _Place(said[1], f"{said[2] or 24}/solid")
    told = folders(icon)
    if "solid" in told:
        return _Place(icon.name, f"{next((size for size in ('16', '20') if size in told), '24')}/solid")
    return _Place(icon.name, "24/outline")


def _font_awesome(icon: NamedIcon) -> _Place:
    return _Place(icon.name, font_awesome_style(icon))


_PLACES = {
    "lucide": _plain,
    "tabler": _tabler,
    "phosphor": _phosphor,
    "heroicons": _heroicon,
    "mdi": _plain,
    "font-awesome": _font_awesome,
}
_SPELT = {"heroicons": _heroicon_capitals}
_INSTEAD = {"tsx": "react", "vue": "vue", "svelte": "svelte"}
"""The format that draws an icon in a framework's language."""
