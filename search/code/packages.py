"""npm packages of components: how each writes its icons, which sets belong together."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from indexer.library.bundled import bundled
from search.drawings.frameworks import capitals


@cache
def tables() -> Mapping[str, Any]:
    """What is known of packages, fonts and elements: `data/references/code.toml` says what each table holds."""
    return tomllib.loads(bundled("references/code.toml").read_text("utf-8"))


@cache
def words(name: str) -> tuple[str, ...]:
    """One of its lists."""
    return tuple(tables()["words"][name].split())


_STYLE = re.compile(
    r"-(?:solid|regular|brands|outline|outlined|filled|light|sharp|rounded|thin|bold|duotone|twotone|mini|micro|color|line)$"
)


def family_of(key: str) -> str:
    """The family of a set: `fa6-solid` and `fa6-regular` are fa, `bxs` is bx."""
    version = re.match(r"(fa|heroicons)\d*\b", key)
    return {"mdi-light": key, "bxs": "bx"}.get(key) or (version[1] if version else _STYLE.sub("", key))


def design_of(key: str) -> str:
    """What a set is a version of: `fa6-solid` and `fa7-solid` are one."""
    return re.sub("^fa[67]?-(?=solid|regular|brands)", "font-awesome ", key)


_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])"  # arrow|Left, trash|2
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # A|Arrow
    r"|(?<=[A-Z])(?=[0-9])"  # H|1
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 3|Bars
)


@dataclass(frozen=True, slots=True)
class Look:
    """One way to write a set's names: `begins` + Name + `ends` is the icon `before` + name + `after` of `set`."""

    set: str
    begins: str = ""
    ends: str = ""
    before: str = ""
    after: str = ""
    case: str = ""
    """"camel" where it begins in lower case, as what is no component does."""

    def read(self, component: str) -> str | None:
        """The name that a component tells, where it is written so."""
        body = component.removeprefix(self.begins).removesuffix(self.ends)
        is_name = body and (body[0].isupper() or body[0].isdigit() or self.case)
        is_read = is_name and len(body) + len(self.begins) + len(self.ends) == len(component)
        return f"{self.before}{kebab(body)}{self.after}" if is_read else None  # `Tiara` is no icon of `Ti`

    def spell(self, name: str) -> str | None:
        """The component of a name, where this look has it."""
        body = name.removeprefix(self.before).removesuffix(self.after)
        spelt = f"{self.begins}{capitals(body)}{self.ends}"
        is_spelt = len(body) + len(self.before) + len(self.after) == len(name) and body.isascii() and body
        return (spelt[0].lower() + spelt[1:] if self.case else spelt) if is_spelt else None


def read_component(looks: Sequence[Look], component: str) -> list[tuple[str, str]]:
    """All (set, name) that a component may mean by some looks, the likeliest first."""
    return list(dict.fromkeys((look.set, name) for look in looks if (name := look.read(component))))


def spell_component(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> str | None:
    """Write a name as a component, in the look that another component has where that can be."""
    fitting = [look for look in looks if look.set in sets]
    liked_first = sorted(fitting, key=lambda look: look.read(like) is None)
    return next((spelt for look in liked_first if (spelt := look.spell(name))), None)


def kebab(component: str) -> str:
    """ArrowLeft -> arrow-left, Trash2 -> trash-2, Grid2x2 -> grid-2x2."""
    return "-".join(_HUMP.split(component)).replace("_", "-").lower()


def folded(name: str) -> str:
    """A name without what a component cannot tell: arrow-down-a-z -> arrowdownaz."""
    return re.sub("[^a-z0-9]+", "", name.lower())


@dataclass(frozen=True, slots=True)
class Components:
    """What a module exports."""

    form: str
    looks: Sequence[Look]
    others: frozenset[str] = frozenset()
    """What it exports beside icons."""


_LOOK = re.compile(r"(?P<set>.+):(?P<before>.*)\*(?P<after>.*) = (?P<begins>\S*)\*(?P<ends>\S*)(?: (?P<case>camel))?")


@cache
def modules() -> Mapping[str, Components]:
    """What the modules export that components are imported from."""
    found: dict[str, Components] = {}
    for kind, alike in tables()["modules"].items():
        others = frozenset(tables()["others"][kind].split())
        for names, written in alike.items():
            looks = tuple(Look(**look.groupdict("")) for look in map(_LOOK.fullmatch, written) if look)
            found |= {one: Components(f"import {one}", looks, others) for one in names.split()}
    return found


_WHERE = re.compile(r"^(@[\w.-]+/)?[\w.-]+")
_OF_ICONS = re.compile(r"(?<!lex)(?<!sil)(?<!fav)(?<!emot)icons?(?![a-z])|iconsax")
_TOOLS = re.compile(r"@iconify(?:-json)?/|@(?:unocss|nuxt|types)/|(?:iconify-icon|unplugin-icons|astro-icon)$|.*plugin")
"""Packages whose names say "icon", and that export none."""
_INNER = re.compile(r"(?:/(?:dist|esm?|cjs|lib|umd|build|icons|index))*(?:\.[mc]?js)?$")
"""What leads to the one file that exports all."""
_OF_ICONIFY = re.compile(r"@iconify(?:-icons/|/icons-)([a-z0-9-]+)$")


def package_of(specifier: str) -> str:
    """The package of a module: `react-icons/fa6` -> `react-icons`."""
    return found[0] if (found := _WHERE.match(specifier)) else ""


_LONGEST = 200


def components_of(module: str) -> Components | None:
    """What a module exports; of one that no table knows where its package says that it holds icons."""
    package = package_of(module[:_LONGEST])
    inner = module[len(package) : _LONGEST].removesuffix(f"/{package.rpartition('/')[2]}")
    whole = f"{package}{_INNER.sub('', inner)}"
    if known := modules().get(module) or modules().get(whole):
        return known
    of_set = _OF_ICONIFY.match(package)
    if whole != package or (not of_set and (not _OF_ICONS.search(package) or _TOOLS.match(package))):
        return None
    return Components(
        f"import {module}",
        (Look(of_set[1] if of_set else package, case="camel"),),
        frozenset(tables()["others"]["general"].split()),
    )


def components_above(module: str) -> Components | None:
    """What the module exports that another is a part of: `@mui/icons-material` for `@mui/icons-material/Home`."""
    package = package_of(module)
    found = components_of(module.rpartition("/")[0]) or components_of(package)
    if found and found.form == f"import {package}" and package not in modules():
        return replace(found, form=package)  # its parts may export what it does not
    return found
