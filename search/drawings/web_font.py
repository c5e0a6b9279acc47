"""Icons as a font: outlines as glyphs at code points that stay theirs, in WOFF2 and TrueType.

picosvg (Apache 2.0) turns an SVG into filled paths; skia-pathops (BSD) makes one of them. Whoever drew the icon could
make that take for ever: it happens in a worker that may hang or die. They strike twice in 1,600 icons of Lucide and
Tabler: a curve of a stroke or of a union is lost. So each outline is drawn and compared; where it differs, the same is
tried at other sizes, at which Skia computes otherwise. Skia strokes for pixels: its curves miss by up to a quarter of a
unit, a hundredth of an icon of 24 units.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.timeTools import timestampSinceEpoch
from fontTools.misc.transform import Transform
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph
from picosvg.svg import SVG, from_element
from picosvg.svg_pathops import union
from picosvg.svg_transform import Affine2D
from picosvg.svg_types import SVGPath

from indexer.errors import ExportError, RenderError
from indexer.languages.words import first_few
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.render import draw
from indexer.reports.terminal import Progress, with_progress
from search.drawings.clean import SVG as NAMESPACE
from search.drawings.kinds import Chosen, Drawing, LeftOut, Made, Material, element, gallery, names_of, spelt, whole_svg
from search.drawings.licences import PRIVATE_USE, notice

EM = 1024
"""Units of the height of every icon."""
_MADE = timestampSinceEpoch(315_532_800)
"""1980, for all fonts: the same icons give the same bytes."""
_CURVE_ERROR = 0.5
"""Units by which a curve of the font may miss that of the icon."""


def place(keys: Iterable[str], taken: Mapping[str, int]) -> dict[str, int]:
    """Give each icon a code point, the one that it had or the first that no icon ever had; with those of all others.

    Raises:
        ExportError: there are more icons than the 6,400 places for own signs.
    """
    used, new = set(taken.values()), [key for key in keys if key not in taken]
    free = [point for point in PRIVATE_USE if point not in used]
    if len(new) > len(free):
        raise ExportError(f"a font has {len(PRIVATE_USE):,} places for own signs; make two of this collection")
    return {**taken, **dict(zip(new, free, strict=False))}


def make_font(material: Material, points: Mapping[str, int]) -> Made:
    """Write the font as WOFF2 and TrueType, its classes, and a page that shows it.

    Raises:
        ExportError: the outlines are too much for a font.
    """
    name, icons = material.prefix or material.name, [one.icon for one in material.drawn]
    font = _font(material.drawn, points, name=name, copyright=notice(material.terms))
    truetype = _saved(font)
    font = TTFont(io.BytesIO(truetype), recalcTimestamp=False)
    font.flavor = "woff2"
    woff2 = _saved(font)
    css = _css(icons, points, name=name, stamp=hashlib.sha256(woff2).hexdigest()[:8])
    tiles = [
        (icon.name, f'<i class="{name} {name}-{icon.name} tile" aria-hidden="true"></i>', f"U+{points[icon.key]:04X}")
        for icon in icons
    ]
    use = f'<i class="{name} {name}-{icons[0].name}" aria-hidden="true"></i>'
    files = {
        f"{name}.woff2": woff2,
        f"{name}.ttf": truetype,
        f"{name}.css": css.encode(),
        "icons.html": gallery(name, use=use, tiles=tiles, stylesheet=f"{name}.css"),
    }
    remarks = []
    if still := [icon.hit.key for icon in icons if icon.hit.animated]:
        remarks.append(f"stand still in a font, and move in every other export: {first_few(still)}")
    remarks.append(f"use: {use} with {name}.css; icons.html shows all")
    coloured = [one.icon.key for one in material.drawn if one.colour]
    if coloured:
        n_lost = "1 icon loses its colour" if len(coloured) == 1 else f"{len(coloured):,} icons lose their colour"
        remarks.append(f'{n_lost}, as "{coloured[0]}": a font takes that of the text')
    return Made(files, None, remarks, names_of(material.drawn))


def _saved(font: TTFont) -> bytes:
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def _font(drawn: Sequence[Drawing], points: Mapping[str, int], *, name: str, copyright: str) -> TTFont:
    glyphs = {".notdef": TTGlyphPen(None).glyph()} | {one.icon.name: _glyph(one) for one in drawn}
    widths = {".notdef": EM} | {one.icon.name: round(EM * one.box.width / one.box.height) for one in drawn}
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(list(glyphs))
    font.setupCharacterMap({points[one.icon.key]: one.icon.name for one in drawn})
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({one: (width, getattr(glyphs[one], "xMin", 0)) for one, width in widths.items()})
    font.setupHorizontalHeader(ascent=EM, descent=0)
    names = {"familyName": name, "styleName": "Regular", "psName": f"{name}-Regular", "fullName": name}
    font.setupNameTable({**names, "version": "Version 1.0", "uniqueFontIdentifier": name, "copyright": copyright})
    font.setupOS2(sTypoAscender=EM, sTypoDescender=0, sTypoLineGap=0, usWinAscent=EM, usWinDescent=0, achVendID="NONE")
    font.setupPost()
    font.updateHead(created=_MADE, modified=_MADE)
    font.font.recalcTimestamp = False
    return font.font


def _glyph(one: Drawing) -> Glyph:
    """Draw an outline in a font's units, y upwards, the foot of its box on the baseline."""
    box, scale, pen = one.box, EM / one.box.height, TTGlyphPen(None)
    place = Transform(scale, 0, 0, -scale, -box.left * scale, (box.top + box.height) * scale)
    parse_path(one.outline, TransformPen(Cu2QuPen(pen, _CURVE_ERROR), place))
    return pen.glyph()


def _css(icons: Sequence[Chosen], points: Mapping[str, int], *, name: str, stamp: str) -> str:
    source = ", ".join(
        f'url("{name}.{suffix}?{stamp}") format("{kind}")' for suffix, kind in (("woff2", "woff2"), ("ttf", "truetype"))
    )
    rules = "".join(f'.{name}-{icon.name}::before {{ content: "\\{points[icon.key]:x}"; }}\n' for icon in icons)
    return (
        f'@font-face {{ font-family: "{name}"; src: {source}; font-display: block; }}\n'
        f'.{name} {{ display: inline-block; font: normal 400 1em/1 "{name}"; vertical-align: -0.125em; '
        "text-rendering: auto; -webkit-font-smoothing: antialiased; -moz-osx-font-smoothing: grayscale; }\n" + rules
    )


_WIDEST = 16
"""Times its height; a glyph's coordinates have 16 bits."""
_XLINK = "http://www.w3.org/1999/xlink"
_NOT_DRAWN = frozenset(("title", "desc", "metadata", "animate", "animateTransform", "animateMotion", "set"))
_NOT_IN_A_FONT = frozenset(("mask", "filter", "pattern", "text", "image", "style", "symbol", "switch", "svg"))
_OPEN = frozenset(("currentcolor", "black", "#000", "#000000", "rgb(0,0,0)"))
"""Colours that an icon of one colour has: it is drawn in that of the text."""


class _Outliners(DrawPool):
    """Find outlines in worker processes."""

    program = "from indexer.rendering.draw_pool import work; from search.drawings.web_font import flat; work(flat)"


def outlined(drawn: Sequence[Drawing], progress: Progress) -> tuple[list[Drawing], list[LeftOut]]:
    """Find the outlines of icons; those that no font can hold are left out with the reason."""
    found, left_out = [], []
    with _Outliners(workers=1) as pool:
        for one in with_progress(drawn, "finding outlines", progress):
            try:
                found.append(_outline(one, pool))
            except RenderError as error:
                left_out.append(LeftOut(one.icon.key, str(error)))
    return found, left_out


def _outline(drawing: Drawing, pool: DrawPool) -> Drawing:
    """Find the outline of an icon.

    Raises:
        RenderError: it has several colours, is partly transparent, empty, or holds what no font can.
    """
    tags = {one.tag for top in drawing.body for one in top.iter()}
    if tags & _NOT_IN_A_FONT:
        raise RenderError(f"has a <{min(tags & _NOT_IN_A_FONT)}>, which no outline of a font can be")
    if drawing.box.width > _WIDEST * drawing.box.height:
        raise RenderError(f"is more than {_WIDEST} times as wide as high")
    answer = json.loads(pool.ask(whole_svg(_still(drawing))))
    paints = {"currentcolor" if paint in _OPEN else paint for paint in answer["paints"]}
    if not answer["path"]:
        raise RenderError("nothing of it is painted")
    if answer["is_transparent"]:
        raise RenderError("is transparent in places; a font has one colour")
    if len(paints) > 1 or any(paint.startswith("url(") for paint in paints):
        raise RenderError(
            f"has {'a gradient' if len(paints) == 1 else f'{len(paints)} colours'}; a font has one colour"
        )
    [paint] = paints
    return replace(drawing, outline=answer["path"], colour=None if paint == "currentcolor" else paint)


def _still(drawing: Drawing) -> Drawing:
    """Take off what is not drawn, and what moves; links as picosvg reads them."""
    whole = element("g", drawing.attributes, drawing.body)
    for one in whole.iter():
        for child in [child for child in one if child.tag in _NOT_DRAWN]:
            one.remove(child)
        if "href" in one.attrib:
            one.set("xlink:href", one.attrib.pop("href"))
    return replace(drawing, attributes={"xmlns:xlink": _XLINK}, body=[whole], sides=None)


SIDES = (4096.0, 1500.0, 700.0, 257.0)
"""Units of the shorter side, while strokes are drawn and shapes united; the first is taken unless something is lost."""
_CONIC_ERROR = 1 / 4096
"""Of that side: what a curve made of arcs may miss."""
_DIGITS = 5
_OPAQUE = 0.999
_DRAWN_AT = 96
_MOST_LOST = 0.06
"""Of the pixels of an icon and its outline together: what may differ. Thin lines differ by half a pixel's rim."""


class _Large(SVG):  # type: ignore[misc]  # picosvg's types are partial
    """An SVG whose strokes are drawn large."""

    side = SIDES[0]

    @property
    def tolerance(self) -> float:
        """What a conic may miss, in the units in which strokes are drawn."""
        return _CONIC_ERROR * self.side

    def _stroke(self, shape: Any) -> Sequence[Any]:
        """Convert a stroke to shapes in the order in which they are painted."""
        scale = _scale(self)
        large = shape.as_path().apply_transform(Affine2D(scale, 0, 0, scale, 0, 0))
        large.stroke_width *= scale
        large.stroke_dashoffset *= scale
        if large.stroke_dasharray != "none":
            large.stroke_dasharray = " ".join(
                str(float(dash) * scale) for dash in large.stroke_dasharray.replace(",", " ").split()
            )
        return [
            part.as_path().apply_transform(Affine2D(1 / scale, 0, 0, 1 / scale, 0, 0))
            for part in super()._stroke(large)
        ]


def flat(document: bytes) -> bytes:
    """Find the paints of an SVG, whether it is transparent in places, and its outline: JSON.

    Raises:
        RenderError: it can't be found, or would not look as the icon does.
    """
    picture = draw(document, size=_DRAWN_AT)[..., 3] > 127
    differs = "its outline comes out otherwise than it is drawn"
    for side in SIDES:
        try:
            found = _flat(document, side)
        except (ValueError, AssertionError, KeyError, TypeError, AttributeError, NotImplementedError):
            differs = "its outline can't be found; draw it as filled paths"
            continue
        if found["is_transparent"] or len(found["paints"]) != 1:
            return json.dumps(found).encode()
        outline = draw(_drawn(found["path"], found.pop("box")), size=_DRAWN_AT)[..., 3] > 127
        if (picture ^ outline).sum() <= _MOST_LOST * max((picture | outline).sum(), 1):
            return json.dumps(found).encode()
    raise RenderError(differs)


def _flat(document: bytes, side: float) -> dict[str, Any]:
    flat = _Large.fromstring(document.decode())
    flat.side = side
    flat.topicosvg(ndigits=_DIGITS, inplace=True).clip_to_viewbox(inplace=True)
    shapes = [shape for shape in flat.shapes() if shape.might_paint()]
    box = flat.view_box()
    opacities = [float(shape.opacity * shape.fill_opacity) for shape in shapes]
    opacities += [float(group.get("opacity")) for group in flat.xpath("//svg:g[@opacity]")]
    return {
        "paints": sorted({shape.fill.strip().lower().replace(" ", "") for shape in shapes}),
        "is_transparent": min(opacities, default=1.0) < _OPAQUE,
        "path": _united([shape.as_path() for shape in shapes], scale=_scale(flat)),
        "box": [box.x, box.y, box.w, box.h],
    }


def _scale(svg: _Large) -> float:
    box = svg.view_box()
    return svg.side / float(min(box.w, box.h)) if box else 1.0


def _united(paths: list[Any], *, scale: float) -> str:
    """Unite filled paths to one without overlaps."""
    if not paths:
        return ""
    large = [path.apply_transform(Affine2D(scale, 0, 0, scale, 0, 0)).as_cmd_seq() for path in paths]
    return str(
        SVGPath.from_commands(union(large, ["nonzero"] * len(large)))
        .apply_transform(Affine2D(1 / scale, 0, 0, 1 / scale, 0, 0))
        .round_floats(_DIGITS)
        .d
    )


def path_of(tag: str, attributes: dict[str, str]) -> str:
    """Write a shape as a path."""
    return str(from_element(Element(f"{{{NAMESPACE}}}{tag}", attributes)).as_path().d)


def _drawn(path: str, box: Sequence[float]) -> bytes:
    return f'<svg xmlns="{NAMESPACE}" viewBox="{spelt(*box)}"><path d="{path}"/></svg>'.encode()
