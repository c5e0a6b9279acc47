"""How do icons become glyphs of a font that a page carries with it? Filled outlines alone do."""

import base64
import io
import re
from collections.abc import Mapping

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.transform import Transform
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib.tables._g_l_y_f import Glyph

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
    outline = _glyph(svg)
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
        {".notdef": TTGlyphPen(None).glyph(), **{names[point]: _glyph(svg) for point, svg in glyphs.items()}}
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


def _glyph(svg: str) -> Glyph:
    found = _FILLED.fullmatch(svg)
    assert found is not None
    scale = EM / int(found[1])
    pen = TTGlyphPen(None)
    for path in _PATH.findall(found[3]):
        parse_path(path, TransformPen(Cu2QuPen(pen, 0.5), Transform(scale, 0, 0, -scale, 0, EM)))
    return pen.glyph()
