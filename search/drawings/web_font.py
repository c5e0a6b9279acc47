"""Icons as a font: glyphs at code points that stay theirs, in WOFF2 and TrueType."""

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.timeTools import timestampSinceEpoch
from fontTools.misc.transform import Transform
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib.tables._g_l_y_f import Glyph

from indexer.errors import ExportError, RenderError
from search.drawings.chosen import Box, Drawing, LeftOut
from search.drawings.collection import PRIVATE_USE
from search.drawings.kinds import Made, Material, names_of
from search.drawings.licences import gallery, notice
from search.drawings.outlines import Outline, Outliner

if TYPE_CHECKING:
    from indexer.reports.terminal import Progress

EM = 1024
"""Units of the height of every icon."""
_MADE = timestampSinceEpoch(315_532_800)
"""1980, for all fonts: the same icons give the same bytes."""
_CURVE_ERROR = 0.5
"""Units by which a curve of the font may miss that of the icon."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """An icon as a glyph will show it."""

    drawing: Drawing
    outline: Outline


def outlined(drawn: Sequence[Drawing], progress: "Progress") -> tuple[list[Shaped], list[LeftOut]]:
    """Find the outlines of icons; those that no font can hold are left out with the reason."""
    shaped, left_out = [], []
    with Outliner() as outliner:
        for n, one in enumerate(drawn, start=1):
            progress("finding outlines", n, len(drawn))
            try:
                shaped.append(Shaped(one, outliner.outline(one)))
            except RenderError as error:
                left_out.append(LeftOut(one.icon.key, str(error)))
    return shaped, left_out


def place(keys: Iterable[str], taken: Mapping[str, int]) -> dict[str, int]:
    """Give each icon a code point, the one that it had or the first that no icon ever had; with those of all others.

    Raises:
        ExportError: there are more icons than the 6,400 places for own signs.
    """
    points = dict(taken)
    used = set(taken.values())
    free = (point for point in PRIVATE_USE if point not in used)
    for key in keys:
        if key not in points:
            point = next(free, None)
            if point is None:
                raise ExportError(f"a font has {len(PRIVATE_USE):,} places for own signs; make two of this collection")
            points[key] = point
    return points


def make_font(material: Material, shaped: Sequence[Shaped], points: Mapping[str, int]) -> Made:
    """Write the font as WOFF2 and TrueType, its classes, and a page that shows it.

    Raises:
        ExportError: the outlines are too much for a font.
    """
    name = material.prefix or material.name
    truetype = _truetype(shaped, points, name=name, copyright=notice(material.terms))
    woff2 = _woff2(truetype)
    css = _css(shaped, points, name=name, stamp=hashlib.sha256(woff2).hexdigest()[:8])
    tiles = [_tile(name, each.drawing.icon.name, points[each.drawing.icon.key]) for each in shaped]
    use = _class_line(name, tiles[0][0])
    page = gallery(name, use=use, tiles=tiles, stylesheet=f"{name}.css")
    files = {f"{name}.woff2": woff2, f"{name}.ttf": truetype, f"{name}.css": css.encode(), "icons.html": page}
    remarks = [f"use: {use} with {name}.css; icons.html shows all"]
    coloured = [each.drawing.icon.key for each in shaped if each.outline.colour]
    if coloured:
        n_lost = "1 icon loses its colour" if len(coloured) == 1 else f"{len(coloured):,} icons lose their colour"
        remarks.append(f'{n_lost}, as "{coloured[0]}": a font takes that of the text')
    return Made(files, None, remarks, names_of(material.drawn))


def _truetype(shaped: Sequence[Shaped], points: Mapping[str, int], *, name: str, copyright: str) -> bytes:
    glyphs: dict[str, Glyph] = {".notdef": TTGlyphPen(None).glyph()}
    widths = {".notdef": EM}
    for each in shaped:
        box = each.drawing.box
        glyphs[each.drawing.icon.name] = _glyph(each.outline, box)
        widths[each.drawing.icon.name] = round(EM * box.width / box.height)
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(list(glyphs))
    font.setupCharacterMap({points[each.drawing.icon.key]: each.drawing.icon.name for each in shaped})
    font.setupGlyf(glyphs)
    table = font.font["glyf"]
    font.setupHorizontalMetrics({glyph: (width, getattr(table[glyph], "xMin", 0)) for glyph, width in widths.items()})
    font.setupHorizontalHeader(ascent=EM, descent=0)
    names = {"familyName": name, "styleName": "Regular", "psName": f"{name}-Regular", "fullName": name}
    font.setupNameTable({**names, "version": "Version 1.0", "uniqueFontIdentifier": name, "copyright": copyright})
    font.setupOS2(sTypoAscender=EM, sTypoDescender=0, sTypoLineGap=0, usWinAscent=EM, usWinDescent=0, achVendID="NONE")
    font.setupPost()
    font.updateHead(created=_MADE, modified=_MADE)
    font.font.recalcTimestamp = False
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def _woff2(truetype: bytes) -> bytes:
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(truetype), recalcTimestamp=False)
    font.flavor = "woff2"
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def _glyph(outline: Outline, box: Box) -> Glyph:
    """Draw an outline in a font's units, y upwards, the foot of its box on the baseline."""
    scale = EM / box.height
    pen = TTGlyphPen(None)
    place = Transform(scale, 0, 0, -scale, -box.left * scale, (box.top + box.height) * scale)
    parse_path(outline.path, TransformPen(Cu2QuPen(pen, _CURVE_ERROR), place))
    return pen.glyph()


def _css(shaped: Sequence[Shaped], points: Mapping[str, int], *, name: str, stamp: str) -> str:
    source = ", ".join(
        f'url("{name}.{suffix}?{stamp}") format("{kind}")' for suffix, kind in (("woff2", "woff2"), ("ttf", "truetype"))
    )
    icons = [each.drawing.icon for each in shaped]
    rules = "".join(f'.{name}-{icon.name}::before {{ content: "\\{points[icon.key]:x}"; }}\n' for icon in icons)
    return (
        f'@font-face {{ font-family: "{name}"; src: {source}; font-display: block; }}\n'
        f'.{name} {{ display: inline-block; font: normal 400 1em/1 "{name}"; vertical-align: -0.125em; '
        "text-rendering: auto; -webkit-font-smoothing: antialiased; -moz-osx-font-smoothing: grayscale; }\n" + rules
    )


def _class_line(name: str, icon: str) -> str:
    """How a page shows an icon of a font."""
    return f'<i class="{name} {name}-{icon}" aria-hidden="true"></i>'


def _tile(name: str, icon: str, point: int) -> tuple[str, str, str]:
    return icon, f'<i class="{name} {name}-{icon} tile" aria-hidden="true"></i>', f"U+{point:04X}"
