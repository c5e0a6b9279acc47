"""Icons that markup names: attributes, classes, ligatures; and strings of code."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from search.code.reading import Reference, Text
from search.drawings.drawn import iconify_sets

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
    return Reference(start + at, start + len(token), "unocss", key, name, tuple(others))


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


_VALUE = r"\s*=\s*[\"']([a-z0-9]+(?>(?:-[a-z0-9]+)*))[\"']"
_FORMS = tuple(
    (re.compile(pattern + _VALUE), key, form)
    for pattern, key, form in (
        (r"\bdata-lucide", "lucide", "data-lucide"),
        (r"\bdata-feather", "feather", "data-feather"),
        (r"<(?:ion-icon|IonIcon)\b[^<>]{0,300}?\sname", "ion", "ion-icon"),
        (r"<(?:lucide-icon|lucide-angular|i-lucide)\b[^<>]{0,300}?\sname", "lucide", "lucide-icon"),
    )
)
_AWESOME_PAIR = re.compile(r"\[\s*[\"'](fas|far|fab)[\"']\s*,\s*[\"']([a-z0-9]+(?>(?:-[a-z0-9]+)*))[\"']\s*\]")


def attributes_in(code: str) -> Iterator[Reference]:
    """Names that such attributes hold, and those of Font Awesome's pairs: `["fas", "house"]`."""
    for pattern, key, form in _FORMS:
        for found in pattern.finditer(code):
            yield Reference(*found.span(1), form, key, found[1])
    for found in _AWESOME_PAIR.finditer(code):
        key = _AWESOME[found[1]]
        yield Reference(*found.span(2), "pair", key, found[2], also_of_font_awesome(key, found[2]))


_ELEMENT = re.compile(
    r"<(i|span|mat-icon|md-icon)\b([^<>]{0,400}+)>\s*+(?:([a-z0-9]+(?>(?:_[a-z0-9]+)*))|(\{[^<>]{1,200}\}))\s*+</\1\s*+>"
)
_FONT = re.compile(r"\bmaterial-(icons|symbols)(?:-(outlined|rounded|round|sharp|two-tone))?\b")
_WITHOUT_CLASS = ("mat-icon", "md-icon")
"""Elements that are nothing but icons of this font."""
_OTHER_FONT = re.compile(r"\b(?:svgIcon|fontIcon|fontSet)\b")
_SYMBOLS = {"rounded": "-rounded", "round": "-rounded", "sharp": "-sharp"}
_ICONS = {"outlined": "outline", "round": "round", "rounded": "round", "sharp": "sharp", "two-tone": "twotone"}


def ligatures_in(code: str) -> Iterator[Reference]:
    """Words that Google's fonts draw as icons."""
    for found in _ELEMENT.finditer(code):
        element, attributes, word, computed = found.groups()
        font = _FONT.search(attributes)
        if font is None and (element not in _WITHOUT_CLASS or _OTHER_FONT.search(attributes)):
            continue
        if computed:
            yield Reference(*found.span(4), "ligature")
            continue
        style = (font[2] or "") if font else ""
        name, end = word.replace("_", "-"), _SYMBOLS.get(style, "")
        # This font draws outlines without a style; Iconify has one icon where an outline is the same.
        ends = dict.fromkeys((f"-outline{end}", end, "-outline", ""))
        readings = [("material-symbols", f"{name}{end}") for end in ends]
        if font is None or font[1] == "icons":
            readings[:0] = [("ic", f"{_ICONS.get(style, 'baseline')}-{name}"), ("ic", f"baseline-{name}")]
        yield Reference(*found.span(3), "ligature", *readings[0], tuple(readings[1:]))


_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):([a-z0-9]+(?>(?:-[a-z0-9]+)*))")
_COMPUTED_KEY = re.compile(r"([a-z0-9]+(?>(?:-[a-z0-9]+)*)):[a-z0-9-]*+(?:\$\{|\{\{)")
_MODULE = re.compile(r"(?:~icons|virtual:icons)/([a-z0-9-]+)/([a-z0-9-]+)(?:\.\w+)?(?:\?.*)?")
_SPRITE = re.compile(r"([^\s#]*)#([\w.:-]+)")
_FILE = re.compile(r"([^\s\"'`?#|!,;]+\.svg)(?:[?#].*)?", re.IGNORECASE)
_OPERAND = (
    r"!{0,3}(?>\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`]{0,200}`|\([^()]{0,200}\)"
    r"|[\w$](?>(?:[\w$]|\??\.[\w$]){0,100})(?>(?:\([^()]{0,100}\)|\[[^\[\]]{0,100}\]){0,3}))"
)
_CHOICE = rf"(?>(?>{_OPERAND}\s*(?:(?:[=!]==?|[<>]=?|[-+*/%])\s*{_OPERAND}\s*)?(?:\?\??|\|\||&&|:)[\s(]*){{0,20}})"
"""`ok ? "a" :`, `given ||`: what stands before a string that is one of the values an expression may have."""
_CHOSEN_VALUE = rf"[\s{{(\[]*(?:[\"'][\s{{(]*)?{_CHOICE}[\"'`]$"
_ICON_BEFORE = re.compile(
    rf"(?:icon\w*(?:[\"']?\s*[=:(](?![=>])|\]=(?=[\"']))|<\w*icon\b[^<>]{{0,300}}?\bname\s*=){_CHOSEN_VALUE}",
    re.IGNORECASE,
)
_USE_BEFORE = re.compile(rf"<use\b[^<>]{{0,400}}?href\s*={_CHOSEN_VALUE}", re.IGNORECASE)
_LOOK_BACK = 420
_COMMON = frozenset((
    "carbon", "charm", "clarity", "codex", "feather", "flag", "foundation", "garden", "geo", "glyphs", "guidance",
    "logos", "mage", "map", "memory", "nimbus", "pixel", "prime", "quill", "solar", "stash", "streamline", "subway",
    "token", "websymbol", "wordpress",
))  # fmt: skip
"""Sets whose keys are words of everyday code: "token:refresh"."""
_SHORT = 3


def names_in(text: Text, code: str) -> Iterator[Reference]:
    """Names in one string of a code, in their order."""
    said, start, is_computed = text.text, text.start, text.is_computed
    end, before = start + len(said), code[max(0, start - _LOOK_BACK) : start]
    if (found := _KEY.fullmatch(said)) and (found[1] in iconify_sets() or _ICON_BEFORE.search(before)):
        is_certain = not _is_common(found[1]) or bool(_ICON_BEFORE.search(before))
        yield Reference(start, end, "iconify", found[1], found[2], is_certain=is_certain)
    elif (
        (found := _COMPUTED_KEY.match(said) if is_computed else None)
        and found[1] in iconify_sets()
        and (not _is_common(found[1]) or _ICON_BEFORE.search(before))
    ):
        yield Reference(start, end, "iconify")
    elif found := _MODULE.fullmatch(said):
        yield Reference(start + found.start(2), start + found.end(2), "unplugin-icons", found[1], found[2])
    elif (
        (found := None if is_computed else _SPRITE.fullmatch(said))  # of the page itself where a `use` shows it
        and (found[1].lower().endswith(".svg") or _USE_BEFORE.search(before))
    ):
        yield Reference(start + found.start(2), start + found.end(2), "sprite", name=found[2], file=found[1])
    elif (found := None if is_computed else _FILE.fullmatch(said)) and ":" not in found[1]:
        yield Reference(start, start + len(found[1]), "file", name=found[1])
    else:
        yield from classes_in(text)


def _is_common(prefix: str) -> bool:
    return prefix in _COMMON or (len(prefix) <= _SHORT and prefix != "mdi")
