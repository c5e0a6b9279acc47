"""What does Iconify call an icon? Its prefix and name, whether a library got it from Iconify or from an npm package."""

import re
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from indexer.errors import IconsError
from indexer.library.bundled import bundled
from search.snippets.drawn import NamedIcon

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
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""As Iconify takes it."""


class IconifyKey(NamedTuple):
    """How Iconify's libraries ask for an icon."""

    prefix: str
    name: str

    def __str__(self) -> str:
        return f"{self.prefix}:{self.name}"


def packages_of(prefix: str) -> list[str]:
    """npm packages of pictures that hold a set of Iconify, as a library calls them."""
    wanted = "fa7" if _STYLED.fullmatch(prefix) else prefix
    return [package for package, known in _PACKAGES.items() if known == wanted]


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
    if prefix not in iconify_sets() or not _NAME.fullmatch(name):
        raise IconsError(f'"{icon.key}" is not of Iconify; --format svg, react, vue or svelte write the drawing itself')
    return IconifyKey(prefix, name)


def font_awesome_style(icon: NamedIcon) -> str:
    """Iconify has a set a style, the package of pictures a folder."""
    told = (*folders(icon), icon.set.rpartition("-")[2])
    return next((style for style in ("solid", "regular", "brands") if style in told), "solid")
