"""The icons of a screen: which may be shown, and in which ways a page draws them.

Shown are icons of Iconify's sets with a permissive licence, some sets kept aside to measure on. They are drawn as
SVG, picture, mask, background, sprite, pseudo-element or glyph of a font. Each way marks its element with `data-icon`
(the icon's key), `data-drawn` (the way) and `data-hide`: what makes the icon vanish and leaves everything else where
it is.
"""

import base64
import functools
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.transform import Transform
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib.tables._g_l_y_f import Glyph

from indexer.errors import SourceError
from indexer.sources.iconify import build_svg, resolve_icon

Split = Literal["training", "held-out", "reserved"]


def _set_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESERVED = frozenset({"lucide", "lucide-lab", "feather", "octicon", "ion", "famicons"})
"""Measured on only, by this program or by others."""
HELD_OUT = _set_of(
    """
    heroicons heroicons-outline heroicons-solid iconoir solar ep vscode-icons skill-icons mynaui basil eva
    carbon ant-design
    """
)
_KIN = frozenset({"sidekickicons", "nonicons"})
"""Drawn to stand beside sets that are measured on."""
_PERMISSIVE = _set_of(
    """
    MIT Apache-2.0 ISC CC0-1.0 OFL-1.1 CC-BY-4.0 CC-BY-3.0 BSD-3-Clause MPL-2.0 Unlicense
    """
)
_UNUSUAL = frozenset({"Emoji", "Flags / Maps"})
_SELDOM = frozenset({"Logos", "Thematic", "Programming"})
_NOT_OF_INTERFACES = _set_of(
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

_USUAL_WORDS = _set_of(
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


EM = 1024
FIRST_POINT = 0xE000
_FILLED = re.compile(
    r'<svg [^>]*viewBox="0 0 (\d+) (\d+)">(?:<g fill="currentColor">)?'
    r'((?:<path (?:fill="currentColor" )?d="[^"]*"/>)+)(?:</g>)?</svg>'
)
_PATH = re.compile(r' d="([^"]*)"')


def fits_a_font(svg: str) -> bool:
    """Whether an icon is nothing but filled paths in one colour, on a square and inside of it."""
    found = _FILLED.fullmatch(svg)
    if found is None or found[1] != found[2]:
        return False
    outline = _outline(svg)
    outline.recalcBounds(None)
    sides = [getattr(outline, side, 0) for side in ("xMin", "yMin", "xMax", "yMax")]
    return min(sides) > -EM and max(sides) < 2 * EM


def font_face(family: str, glyphs: Mapping[int, str]) -> str:
    """The CSS of a font with these icons (code point -> SVG that fits), its bytes inside."""
    names = {point: f"icon{point:x}" for point in glyphs}
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder([".notdef", *names.values()])
    font.setupCharacterMap(names)
    font.setupGlyf(
        {".notdef": TTGlyphPen(None).glyph(), **{names[point]: _outline(svg) for point, svg in glyphs.items()}}
    )
    table = font.font["glyf"]
    font.setupHorizontalMetrics({name: (EM, getattr(table[name], "xMin", 0)) for name in font.font.getGlyphOrder()})
    font.setupHorizontalHeader(ascent=EM, descent=0)
    font.setupNameTable({"familyName": family, "styleName": "Regular"})
    font.setupOS2(sTypoAscender=EM, sTypoDescender=0, sTypoLineGap=0, usWinAscent=EM, usWinDescent=0)
    font.setupPost()
    written = io.BytesIO()
    font.save(written)
    data = base64.b64encode(written.getvalue()).decode()
    return f'@font-face{{font-family:"{family}";src:url(data:font/ttf;base64,{data}) format("truetype")}}'


def _outline(svg: str) -> Glyph:
    found = _FILLED.fullmatch(svg)
    assert found is not None
    scale = EM / int(found[1])
    pen = TTGlyphPen(None)
    for path in _PATH.findall(found[3]):
        parse_path(path, TransformPen(Cu2QuPen(pen, 0.5), Transform(scale, 0, 0, -scale, 0, EM)))
    return pen.glyph()


WAYS = ("inline", "img", "mask", "background", "sprite", "pseudo", "font", "font-before")
_INHERITING = ("inline", "mask", "sprite", "pseudo", "font", "font-before")
"""Those that take the colour of the text around them."""
_COLOURED_WAYS = ("inline", "img", "background", "sprite")
_USUAL = (0.46, 0.08, 0.09, 0.06, 0.09, 0.07, 0.1, 0.05)
_IN_ANOTHER_WAY = 0.15

HIDING = """
.icon-off[data-hide=self]{visibility:hidden!important}
.icon-off[data-hide=before]::before{visibility:hidden!important}
.icon-off[data-hide=background]{background-image:none!important}
"""


class Pen:
    """Draws the icons of one screen: mostly in one way, and keeps what they need elsewhere in the document."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._usual_way = random.choices(WAYS, _USUAL)[0]
        self._rules: list[str] = []
        self._symbols: list[str] = []
        self._glyphs: dict[int, str] = {}
        self._n = 0
        self._class = random.choice(("icon", "i", "ico", "symbol"))

    def draw(self, drawing: Drawing, size: float, colour: str | None) -> str:
        """Write an icon of `size` CSS pixels in a colour, or else in that of the text around it."""
        self._n += 1
        way = self._way(drawing, colour)
        marks = f'data-icon="{drawing.key}" data-drawn="{way}"'
        markup: str = getattr(self, f"_as_{way.replace('-', '_')}")(drawing, size, colour, marks)
        return markup

    def head(self) -> str:
        """What the document's head needs: rules and a font."""
        rules = "".join(self._rules)
        face = font_face("Screen Icons", self._glyphs) if self._glyphs else ""
        return f"<style>{HIDING}{face}{rules}</style>"

    def sprite(self) -> str:
        """What the document's body begins with."""
        if not self._symbols:
            return ""
        return f'<svg width="0" height="0" style="position:absolute">{"".join(self._symbols)}</svg>'

    def _way(self, drawing: Drawing, colour: str | None) -> str:
        ways: Sequence[str] = _COLOURED_WAYS if drawing.is_coloured else WAYS if colour else _INHERITING
        way = self._usual_way
        if self._random.random() < _IN_ANOTHER_WAY:
            way = self._random.choices(WAYS, _USUAL)[0]
        if way not in ways or (way.startswith("font") and not fits_a_font(drawing.svg)):
            return "inline"
        return way

    def _as_inline(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        opening, body = _parts(drawing.svg)
        body = _with_own_ids(body, f"u{self._n}")
        return f'<svg {marks} data-hide="self" {_viewed(opening, size)} style="{_box(size)}{_ink(colour)}">{body}</svg>'

    def _as_img(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        url = _data_url(drawing.svg, colour)
        sides = f'width="{size:g}" height="{size:g}"'
        return f'<img {marks} data-hide="self" {sides} src="{url}" alt="" decoding="sync" style="{_box(size)}">'

    def _as_mask(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        return f'<span {marks} data-hide="self" style="{_box(size)}{_ink(colour)}{_mask(drawing.svg)}"></span>'

    def _as_background(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        image = f"background:url({_data_url(drawing.svg, colour)}) center/contain no-repeat;"
        return f'<span {marks} data-hide="background" style="{_box(size)}{image}"></span>'

    def _as_sprite(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        opening, body = _parts(drawing.svg)
        name = f"sprite-{self._n}"
        self._symbols.append(f'<symbol id="{name}" {_view_box(opening)}>{_with_own_ids(body, name)}</symbol>')
        use = f'<use href="#{name}"/>'
        return f'<svg {marks} data-hide="self" style="{_box(size)}{_ink(colour)}">{use}</svg>'

    def _as_pseudo(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        name = f"{self._class}-{self._n}"
        self._rules.append(f'.{name}::before{{content:"";{_box(size)}display:block;{_mask(drawing.svg)}}}')
        return f'<i class="{name}" {marks} data-hide="before" style="{_box(size)}{_ink(colour)}"></i>'

    def _as_font(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        glyph = f"&#x{self._point(drawing):x};"
        return f'<i {marks} data-hide="self" style="{_glyph_box(size)}{_ink(colour)}">{glyph}</i>'

    def _as_font_before(self, drawing: Drawing, size: float, colour: str | None, marks: str) -> str:
        name = f"{self._class}-{self._n}"
        self._rules.append(f'.{name}::before{{content:"\\{self._point(drawing):x}"}}')
        return f'<i class="{name}" {marks} data-hide="before" style="{_glyph_box(size)}{_ink(colour)}"></i>'

    def _point(self, drawing: Drawing) -> int:
        point = FIRST_POINT + len(self._glyphs)
        self._glyphs[point] = drawing.svg
        return point


def _box(size: float) -> str:
    return f"display:inline-block;flex:none;vertical-align:middle;width:{size:g}px;height:{size:g}px;"


def _glyph_box(size: float) -> str:
    return (
        f"{_box(size)}font:normal 400 {size:g}px/1 'Screen Icons';text-align:left;"
        "text-indent:0;letter-spacing:0;direction:ltr;"
    )


def _ink(colour: str | None) -> str:
    return f"color:{colour};" if colour else ""


def _mask(svg: str) -> str:
    return f"background:currentColor;-webkit-mask:url({_data_url(svg, None)}) center/contain no-repeat;"


def _data_url(svg: str, colour: str | None) -> str:
    return (
        f"data:image/svg+xml;base64,{base64.b64encode(svg.replace('currentColor', colour or '#000').encode()).decode()}"
    )


def _parts(svg: str) -> tuple[str, str]:
    opening, _, rest = svg.partition(">")
    return opening, rest.removesuffix("</svg>")


def _view_box(opening: str) -> str:
    found = re.search(r'viewBox="[^"]*"', opening)
    assert found is not None
    return found[0]


def _viewed(opening: str, size: float) -> str:
    return f'width="{size:g}" height="{size:g}" {_view_box(opening)}'


def _with_own_ids(body: str, prefix: str) -> str:
    """Rename what a body refers to, since all icons of a page share one space of ids."""
    for name in re.findall(r'\bid="([^"]+)"', body):
        quoted = re.escape(name)
        body = re.sub(rf'(\bid="|#){quoted}(?=["\')])', rf"\g<1>{prefix}-{name}", body)
    return body
