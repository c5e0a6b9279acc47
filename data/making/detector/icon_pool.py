"""Which icons may a screen show? Those of Iconify's sets with a permissive licence, some sets kept aside to measure on.

Reads @iconify/json, one set at a time.
"""

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from indexer.errors import SourceError
from indexer.sources.iconify_svg import build_svg, resolve_icon

Split = Literal["training", "held-out", "reserved"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESERVED = frozenset({"lucide", "lucide-lab", "feather", "octicon", "ion", "famicons"})
"""Measured on only, by this program or by others."""
HELD_OUT = _words(
    """
    heroicons heroicons-outline heroicons-solid iconoir solar ep vscode-icons skill-icons mynaui basil eva
    carbon ant-design
    """
)
_KIN = frozenset({"sidekickicons", "nonicons"})
"""Drawn to stand beside sets that are measured on."""
_PERMISSIVE = _words(
    """
    MIT Apache-2.0 ISC CC0-1.0 OFL-1.1 CC-BY-4.0 CC-BY-3.0 BSD-3-Clause MPL-2.0 Unlicense
    """
)
_UNUSUAL = frozenset({"Emoji", "Flags / Maps"})
_SELDOM = frozenset({"Logos", "Thematic", "Programming"})
_NOT_OF_INTERFACES = _words(
    """
    svg-spinners line-md meteocons selfhst thesvg thesvg-color token token-branded cryptocurrency
    cryptocurrency-color ginetex streamline-emojis game-icons streamline-freehand-color
    streamline-stickies-color
    """
)
_CHARACTER = re.compile(r"(alpha|letter|number|numeric|num|abjad|roman-numeral|hiragana|katakana)-[a-z0-9]+(-\w+)?")
"""Icons that look like a single character of text, which is none."""
_COLOURED = 0.13
"""Share of the screens with a coloured set."""

_USUAL_WORDS = _words(
    """
    home house setting settings cog gear user users person people account profile search magnify zoom bell
    notification mail email envelope message chat comment calendar date clock time file folder document doc page
    trash delete bin edit pencil pen write download upload share export import link attach attachment paperclip
    image photo picture camera video play pause stop music mic microphone volume speaker heart star like thumb
    bookmark flag tag tags lock unlock key shield eye show hide filter sort list grid table layout sidebar panel
    menu bars hamburger chart graph pie bar trend analytics dashboard cart shopping bag basket credit card
    wallet dollar money payment truck box package map pin location globe world language wifi bluetooth battery
    power cloud sun moon refresh reload sync rotate undo redo copy clipboard paste save print printer scan qr
    code terminal bug git branch database server cpu monitor desktop laptop phone mobile tablet headphone help
    question info information warning alert error danger check tick circle square plus add minus remove close x
    cross cancel login logout exit sign external maximize minimize expand collapse fullscreen bold italic
    underline align text font heading quote brush paint palette crop layers layer move drag grip more dots
    ellipsis kebab send reply forward archive inbox building briefcase book bulb light lightning bolt fire
    rocket gift trophy award tool wrench hammer compass target phone-call mouse cursor keyboard
    """
)
KINDS = {
    "chevron": ("chevron", "angle", "nav-arrow", "keyboard-arrow", "caret", "expand", "arrow"),
    "close": ("close", "x", "xmark", "cross", "times", "dismiss", "cancel", "clear", "multiply", "remove"),
    "add": ("plus", "add"),
    "more": ("more", "dots", "ellipsis", "overflow", "kebab", "menu-dots", "options", "three-dots"),
    "check": ("check", "tick", "checkmark", "done", "ok"),
    "search": ("search", "magnify", "magnifier", "find", "zoom", "loupe"),
    "menu": ("menu", "bars", "hamburger", "list", "navigation"),
    "arrow": ("arrow", "trend", "trending", "caret"),
    "star": ("star", "heart", "favorite", "bookmark", "like"),
}
"""What a template may ask for, and how names of such icons begin."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """An icon as it is drawn: `currentColor` where the page colours it."""

    key: str
    svg: str
    width: float
    height: float
    is_coloured: bool


@dataclass(frozen=True, slots=True)
class IconSet:
    """The icons of a set that stand still, by what they are for."""

    prefix: str
    data: dict[str, Any]
    names: Sequence[str]
    usual: Sequence[str]
    is_coloured: bool

    def of_kind(self, kind: str) -> Sequence[str]:
        """Names that begin as those of a kind do, by the first of its words that the set knows."""
        for start in KINDS[kind]:
            if names := [name for name in self.names if f"{name}-".startswith(f"{start}-") and "box" not in name]:
                return names
        return []

    def in_style(self, ending: str) -> "IconSet":
        """Those of one of the set's styles, such as `outline`; "" is the style without an ending."""
        others = tuple(f"-{other}" for other in self.data["suffixes"] if other)

        def has_style(name: str) -> bool:
            return name.endswith(f"-{ending}") if ending else not name.endswith(others)

        names, usual = ([name for name in some if has_style(name)] for some in (self.names, self.usual))
        return IconSet(self.prefix, self.data, names, usual or names, self.is_coloured)

    def drawing(self, name: str) -> Drawing:
        """The icon of a name, aliases followed."""
        icon, _ = resolve_icon(self.data, name)
        svg = build_svg(icon).decode()
        width, height = (float(icon.get(side, 16)) for side in ("width", "height"))
        return Drawing(f"{self.prefix}:{name}", svg, width, height, "currentColor" not in svg or self.is_coloured)


class IconPool:
    """The sets of a split."""

    def __init__(self, folder: Path, *, split: Split) -> None:
        try:
            collections = json.loads((folder / "collections.json").read_text("utf-8"))
        except OSError as error:
            raise SourceError(f'no icon sets in "{folder}"; name the folder of npm\'s @iconify/json') from error
        chosen = {prefix: facts for prefix, facts in collections.items() if _belongs(prefix, facts, split)}
        self._folder = folder
        self._plain = {prefix: _weight(facts) for prefix, facts in chosen.items() if not facts.get("palette")}
        self._coloured = {prefix: _weight(facts) for prefix, facts in chosen.items() if facts.get("palette")}
        self._load = functools.lru_cache(maxsize=24)(self._read)

    @property
    def prefixes(self) -> list[str]:
        """Of all sets that a screen may show."""
        return sorted((*self._plain, *self._coloured))

    def choose_sets(self, random: Random) -> list[IconSet]:
        """One set by lot, at times a second: an own one for brands, or another one beside."""
        plain = _drawn(random, self._plain)
        if self._coloured and random.random() < _COLOURED:
            coloured = self._load(_drawn(random, self._coloured))
            return [coloured] if random.random() < 0.4 else [self._in_one_style(plain, random), coloured]
        chosen = [self._in_one_style(plain, random)]
        if random.random() < 0.25:
            chosen.append(self._in_one_style(_drawn(random, self._plain), random))
        return chosen

    def choose_mechanics(self, random: Random) -> IconSet:
        """A set with arrows and crosses, for screens whose own sets lack them."""
        known = {prefix: weight for prefix, weight in self._plain.items() if weight == 1}
        return self._in_one_style(_drawn(random, known), random)

    def _in_one_style(self, prefix: str, random: Random) -> IconSet:
        whole = self._load(prefix)
        endings = sorted(whole.data.get("suffixes") or {})
        if not endings or random.random() < 0.3:
            return whole
        styled = whole.in_style(random.choice(endings))
        return styled if len(styled.names) >= 40 else whole

    def _read(self, prefix: str) -> IconSet:
        data = json.loads((self._folder / "json" / f"{prefix}.json").read_text("utf-8"))
        shown = {name: icon for name, icon in data["icons"].items() if not icon.get("hidden")}
        names = [name for name, icon in shown.items() if _stands_still(icon["body"]) and not _CHARACTER.fullmatch(name)]
        usual = [name for name in names if not _USUAL_WORDS.isdisjoint(name.split("-")[:2])]
        return IconSet(prefix, data, names, usual or names, bool(data["info"].get("palette")))


def _stands_still(body: str) -> bool:
    return "<animate" not in body and "<set" not in body and len(body) < 12_000


def _belongs(prefix: str, facts: dict[str, Any], split: Split) -> bool:
    if split == "reserved":
        return prefix in RESERVED
    if split == "held-out":
        return prefix in HELD_OUT
    licence = facts["license"].get("spdx")
    is_measured_on = prefix in RESERVED | HELD_OUT | _KIN
    return licence in _PERMISSIVE and not is_measured_on and prefix not in _NOT_OF_INTERFACES and facts["total"] >= 60


def _weight(facts: dict[str, Any]) -> float:
    category = facts.get("category")
    if category in _UNUSUAL:
        return 0.02
    return 0.15 if category in _SELDOM else 1.0


def _drawn(random: Random, weights: dict[str, float]) -> str:
    return random.choices(list(weights), list(weights.values()))[0]
