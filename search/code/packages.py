"""npm packages of components: how each writes its icons, which sets belong together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from search.drawings.frameworks import capitals

_STYLE = re.compile(
    r"-(?:solid|regular|brands|outline|outlined|filled|light|sharp|rounded|thin|bold|duotone|twotone|mini|micro|color|line)$"
)
_VERSION = re.compile(r"^(fa|heroicons)\d*\b")
_AWESOME = re.compile(r"^fa[67]?-(?=solid|regular|brands)")
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


def design_of(key: str) -> str:
    """What a set is a version of: `fa6-solid` and `fa7-solid` are one."""
    return _AWESOME.sub("font-awesome ", key)


_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])"  # arrow|Left, trash|2
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # A|Arrow
    r"|(?<=[A-Z])(?=[0-9])"  # H|1
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 3|Bars
)
_NO_LETTER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Look:
    """One way to write a set's names: `begins` + Name + `ends` is the icon `before` + name + `after` of `set`."""

    set: str
    begins: str = ""
    ends: str = ""
    before: str = ""
    after: str = ""
    is_camel: bool = False
    """Whether it begins in lower case, as what is no component does."""

    def read(self, component: str) -> str | None:
        """The name that a component tells, where it is written so."""
        body = component.removeprefix(self.begins).removesuffix(self.ends)
        if len(body) + len(self.begins) + len(self.ends) != len(component) or not body:
            return None
        if not (body[0].isupper() or body[0].isdigit() or self.is_camel):
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
        return spelt[0].lower() + spelt[1:] if self.is_camel else spelt


def read_component(looks: Sequence[Look], component: str) -> list[tuple[str, str]]:
    """All (set, name) that a component may mean by some looks, the likeliest first."""
    readings = ((look.set, look.read(component)) for look in looks)
    return list(dict.fromkeys((key, name) for key, name in readings if name))


def spell_component(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> str | None:
    """Write a name as a component, in the look that another component has where that can be."""
    fitting = [look for look in looks if look.set in sets]
    liked = sorted(fitting, key=lambda look: look.read(like) is None)  # stable: those that read it come first
    return next((spelt for look in liked if (spelt := look.spell(name))), None)


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
    "default", "dynamicIconImports", "iconNames",
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
_TABLER_MODULES = (
    *("@tabler/icons", "@tabler/icons-react", "@tabler/icons-vue", "@tabler/icons-svelte", "@tabler/icons-solidjs"),
    *("@tabler/icons-preact", "@tabler/icons-react-native", "@tabler/icons-angular"),
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
_GENERAL = frozenset(("IconType", "IconBase", "IconContext", "IconBaseProps", "IconTree", "GenIcon", "default"))


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
    "@lucide/lab": Components("import @lucide/lab", (Look("lucide-lab", is_camel=True),), _LUCIDE_OTHERS),
    **_alike(_TABLER_MODULES, (Look("tabler", "Icon"),), _TABLER_OTHERS),
    **_alike(_PHOSPHOR_MODULES, _PHOSPHOR, _PHOSPHOR_OTHERS),
    **{
        module: components
        for folder, after in _HEROICONS.items()
        for module, components in _alike(
            (f"@heroicons/react/{folder}", f"@heroicons/vue/{folder}"), (Look("heroicons", "", "Icon", "", after),)
        ).items()
    },
    **_alike(("@heroicons/react/outline", "@heroicons/vue/outline"), (Look("heroicons-outline", "", "Icon"),)),
    **_alike(("@heroicons/react/solid", "@heroicons/vue/solid"), (Look("heroicons-solid", "", "Icon"),)),
    **_alike(("mdi-material-ui", "vue-material-design-icons"), (Look("mdi"),)),
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
        ("@mui/icons-material", "@material-ui/icons"),
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
    **_alike(("ionicons/icons",), (Look("ion", is_camel=True),)),
}
"""What the modules export that components are imported from."""
_WHERE = re.compile(r"^(@[\w.-]+/)?[\w.-]+")
_OF_ICONS = re.compile(r"(?<!lex)(?<!sil)(?<!fav)(?<!emot)icons?(?![a-z])|iconsax")
_TOOLS = re.compile(r"@iconify(?:-json)?/|@(?:unocss|nuxt|types)/|(?:iconify-icon|unplugin-icons|astro-icon)$|.*plugin")
"""Packages whose names say "icon", and that export none."""
_INNER = re.compile(r"(?:/(?:dist|esm?|cjs|lib|umd|build|icons|index))*(?:\.[mc]?js)?$")
"""What leads to the one file that exports all."""
_OF_ICONIFY = re.compile(r"@iconify(?:-icons/|/icons-)([a-z0-9-]+)$")


def package_of(specifier: str) -> str:
    """The package of a module: `react-icons/fa6` -> `react-icons`."""
    found = _WHERE.match(specifier)
    return found[0] if found else ""


_LONGEST = 200


def components_of(module: str) -> Components | None:
    """What a module exports; of one that no table knows where its package says that it holds icons."""
    package = package_of(module[:_LONGEST])
    inner = module[len(package) : _LONGEST].removesuffix(f"/{package.rpartition('/')[2]}")
    whole = f"{package}{_INNER.sub('', inner)}"
    if known := MODULES.get(module) or MODULES.get(whole):
        return known
    of_set = _OF_ICONIFY.match(package)
    if whole != package or (not of_set and (not _OF_ICONS.search(package) or _TOOLS.match(package))):
        return None
    return Components(f"import {module}", (Look(of_set[1] if of_set else package, is_camel=True),), _GENERAL)


def components_above(module: str) -> Components | None:
    """What the module exports that another is a part of: `@mui/icons-material` for `@mui/icons-material/Home`."""
    package = package_of(module)
    found = components_of(module.rpartition("/")[0]) or components_of(package)
    if found and found.form == f"import {package}" and package not in MODULES:
        return replace(found, form=package)  # its parts may export what it does not
    return found
