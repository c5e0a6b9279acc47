"""Which sets belong together? Styles of one design are one family; brands go with any."""

import re

_STYLE = re.compile(
    r"-(?:solid|regular|brands|outline|outlined|filled|light|sharp|rounded|thin|bold|duotone|twotone|mini|micro|color|line)$"
)
_VERSION = re.compile(r"^(fa|heroicons)\d*\b")
_BRANDS = frozenset((
    "simple-icons", "logos", "devicon", "devicon-plain", "devicon-line", "devicon-original", "skill-icons", "bxl",
    "cib", "cryptocurrency", "cryptocurrency-color", "token", "token-branded", "brandico", "streamline-logos", "thesvg",
    "fa-brands", "fa6-brands", "fa7-brands", "circle-flags", "flag", "flagpack", "cif", "file-icons", "vscode-icons",
    "catppuccin", "material-icon-theme", "selfhst", "unjs",
))  # fmt: skip
"""Brands, flags and kinds of files: drawn as they are, whatever else is on a page."""
_ITS_OWN = frozenset(("mdi-light",))


def family_of(key: str) -> str:
    """The family of a set: `fa6-solid` and `fa6-regular` are fa, `bxs` is bx."""
    if key in _ITS_OWN:
        return key
    if key == "bxs":
        return "bx"
    version = _VERSION.match(key)
    return version[1] if version else _STYLE.sub("", key)


def is_of_brands(key: str) -> bool:
    """Whether a set goes with any other."""
    return key in _BRANDS
