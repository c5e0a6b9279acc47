"""Which frameworks an icon can be written for, and what each package exports for it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal

from indexer.errors import IconsError
from indexer.library.bundled import bundled
from search.drawings.drawn import ICON_NAME, NamedIcon, folders, font_awesome_style

Language = Literal["tsx", "jsx", "vue", "svelte", "html", "css", "svg", "text"]
Form = Literal["component", "exported", "key", "class", "drawn"]
_NEAR = 5

LUCIDE = ("lucide", "lucide-static")
TABLER = ("tabler", "@tabler/icons")
PHOSPHOR = ("ph", "@phosphor-icons/core")
HEROICONS = ("heroicons",)
MDI = ("mdi", "@mdi/svg")
FONT_AWESOME = (
    *("fa7-solid", "fa7-regular", "fa7-brands", "fa6-solid", "fa6-regular", "fa6-brands"),
    *("fa-solid", "fa-regular", "fa-brands", "@fortawesome/fontawesome-free"),
)


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


_REACT_STROKE = {"stroke_width": "strokeWidth={%s}", "corner": 'strokeLinecap="%s" strokeLinejoin="%s"'}
_MARKUP_STROKE = {"stroke_width": ':stroke-width="%s"', "corner": 'stroke-linecap="%s" stroke-linejoin="%s"'}
_JSX = {"size": "size={%s}", "colour": 'color="%s"'}
_VUE = {"size": ':size="%s"', "colour": 'color="%s"'}
_SVELTE_STROKE = {"stroke_width": "strokeWidth={%s}", "corner": 'stroke-linecap="%s" stroke-linejoin="%s"'}

_TABLE = (
    Framework(
        name="lucide-react", title="Lucide for React", language="tsx", form="component", sets=LUCIDE,
        packages=("lucide-react",), family="lucide", module="lucide-react", look=_JSX | _REACT_STROKE,
    ),
    Framework(
        name="@lucide/vue", title="Lucide for Vue", language="vue", form="component", sets=LUCIDE,
        packages=("@lucide/vue",), family="lucide", module="@lucide/vue", look=_VUE | _MARKUP_STROKE,
    ),
    Framework(
        name="@lucide/svelte", title="Lucide for Svelte", language="svelte", form="component", sets=LUCIDE,
        packages=("@lucide/svelte",), family="lucide", module="@lucide/svelte", look=_JSX | _SVELTE_STROKE,
    ),
    Framework(
        name="@tabler/icons-react", title="Tabler for React", language="tsx", form="component", sets=TABLER,
        packages=("@tabler/icons-react",), family="tabler", module="@tabler/icons-react", spelling="Icon{}",
        look=_JSX | _REACT_STROKE | {"stroke_width": "stroke={%s}"},
    ),
    Framework(
        name="@tabler/icons-vue", title="Tabler for Vue", language="vue", form="component", sets=TABLER,
        packages=("@tabler/icons-vue",), family="tabler", module="@tabler/icons-vue", spelling="Icon{}",
        look=_VUE | _MARKUP_STROKE | {"stroke_width": ':stroke="%s"'},
    ),
    Framework(
        name="@tabler/icons-svelte", title="Tabler for Svelte", language="svelte", form="component", sets=TABLER,
        packages=("@tabler/icons-svelte",), family="tabler", module="@tabler/icons-svelte", spelling="Icon{}",
        look=_JSX | _SVELTE_STROKE | {"stroke_width": "stroke={%s}"},
    ),
    Framework(
        name="@phosphor-icons/react", title="Phosphor for React", language="tsx", form="component", sets=PHOSPHOR,
        packages=("@phosphor-icons/react",), family="phosphor", module="@phosphor-icons/react", spelling="{}Icon",
        look=_JSX,
    ),
    Framework(
        name="@phosphor-icons/vue", title="Phosphor for Vue", language="vue", form="component", sets=PHOSPHOR,
        packages=("@phosphor-icons/vue",), family="phosphor", module="@phosphor-icons/vue", spelling="Ph{}", look=_VUE,
    ),
    Framework(
        name="@heroicons/react", title="Heroicons for React", language="tsx", form="component", sets=HEROICONS,
        packages=("@heroicons/react",), family="heroicons", module="@heroicons/react/{}", spelling="{}Icon",
        look={"size": "width={%s} height={%s}", "colour": 'color="%s"'} | _REACT_STROKE,
    ),
    Framework(
        name="@heroicons/vue", title="Heroicons for Vue", language="vue", form="component", sets=HEROICONS,
        packages=("@heroicons/vue",), family="heroicons", module="@heroicons/vue/{}", spelling="{}Icon",
        look={"size": 'width="%s" height="%s"', "colour": 'color="%s"'} | _MARKUP_STROKE
        | {"stroke_width": 'stroke-width="%s"'},
    ),
    Framework(
        name="@mdi/js", title="Material Design Icons for React", language="tsx", form="exported", sets=MDI,
        packages=("@mdi/js", "@mdi/react"), family="mdi", module="@mdi/js", spelling="mdi{}",
        component="Icon", component_module="@mdi/react", is_default=True, attribute="path",
        look={"size": 'size="%spx"', "colour": 'color="%s"'},
    ),
    Framework(
        name="@fortawesome/react-fontawesome", title="Font Awesome for React", language="tsx", form="exported",
        sets=FONT_AWESOME, packages=("@fortawesome/react-fontawesome", "@fortawesome/fontawesome-svg-core"),
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

        near = get_close_matches(plain, [*FRAMEWORKS, *_ALSO], n=_NEAR, cutoff=0.5) or [*FRAMEWORKS]
        raise IconsError(f'no format "{name}"; near: {", ".join(dict.fromkeys(_ALSO.get(one, one) for one in near))}')
    return found


GLOBALS = frozenset((
    "Array", "Boolean", "Date", "Error", "File", "Function", "History", "Image", "Infinity", "Link", "Map", "Math",
    "Navigation", "Notification", "Number", "Object", "Option", "Proxy", "Range", "SVGProps", "Screen", "Set", "String",
    "Symbol", "Text", "Touch", "Worker",
))  # fmt: skip
"""What a script would miss if an icon took its name: such an icon is called MapIcon."""
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")
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
        spelt = _AFTER_DIGIT.sub(lambda letter: letter[0].upper(), spelt)  # `squares-2x2` -> `Squares2X2`
    return Export(framework.module.format(folder), framework.spelling.format(spelt), weight, folder)


def _place(icon: NamedIcon, family: str) -> tuple[str, str, str | None]:
    """Where the rule of a family looks for an icon.

    The name that is put in capitals; the folder that a module's name is filled in with; and, of Phosphor, a weight.
    """
    around, name, folder, weight = folders(icon), icon.name, "", None
    if family == "tabler" and icon.set.startswith("@") and "filled" in around:
        name = f"{name}-filled"  # as Iconify calls them
    elif family == "phosphor" and (found := _WEIGHT.fullmatch(name)):
        name, weight = found[1], found[2]
    elif family == "heroicons" and (found := _HEROICON.fullmatch(name)):  # Iconify tells them apart by the name's end
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
