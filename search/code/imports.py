"""Icons that a code imports: by name, by module, as a whole, or lazily."""

import re
from collections.abc import Iterator, Mapping, Sequence

from search.code.packages import MODULES, Components, kebab, package_of, read_component
from search.code.reading import Named, Unreadable

_FROM = re.compile(
    r"\b(?:import|export)\s++(?:type\s++(?!from\b))?"
    r"(?:(?P<default>(?!from\b)[A-Za-z_$][\w$]*+)\s*+,?+\s*+)?"
    r"(?:\*\s*+as\s++(?P<all>[A-Za-z_$][\w$]*+)|\{(?P<names>[^{}]{0,40000})\})?"
    r"\s*+from\s*+[\"'](?P<module>[@~\w./-]{1,200})[\"']"
)
_REQUIRED = re.compile(
    r"\b(?:const|let|var)\s++(?:\{(?P<names>[^{}]{0,40000})\}|(?P<all>[A-Za-z_$][\w$]*+))\s*+=\s*+(?:await\s++)?"
    r"(?:require|import)\(\s*+[\"'](?P<module>[@~\w./-]{1,200})[\"']\s*+\)"
)
_LOADED = re.compile(
    r"\b(?:require|import)\(\s*+[\"'](?P<module>[@~\w./-]{1,200})[\"']\s*+\)"
    r"|\bimport\s*+[\"'](?P<own>[@~\w./-]{1,200})[\"']"
)
_NAME = re.compile(r"(?:^|,)\s*(?P<type>type\s+)?(?P<name>[A-Za-z_$][\w$]*+)")
_MEMBER = re.compile(
    r"(?<![\w$.])(?P<whole>[A-Za-z_$][\w$]*+)"
    r"(?:\.(?P<name>[A-Za-z_$][\w$]*+)|\[\s*+[\"'`](?P<word>[A-Za-z_$][\w$]*+)[\"'`]\s*+\]|(?P<any>\[))"
)
_DEEP = re.compile(r"(?:^|/)([A-Za-z0-9_-]+)(?:\.(?:m|c)?jsx?|\.svelte|\.vue)?$")


def imports_in(code: str) -> Iterator[Named | Unreadable]:
    """Names that are imported, in the order of the forms of imports."""
    wholes: dict[str, Components] = {}
    for pattern in (_FROM, _REQUIRED):
        for found in pattern.finditer(code):
            components = MODULES.get(found["module"])
            if components is None:
                # A module of one icon; what is loaded is read by its own pattern.
                if pattern is _FROM and (deep := _deep(found, "module")) is not None:
                    yield deep
                continue
            if found["names"] is not None:
                yield from _names(found, components)
            if found["all"]:
                wholes[found["all"]] = components
    for found in _LOADED.finditer(code):
        group = "module" if found["module"] else "own"
        if (deep := _deep(found, group)) is not None:
            yield deep
    if wholes:
        yield from _members(wholes, code)


def _names(found: re.Match[str], components: Components) -> Iterator[Named]:
    start = found.start("names")
    for one in _NAME.finditer(found["names"]):
        if one["type"] is None:
            yield from _component(start + one.start("name"), one["name"], components)


def _component(start: int, name: str, components: Components) -> Iterator[Named]:
    if name in components.others:
        return
    readings: Sequence[tuple[str, str]] = read_component(components.looks, name)
    if readings:
        (key, spelt), *others = readings
        yield Named(start, start + len(name), key, spelt, components.form, tuple(others))
    else:  # only the package itself knows what else it exports
        key = components.looks[0].set
        yield Named(start, start + len(name), key, kebab(name), components.form, is_certain=False)


def _members(wholes: Mapping[str, Components], code: str) -> Iterator[Named | Unreadable]:
    """`Icons.Bell`, `Icons["Bell"]` of `import * as Icons`; `Icons[name]` is known to the running program alone."""
    for found in _MEMBER.finditer(code):
        components = wholes.get(found["whole"])
        if components is None:
            continue
        if found["any"]:
            yield Unreadable(found.start(), found.end(), components.form)
        else:
            group = "name" if found["name"] else "word"
            yield from _component(found.start(group), found[group], components)


def _deep(found: re.Match[str], group: str) -> Named | None:
    """A module of one icon: `lucide-react/icons/bell`, `@mui/icons-material/Home`."""
    module = found[group]
    package = package_of(module)
    components = MODULES.get(package) or MODULES.get(_longest(module))
    word = _DEEP.search(module)
    if components is None or word is None or module in MODULES or not module.startswith(f"{package}/"):
        return None
    start, end = found.start(group) + word.start(1), found.start(group) + word.end(1)
    name = word[1]
    if name == name.lower():  # as files are called
        return Named(start, end, components.looks[-1].set, name, components.form)
    readings = read_component(components.looks, name) if name not in components.others else []
    if not readings:
        return None
    (key, spelt), *others = readings
    return Named(start, end, key, spelt, components.form, tuple(others))


def _longest(module: str) -> str:
    """The module that a deeper one lies in: `@heroicons/react/24/outline/BellIcon`."""
    return module.rpartition("/")[0]
