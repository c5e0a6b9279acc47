"""Which icons do classes name? Those of UnoCSS and Tailwind, and those of icon fonts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from search.references.code import Text
from search.references.named import Named, Unreadable, is_set

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


def _readings(told: str) -> Iterator[tuple[str, str]]:
    words = told.split("-")
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
