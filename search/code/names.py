"""Icons that code names: in strings, attributes, classes, ligatures and imports."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

from indexer.errors import IconsError
from search.code.files import (
    LONGEST,
    Components,
    Project,
    components_above,
    components_of,
    kebab,
    modules,
    read_code,
    read_component,
    tables,
    words,
)
from search.code.syntax import CONTENT, Code, Import, Span, Text, parse
from search.drawings.frameworks import iconify_sets


class Reference(NamedTuple):
    """One place that names an icon."""

    start: int
    """`text[start:end]` of the file's text, decoded as UTF-8 with its line ends as they are, is exactly what names the
    icon: both are offsets in characters, not bytes."""
    end: int
    form: str
    """How it is named: "import lucide-react", "iconify", "unocss", "class mdi", "sprite", "file" ..."""
    set: str = ""
    """Key of the set, as Iconify calls it; "" for icons of the project's own: its files and sprites."""
    name: str = ""
    """Of the icon in that set, as the code's form implies it; "" where only the running program knows it. Components
    lose where words end: `ArrowDownAZ` is "arrow-down-az" here, and only the set's own names tell "arrow-down-a-z"."""
    others: tuple[tuple[str, str], ...] = ()
    """What else the text may mean, (set, name): `FaGithub` is no solid icon but a brand."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it, as it stands before the "#"; "" where that is the page. Of a
    component: its module, where the code calls that otherwise than the form.
    """
    path: str = ""
    """Of the file: as the caller names it, or below what the caller names."""
    line: int = 0
    """From 1."""
    column: int = 0
    """From 1, in characters."""
    text: str = ""
    """What stands at `start:end`: `ArrowLeft`, `mdi:home`, `fa-house`."""

    @property
    def readings(self) -> Sequence[tuple[str, str]]:
        """All that the text may mean, (set, name), the likeliest first."""
        return [(self.set, self.name), *self.others]

    @property
    def module(self) -> str:
        """What it is imported from, where it is."""
        return self.form.removeprefix("import ")

    @property
    def is_component(self) -> bool:
        """Whether it is what a module exports, and not the name of a file."""
        return self.form != self.module and self.text != self.text.lower()


class Scanned(NamedTuple):
    """What one file names, by place."""

    path: str
    text: str
    references: Sequence[Reference]
    computed: Sequence[Reference]
    """Places that name an icon which only the running program knows."""
    code: Code
    problem: str = ""
    """Why it, or a part of it, was not read; without a text, all of it."""


def scan_file(path: Path, project: Project) -> Scanned:
    """Read a file; one that can't be read names nothing."""
    try:
        text = read_code(path)
    except IconsError as error:
        return Scanned(str(path), "", (), (), Code(), str(error))
    return scan(text, path=str(path), project=project)


def scan(text: str, *, path: str, project: Project) -> Scanned:
    """Read a text; `path` says what it is, and is what references say of where they stand.

    Modules of the `project` may pass on what packages have.
    """
    code = parse(text, path)
    unknown = {one.module for one in code.imports} - modules().keys()
    found = list(names_in(code, {one: project.components_of(one, Path(path).parent) for one in unknown}))
    is_test = bool(_TEST.search(path))
    starts = [len(text) - len(text.lstrip("\ufeff")), *(end.end() for end in re.finditer("\n", text))]

    def placed(one: Reference) -> Reference:
        line = bisect_right(starts, one.start)
        is_certain = one.is_certain and not (is_test and not one.form.startswith(("import ", "module")))
        placed = one._replace(path=path, line=line, column=one.start - starts[line - 1] + 1, is_certain=is_certain)
        return placed._replace(text=text[one.start : one.end])

    firsts = {one.start: placed(one) for one in reversed(found) if one.name}  # what was read first, as an import say
    # What declares something shows nothing.
    computed = [placed(one) for one in sorted({one for one in found if not one.name}) if ".d." not in Path(path).name]
    problem = "reading it takes too long" if code.is_given_up else ""
    if code.error is not None:
        problem = f"line {bisect_right(starts, code.error)} is no valid code; what follows may not have been looked up"
    return Scanned(path, text, [firsts[start] for start in sorted(firsts)], computed, code, problem)


_TEST = re.compile(r"(?:^|[/\\])(?:tests?|specs?|__tests__|__mocks__|fixtures?)[/\\]|\.(?:test|spec)\.\w+$")
"""Files whose strings and elements may be no names of icons, but examples of such."""


def names_in(code: Code, own: Mapping[str, Components | None]) -> Iterator[Reference]:
    """All names of icons; where two begin at one place, the first is what stands there."""
    for one in (one for one in code.imports if not one.is_type):
        components = own.get(one.module) or components_of(one.module)
        part_of = None if components else components_above(one.module)
        named = [name for name in one.names if not name.is_type and name.name != "default"]
        for name in named if not _HELPERS.search(one.module) else ():
            yield from _component(name.start, name.name, components or part_of)
        if part_of and not named:
            yield from _deep(one, part_of)
        if one.module.startswith(".") and (file := _FILE.fullmatch(one.module)):
            yield Reference(one.start + file.start(1), one.start + file.end(1), "module", name=file[1])
    members = {module for module, *_ in code.members}
    wholes = [one for one in code.imports if one.is_open and one.module not in members]
    for module, member, span in (*((one.module, "", (one.start, one.end)) for one in wholes), *code.members):
        part_of = components_above(module) if "${" in module else None
        if components := own.get(module) or components_of(module) or part_of:
            yield from _component(span[0], member, components) if member else [Reference(*span, components.form)]
    for text in (*code.contents, *(one for one in code.texts if one.owner in (CONTENT, "fontIcon"))):
        yield from _ligature(text)
    called = {name.local: name.name for one in code.imports for name in one.names if any(_named_by(name.name))}
    for text in code.texts:
        original = called.get(text.element.name)
        meant = text._replace(element=text.element._replace(name=original)) if original else text
        yield from _in_string(meant, code.examples)


def _component(start: int, name: str, components: Components | None) -> Iterator[Reference]:
    """An exported name; only the package itself knows what else than icons it exports."""
    if components and name not in components.others:
        readings = read_component(components.looks, name)
        (key, spelt), *others = readings or [(components.looks[0].set, kebab(name))]
        yield Reference(
            start, start + len(name), components.form, key, spelt, tuple(others), bool(readings), components.called
        )


_DEEP = re.compile(r"/([A-Za-z0-9_-]+)(?:/index)?(?:\.(?:m|c)?jsx?|\.svelte|\.vue)?$")
_HELPERS = re.compile(
    r"/(?:(?:dynamic[\w-]*|icons-list|types|utils?|iconContext)(?:\.\w+)*$|(?:components|utils|shared)/)"
)
"""Modules beside those of icons."""


def _deep(one: Import, components: Components) -> Iterator[Reference]:
    """A module of one icon: `lucide-react/icons/bell`, `@mui/icons-material/Home`, `@heroicons/.../BellIcon`."""
    word = None if _HELPERS.search(one.module) else _DEEP.search(one.module)
    start, name = (one.start + word.start(1), word[1]) if word else (0, "")
    if name and name == name.lower():  # as files are called
        yield Reference(start, start + len(name), components.form, components.looks[-1].set, name)
    elif name:
        yield from _component(start, name, components)


_TOKEN = re.compile(r"[^\s\"'`<>{}]+")
_UNO = re.compile(r"(?:i-([a-z0-9-]+):([a-z0-9-]+)|i-([a-z0-9]+(?:-[a-z0-9]+)+))(?:\?(?:mask|bg|auto))?")
_TAILWIND = re.compile(r"(?:^|(?<=[:!]))icon-\[([a-z0-9-]+?)--([a-z0-9-]+)\](?:/[\w.]+)?$")
_ICONIFY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*))--([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_BEGUN = re.compile(r"(?:^|(?<=[:!]))i-[a-z0-9-]*[-:]\$$")
"""Of `i-mdi-${name}`, before the brace."""
_NAME = re.compile(r"[a-z0-9]+(?>(?:-[a-z0-9]+)*)")


def also_of_font_awesome(key: str, name: str) -> tuple[tuple[str, str], ...]:
    """The sets of its other versions: Font Awesome goes on to know names that it had, Iconify's sets do not."""
    return tuple((key.replace("fa6", version), name) for version in ("fa7", "fa") if key.startswith("fa6-"))


def classes_in(text: Text) -> Iterator[Reference]:
    """Names among the words of a string, in their order."""
    tokens = [(text.start + found.start(), found[0]) for found in _TOKEN.finditer(text.text)]
    beside = {token for _, token in tokens}
    for start, token in (one for one in tokens if "-" in one[1] and len(one[1]) <= LONGEST):
        if begun := _BEGUN.search(token):
            yield Reference(start + begun.start(), start + len(token), "unocss")
        elif found := _uno(start, token) or _tailwind(start, token, beside) or _of_font(start, token, beside):
            yield found


def _uno(start: int, token: str) -> Reference | None:
    """`hover:i-mdi-home`: the set is the longest beginning that is one, and may be a shorter one."""
    at = 0 if token.startswith("i-") else max(token.rfind(":i-"), token.rfind("!i-")) + 1
    found = _UNO.fullmatch(token, at)
    parts = [] if found is None else found[3].split("-") if found[3] else [found[1], found[2]]
    parted = [("-".join(parts[:n]), "-".join(parts[n:])) for n in range(len(parts) - 1, 0, -1)]
    readings = [(key, name) for key, name in parted if key in iconify_sets()]
    end = start + found.end(found.lastindex or 0) if found else start
    return Reference(start + at, end, "unocss", *readings[0], tuple(readings[1:])) if readings else None


def _tailwind(start: int, token: str, beside: set[str]) -> Reference | None:
    """`icon-[mdi--home]`, or `mdi--home` beside `iconify`."""
    found = _TAILWIND.search(token) or (
        _ICONIFY.fullmatch(token) if {"iconify", "iconify-color"}.intersection(beside) else None
    )
    key, name = (found[1], found[2]) if found and found[1] in iconify_sets() else ("", "")
    return Reference(start + found.start(1), start + found.end(2), "tailwind", key, name) if found and key else None


def _of_font(start: int, token: str, beside: set[str]) -> Reference | None:
    begins = next((one for one in tables()["fonts"] if token.startswith(one)), "-")
    font, name = tables()["fonts"].get(begins, {}), token.removeprefix(begins)
    sets = ((one.split(), said.split()) for one, said in font.get("sets", {}).items())
    keys: list[str] = next((said for classes, said in sets if not classes or not beside.isdisjoint(classes)), [])
    ends = (one.removeprefix("ph") for one in font.get("ends", "").split() if one in beside)
    is_icon = token not in font.get("no_icons", "").split() and (
        begins != "ri-" or re.fullmatch("ri-.+-(?:line|fill)", token)
    )
    if not keys or not is_icon or not _NAME.fullmatch(name):
        return None
    form, spelt = f"class {begins.rstrip('-')}", f"{name}{next(ends, '')}"
    others = (*also_of_font_awesome(keys[0], spelt), *((one, spelt) for one in keys[1:]))
    return Reference(start, start + len(token), form, keys[0], spelt, others)


_FONT = re.compile(r"\bmaterial-(icons|symbols)(?:-(outlined|rounded|round|sharp|two-tone))?\b")


def _ligature(text: Text) -> Iterator[Reference]:
    """A word that Google's fonts draw as an icon."""
    name, attributes, owner = text.element.name, text.element.attributes, text.owner
    font = _FONT.search(" ".join(attributes[one].text for one in ("class", "className") if one in attributes))
    is_drawn = (
        name in words("ligatures") and (attributes.keys() - {owner, f"[{owner}]"}).isdisjoint(words("not_ligatures"))
    ) or (font is not None and name in ("i", "span", *words("ligatures")))
    if is_drawn and text.text.startswith("{") and not re.search("[\"'`]", text.text):
        yield Reference(text.start, text.end, "ligature")
    elif is_drawn and re.fullmatch("[a-z0-9]+(?>(?:_[a-z0-9]+)*)", text.text):
        style = (font[2] or "") if font else ""
        spelt, end = text.text.replace("_", "-"), tables()["ends"]["symbols"].get(style, "")
        # This font draws outlines without a style; Iconify has one icon where an outline is the same.
        ends = dict.fromkeys((f"-outline{end}", end, "-outline", ""))
        readings = [("material-symbols", f"{spelt}{one}") for one in ends]
        if font is None or font[1] == "icons":
            begin = tables()["ends"]["icons"].get(style, "baseline")
            readings = [("ic", f"{begin}-{spelt}"), ("ic", f"baseline-{spelt}"), *readings]
        yield Reference(text.start, text.end, "ligature", *readings[0], tuple(readings[1:]))


_KEY = re.compile(r"([a-z][a-z0-9]*(?>(?:-[a-z0-9]+)*)):([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_COMPUTED_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):[a-z0-9-]*+(?:\$\{|\{\{)")
_MODULE = re.compile(r"(?:~icons|virtual:icons)/([a-z0-9-]+)/([a-z0-9-]+)(?:\.\w+)?(?:\?.*)?")
_SPRITE = re.compile(r"([^\n#]*)#([\w.:-]+)")
_FILE = re.compile(
    r"(?>(?:-?!{0,2}[^!]{0,99}?(?:loader|svgr)[^!]{0,99}!)*)([^\n\"`<>{}|?#]+\.svg)(?:[?#].*)?", re.IGNORECASE
)
_OF_SRCSET = re.compile(r"(?:^|,)\s*+([^\s,]\S{0,300}?\.svg)(?=[\s,?#]|$)", re.IGNORECASE)
"""An address may hold commas, but does not end with one."""
_PUT_TOGETHER = re.compile(r"\$?\{\{?[^{}]*\}{1,2}|\$\{|\{\{")


def _named_by(element: str) -> Sequence[str]:
    """The form and the set of what the attribute `name` of an element names."""
    return next((said.split() for names, said in tables()["elements"].items() if element in names.split()), ("", ""))


def _in_string(text: Text, examples: Sequence[Span]) -> Iterator[Reference]:
    """Names in one string, in their order."""
    said, start, end = text.text, text.start, text.end
    is_computed, owner = bool(_PUT_TOGETHER.search(said)), text.owner.lower()
    meant = f"{said}/*.svg" if owner == "require.context" else _PUT_TOGETHER.sub("*", unescape(said))
    is_part = text.element.name == "use" and owner.endswith("href")
    is_icon = ("icon" in owner and "class" not in owner) or (owner == "name" and "icon" in text.element.name.lower())
    if found := _attribute(text) or (_TOKEN.fullmatch(said) and _uno(start, said)):
        yield found
    elif (key := _KEY.fullmatch(said)) and (key[1] in iconify_sets() or (is_icon and key[1] not in words("variants"))):
        form = "svgIcon" if owner == "svgicon" else "iconify"
        is_certain = is_icon or not (_is_common(key[1]) or key[2].isdigit())
        yield Reference(start, end, form, key[1], key[2], is_certain=is_certain)
    elif (key := _COMPUTED_KEY.match(said)) and key[1] in iconify_sets() and (is_icon or not _is_common(key[1])):
        yield Reference(start, end, "iconify")
    elif key := _MODULE.fullmatch(said):
        yield Reference(start + key.start(2), start + key.end(2), "unplugin-icons", key[1], key[2])
    elif not is_computed and (part := _SPRITE.fullmatch(said)) and (is_part or part[1].lower().endswith(".svg")):
        yield Reference(start + part.start(2), start + part.end(2), "sprite", name=part[2], file=part[1])
    elif owner.endswith("srcset"):
        for one in _OF_SRCSET.finditer(said):
            yield Reference(start + one.start(1), start + one.end(1), "file", name=one[1])
    elif (file := _FILE.fullmatch(meant)) and ":" not in file[1]:
        is_address = text.owner in words("addresses") or file[1].startswith(".")
        is_example = any(first <= start < last for first, last in examples)
        span = (start, end) if meant != said else (start + file.start(1), start + file.end(1))
        yield Reference(*span, "file", name=file[1], is_certain=is_address and not is_example)
    else:
        yield from classes_in(text)


def _attribute(text: Text) -> Reference | None:
    """What attributes for icons hold, and pairs of Font Awesome: `["fas", "house"]`."""
    said, owner, prefixes = text.text, text.owner, tables()["prefixes"]
    if not _NAME.fullmatch(said):
        return None
    form, key = _named_by(text.element.name) if owner == "name" else (owner, tables()["attributes"].get(owner, ""))
    is_registered = owner == "icon" and text.element.name in words("registered") and said not in prefixes
    if not key and (text.before in prefixes or is_registered):
        form, key, said = "pair", prefixes.get(text.before, "fa6-solid"), said.removeprefix("fa-")
    return Reference(text.start, text.end, form, key, said, also_of_font_awesome(key, said)) if key else None


def _is_common(prefix: str) -> bool:
    return prefix in words("common") or (len(prefix) <= 3 and prefix != "mdi")
