"""Icons that code names: strings, attributes, classes, ligatures, imports."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from search.code.packages import MODULES, Components, kebab, package_of, read_component
from search.code.syntax import Code, Import, Text
from search.drawings.drawn import iconify_sets


class Named(NamedTuple):
    """A name, and where it stands."""

    start: int
    end: int
    set: str
    name: str
    form: str
    others: tuple[tuple[str, str], ...] = ()
    """What else it may mean, (set, name)."""
    is_certain: bool = True
    """Whether it names an icon at all: "token:refresh" may be something else."""
    file: str = ""
    """Of a part of a sprite: the file that holds it; "" where that is the page."""


class Unreadable(NamedTuple):
    """What names an icon that only the running program knows."""

    start: int
    end: int
    form: str


def names_in(code: Code) -> Iterator[Named | Unreadable]:
    """All names of icons; where two begin at one place, the first is what stands there."""
    for one in code.imports:
        yield from _imported(one)
    for member in code.members:
        if (components := MODULES.get(member.module)) is None:
            continue
        if member.name:
            yield from _component(member.start, member.name, components)
        else:
            yield Unreadable(member.start, member.end, components.form)
    for text in code.contents:
        yield from _ligature(text)
    for text in code.texts:
        yield from _in_string(text)


def is_set(prefix: str) -> bool:
    """Whether Iconify has a set of this key."""
    return prefix in iconify_sets()

_TOKEN = re.compile(r"[^\s\"'`<>{}]+")
_UNO = re.compile(r"i-([a-z0-9-]+):([a-z0-9-]+)|i-([a-z0-9]+(?:-[a-z0-9]+)+)")
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


def classes_in(text: Text) -> Iterator[Named | Unreadable]:
    """Names among the words of a string, in their order."""
    tokens = [(text.start + found.start(), found[0]) for found in _TOKEN.finditer(text.text)]
    beside = {token for _, token in tokens}
    for start, token in tokens:
        if "-" not in token or len(token) > _LONGEST:
            continue
        if begun := _BEGUN.search(token):
            yield Unreadable(start + begun.start(), start + len(token), "unocss")
        elif found := _uno(start, token) or _tailwind(start, token, beside) or _of_font(start, token, beside):
            yield found


def _uno(start: int, token: str) -> Named | None:
    """`hover:i-mdi-home`: the set is the longest beginning that is one, and may be a shorter one."""
    at = 0 if token.startswith("i-") else max(token.rfind(":i-"), token.rfind("!i-")) + 1
    found = _UNO.fullmatch(token, at)
    if found is None:
        return None
    readings = [(found[1], found[2])] if found[1] else list(_readings(found[3]))
    if not readings or not is_set(readings[0][0]):
        return None
    (key, name), *others = readings
    return Named(start + at, start + len(token), key, name, "unocss", tuple(others))


def _readings(word: str) -> Iterator[tuple[str, str]]:
    words = word.split("-")
    for n in range(len(words) - 1, 0, -1):
        if is_set(key := "-".join(words[:n])):
            yield key, "-".join(words[n:])


def _tailwind(start: int, token: str, beside: set[str]) -> Named | None:
    """`icon-[mdi--home]`, or `mdi--home` beside `iconify`."""
    found = _TAILWIND.search(token)
    if found is None and not beside.isdisjoint(("iconify", "iconify-color")):
        found = _ICONIFY.fullmatch(token)
    if found is None or not is_set(found[1]):
        return None
    return Named(start + found.start(1), start + found.end(2), found[1], found[2], "tailwind")


def _of_font(start: int, token: str, beside: set[str]) -> Named | None:
    font = next((font for font in FONTS if token.startswith(font.begins)), None)
    if font is None or token in font.no_icons or (font.begins == "ri-" and not _REMIX.fullmatch(token)):
        return None
    key = next((key for one, key in font.sets.items() if not one or one in beside), None)
    end = next((end for one, end in font.ends.items() if one in beside), "")
    name = token.removeprefix(font.begins)
    if key is None or not _NAME.fullmatch(name):
        return None
    form = f"class {font.begins.rstrip('-')}"
    return Named(start, start + len(token), key, f"{name}{end}", form, also_of_font_awesome(key, name))


_ATTRIBUTES = {"data-lucide": "lucide", "data-feather": "feather"}
_ELEMENTS = {
    **dict.fromkeys(("ion-icon", "IonIcon"), ("ion", "ion-icon")),
    **dict.fromkeys(("lucide-icon", "lucide-angular", "i-lucide"), ("lucide", "lucide-icon")),
}
"""Elements whose attribute `name` names an icon: its set, and the form."""
_STYLES = {"fas": "fa6-solid", "far": "fa6-regular", "fab": "fa6-brands"}


def _attribute(text: Text) -> Named | None:
    """Names that such attributes hold, and those of Font Awesome's pairs: `["fas", "house"]`."""
    if not _NAME.fullmatch(text.text):
        return None
    if key := _ATTRIBUTES.get(text.owner):
        return Named(text.start, text.end, key, text.text, text.owner)
    if text.owner == "name" and text.element.name in _ELEMENTS:
        return Named(text.start, text.end, *_named(_ELEMENTS[text.element.name], text))
    if key := _STYLES.get(text.before):
        return Named(text.start, text.end, key, text.text, "pair", also_of_font_awesome(key, text.text))
    return None


def _named(of: tuple[str, str], text: Text) -> tuple[str, str, str]:
    return of[0], text.text, of[1]


_LIGATURE = re.compile(r"[a-z0-9]+(?>(?:_[a-z0-9]+)*)")
_FONT = re.compile(r"\bmaterial-(icons|symbols)(?:-(outlined|rounded|round|sharp|two-tone))?\b")
_WITHOUT_CLASS = ("mat-icon", "md-icon")
"""Elements that are nothing but icons of this font."""
_WITH_CLASS = ("i", "span")
_OTHER_FONTS = frozenset(("svgIcon", "[svgIcon]", "fontIcon", "[fontIcon]", "fontSet", "[fontSet]"))
_ICONS = {"outlined": "outline", "round": "round", "rounded": "round", "sharp": "sharp", "two-tone": "twotone"}


def _ligature(text: Text) -> Iterator[Named | Unreadable]:
    """A word that Google's fonts draw as an icon."""
    name, attributes = text.element
    font = _FONT.search(attributes.get("class", "") or attributes.get("className", ""))
    is_bare = name in _WITHOUT_CLASS and _OTHER_FONTS.isdisjoint(attributes)
    if not is_bare and (font is None or name not in (*_WITH_CLASS, *_WITHOUT_CLASS)):
        return
    if _LIGATURE.fullmatch(text.text):
        is_symbols = font is not None and font[1] == "symbols"
        style = (font[2] or "") if font else ""
        (key, spelt), *others = (_symbols if is_symbols else _icons)(text.text, style)
        yield Named(text.start, text.end, key, spelt, "ligature", tuple(others))
    elif text.text.startswith("{"):
        yield Unreadable(text.start, text.end, "ligature")


def _icons(word: str, style: str) -> list[tuple[str, str]]:
    name = word.replace("_", "-")
    styled = ("ic", f"{_ICONS.get(style, 'baseline')}-{name}")
    return [styled, ("ic", f"baseline-{name}"), *_symbols(word, style)]


def _symbols(word: str, style: str) -> list[tuple[str, str]]:
    """The font draws outlines without a style; Iconify has one icon where an outline is the same."""
    name = word.replace("_", "-")
    ends = {"rounded": "-rounded", "round": "-rounded", "sharp": "-sharp"}.get(style, "")
    return [("material-symbols", f"{name}{end}") for end in dict.fromkeys((f"-outline{ends}", ends, "-outline", ""))]


def ligature(name: str, *, like: str, text: str) -> str:
    """The word for an icon's name, as another is written: `text` is drawn as the icon `like`."""
    before, _, after = like.partition(text.replace("_", "-"))
    return name.removeprefix(before).removesuffix(after).replace("-", "_")


_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_COMPUTED_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):[a-z0-9-]*+(?:\$\{|\{\{)")
_MODULE = re.compile(r"(?:~icons|virtual:icons)/([a-z0-9-]+)/([a-z0-9-]+)(?:\.\w+)?(?:\?.*)?")
_PUT_TOGETHER = re.compile(r"\$\{|\{\{|\{[^}]*\}")
_SPRITE = re.compile(r"([^\s#]*)#([\w.:-]+)")
_FILE = re.compile(r"([^\s\"'`?#|!,;]+\.svg)(?:[?#].*)?", re.IGNORECASE)
_COMMON = frozenset((
    "carbon", "charm", "clarity", "codex", "feather", "flag", "foundation", "garden", "geo", "glyphs", "guidance",
    "logos", "mage", "map", "memory", "nimbus", "pixel", "prime", "quill", "solar", "stash", "streamline", "subway",
    "token", "websymbol", "wordpress",
))  # fmt: skip
"""Sets whose keys are words of everyday code: "token:refresh"."""
_SHORT = 3


def _in_string(text: Text) -> Iterator[Named | Unreadable]:
    """Names in one string, in their order."""
    for read in (_attribute, _key, _computed, _module, _sprite, _file):
        if found := read(text):
            yield found
            return
    yield from classes_in(text)


def _is_icon(text: Text) -> bool:
    """Whether a string is the value of what should be an icon."""
    return "icon" in text.owner.lower() or (text.owner == "name" and "icon" in text.element.name.lower())


def _key(text: Text) -> Named | None:
    found = _KEY.fullmatch(text.text)
    if found is None or not (is_set(found[1]) or _is_icon(text)):
        return None
    is_certain = _is_icon(text) or not _is_common(found[1])
    return Named(text.start, text.end, found[1], found[2], "iconify", is_certain=is_certain)


def _is_common(prefix: str) -> bool:
    return prefix in _COMMON or (len(prefix) <= _SHORT and prefix != "mdi")


def _computed(text: Text) -> Unreadable | None:
    found = _COMPUTED_KEY.match(text.text)
    if found is None or not is_set(found[1]) or (_is_common(found[1]) and not _is_icon(text)):
        return None
    return Unreadable(text.start, text.end, "iconify")


def _module(text: Text) -> Named | None:
    found = _MODULE.fullmatch(text.text)
    return _part(text, found, found[1], "unplugin-icons") if found else None


def _sprite(text: Text) -> Named | None:
    """A part of a file that holds many, or of the page itself where a `use` shows it."""
    found = _SPRITE.fullmatch(text.text)
    if found is None or _PUT_TOGETHER.search(text.text):
        return None
    is_shown = text.element.name == "use" and text.owner.endswith(("href", "Href"))
    if not is_shown and not found[1].lower().endswith(".svg"):
        return None
    return _part(text, found, "", "sprite")._replace(file=found[1])


def _file(text: Text) -> Named | None:
    found = _FILE.fullmatch(text.text)
    if found is None or _PUT_TOGETHER.search(text.text) or ":" in found[1]:
        return None
    return Named(text.start, text.start + len(found[1]), "", found[1], "file")


def _part(text: Text, found: re.Match[str], key: str, form: str) -> Named:
    return Named(text.start + found.start(2), text.start + found.end(2), key, found[2], form)


_DEEP = re.compile(r"(?:^|/)([A-Za-z0-9_-]+)(?:\.(?:m|c)?jsx?|\.svelte|\.vue)?$")


def _imported(one: Import) -> Iterator[Named]:
    """Icons that one statement imports."""
    components = MODULES.get(one.module)
    if components is None:
        if deep := _deep(one):
            yield deep
        return
    for specifier in one.names:
        if not (one.is_type or specifier.is_type):
            yield from _component(specifier.start, specifier.name, components)


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


def _deep(one: Import) -> Named | None:
    """A module of one icon: `lucide-react/icons/bell`, `@mui/icons-material/Home`."""
    package = package_of(one.module)
    components = MODULES.get(package) or MODULES.get(one.module.rpartition("/")[0])
    word = _DEEP.search(one.module)
    if components is None or word is None or one.is_type or not one.module.startswith(f"{package}/"):
        return None
    start, end, name = one.start + word.start(1), one.start + word.end(1), word[1]
    if name == name.lower():  # as files are called
        return Named(start, end, components.looks[-1].set, name, components.form)
    readings = read_component(components.looks, name) if name not in components.others else []
    if not readings:
        return None
    (key, spelt), *others = readings
    return Named(start, end, key, spelt, components.form, tuple(others))
