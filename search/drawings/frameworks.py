"""Which frameworks an icon can be written for, what each package exports for it, and what is written of an icon."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from indexer.errors import IconsError
from indexer.library.bundled import bundled

if TYPE_CHECKING:
    from search.query import Hit

Corner = Literal["round", "sharp"]
CORNERS: tuple[Corner, ...] = ("round", "sharp")
COLOUR = r"^(#[0-9a-fA-F]{3,4}|#[0-9a-fA-F]{6}|#[0-9a-fA-F]{8}|[a-zA-Z]{3,20})$"
"""A colour as CSS writes it, by number or by name: nothing that could mean more where it is written."""
WIDEST_STROKE = 100
LARGEST = 10_000
"""Pixels of a copy."""
_CURRENT_COLOUR = re.compile(rb"\bcurrentColor\b", re.IGNORECASE)
_FILL = re.compile(rb"\sfill\s*=|\bfill\s*:")
_SHAPE = re.compile(rb"<(?:path|circle|ellipse|rect|line|poly\w+|text|use)\b[^>]*")
_WITHIN = re.compile(rb"<svg\b[^>]*>\s*<g\b[^>]*\sfill=[^>]*>(?:(?!</?g\b).)*</g>\s*</svg>\s*$", re.DOTALL)
"""A group that states a fill and holds all there is."""


@dataclass(frozen=True, slots=True)
class NamedIcon:
    """An icon, as much of it as code needs."""

    key: str
    """As hits tell it: "lucide:bell"."""
    set: str
    name: str
    """As its source spells it."""
    svg: bytes | None
    """Its picture as its source holds it, a bitmap too; None where nothing but the name is needed."""
    path: str = ""
    """The file that holds it: npm packages tell their icons of one name apart by folders alone."""


def is_colour(text: str) -> bool:
    """Whether a text is a colour that copies may have: #08f, navy."""
    from tinycss2 import color5  # no command but those with a colour needs it

    return re.search(COLOUR, text) is not None and text.isprintable() and color5.parse_color(text) is not None


def named_icon(hit: "Hit", svg: bytes | None = None) -> NamedIcon:
    """Take of a hit what code needs."""
    return NamedIcon(hit.key, hit.set, hit.name, svg, path=hit.path)


@dataclass(frozen=True, slots=True)
class Look:
    """How copies look; None leaves it as the icon has it."""

    colour: str | None = None
    """For what the icon leaves open."""
    stroke_width: float | None = None
    """Of its widest stroke, in units of its viewBox; others keep their share of that."""
    size: int | None = None
    """Pixels of its longer side."""
    corner: Corner | None = None
    """Of strokes: their ends and joins."""

    def __post_init__(self) -> None:
        stated: tuple[tuple[str, Any, Callable[[Any], bool], str], ...] = (
            ("colour", self.colour, is_colour, "a name or a number as CSS has them: navy, #08f"),
            (
                "stroke width",
                self.stroke_width,
                lambda width: 0 < width <= WIDEST_STROKE,
                f"a number above 0, {WIDEST_STROKE} at most",
            ),
            ("size", self.size, lambda size: 0 < size <= LARGEST, f"1 to {LARGEST:,} pixels"),
            ("corner", self.corner, CORNERS.__contains__, " or ".join(CORNERS)),
        )
        for name, value, is_right, what in stated:
            if value is not None and not is_right(value):
                raise IconsError(f'{name} is "{value}"; give {what}')


AS_IT_IS = Look()


def coloured(document: bytes, colour: str) -> bytes:
    """Give a colour to currentColor, and to shapes without any fill, black otherwise, if there are any."""
    paint = colour.encode("ascii")
    shapes = _SHAPE.findall(document)
    is_stated = bool(shapes) and (all(map(_FILL.search, shapes)) or _WITHIN.search(document) is not None)
    filled = document if is_stated else with_attribute(document, b' fill="%b"' % paint, unless=_FILL)
    return _CURRENT_COLOUR.sub(paint, filled)


def with_attribute(document: bytes, attribute: bytes, *, unless: re.Pattern[bytes]) -> bytes:
    """Put an attribute into the root of an SVG, unless something is stated there."""
    from indexer.rendering.render import SVG_START

    start = SVG_START.match(document)
    assert start is not None
    root, rest = document[: start.end()], document[start.end() :]
    return document if unless.search(rest.partition(b">")[0]) else root + attribute + rest


_PACKAGES = {
    "lucide-static": "lucide",
    "@tabler/icons": "tabler",
    "@phosphor-icons/core": "ph",
    "@mdi/svg": "mdi",
    "@fortawesome/fontawesome-free": "fa7",
    "@vscode/codicons": "codicon",
    "@primer/octicons": "octicon",
    "@vaadin/icons": "vaadin",
    "ionicons": "ion",
}
"""npm packages of pictures whose icons Iconify has under the same names."""
_STYLED = re.compile(r"fa[67]?-(?:solid|regular|brands)")
ICON_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""As Iconify, and the packages for frameworks, take it."""


class IconifyKey(NamedTuple):
    """How Iconify's libraries ask for an icon."""

    prefix: str
    name: str

    def __str__(self) -> str:
        return f"{self.prefix}:{self.name}"


def packages_of(prefix: str) -> list[str]:
    """npm packages of pictures that hold a set of Iconify, as a library calls them."""
    known = "fa7" if _STYLED.fullmatch(prefix) else prefix
    return [package for package, own in _PACKAGES.items() if own == known]


@cache
def iconify_sets() -> frozenset[str]:
    """Prefixes of all sets of Iconify, as of @iconify/json of November 2026."""
    return frozenset(bundled("snippets/iconify.txt").read_text("ascii").split())


def folders(icon: NamedIcon) -> tuple[str, ...]:
    """The two folders in which the picture lies, by which npm packages tell icons of one name apart."""
    return PurePath(icon.path).parts[-3:-1]


def iconify_key(icon: NamedIcon) -> IconifyKey:
    """Tell what Iconify calls an icon.

    Raises:
        IconsError: it is of no set that Iconify serves.
    """
    prefix, name = _PACKAGES.get(icon.set, icon.set), icon.name
    if prefix == "fa7":
        prefix = f"fa7-{font_awesome_style(icon)}"
    elif icon.set == "@tabler/icons" and "filled" in folders(icon):
        name = f"{name}-filled"
    if prefix not in iconify_sets() or not ICON_NAME.fullmatch(name):
        raise IconsError(f'"{icon.key}" is not of Iconify; --format svg, react, vue or svelte write the drawing itself')
    return IconifyKey(prefix, name)


def font_awesome_style(icon: NamedIcon) -> str:
    """Iconify has a set a style, the package of pictures a folder."""
    words = (*folders(icon), icon.set.rpartition("-")[2])
    return next((style for style in ("solid", "regular", "brands") if style in words), "solid")


Language = Literal["tsx", "jsx", "vue", "svelte", "html", "css", "svg", "text"]
Form = Literal["component", "exported", "key", "class", "drawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """One way to write an icon."""

    name: str
    title: str
    language: Language
    """Of the code as a whole."""
    form: Form
    """Who writes it: a component of a package, what a package exports for one component, a component that takes a key,
    a class, or the drawing itself."""
    sets: tuple[str, ...] = ()
    """Keys of the sets that it serves; empty: every set."""
    packages: tuple[str, ...] = ()
    """Of npm, to be installed."""
    family: str = ""
    """Whose names are exported: a key of `exports`."""
    module: str = ""
    """What is imported from; a family may fill in a folder."""
    spelling: str = "{}"
    """How the name of an export is made of the icon's name in capitals."""
    component: str = ""
    """The one component that draws every icon, where there is one."""
    component_module: str = ""
    is_default: bool = False
    """Whether that component is the default export of its module."""
    attribute: str = "icon"
    """Of that component: which icon."""
    look: Mapping[str, str] = field(default_factory=dict, hash=False)
    """How a use states what of a `Look`; what is not here, it cannot state."""

    @property
    def needs_svg(self) -> bool:
        """Whether the drawing is needed, or the key alone."""
        return self.form == "drawn"


def _sets(*prefixes: str) -> tuple[str, ...]:
    """Sets of Iconify, and the npm packages of pictures that hold the first."""
    return (*prefixes, *packages_of(prefixes[0]))


_REACT_STROKE = {"stroke_width": "strokeWidth={%s}", "corner": 'strokeLinecap="%s" strokeLinejoin="%s"'}
_MARKUP_STROKE = {"stroke_width": ':stroke-width="%s"', "corner": 'stroke-linecap="%s" stroke-linejoin="%s"'}
_JSX = {"size": "size={%s}", "colour": 'color="%s"'}
_VUE = {"size": ':size="%s"', "colour": 'color="%s"'}
_SVELTE_STROKE = {"stroke_width": "strokeWidth={%s}", "corner": 'stroke-linecap="%s" stroke-linejoin="%s"'}

_TABLE = (
    Framework(
        name="lucide-react", title="Lucide for React", language="tsx", form="component", sets=_sets("lucide"),
        packages=("lucide-react",), family="lucide", module="lucide-react", look=_JSX | _REACT_STROKE,
    ),
    Framework(
        name="@lucide/vue", title="Lucide for Vue", language="vue", form="component", sets=_sets("lucide"),
        packages=("@lucide/vue",), family="lucide", module="@lucide/vue", look=_VUE | _MARKUP_STROKE,
    ),
    Framework(
        name="@lucide/svelte", title="Lucide for Svelte", language="svelte", form="component", sets=_sets("lucide"),
        packages=("@lucide/svelte",), family="lucide", module="@lucide/svelte", look=_JSX | _SVELTE_STROKE,
    ),
    Framework(
        name="@tabler/icons-react", title="Tabler for React", language="tsx", form="component", sets=_sets("tabler"),
        packages=("@tabler/icons-react",), family="tabler", module="@tabler/icons-react", spelling="Icon{}",
        look=_JSX | _REACT_STROKE | {"stroke_width": "stroke={%s}"},
    ),
    Framework(
        name="@tabler/icons-vue", title="Tabler for Vue", language="vue", form="component", sets=_sets("tabler"),
        packages=("@tabler/icons-vue",), family="tabler", module="@tabler/icons-vue", spelling="Icon{}",
        look=_VUE | _MARKUP_STROKE | {"stroke_width": ':stroke="%s"'},
    ),
    Framework(
        name="@tabler/icons-svelte", title="Tabler for Svelte", language="svelte", form="component",
        sets=_sets("tabler"), packages=("@tabler/icons-svelte",), family="tabler", module="@tabler/icons-svelte",
        spelling="Icon{}", look=_JSX | _SVELTE_STROKE | {"stroke_width": "stroke={%s}"},
    ),
    Framework(
        name="@phosphor-icons/react", title="Phosphor for React", language="tsx", form="component", sets=_sets("ph"),
        packages=("@phosphor-icons/react",), family="phosphor", module="@phosphor-icons/react", spelling="{}Icon",
        look=_JSX,
    ),
    Framework(
        name="@phosphor-icons/vue", title="Phosphor for Vue", language="vue", form="component", sets=_sets("ph"),
        packages=("@phosphor-icons/vue",), family="phosphor", module="@phosphor-icons/vue", spelling="Ph{}", look=_VUE,
    ),
    Framework(
        name="@heroicons/react", title="Heroicons for React", language="tsx", form="component", sets=_sets("heroicons"),
        packages=("@heroicons/react",), family="heroicons", module="@heroicons/react/{}", spelling="{}Icon",
        look={"size": "width={%s} height={%s}", "colour": 'color="%s"'} | _REACT_STROKE,
    ),
    Framework(
        name="@heroicons/vue", title="Heroicons for Vue", language="vue", form="component", sets=_sets("heroicons"),
        packages=("@heroicons/vue",), family="heroicons", module="@heroicons/vue/{}", spelling="{}Icon",
        look={"size": 'width="%s" height="%s"', "colour": 'color="%s"'} | _MARKUP_STROKE
        | {"stroke_width": 'stroke-width="%s"'},
    ),
    Framework(
        name="@mdi/js", title="Material Design Icons for React", language="tsx", form="exported", sets=_sets("mdi"),
        packages=("@mdi/js", "@mdi/react"), family="mdi", module="@mdi/js", spelling="mdi{}",
        component="Icon", component_module="@mdi/react", is_default=True, attribute="path",
        look={"size": 'size="%spx"', "colour": 'color="%s"'},
    ),
    Framework(
        name="@fortawesome/react-fontawesome", title="Font Awesome for React", language="tsx", form="exported",
        sets=_sets(
            "fa7-solid", "fa7-regular", "fa7-brands", "fa6-solid", "fa6-regular", "fa6-brands",
            "fa-solid", "fa-regular", "fa-brands",
        ),
        packages=("@fortawesome/react-fontawesome", "@fortawesome/fontawesome-svg-core"),
        family="font-awesome", module="@fortawesome/free-{}-svg-icons", spelling="fa{}",
        component="FontAwesomeIcon", component_module="@fortawesome/react-fontawesome",
        look={"size": "style={{ fontSize: %s }}", "colour": 'color="%s"'},
    ),
    Framework(
        name="@iconify/react", title="Iconify for React", language="tsx", form="key", packages=("@iconify/react",),
        component="Icon", component_module="@iconify/react",
        look={"size": "width={%s}", "colour": 'color="%s"'},
    ),
    Framework(
        name="@iconify/vue", title="Iconify for Vue", language="vue", form="key", packages=("@iconify/vue",),
        component="Icon", component_module="@iconify/vue",
        look={"size": 'width="%s"', "colour": 'color="%s"'},
    ),
    Framework(
        name="@iconify/svelte", title="Iconify for Svelte", language="svelte", form="key",
        packages=("@iconify/svelte",), component="Icon", component_module="@iconify/svelte", is_default=True,
        look={"size": 'width="%s"', "colour": 'color="%s"'},
    ),
    Framework(
        name="iconify-icon", title="Iconify as a web component", language="html", form="key",
        packages=("iconify-icon",), component="iconify-icon", component_module="iconify-icon",
        look={"size": 'width="%s"', "colour": 'style="color: %s"'},
    ),
    Framework(
        name="unocss", title="UnoCSS class", language="html", form="class", packages=("unocss",),
        look={"size": "font-size: %spx", "colour": "color: %s"},
    ),
    Framework(name="react", title="React component", language="tsx", form="drawn"),
    Framework(name="jsx", title="React component, JavaScript", language="jsx", form="drawn"),
    Framework(name="vue", title="Vue component", language="vue", form="drawn"),
    Framework(name="svelte", title="Svelte component", language="svelte", form="drawn"),
    Framework(name="html", title="SVG inside HTML", language="html", form="drawn"),
    Framework(name="svg", title="SVG file", language="svg", form="drawn"),
    Framework(name="css", title="CSS class", language="css", form="drawn"),
    Framework(name="data-uri", title="Data URI", language="text", form="drawn"),
    Framework(name="path", title="Path data", language="text", form="drawn"),
    Framework(name="name", title="Name", language="text", form="key"),
)  # fmt: skip

FRAMEWORKS: Mapping[str, Framework] = MappingProxyType({one.name: one for one in _TABLE})
"""All of them, in the order in which people are shown them: packages of one set, those of all sets, drawings."""
_ALSO = {
    "lucide": "lucide-react", "lucide-vue": "@lucide/vue", "lucide-vue-next": "@lucide/vue",
    "lucide-svelte": "@lucide/svelte", "tabler": "@tabler/icons-react", "phosphor-react": "@phosphor-icons/react",
    "heroicons": "@heroicons/react", "mdi": "@mdi/js", "@mdi/react": "@mdi/js",
    "fontawesome": "@fortawesome/react-fontawesome", "iconify": "iconify-icon", "tsx": "react", "uri": "data-uri",
}  # fmt: skip
"""What people say for some of them, and packages that others have followed."""


def framework(name: str) -> Framework:
    """Find a framework by its name, case aside.

    Raises:
        IconsError: there is none; the message names near ones.
    """
    plain = name.strip().lower()
    found = FRAMEWORKS.get(_ALSO.get(plain, plain))
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(plain, [*FRAMEWORKS, *_ALSO], n=5, cutoff=0.5)
        known = dict.fromkeys(_ALSO.get(one, one) for one in near or FRAMEWORKS)
        raise IconsError(f'no format "{name}"; {"near" if near else "there are"}: {", ".join(known)}')
    return found


GLOBALS = frozenset((
    "Array", "Boolean", "Date", "Error", "File", "Function", "History", "Image", "Infinity", "Link", "Map", "Math",
    "Navigation", "Notification", "Number", "Object", "Option", "Proxy", "Range", "SVGProps", "Screen", "Set", "String",
    "Symbol", "Text", "Touch", "Worker",
))  # fmt: skip
"""What a script would miss if an icon took its name: such an icon is called MapIcon."""
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Export:
    """What is imported for one icon."""

    module: str
    name: str
    weight: str | None = None
    """Of Phosphor, whose components take it as a property."""
    folder: str = ""
    """What tells its module from others of its family."""

    def called(self, local: str) -> str:
        """What is written among the names of an import that gives it a name there."""
        return self.name if self.name == local else f"{self.name} as {local}"


@dataclass(frozen=True, slots=True)
class Exceptions:
    """What the rule gets wrong."""

    instead: Mapping[str, str]
    absent: frozenset[str]


@cache
def exceptions() -> Mapping[str, Exceptions]:
    """Read them, by family and folder."""
    return {
        family: Exceptions(
            {name: other for other, names in kinds["instead"].items() for name in names.split()},
            frozenset(kinds["absent"].split()),
        )
        for family, kinds in json.loads(bundled("snippets/exports.json").read_bytes()).items()
    }


def exported(icon: NamedIcon, framework: Framework) -> Export:
    """Tell what a framework's package exports for an icon of a set that it serves.

    Raises:
        IconsError: nothing, or nothing that could be imported.
    """
    base, folder, weight = _place(icon, framework.family)
    known = exceptions().get(f"{framework.family} {folder}".strip())
    base = known.instead.get(base, base) if known else base
    if (known and base in known.absent) or not ICON_NAME.fullmatch(base):
        raise IconsError(
            f'"{icon.key}" is not exported by {framework.packages[0]}; --format {_INSTEAD[framework.language]} writes '
            "the drawing itself"
        )
    spelt = capitals(base)
    if framework.family == "heroicons":
        spelt = re.sub("(?<=[0-9])[a-z]", lambda letter: letter[0].upper(), spelt)  # `squares-2x2` -> `Squares2X2`
    return Export(framework.module.format(folder), framework.spelling.format(spelt), weight, folder)


def _place(icon: NamedIcon, family: str) -> tuple[str, str, str | None]:
    """Where the rule of a family looks for an icon.

    The name that is put in capitals; the folder that a module's name is filled in with; and, of Phosphor, a weight.
    """
    around, name, folder, weight = folders(icon), icon.name, "", None
    if family == "tabler" and icon.set.startswith("@") and "filled" in around:
        name = f"{name}-filled"  # as Iconify calls them
    elif family == "phosphor" and (found := re.fullmatch("(.+)-(thin|light|bold|fill|duotone)", name)):
        name, weight = found[1], found[2]
    elif family == "heroicons" and (found := re.fullmatch("(.+?)(?:-(16|20))?-solid", name)):
        # Iconify tells them apart by the name's end
        name, folder = found[1], f"{found[2] or 24}/solid"
    elif family == "heroicons":
        size = next((size for size in ("16", "20") if size in around), "24")
        folder = f"{size}/solid" if "solid" in around else "24/outline"
    elif family == "font-awesome":
        folder = font_awesome_style(icon)
    return name, folder, weight


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


_INSTEAD = {"tsx": "react", "vue": "vue", "svelte": "svelte"}
"""The format that draws an icon in a framework's language."""
