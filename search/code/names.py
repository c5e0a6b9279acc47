"""Icons that code names: in strings, attributes, classes, ligatures and imports."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from search.code.packages import MODULES, Components, components_above, components_of, kebab, read_component
from search.code.reading import Reference
from search.code.syntax import Code, Import, Text, parse
from search.drawings.drawn import iconify_sets


class Scanned(NamedTuple):
    """What one text names, by place."""

    references: Sequence[Reference]
    computed: Sequence[Reference]
    """Places that name an icon which only the running program knows."""
    code: Code
    problem: str = ""
    """Why a part of it was not read."""


def scan(text: str, *, path: str, own: Callable[[str], Components | None] = lambda _: None) -> Scanned:
    """Read a text; `path` says what it is, and is what references say of where they stand.

    `own` says what icons a module of the project itself passes on.
    """
    code = parse(text, path)
    unknown = {one.module for one in code.imports} - MODULES.keys()
    found = list(names_in(code, {module: components for module in unknown if (components := own(module))}))
    starts = [0, *(end.end() for end in re.finditer("\n", text))]
    is_test = bool(_TEST.search(path))

    def placed(one: Reference) -> Reference:
        line, written = bisect_right(starts, one.start), text[one.start : one.end]
        is_certain = one.is_certain and not (is_test and not one.form.startswith("import "))
        column = one.start - starts[line - 1] + 1
        return one._replace(path=path, line=line, column=column, text=written, is_certain=is_certain)

    firsts = {one.start: one for one in reversed(found) if one.name}  # what was read first, as an import say
    computed = sorted({one for one in found if not one.name})
    problem = "reading it takes too long" if code.is_given_up else ""
    if code.error is not None:
        problem = f"line {bisect_right(starts, code.error)} is no valid code; what follows may not have been looked up"
    references = [placed(firsts[start]) for start in sorted(firsts)]
    return Scanned(references, list(map(placed, computed)), code, problem)


_TEST = re.compile(r"(?:^|[/\\])(?:tests?|specs?|__tests__|__mocks__|fixtures?)[/\\]|\.(?:test|spec)\.\w+$")
"""Files whose strings and elements may be no names of icons, but examples of such."""


def names_in(code: Code, own: Mapping[str, Components]) -> Iterator[Reference]:
    """All names of icons; where two begin at one place, the first is what stands there."""
    for one in (one for one in code.imports if not one.is_type):
        components = own.get(one.module) or components_of(one.module)
        part_of = None if components else components_above(one.module)
        named = [name for name in one.names if not name.is_type and name.name != "default"]
        for name in named if not _HELPERS.search(one.module) else ():
            if exported := components or part_of:
                yield from _component(name.start, name.name, exported)
        if part_of and not named:
            yield from _deep(one, part_of)
        if one.module.startswith(".") and (file := _FILE.fullmatch(one.module)):
            yield Reference(one.start + file.start(1), one.start + file.end(1), "module", name=file[1])
    for member in code.members:
        if components := own.get(member.module) or components_of(member.module):
            if member.name:
                yield from _component(member.start, member.name, components)
            else:
                yield Reference(member.start, member.end, components.form)
    for text in code.contents:
        yield from _ligature(text)
    called = {name.local: name.name for one in code.imports for name in one.names if name.name in _OF_ELEMENT}
    for text in code.texts:
        original = called.get(text.element.name)
        yield from _in_string(text._replace(element=text.element._replace(name=original)) if original else text)


def _component(start: int, name: str, components: Components) -> Iterator[Reference]:
    """An exported name; only the package itself knows what else than icons it exports."""
    if name not in components.others:
        readings = read_component(components.looks, name)
        (key, spelt), *others = readings or [(components.looks[0].set, kebab(name))]
        yield Reference(start, start + len(name), components.form, key, spelt, tuple(others), bool(readings))


_DEEP = re.compile(r"/([A-Za-z0-9_-]+)(?:\.(?:m|c)?jsx?|\.svelte|\.vue)?$")
_HELPERS = re.compile(r"/(?:dynamic[\w-]*|icons-list|types|utils?)(?:\.\w+)*$")
"""Modules beside those of icons."""


def _deep(one: Import, components: Components) -> Iterator[Reference]:
    """A module of one icon: `lucide-react/icons/bell`, `@mui/icons-material/Home`, `@heroicons/.../BellIcon`."""
    word = _DEEP.search(one.module)
    if word is None or _HELPERS.search(one.module):
        return
    start, name = one.start + word.start(1), word[1]
    if name == name.lower():  # as files are called
        yield Reference(start, start + len(name), components.form, components.looks[-1].set, name)
    else:
        yield from (found for found in _component(start, name, components) if found.is_certain)


_TOKEN = re.compile(r"[^\s\"'`<>{}]+")
_UNO = re.compile(r"(?:i-([a-z0-9-]+):([a-z0-9-]+)|i-([a-z0-9]+(?:-[a-z0-9]+)+))(?:\?(?:mask|bg|auto))?")
_TAILWIND = re.compile(r"(?:^|(?<=[:!]))icon-\[([a-z0-9-]+?)--([a-z0-9-]+)\](?:/[\w.]+)?$")
_ICONIFY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*))--([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_BEGUN = re.compile(r"(?:^|(?<=[:!]))i-[a-z0-9-]*[-:]\$$")
"""Of `i-mdi-${name}`, before the brace."""
_NAME = re.compile(r"[a-z0-9]+(?>(?:-[a-z0-9]+)*)")
_REMIX = re.compile(r"ri-.+-(?:line|fill)")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Font:
    """An icon font: classes that tell a set, and what the classes of icons begin with."""

    begins: str
    sets: Mapping[str, str]
    """Class beside it -> set; "" where nothing else is needed."""
    no_icons: frozenset[str] = frozenset()
    """Of these classes that say how an icon is shown."""
    ends: Mapping[str, str] = field(default_factory=dict)
    """Class beside it -> what the icon's name ends with in its set."""


_AWESOME = {
    **dict.fromkeys(("fa-solid", "fas", "fa"), "fa6-solid"),
    **dict.fromkeys(("fa-regular", "far"), "fa6-regular"),
    **dict.fromkeys(("fa-brands", "fab"), "fa6-brands"),
}
_AWESOME_ELSE = frozenset((
    "fa-solid", "fa-regular", "fa-brands", "fa-light", "fa-thin", "fa-duotone", "fa-sharp", "fa-classic", "fa-fw",
    "fa-spin", "fa-pulse", "fa-border", "fa-inverse", "fa-stack", "fa-stack-1x", "fa-stack-2x", "fa-ul", "fa-li",
    "fa-layers", "fa-beat", "fa-fade", "fa-bounce", "fa-flip", "fa-shake", "fa-beat-fade", "fa-spin-pulse",
    "fa-spin-reverse", "fa-flip-horizontal", "fa-flip-vertical", "fa-flip-both", "fa-pull-left", "fa-pull-right",
    "fa-width-auto", "fa-width-fixed", "fa-swap-opacity", "fa-rotate-by", "fa-rotate-90", "fa-rotate-180",
    "fa-rotate-270", "fa-2xs", "fa-xs", "fa-sm", "fa-lg", "fa-xl", "fa-2xl", *(f"fa-{n}x" for n in range(1, 11)),
))  # fmt: skip
_MDI_ELSE = frozenset((
    "mdi-set", "mdi-spin", "mdi-light", "mdi-dark", "mdi-inactive", "mdi-flip-h", "mdi-flip-v", "mdi-18px", "mdi-24px",
    "mdi-36px", "mdi-48px", *(f"mdi-rotate-{turn}" for turn in (45, 90, 135, 180, 225, 270, 315)),
))  # fmt: skip
_PHOSPHOR_ENDS = {f"ph-{weight}": f"-{weight}" for weight in ("thin", "light", "bold", "fill", "duotone")}
FONTS: tuple[Font, ...] = (
    Font("fa-", _AWESOME, _AWESOME_ELSE),
    Font("mdi-", {"mdi": "mdi"}, _MDI_ELSE),
    Font("bi-", {"bi": "bi"}),
    Font("ti-", {"ti": "tabler"}),
    Font("ph-", dict.fromkeys(("ph", *_PHOSPHOR_ENDS), "ph"), frozenset(_PHOSPHOR_ENDS), _PHOSPHOR_ENDS),
    Font("ri-", {"": "ri"}),
    Font("bx-", {"bx": "bx"}, frozenset(("bx-spin", "bx-tada", "bx-xs", "bx-sm", "bx-md", "bx-lg", "bx-fw"))),
    Font("bxs-", {"bx": "bxs"}),
    Font("bxl-", {"bx": "bxl"}),
    Font("codicon-", {"codicon": "codicon"}),
)


def also_of_font_awesome(key: str, name: str) -> tuple[tuple[str, str], ...]:
    """The sets of its other versions: Font Awesome goes on to know names that it had, Iconify's sets do not."""
    style = key.removeprefix("fa6-")
    return tuple((f"{version}-{style}", name) for version in ("fa7", "fa")) if style != key else ()


def classes_in(text: Text) -> Iterator[Reference]:
    """Names among the words of a string, in their order."""
    tokens = [(text.start + found.start(), found[0]) for found in _TOKEN.finditer(text.text)]
    beside = {token for _, token in tokens}
    for start, token in tokens:
        if "-" not in token or len(token) > _LONGEST:
            continue
        if begun := _BEGUN.search(token):
            yield Reference(start + begun.start(), start + len(token), "unocss")
        elif found := _uno(start, token) or _tailwind(start, token, beside) or _of_font(start, token, beside):
            yield found


def _uno(start: int, token: str) -> Reference | None:
    """`hover:i-mdi-home`: the set is the longest beginning that is one, and may be a shorter one."""
    at = 0 if token.startswith("i-") else max(token.rfind(":i-"), token.rfind("!i-")) + 1
    found = _UNO.fullmatch(token, at)
    if found is None:
        return None
    words = found[3].split("-") if found[3] else [found[1], found[2]]
    parted = [("-".join(words[:n]), "-".join(words[n:])) for n in range(len(words) - 1, 0, -1)]
    readings = [(key, name) for key, name in parted if key in iconify_sets()]
    if not readings:
        return None
    (key, name), *others = readings
    end = found.end(3) if found[3] else found.end(2)
    return Reference(start + at, start + end, "unocss", key, name, tuple(others))


def _tailwind(start: int, token: str, beside: set[str]) -> Reference | None:
    """`icon-[mdi--home]`, or `mdi--home` beside `iconify`."""
    found = _TAILWIND.search(token)
    if found is None and not beside.isdisjoint(("iconify", "iconify-color")):
        found = _ICONIFY.fullmatch(token)
    if found is None or found[1] not in iconify_sets():
        return None
    return Reference(start + found.start(1), start + found.end(2), "tailwind", found[1], found[2])


def _of_font(start: int, token: str, beside: set[str]) -> Reference | None:
    font = next((font for font in FONTS if token.startswith(font.begins)), None)
    if font is None or token in font.no_icons or (font.begins == "ri-" and not _REMIX.fullmatch(token)):
        return None
    key = next((key for one, key in font.sets.items() if not one or one in beside), None)
    end = next((end for one, end in font.ends.items() if one in beside), "")
    name = token.removeprefix(font.begins)
    if key is None or not _NAME.fullmatch(name):
        return None
    form = f"class {font.begins.rstrip('-')}"
    return Reference(start, start + len(token), form, key, f"{name}{end}", also_of_font_awesome(key, name))


_FONT = re.compile(r"\bmaterial-(icons|symbols)(?:-(outlined|rounded|round|sharp|two-tone))?\b")
_WITHOUT_CLASS = ("mat-icon", "md-icon")
"""Elements that are nothing but icons of this font."""
_OTHER_FONTS = frozenset(("svgIcon", "fontIcon", "fontSet", "[svgIcon]", "[fontIcon]", "[fontSet]"))
_SYMBOLS = {"rounded": "-rounded", "round": "-rounded", "sharp": "-sharp"}
_ICONS = {"outlined": "outline", "round": "round", "rounded": "round", "sharp": "sharp", "two-tone": "twotone"}
_LIGATURE = re.compile(r"[a-z0-9]+(?>(?:_[a-z0-9]+)*)")


def _ligature(text: Text) -> Iterator[Reference]:
    """A word that Google's fonts draw as an icon."""
    name, attributes = text.element.name, text.element.attributes
    font = _FONT.search(attributes.get("class", "") or attributes.get("className", ""))
    is_bare = name in _WITHOUT_CLASS and _OTHER_FONTS.isdisjoint(attributes)
    if not is_bare and (font is None or name not in ("i", "span", *_WITHOUT_CLASS)):
        return
    if text.text.startswith("{"):
        yield Reference(text.start, text.end, "ligature")
    elif _LIGATURE.fullmatch(text.text):
        style = (font[2] or "") if font else ""
        spelt, end = text.text.replace("_", "-"), _SYMBOLS.get(style, "")
        # This font draws outlines without a style; Iconify has one icon where an outline is the same.
        ends = dict.fromkeys((f"-outline{end}", end, "-outline", ""))
        readings = [("material-symbols", f"{spelt}{end}") for end in ends]
        if font is None or font[1] == "icons":
            readings[:0] = [("ic", f"{_ICONS.get(style, 'baseline')}-{spelt}"), ("ic", f"baseline-{spelt}")]
        yield Reference(text.start, text.end, "ligature", *readings[0], tuple(readings[1:]))


_KEY = re.compile(r"([a-z][a-z0-9]*(?>(?:-[a-z0-9]+)*)):([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_COMPUTED_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):[a-z0-9-]*+(?:\$\{|\{\{)")
_MODULE = re.compile(r"(?:~icons|virtual:icons)/([a-z0-9-]+)/([a-z0-9-]+)(?:\.\w+)?(?:\?.*)?")
_SPRITE = re.compile(r"([^\n#]*)#([\w.:-]+)")
_FILE = re.compile(r"(?:[^!]*loader[^!]*!)*([^\n\"`<>{}|?#]+\.svg)(?:[?#].*)?", re.IGNORECASE)
_FILES = re.compile(r"[^\s,]+\.svg", re.IGNORECASE)
_ADDRESSES = frozenset(("src", "href", "xlink:href", "xlinkHref", "data", "poster", "url"))
"""Attributes whose values are files, and `url()`."""
_COMMON = frozenset((
    "carbon", "charm", "clarity", "codex", "feather", "flag", "foundation", "garden", "geo", "glyphs", "guidance",
    "logos", "mage", "map", "memory", "nimbus", "option", "pixel", "prime", "quill", "solar", "stash", "streamline",
    "subway", "token", "websymbol", "wordpress",
))  # fmt: skip
"""Sets whose keys are words of everyday code: "token:refresh"."""
_SHORT = 3
_PUT_TOGETHER = re.compile(r"\$\{|\{\{|\{[^}]*\}")
_OF_ATTRIBUTE = {"data-lucide": "lucide", "data-feather": "feather"}
_OF_ELEMENT = {
    **dict.fromkeys(("ion-icon", "IonIcon"), ("ion-icon", "ion")),
    **dict.fromkeys(("lucide-icon", "lucide-angular", "i-lucide", "DynamicIcon"), ("lucide-icon", "lucide")),
}
"""Elements whose attribute `name` names an icon: the form, and the set."""
_PAIRED = ("fas", "far", "fab")
_OF_AWESOME = ("FontAwesomeIcon", "font-awesome-icon", "fa-icon")
"""Elements whose attribute `icon` names what Font Awesome's library has registered."""


def _in_string(text: Text) -> Iterator[Reference]:
    """Names in one string, in their order."""
    said, start, end = text.text, text.start, text.end
    is_computed = bool(_PUT_TOGETHER.search(said))
    owner = text.owner.lower()
    is_icon = ("icon" in owner and "class" not in owner) or (owner == "name" and "icon" in text.element.name.lower())
    if found := _attribute(text) or (_TOKEN.fullmatch(said) and _uno(start, said)):
        yield found
    elif (key := _KEY.fullmatch(said)) and (is_icon or key[1] in iconify_sets()):
        is_certain = is_icon or not (_is_common(key[1]) or key[2].isdigit())
        yield Reference(start, end, "iconify", key[1], key[2], is_certain=is_certain)
    elif (key := _COMPUTED_KEY.match(said)) and key[1] in iconify_sets() and (is_icon or not _is_common(key[1])):
        yield Reference(start, end, "iconify")
    elif key := _MODULE.fullmatch(said):
        yield Reference(start + key.start(2), start + key.end(2), "unplugin-icons", key[1], key[2])
    elif not is_computed and (part := _SPRITE.fullmatch(said)) and (_is_used(text) or part[1].lower().endswith(".svg")):
        yield Reference(start + part.start(2), start + part.end(2), "sprite", name=part[2], file=part[1])
    elif owner.endswith("srcset"):
        for one in _FILES.finditer(said):
            yield Reference(start + one.start(), start + one.end(), "file", name=one[0])
    elif not is_computed and (file := _FILE.fullmatch(unescape(said))) and ":" not in file[1]:
        is_address = (text.owner in _ADDRESSES or file[1].startswith(".")) and not text.is_example
        span = (start + file.start(1), start + file.end(1)) if "&" not in said else (start, end)
        yield Reference(*span, "file", name=file[1], is_certain=is_address)
    else:
        yield from classes_in(text)


def _attribute(text: Text) -> Reference | None:
    """What attributes for icons hold, and pairs of Font Awesome: `["fas", "house"]`."""
    said, span = text.text, (text.start, text.end)
    if not _NAME.fullmatch(said):
        return None
    if text.owner in _OF_ATTRIBUTE:
        return Reference(*span, text.owner, _OF_ATTRIBUTE[text.owner], said)
    if text.owner == "name" and text.element.name in _OF_ELEMENT:
        return Reference(*span, *_OF_ELEMENT[text.element.name], said)
    is_registered = text.owner == "icon" and text.element.name in _OF_AWESOME and said not in _PAIRED
    if text.before in _PAIRED or is_registered:
        key = _AWESOME.get(text.before, "fa6-solid")
        return Reference(*span, "pair", key, said, also_of_font_awesome(key, said))
    return None


def _is_used(text: Text) -> bool:
    """Whether a `use` shows it: a part of the page."""
    return text.element.name == "use" and text.owner.endswith(("href", "Href"))


def _is_common(prefix: str) -> bool:
    return prefix in _COMMON or (len(prefix) <= _SHORT and prefix != "mdi")
