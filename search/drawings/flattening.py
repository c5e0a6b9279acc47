"""An SVG -> one filled path, as fine as a font needs it; in a process of its own.

picosvg and Skia strike twice in 1,600 icons of Lucide and Tabler: a curve of a stroke or of a union is lost. So each
outline is drawn and compared; where it differs, the same is tried at other sizes, at which Skia computes otherwise.
Skia strokes for pixels: its curves miss by up to a quarter of a unit, a hundredth of an icon of 24 units.
"""

import json
from collections.abc import Sequence
from typing import Any

from picosvg.svg import SVG
from picosvg.svg_pathops import union
from picosvg.svg_transform import Affine2D
from picosvg.svg_types import SVGPath

from indexer.errors import RenderError
from indexer.rendering.render import draw

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
            dashes = large.stroke_dasharray.replace(",", " ").split()
            large.stroke_dasharray = " ".join(str(float(dash) * scale) for dash in dashes)
        back = Affine2D(1 / scale, 0, 0, 1 / scale, 0, 0)
        return [part.as_path().apply_transform(back) for part in super()._stroke(large)]


def flattened(document: bytes) -> bytes:
    """Find the paints of an SVG, whether it is transparent in places, and its outline: JSON.

    Raises:
        RenderError: it can't be found, or would not look as the icon does.
    """
    picture = draw(document, size=_DRAWN_AT)[..., 3] > 127
    differs = "its outline comes out otherwise than it is drawn"
    for side in SIDES:
        try:
            found = _flat(document, side)
        except (ValueError, AssertionError, KeyError, TypeError, AttributeError, NotImplementedError) as error:
            differs = f"its outline can't be found ({type(error).__name__}: {str(error)[:120]})"
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
    return {
        "paints": sorted({shape.fill.strip().lower().replace(" ", "") for shape in shapes}),
        "is_transparent": min(map(_opacity, (*shapes, *flat.xpath("//svg:g[@opacity]"))), default=1.0) < _OPAQUE,
        "path": _united([shape.as_path() for shape in shapes], scale=_scale(flat)),
        "box": [box.x, box.y, box.w, box.h],
    }


def _scale(svg: _Large) -> float:
    box = svg.view_box()
    return svg.side / float(min(box.w, box.h)) if box else 1.0


def _opacity(part: Any) -> float:
    """Of a shape, or of a group that was left for its opacity."""
    return float(part.opacity * part.fill_opacity if hasattr(part, "opacity") else part.get("opacity"))


def _united(paths: list[Any], *, scale: float) -> str:
    """Unite filled paths to one without overlaps."""
    if not paths:
        return ""
    large = [path.apply_transform(Affine2D(scale, 0, 0, scale, 0, 0)).as_cmd_seq() for path in paths]
    united = SVGPath.from_commands(union(large, ["nonzero"] * len(large)))
    return str(united.apply_transform(Affine2D(1 / scale, 0, 0, 1 / scale, 0, 0)).round_floats(_DIGITS).d)


def _drawn(path: str, box: Sequence[float]) -> bytes:
    view = " ".join(f"{number:g}" for number in box)
    sides = f'width="{box[2]:g}" height="{box[3]:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {sides} viewBox="{view}"><path d="{path}"/></svg>'.encode()
