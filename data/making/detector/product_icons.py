"""Icons on a page that others made: SVG, glyphs of icon fonts and small pictures, and which icon of Iconify's sets each
is.

Elements are marked as `browser.painted_icons` wants them; the mark is their number, by which their facts are known.
An icon is named by its class where an icon font names it, else by its drawing.
"""

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.making.detector.browser import Browser
from indexer.errors import RenderError, SourceError
from indexer.rendering.render import draw
from indexer.sources.iconify import build_svg, resolve_icon

_BESIDE = Path(__file__).with_name("product_files")
LARGEST_SIDE = 96
"""CSS pixels; what is larger is an illustration."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What generic rules cannot know of a product, as selectors of CSS; "" where there is nothing."""

    skip: str = ""
    """What is no icon, and what lies in it: logos, charts, portraits."""
    ornaments: str = ""
    """What is no icon itself, though icons may lie in it."""
    pictures: str = ""
    """Elements that are an icon as a whole: `img` with a small picture, `image` of a larger SVG."""
    backgrounds: str = ""
    """Elements whose background is an icon."""
    texts: str = ""
    """Elements whose text is a glyph of an icon font."""


@dataclass(frozen=True, slots=True)
class Found:
    """An icon as the document tells of it."""

    classes: str
    name: str
    """What `data-icon` and `data-prefix` said, as Font Awesome's SVG has them."""
    prefix: str
    svg: str
    """Markup of an inline SVG, sprites resolved; else ""."""
    drawn: str
    sides: tuple[float, float]


def mark_icons(browser: Browser, rules: Rules) -> list[Found]:
    """Mark all icons of the page that `browser` shows; the mark of each is its place in the list."""
    options: dict[str, Any] = {
        "hiding": (_BESIDE / "mark.css").read_text("utf-8"),
        "largest": LARGEST_SIDE,
        "skip": rules.skip,
        "ornaments": rules.ornaments,
        "pictures": rules.pictures,
        "backgrounds": rules.backgrounds,
        "texts": rules.texts,
    }
    facts = browser.run((_BESIDE / "mark.js").read_text("utf-8"), options)
    return [Found(**{**one, "sides": tuple(one["sides"])}) for one in facts]


def show_icons(browser: Browser) -> None:
    """Show what `painted_icons` has hidden last."""
    browser.run("() => document.querySelectorAll('.icon-off').forEach(one => one.classList.remove('icon-off'))")


UNKNOWN = ""

_FONT_AWESOME_5 = {"fas": "fa-solid", "far": "fa-regular", "fab": "fa-brands", "fa": "fa-solid"}
_FONT_AWESOME_6 = {
    **{"fas": "fa6-solid", "far": "fa6-regular", "fab": "fa6-brands", "fa": "fa6-solid"},
    **{"fa-solid": "fa6-solid", "fa-regular": "fa6-regular", "fa-brands": "fa6-brands"},
}
FAMILIES: dict[str, dict[str, str]] = {
    "fontawesome4": {"fa": "fa"},
    "fontawesome5": _FONT_AWESOME_5,
    "fontawesome6": _FONT_AWESOME_6,
    "feather": {"fe": "feather"},
    "bootstrap": {"bi": "bi"},
    "tabler": {"ti": "tabler"},
    "mdi": {"mdi": "mdi"},
}
"""What an icon font calls its classes: the class of a family -> the prefix of its set."""
_SIDE = 48
_SAME = 0.035
"""Mean difference of two drawings' ink, as a share of the larger one's: less than that is the same icon."""


class Namer:
    """Names icons of one product by the sets that it draws from."""

    def __init__(self, icons: Path, *, families: Sequence[str], sets: Sequence[str]) -> None:
        self._icons = icons
        self._families = families
        self._sets = sets

    def key(self, found: Found) -> str:
        """The icon's key, such as "mdi:home"; "" where no set has it."""
        for family in self._families:
            if key := self._by_class(found, FAMILIES[family]):
                return key
        return self._by_drawing(found.svg) if found.svg else UNKNOWN

    def _by_class(self, found: Found, prefixes: dict[str, str]) -> str:
        classes = found.classes.split()
        if found.prefix in prefixes:  # an SVG that Font Awesome's script has drawn
            return self._known(prefixes[found.prefix], found.name)
        chosen = next((one for one in prefixes if one in classes), None)
        if chosen is None:
            return UNKNOWN
        start = "fa-" if chosen.startswith("fa") else f"{chosen}-"
        names = (one.removeprefix(start) for one in classes if one.startswith(start))
        return next(filter(None, (self._known(prefixes[chosen], name) for name in names)), UNKNOWN)

    def _known(self, prefix: str, name: str) -> str:
        try:
            _, base = resolve_icon(_read_set(self._icons, prefix), name)
        except SourceError:
            return UNKNOWN
        return f"{prefix}:{base}"

    def _by_drawing(self, svg: str) -> str:
        for document in (svg, _as_sets_are_stroked(svg)):
            if (ink := _ink(_plain(document))) is not None and (key := self._nearest(ink)):
                return key
        return UNKNOWN

    def _nearest(self, ink: NDArray[np.uint8]) -> str:
        for prefix in self._sets:
            names, inks = _inks_of(self._icons, prefix)
            apart = np.abs(inks.astype(np.int16) - ink.astype(np.int16)).mean(axis=1, dtype=np.float32)
            nearest = int(apart.argmin())
            if apart[nearest] <= _SAME * max(float(inks[nearest].mean()), float(ink.mean())):
                return f"{prefix}:{names[nearest]}"
        return UNKNOWN


@functools.lru_cache(maxsize=8)
def _read_set(icons: Path, prefix: str) -> dict[str, Any]:
    path = icons / "json" / f"{prefix}.json"
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SourceError(f'no icon set "{path}"; name the folder of npm\'s @iconify/json') from error
    return data


@functools.lru_cache(maxsize=32)
def _inks_of(icons: Path, prefix: str) -> tuple[list[str], NDArray[np.uint8]]:
    """Names of a set's icons, and how each is drawn, (n, side * side)."""
    data = _read_set(icons, prefix)
    drawn = ((name, _ink(build_svg(resolve_icon(data, name)[0]))) for name in data["icons"])
    kept = [(name, ink) for name, ink in drawn if ink is not None]
    return [name for name, _ in kept], np.stack([ink for _, ink in kept])


def _ink(svg: bytes) -> NDArray[np.uint8] | None:
    """The alpha of an icon, flat, on a square of `_SIDE`; None where nothing can be drawn."""
    try:
        alpha = draw(svg, size=_SIDE)[..., 3]
    except RenderError:
        return None
    canvas = np.zeros((_SIDE, _SIDE), np.uint8)
    height, width = alpha.shape
    top, left = (_SIDE - height) // 2, (_SIDE - width) // 2
    canvas[top : top + height, left : left + width] = alpha
    return canvas.ravel() if canvas.any() else None


def _as_sets_are_stroked(svg: str) -> str:
    """The SVG with lines as wide and round as those of Feather and its kin: products draw the same icons thinner."""
    opening, _, rest = svg.partition(">")
    opening = re.sub(r'\sstroke-(?:width|linecap|linejoin)="[^"]*"', "", opening)
    return f'{opening} stroke-width="2" stroke-linecap="round" stroke-linejoin="round">{rest}'


_KEPT: Callable[[str], re.Match[str] | None] = re.compile(r"\bviewBox=\"([^\"]+)\"").search


def _plain(svg: str) -> bytes:
    """An SVG of a page as a document of its own: its box is its size, and classes and styles of the page are gone."""
    opening, _, rest = svg.partition(">")
    opening = re.sub(r'\s(?:class|style|width|height|x|y|id|transform|xmlns|data-[\w-]+)="[^"]*"', "", opening)
    box = _KEPT(opening)
    if box:
        _, _, width, height = re.split(r"[\s,]+", box[1].strip())
        opening += f' width="{width}" height="{height}"'
    if "xlink:" in rest and "xmlns:xlink" not in opening:
        opening += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'{opening} xmlns="http://www.w3.org/2000/svg" color="#000">{rest}'.encode()
