"""npm packages of components: how each writes its icons, which sets belong together, what a code imports of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from search.code.reading import Reference
from search.drawings.frameworks import capitals

_STYLE = re.compile(
    r"-(?:solid|regular|brands|outline|outlined|filled|light|sharp|rounded|thin|bold|duotone|twotone|mini|micro|color|line)$"
)
_VERSION = re.compile(r"^(fa|heroicons)\d*\b")
OF_BRANDS = frozenset((
    "simple-icons", "logos", "devicon", "devicon-plain", "devicon-line", "devicon-original", "skill-icons", "bxl",
    "cib", "cryptocurrency", "cryptocurrency-color", "token", "token-branded", "brandico", "streamline-logos", "thesvg",
    "fa-brands", "fa6-brands", "fa7-brands", "circle-flags", "flag", "flagpack", "cif", "file-icons", "vscode-icons",
    "catppuccin", "material-icon-theme", "selfhst", "unjs",
))  # fmt: skip
"""Sets of brands, flags and kinds of files, which go with any other: drawn as they are, whatever else is on a page."""
_IRREGULAR = {"mdi-light": "mdi-light", "bxs": "bx"}


def family_of(key: str) -> str:
    """The family of a set: `fa6-solid` and `fa6-regular` are fa, `bxs` is bx."""
    version = _VERSION.match(key)
    return _IRREGULAR.get(key) or (version[1] if version else _STYLE.sub("", key))


_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])"  # arrow|Left, trash|2
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # A|Arrow
    r"|(?<=[A-Z])(?=[0-9])"  # H|1
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 3|Bars
)
_AFTER_NUMBER = re.compile(r"(?<=[0-9])[A-Za-z]")
_NO_LETTER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Look:
    """One way to write a set's names: `begins` + Name + `ends` is the icon `before` + name + `after` of `set`."""

    set: str
    begins: str = ""
    ends: str = ""
    before: str = ""
    after: str = ""

    def read(self, component: str) -> str | None:
        """The name that a component tells, where it is written so."""
        body = component.removeprefix(self.begins).removesuffix(self.ends)
        if len(body) + len(self.begins) + len(self.ends) != len(component) or not body:
            return None
        if self.begins and not (body[0].isupper() or body[0].isdigit()):
            return None  # `Tiara` is no icon of `Ti`
        return f"{self.before}{kebab(body)}{self.after}"

    def spell(self, name: str) -> str | None:
        """The component of a name, where this look has it."""
        if not (name.startswith(self.before) and name.endswith(self.after)):
            return None
        body = name[len(self.before) : len(name) - len(self.after)]
        if not body or not body.isascii():
            return None
        spelt = f"{self.begins}{capitals(body)}{self.ends}"
        return spelt[0].lower() + spelt[1:] if self.begins[:1].islower() else spelt


def read_component(looks: Sequence[Look], component: str) -> list[tuple[str, str]]:
    """All (set, name) that a component may mean by some looks, the likeliest first."""
    readings = ((look.set, look.read(component)) for look in looks)
    return list(dict.fromkeys((key, name) for key, name in readings if name))


def spell_component(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> str | None:
    """Write a name as a component, in the look that another component has where that can be."""
    fitting = [look for look in looks if look.set in sets]
    liked = sorted(fitting, key=lambda look: look.read(like) is None)  # stable: those that read it come first
    return next((spelt for look in liked if (spelt := look.spell(name))), None)


def is_spelt(looks: Sequence[Look], name: str, component: str) -> bool:
    """Whether a component is a name's, the letters behind numbers in either case: `Grid3X3`, `Grid3x3`."""

    def even(text: str) -> str:
        return _AFTER_NUMBER.sub(lambda letter: letter[0].lower(), text)

    return any(even(spelt) == even(component) for look in looks if (spelt := look.spell(name)))


def kebab(component: str) -> str:
    """ArrowLeft -> arrow-left, Trash2 -> trash-2, Grid2x2 -> grid-2x2."""
    return "-".join(_HUMP.split(component)).replace("_", "-").lower()


def folded(name: str) -> str:
    """A name without what a component cannot tell: arrow-down-a-z -> arrowdownaz."""
    return _NO_LETTER.sub("", name.lower())


@dataclass(frozen=True, slots=True)
class Components:
    """What a module exports."""

    form: str
    looks: Sequence[Look]
    others: frozenset[str] = frozenset()
    """What it exports beside icons."""


_LUCIDE = (Look("lucide", "Lucide", "Icon"), Look("lucide", "", "Icon"), Look("lucide", "Lucide"), Look("lucide"))
_LUCIDE_OTHERS = frozenset((
    "Icon", "IconNode", "icons", "createIcons", "createElement", "createLucideIcon", "DynamicIcon", "LucideIcon",
    "LucideProps", "LucideProvider", "LucideAngularModule", "LucideAngularComponent", "LucideIconProvider",
    "LucideIconConfig", "LucideIcons", "LucideIconData", "LUCIDE_ICONS", "LucideIconNode", "LucideSvgProps",
    "LucideDynamicIcon", "LucideConfig", "LucideContext", "setLucideProps", "useLucideContext", "IconProps",
    "default", "dynamicIconImports",
))  # fmt: skip
_LUCIDE_MODULES = (
    "lucide-react", "lucide-vue-next", "lucide-vue", "lucide-svelte", "lucide-angular", "lucide-solid", "lucide-preact",
    "lucide-react-native", "lucide", "@lucide/vue", "@lucide/svelte", "@lucide/angular", "@lucide/react",
    "@lucide/solid", "@lucide/astro", "@lucide/lab",
)  # fmt: skip
_TABLER_OTHERS = frozenset((
    "Icon", "IconProps", "IconNode", "TablerIcon", "TablerIconsProps", "TablerIconComponent", "createReactComponent",
    "createVueComponent", "createSvelteComponent", "icons", "iconsList", "default",
))  # fmt: skip
_TABLER_MODULES = tuple(
    f"@tabler/icons-{kind}" for kind in ("react", "vue", "svelte", "solidjs", "preact", "react-native", "angular")
)
_PHOSPHOR = (Look("ph", "Ph", "Icon"), Look("ph", "", "Icon"), Look("ph", "Ph"), Look("ph"))
_PHOSPHOR_OTHERS = frozenset((
    "Icon", "IconBase", "IconContext", "IconProps", "IconWeight", "IconStyle", "SSRBase", "default",
))  # fmt: skip
_PHOSPHOR_MODULES = (
    "@phosphor-icons/react", "@phosphor-icons/react/ssr", "@phosphor-icons/react/dist/ssr", "@phosphor-icons/vue",
    "phosphor-react", "phosphor-vue", "phosphor-svelte", "phosphor-react-native",
)  # fmt: skip
_AWESOME_OTHERS = frozenset((
    "IconDefinition", "IconLookup", "IconName", "IconPack", "IconPrefix", "IconProp", "fas", "far", "fab", "fal",
    "fad", "prefix", "default",
))  # fmt: skip
_GENERAL = frozenset(("IconType", "IconBase", "IconContext", "IconBaseProps", "default"))


def _material(begins: str, *, styles: Mapping[str, str], at_end: bool) -> tuple[Look, ...]:
    """Google's icons are `baseline-home`, `outline-home` ... in Iconify's set."""
    marks = [
        Look("ic", begins if at_end else begins + mark, mark if at_end else "", f"{style}-")
        for mark, style in styles.items()
    ]
    return (*marks, Look("ic", begins, "", "baseline-"))


_REACT_ICONS: Mapping[str, Sequence[Look]] = {
    "ai": (
        Look("ant-design", "AiOutline", "", "", "-outlined"),
        Look("ant-design", "AiFill", "", "", "-filled"),
        Look("ant-design", "AiTwotone", "", "", "-twotone"),
    ),
    "bi": (Look("bxs", "BiSolid"), Look("bxl", "BiLogo"), Look("bx", "Bi")),
    "bs": (Look("bi", "BsFill"), Look("bi", "Bs")),
    "cg": (Look("gg", "Cg"),),
    "ci": (Look("circum", "Ci"),),
    "fa": (
        Look("fa-regular", "FaReg"),
        Look("fa-solid", "Fa"),
        Look("fa-brands", "Fa"),
    ),
    "fa6": (Look("fa6-regular", "FaReg"), Look("fa6-solid", "Fa"), Look("fa6-brands", "Fa")),
    "fc": (Look("flat-color-icons", "Fc"),),
    "fi": (Look("feather", "Fi"),),
    "gi": (Look("game-icons", "Gi"),),
    "go": (Look("octicon", "Go", "", "", "-16"), Look("octicon", "Go", "", "", "-24")),
    "gr": (Look("grommet-icons", "Gr"),),
    "hi": (Look("heroicons-outline", "HiOutline"), Look("heroicons-solid", "Hi")),
    "hi2": (
        Look("heroicons", "HiOutline"),
        Look("heroicons", "HiMini", "", "", "-20-solid"),
        Look("heroicons", "Hi", "", "", "-solid"),
    ),
    "im": (Look("icomoon-free", "Im"),),
    "io": (Look("ion", "IoMd", "", "md-"), Look("ion", "IoIos", "", "ios-"), Look("ion", "IoLogo", "", "logo-")),
    "io5": (Look("ion", "Io"),),
    "lia": (Look("la", "Lia"),),
    "lu": (Look("lucide", "Lu"),),
    "md": _material("Md", styles={"Outline": "outline", "Round": "round", "Sharp": "sharp"}, at_end=False),
    "pi": (Look("ph", "Pi"),),
    "ri": (Look("ri", "Ri"),),
    "rx": (Look("radix-icons", "Rx"),),
    "si": (Look("simple-icons", "Si"),),
    "sl": (Look("simple-line-icons", "Sl"),),
    "tb": (Look("tabler", "Tb"),),
    "ti": (Look("typcn", "Ti"),),
    "vsc": (Look("codicon", "Vsc"),),
    "wi": (Look("wi", "Wi"),),
}
"""Of the modules `react-icons/ai`, `react-icons/bi` ...; what else one has is of a set that Iconify lacks."""


_HEROICONS = {"24/outline": "", "24/solid": "-solid", "20/solid": "-20-solid", "16/solid": "-16-solid"}
"""What names end with in Iconify's set, by the folder of the package."""


def _alike(modules: Sequence[str], looks: Sequence[Look], others: frozenset[str] = _GENERAL) -> dict[str, Components]:
    return {module: Components(f"import {module}", looks, others) for module in modules}


MODULES: Mapping[str, Components] = {
    **_alike(_LUCIDE_MODULES, _LUCIDE, _LUCIDE_OTHERS),
    "@lucide/lab": Components(
        "import @lucide/lab", (Look("lucide-lab", "", "Icon"), Look("lucide-lab")), _LUCIDE_OTHERS
    ),
    **_alike(_TABLER_MODULES, (Look("tabler", "Icon"),), _TABLER_OTHERS),
    **_alike(_PHOSPHOR_MODULES, _PHOSPHOR, _PHOSPHOR_OTHERS),
    **{
        module: components
        for folder, after in _HEROICONS.items()
        for module, components in _alike(
            (f"@heroicons/react/{folder}", f"@heroicons/vue/{folder}"), (Look("heroicons", "", "Icon", "", after),)
        ).items()
    },
    **_alike(("@mdi/js",), (Look("mdi", "mdi"),)),
    **_alike(("@mdi/light-js",), (Look("mdi-light", "mdil"),)),
    **{
        f"react-icons/{module}": Components(f"import react-icons/{module}", looks, _GENERAL)
        for module, looks in _REACT_ICONS.items()
    },
    **{
        f"@fortawesome/free-{style}-svg-icons": Components(
            f"import @fortawesome/free-{style}-svg-icons",
            tuple(Look(f"{version}-{style}", "fa") for version in ("fa6", "fa7", "fa")),
            _AWESOME_OTHERS,
        )
        for style in ("solid", "regular", "brands")
    },
    **_alike(
        ("@mui/icons-material",),
        _material(
            "",
            styles={"Outlined": "outline", "Rounded": "round", "Sharp": "sharp", "TwoTone": "twotone"},
            at_end=True,
        ),
    ),
    **_alike(
        ("@ant-design/icons", "@ant-design/icons-vue"),
        tuple(Look("ant-design", "", style, "", f"-{style.lower()}") for style in ("Outlined", "Filled", "TwoTone")),
    ),
    **_alike(("@radix-ui/react-icons",), (Look("radix-icons", "", "Icon"),)),
    **_alike(
        ("@primer/octicons-react",),
        (Look("octicon", "", "Icon", "", "-16"), Look("octicon", "", "Icon", "", "-24")),
    ),
    **_alike(("@remixicon/react", "@remixicon/vue"), (Look("ri", "Ri"),)),
    **_alike(("react-feather", "vue-feather-icons"), (Look("feather", "", "Icon"), Look("feather"))),
    **_alike(("react-bootstrap-icons",), (Look("bi"),)),
    **_alike(("iconoir-react",), (Look("iconoir"),)),
    **_alike(("ionicons/icons",), (Look("ion"),)),
}
"""What the modules export that components are imported from."""
_WHERE = re.compile(r"^(@[\w.-]+/)?[\w.-]+")


def package_of(specifier: str) -> str:
    """The package of a module: `react-icons/fa6` -> `react-icons`."""
    found = _WHERE.match(specifier)
    return found[0] if found else ""


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


def imports_in(code: str) -> Iterator[Reference]:
    """Icons that a code imports by name, by module, as a whole, or lazily, in the order of these forms."""
    wholes: dict[str, Components] = {}
    for pattern in (_FROM, _REQUIRED):
        for found in pattern.finditer(code):
            components = MODULES.get(found["module"])
            if components is None:
                if pattern is _FROM:  # what is loaded is read by its own pattern
                    yield from _deep(found, "module")
                continue
            for one in _NAME.finditer(found["names"] or ""):
                if one["type"] is None:
                    yield from _component(found.start("names") + one.start("name"), one["name"], components)
            if found["all"]:
                wholes[found["all"]] = components
    for found in _LOADED.finditer(code):
        yield from _deep(found, "module" if found["module"] else "own")
    for found in _MEMBER.finditer(code) if wholes else ():
        if (components := wholes.get(found["whole"])) and found["any"]:
            yield Reference(found.start(), found.end(), components.form)
        elif components:
            group = "name" if found["name"] else "word"
            yield from _component(found.start(group), found[group], components)


def _component(start: int, name: str, components: Components) -> Iterator[Reference]:
    """An exported name; only the package itself knows what else than icons it exports."""
    if name not in components.others:
        readings = read_component(components.looks, name)
        (key, spelt), *others = readings or [(components.looks[0].set, kebab(name))]
        yield Reference(start, start + len(name), components.form, key, spelt, tuple(others), bool(readings))


def _deep(found: re.Match[str], group: str) -> Iterator[Reference]:
    """A module of one icon: `lucide-react/icons/bell`, `@mui/icons-material/Home`, `@heroicons/.../BellIcon`."""
    module = found[group]
    package = package_of(module)
    components, word = MODULES.get(package) or MODULES.get(module.rpartition("/")[0]), _DEEP.search(module)
    if components is None or word is None or module in MODULES or not module.startswith(f"{package}/"):
        return
    start, name = found.start(group) + word.start(1), word[1]
    if name == name.lower():  # as files are called
        yield Reference(start, start + len(name), components.form, components.looks[-1].set, name)
    else:
        yield from (one for one in _component(start, name, components) if one.is_certain)
