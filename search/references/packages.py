"""Which npm packages of components are known, and how does each write its icons?"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.references.component_names import Look


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
_TABLER = (Look("tabler", "Icon"),)
_TABLER_OTHERS = frozenset((
    "Icon", "IconProps", "IconNode", "TablerIcon", "TablerIconsProps", "TablerIconComponent", "createReactComponent",
    "createVueComponent", "createSvelteComponent", "icons", "iconsList", "default",
))  # fmt: skip
_TABLER_MODULES = tuple(
    f"@tabler/icons-{kind}" for kind in ("react", "vue", "svelte", "solidjs", "preact", "react-native", "angular")
)
_PHOSPHOR_WEIGHTS = ("Thin", "Light", "Bold", "Fill", "Duotone")
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
SOLID, REGULAR, BRANDS = "fa6-solid", "fa6-regular", "fa6-brands"


def _material(begins: str, *, styles: Mapping[str, str], at_end: bool) -> tuple[Look, ...]:
    """Google's icons are `baseline-home`, `outline-home` ... in Iconify's set."""
    marks = [
        Look("ic", begins if at_end else begins + mark, mark if at_end else "", f"{style}-")
        for mark, style in styles.items()
    ]
    return (*marks, Look("ic", begins, "", "baseline-"))


_MATERIAL_ENDS = {"Outlined": "outline", "Rounded": "round", "Sharp": "sharp", "TwoTone": "twotone"}
_ANT = (
    Look("ant-design", "", "Outlined", "", "-outlined"),
    Look("ant-design", "", "Filled", "", "-filled"),
    Look("ant-design", "", "TwoTone", "", "-twotone"),
)
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
    "fa6": (Look(REGULAR, "FaReg"), Look(SOLID, "Fa"), Look(BRANDS, "Fa")),
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


def _heroicons() -> dict[str, Components]:
    ends = {"24/outline": "", "24/solid": "-solid", "20/solid": "-20-solid", "16/solid": "-16-solid"}
    return {
        f"@heroicons/{framework}/{folder}": Components(
            f"import @heroicons/{framework}/{folder}", (Look("heroicons", "", "Icon", "", after),), _GENERAL
        )
        for framework in ("react", "vue")
        for folder, after in ends.items()
    }


def _alike(modules: Sequence[str], looks: Sequence[Look], others: frozenset[str] = _GENERAL) -> dict[str, Components]:
    return {module: Components(f"import {module}", looks, others) for module in modules}


MODULES: Mapping[str, Components] = {
    **_alike(_LUCIDE_MODULES, _LUCIDE, _LUCIDE_OTHERS),
    "@lucide/lab": Components(
        "import @lucide/lab", (Look("lucide-lab", "", "Icon"), Look("lucide-lab")), _LUCIDE_OTHERS
    ),
    **_alike(_TABLER_MODULES, _TABLER, _TABLER_OTHERS),
    **_alike(_PHOSPHOR_MODULES, _PHOSPHOR, _PHOSPHOR_OTHERS),
    **_heroicons(),
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
    **_alike(("@mui/icons-material",), _material("", styles=_MATERIAL_ENDS, at_end=True)),
    **_alike(("@ant-design/icons", "@ant-design/icons-vue"), _ANT),
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
