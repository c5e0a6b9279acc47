"""What an SVG says of its drawing: canvas, strokes, corners, paints, and bytes that could go."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from picosvg.svg_transform import Affine2D

from search.linting.geometry import NUMBER, Point, length, outline, transform
from search.linting.markup import Element, Markup, Sheet, Style, parse

_EDITORS = (
    "inkscape",
    "sodipodi",
    "bohemiancoding",  # Sketch
    "figma",
    "adobe",
    "serif.com",  # Affinity
    "vectornator",
    "purl.org/dc",
    "creativecommons.org",
    "w3.org/1999/02/22-rdf-syntax-ns",
    "boxy-svg",
    "corel",
)
"""What is in the addresses of namespaces that only editors read."""
_NUMERIC = frozenset(
    (
        *("d", "points", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "width", "height"),
        *("transform", "stroke-width", "gradientTransform"),
    )
)
_REFERENCE = re.compile(rb"#([^\s\"'()<>&]{1,200})")
_DRAWN_BY_REFERENCE = frozenset(
    ("linearGradient", "radialGradient", "clipPath", "mask", "pattern", "symbol", "filter", "marker")
)


def excess(markup: Markup, *, side: float) -> dict[str, int]:
    """Count what could go, by kind, in bytes; `side` is the longer one of the viewBox, which says what is precise."""
    found = {
        "comments": markup.n_comment_bytes,
        "declarations": markup.n_declaration_bytes,
        "editor data": _editor_data(markup),
        "unused ids and definitions": _unused(markup),
        "digits": _digits(markup, decimals=decimals_for(side)),
    }
    return {kind: n for kind, n in found.items() if n > 0}


def decimals_for(side: float) -> int:
    """How many digits behind the point can be seen: 3 of 24 units, 2 of 256, as svgo takes them."""
    return 3 if side < 128 else 2 if side < 1024 else 1


def _editor_data(markup: Markup) -> int:
    """Metadata, elements and attributes of editors, and the declarations of their namespaces."""
    n, behind = 0, -1
    for element in markup.elements:
        if element.start < behind:
            continue
        if element.tag == "metadata" or _is_of_editor(element.namespace):
            n += element.end - element.start
            behind = element.end
        else:
            n += sum(len(name.rpartition(" ")[2]) + len(value) + 10 for name, value in _editor_attributes(element))
    declared = [address for _, address in markup.namespaces if _is_of_editor(address)]
    return n + sum(len(address) + 17 for address in declared)


def _editor_attributes(element: Element) -> Iterator[tuple[str, str]]:
    for name, value in element.attributes.items():
        if _is_of_editor(name.rpartition(" ")[0]) or name == "data-name":
            yield name, value


def _is_of_editor(namespace: str) -> bool:
    return bool(namespace) and any(editor in namespace.lower() for editor in _EDITORS)


def _unused(markup: Markup) -> int:
    """Definitions that nothing refers to; ids but the root's, by which pages know an icon, and empty groups."""
    used = {name.decode(errors="replace") for name in _REFERENCE.findall(markup.document)}
    n, behind = 0, -1
    for element in markup.elements[1:]:
        if element.start < behind or not element.is_svg:
            continue
        name = element.attributes.get("id")
        is_empty = element.tag in ("g", "defs") and not element.has_content
        if is_empty or (element.tag in _DRAWN_BY_REFERENCE and name not in used):
            n += element.end - element.start
            behind = element.end
        elif name is not None and name not in used and not markup.styles:
            n += len(name.encode(errors="replace")) + len(' id=""')
    return n


def _digits(markup: Markup, *, decimals: int) -> int:
    """Digits of coordinates that are too fine to be seen."""
    n = 0
    for element in markup.elements:
        for name in _NUMERIC & element.attributes.keys():
            n += sum(
                max(0, len(number.partition(".")[2]) - decimals)
                for number in NUMBER.findall(element.attributes[name])
                if "e" not in number and "E" not in number
            )
    return n


SHAPES = frozenset(("path", "rect", "circle", "ellipse", "line", "polyline", "polygon"))
_NOT_DRAWN = frozenset(("defs", "clipPath", "mask", "symbol", "pattern", "marker", "metadata"))
_ACTIVE = frozenset(("script", "foreignObject", "iframe", "handler"))
_PAINTS = ("fill", "stroke", "stop-color", "flood-color")
IMPLICIT = "nothing"
"""A shape that states none is filled with black."""
BLACK = frozenset(("black", "#000", "#000000", "#000f", "#000000ff", "rgb(0,0,0)"))
_NO_COLOURS = frozenset(("none", "transparent", "inherit", "context-fill", "context-stroke", "unset", "initial"))
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What one SVG says."""

    view_box: Box | None
    """(x, y, width, height); what width and height say where there is none."""
    states_view_box: bool
    stroke_widths: frozenset[float]
    """Of what is seen, in units of the canvas, whatever groups scale it."""
    caps: frozenset[str]
    joins: frozenset[str]
    radii: frozenset[float]
    """Of the corners of rectangles; 0 is sharp."""
    paints: frozenset[str]
    """What shapes are painted with, as it is spelled in lower case; without `none`."""
    extent: Box | None
    """(left, top, right, bottom) of all that is drawn, strokes included; None where shapes don't say it."""
    corners: tuple[Point, ...]
    """Ends of straight lines along an axis, on the canvas."""
    n_images: int
    n_texts: int
    active: tuple[str, ...]
    """Scripts, event handlers and addresses outside the file."""
    excess: dict[str, int]
    """Bytes that could go, by kind."""


def read_drawing(content: bytes) -> Drawing | None:
    """Read an SVG; None for anything else.

    Raises:
        MarkupError: it can't be parsed.
    """
    markup = parse(content)
    if markup is None or not markup.elements:
        return None
    return _Reader(markup).drawing()


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape that is drawn, with what holds for it."""

    element: Element
    style: Style
    matrix: Affine2D

    @property
    def stroke_width(self) -> float:
        """In units of the canvas; 0 where no stroke is seen."""
        if self.style.get("stroke", "none") in ("none", "transparent"):
            return 0.0
        if self.style.get("stroke-opacity") == "0":
            return 0.0
        return length(self.style.get("stroke-width"), 1.0) * self.scale

    @property
    def scale(self) -> float:
        """How much longer its groups make a line, on average of the directions."""
        return math.sqrt(abs(self.matrix.determinant()))

    def placed(self, points: Sequence[Point]) -> list[Point]:
        """Its points on the canvas, as far as they are finite."""
        moved = (self.matrix.map_point(point) for point in points)
        return [(x, y) for x, y in moved if math.isfinite(x) and math.isfinite(y)]

    @property
    def fill(self) -> str:
        """Its paint; a line has none."""
        return "none" if self.element.tag == "line" else self.style.get("fill", IMPLICIT)

    @property
    def is_seen(self) -> bool:
        """Whether anything of it is painted."""
        is_hidden = self.style.get("display") == "none" or self.style.get("visibility") == "hidden"
        is_filled = self.fill not in ("none", "transparent") and self.style.get("fill-opacity") != "0"
        return not is_hidden and self.style.get("opacity") != "0" and (is_filled or self.stroke_width > 0)


class _Reader:
    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._root = markup.elements[0]
        self._sheet = Sheet(markup)
        self._matrix_of = cache(self._placed)
        self._shapes = [shape for shape in self._all_shapes() if shape.is_seen]
        self._outlines = [outline(shape.element.tag, shape.element.attributes) for shape in self._shapes]

    def drawing(self) -> Drawing:
        view_box, is_stated = _view_box(self._root)
        stroked = [shape for shape in self._shapes if shape.stroke_width > 0]
        return Drawing(
            view_box=view_box,
            states_view_box=is_stated,
            stroke_widths=frozenset(round(shape.stroke_width, 3) for shape in stroked),
            caps=frozenset(shape.style.get("stroke-linecap", "butt") for shape in stroked),
            joins=frozenset(shape.style.get("stroke-linejoin", "miter") for shape in stroked),
            radii=frozenset(self._radii()),
            paints=frozenset(self._paints()),
            extent=self._extent(),
            corners=tuple(self._corners()),
            n_images=sum(element.tag in ("image", "feImage") for element in self._markup.elements),
            n_texts=sum(element.tag == "text" for element in self._markup.elements),
            active=tuple(dict.fromkeys(self._active())),
            excess=excess(self._markup, side=max(view_box[2:]) if view_box else 24.0),
        )

    def _all_shapes(self) -> Iterator[_Shape]:
        hidden: set[Element] = set()
        for element in self._markup.elements:
            parent = element.parent
            own = self._sheet.own_style(element).get("display") == "none"
            if own or element.tag in _NOT_DRAWN or (parent is not None and parent in hidden):
                hidden.add(element)
            elif element.is_svg and element.tag in SHAPES:
                yield _Shape(element, self._sheet.style_of(element), self._placed(element))

    def _placed(self, element: Element) -> Affine2D:
        own = element.attributes.get("transform")
        around = self._matrix_of(element.parent) if element.parent else Affine2D.identity()
        return around @ transform(own) if own else around

    def _radii(self) -> Iterator[float]:
        for shape in self._shapes:
            if shape.element.tag == "rect":
                stated = shape.element.attributes.get("rx") or shape.element.attributes.get("ry")
                yield round(length(stated) * shape.scale, 3)

    def _paints(self) -> Iterator[str]:
        for shape in self._shapes:
            strokes = [shape.style.get("stroke", "none")] if shape.stroke_width else []
            colour = shape.style.get("color", "currentcolor")
            for paint in (shape.fill, *strokes):
                spelled = "".join(paint.lower().split())
                spelled = "".join(colour.lower().split()) if spelled == "currentcolor" else spelled
                if spelled not in _NO_COLOURS and not spelled.startswith("url("):
                    yield spelled
        for element in self._markup.elements:
            if element.tag == "stop":
                yield "".join(self._sheet.style_of(element).get("stop-color", "black").lower().split())

    def _extent(self) -> Box | None:
        """None where something is drawn, cut or moved in ways that shapes don't tell."""
        if not self._sheet.is_understood or self._draws_otherwise():
            return None
        left = top = float("inf")
        right = bottom = float("-inf")
        for shape, drawn in zip(self._shapes, self._outlines, strict=True):
            points = shape.placed(drawn.points)
            if points:
                half = shape.stroke_width / 2
                xs, ys = zip(*points, strict=True)
                left, top = min(left, min(xs) - half), min(top, min(ys) - half)
                right, bottom = max(right, max(xs) + half), max(bottom, max(ys) + half)
        return (left, top, right, bottom) if left < right or top < bottom else None

    def _draws_otherwise(self) -> bool:
        elements = self._markup.elements
        others = ("use", "image", "text", "foreignObject", "animateTransform", "animateMotion", "animate", "switch")
        if any(element.tag in others or (element.tag == "svg" and element is not self._root) for element in elements):
            return True
        return any({"clip-path", "mask", "filter"} & self._sheet.own_style(element).keys() for element in elements)

    def _corners(self) -> Iterator[Point]:
        for shape, drawn in zip(self._shapes, self._outlines, strict=True):
            yield from shape.placed(drawn.corners)

    def _active(self) -> Iterator[str]:
        for element in self._markup.elements:
            if element.tag in _ACTIVE:
                yield f"<{element.tag}>"
            for name, value in element.attributes.items():
                local = name.rpartition(" ")[2]
                if local.startswith("on") and len(local) > 3:
                    yield f"{local}="
                elif local == "href" and value.strip().lower().startswith(("http:", "https:", "//", "javascript:")):
                    yield f"href={value.strip()[:60]}" if element.tag != "a" else "a link"


def _view_box(root: Element) -> tuple[Box | None, bool]:
    """The canvas, and whether a viewBox states it."""
    parts = root.attributes.get("viewBox", "").replace(",", " ").split()
    try:
        x, y, width, height = map(float, parts)
    except ValueError:
        sides = [length(root.attributes.get(name)) for name in ("width", "height")]
        return ((0.0, 0.0, sides[0], sides[1]) if min(sides) > 0 else None), False
    return (x, y, width, height), True
