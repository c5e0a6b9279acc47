"""How does a stroke become a shape, as fine as a font needs it? Drawn large, then brought back to its size.

Skia strokes for pixels: its curves miss by up to a quarter of a unit, a hundredth of an icon of 24 units.
"""

from collections.abc import Sequence
from typing import Any

from picosvg.svg import SVG
from picosvg.svg_transform import Affine2D

SIDE = 4096.0
"""Units of the shorter side, while strokes are drawn."""
_CONIC_ERROR = 1.0
"""Of those units: what a curve made of arcs may miss."""


class FineSVG(SVG):  # type: ignore[misc]  # picosvg has no types
    """An SVG whose strokes are drawn large."""

    @property
    def tolerance(self) -> float:
        """What a conic may miss, in the units in which strokes are drawn."""
        return _CONIC_ERROR

    def _stroke(self, shape: Any) -> Sequence[Any]:
        """Convert a stroke to shapes in the order in which they are painted."""
        box = self.view_box()
        scale = SIDE / min(box.w, box.h) if box else 1.0
        large = shape.as_path().apply_transform(Affine2D(scale, 0, 0, scale, 0, 0))
        large.stroke_width *= scale
        large.stroke_dashoffset *= scale
        if large.stroke_dasharray != "none":
            dashes = large.stroke_dasharray.replace(",", " ").split()
            large.stroke_dasharray = " ".join(str(float(dash) * scale) for dash in dashes)
        back = Affine2D(1 / scale, 0, 0, 1 / scale, 0, 0)
        return [part.as_path().apply_transform(back) for part in super()._stroke(large)]
