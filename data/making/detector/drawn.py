"""In which ways does a page draw an icon? As SVG, picture, mask, background, sprite, pseudo-element or glyph of a font.

Each way marks its element with `data-icon` (the icon's key), `data-drawn` (the way) and `data-hide`: what makes the
icon vanish and leaves everything else where it is.
"""

import base64
import re
from collections.abc import Sequence
from random import Random

from data.making.detector.icon_font import FIRST_POINT, fits_a_font, font_face
from data.making.detector.icon_pool import Drawing

WAYS = ("inline", "img", "mask", "background", "sprite", "pseudo", "font", "font-before")
_INHERITING = ("inline", "mask", "sprite", "pseudo", "font", "font-before")
"""Those that take the colour of the text around them."""
_COLOURED = ("inline", "img", "background", "sprite")
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
        ways: Sequence[str] = _COLOURED if drawing.is_coloured else WAYS if colour else _INHERITING
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
