"""How do strokes of a hand become a picture like an icon? The page's `static/picture/strokes.js` does the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
Stroke = Sequence[Point]

GRID = 24
CANVAS = 320
"""Pixels of the page's canvas, across."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a sketch is made into a picture."""

    label: str
    stroke_width: float = 1.5
    """Of 24."""
    side: float = 20.0
    """Of 24: the longer side of what the pen's tip drew. None of it where the canvas is taken as it is."""
    is_cropped: bool = True
    is_smoothed: bool = True
    is_trimmed: bool = False
    """Whether it stands on white, so that it is cut out as a screenshot is, with a margin of a tenth."""


PAGE = Preparation("as the page")
"""The one that the page uses."""
_APART = 0.6
"""Of 24: points that are nearer than this to the one before say nothing but how the hand shook."""


def as_svg(strokes: Sequence[Stroke], preparation: Preparation = PAGE) -> str:
    """Draw strokes, points in pixels of the canvas, as an SVG of 24 by 24; black lines with round ends."""
    fitted = _fitted(strokes, preparation.side) if preparation.is_cropped else _scaled(strokes)
    line = _smooth if preparation.is_smoothed else _straight
    paths = "".join(f'<path d="{line(stroke)}"/>' for stroke in fitted)
    ground = '<rect width="24" height="24" fill="#fff"/>' if preparation.is_trimmed else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24">{ground}<g fill="none" '
        f'stroke="#000" stroke-width="{_spelt(preparation.stroke_width)}" stroke-linecap="round" '
        f'stroke-linejoin="round">{paths}</g></svg>'
    )


def _scaled(strokes: Sequence[Stroke]) -> list[list[Point]]:
    return [[(x * GRID / CANVAS, y * GRID / CANVAS) for x, y in stroke] for stroke in strokes]


def _fitted(strokes: Sequence[Stroke], side: float) -> list[list[Point]]:
    """Centre all on the grid, as large as icons are drawn."""
    xs, ys = ([point[axis] for stroke in strokes for point in stroke] for axis in (0, 1))
    extent = max(max(xs) - min(xs), max(ys) - min(ys))
    scale = side / extent if extent else 1.0  # a dot stays a dot
    left, top = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return [[((x - left) * scale + GRID / 2, (y - top) * scale + GRID / 2) for x, y in stroke] for stroke in strokes]


def _thinned(stroke: Stroke) -> list[Point]:
    """Leave out what is too near to the point before; the ends stay."""
    kept = [stroke[0]]
    for point in stroke[1:-1]:
        if math.dist(point, kept[-1]) >= _APART:
            kept.append(point)
    return [*kept, stroke[-1]]


def _smooth(stroke: Stroke) -> str:
    """Curves through the middles of all lines between points."""
    points = _thinned(stroke)
    if len(points) == 2:
        return _straight(points)
    middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairwise(points[1:])]
    middles[-1] = points[-1]
    curves = "".join(f"Q{_at(bend)} {_at(end)}" for bend, end in zip(points[1:-1], middles, strict=True))
    return f"M{_at(points[0])}{curves}"


def _straight(stroke: Stroke) -> str:
    return f"M{_at(stroke[0])}" + "".join(f"L{_at(point)}" for point in (stroke[1:] or stroke))


def _at(point: Point) -> str:
    return f"{_spelt(point[0])} {_spelt(point[1])}"


def _spelt(number: float) -> str:
    """As JavaScript spells it, two digits behind the point."""
    return f"{math.floor(number * 100 + 0.5) / 100:.2f}".rstrip("0").rstrip(".")
