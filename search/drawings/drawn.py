"""What is written as code: an icon by its name, its key, its drawing, and the look of the copy."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from indexer.errors import IconsError
from indexer.library.bundled import bundled

if TYPE_CHECKING:
    from search.results import Hit

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
                *("stroke width", self.stroke_width, lambda width: 0 < width <= WIDEST_STROKE),
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
