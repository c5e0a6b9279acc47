"""An SVG as lint sees it: parsed, its shapes and strokes followed.

Nothing is drawn, no entity is read from anywhere, and no address is followed.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from fontTools.pens.basePen import BasePen
from fontTools.svgLib.path import parse_path
from picosvg.svg_transform import Affine2D

from indexer.errors import RenderError
from indexer.rendering.render import svg_document
from indexer.rendering.styles import LENGTH, NUMBER, Box, box_of, stated_by
from search.drawings.clean import SVG, lay_rules, parsed_tree
from search.drawings.shapes import SHAPES

_MOST_ELEMENTS = 20_000


def parse(content: bytes) -> tuple[bytes, Element] | None:
    """Parse an SVG, packed or not; None for anything but an SVG. Names of SVG's elements bear no namespace.

    Raises:
        RenderError: it can't be parsed, or has more in it than an icon has; the message says why.
    """
    document = svg_document(content)
    if document is None:
        return None
    try:
        root = parsed_tree(document)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last: an encoding that nobody knows
        raise RenderError(f"not well-formed: {error}") from error
    elements = list(root.iter())
    if len(elements) > _MOST_ELEMENTS:
        raise RenderError(f"more than {_MOST_ELEMENTS:,} elements")
    for element in elements:
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    return document, root


PROPERTIES = frozenset(
    (
        *("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "color", "stop-color", "display"),
        *("opacity", "fill-opacity", "stroke-opacity", "visibility", "vector-effect", "flood-color"),
        *("clip-path", "mask", "filter"),
    )
)
NOT_INHERITED = frozenset(
    ("opacity", "display", "clip-path", "mask", "filter", "stop-color", "vector-effect", "flood-color")
)

Style = Mapping[str, str]


def own_style(element: Element) -> Style:
    """What an element states itself of the properties that are known."""
    return {name: value.strip() for name, value in stated_by(element).items() if name in PROPERTIES}


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
_NAMESPACE = re.compile(rb"\sxmlns(?::[^\s=]{1,100})?\s*=\s*[\"']([^\"'<>]{1,500})")
_REFERENCE = re.compile(rb"#([^\s\"'()<>&]{1,200})")
_DRAWN_BY_REFERENCE = frozenset(
    ("linearGradient", "radialGradient", "clipPath", "mask", "pattern", "symbol", "filter", "marker")
)


_DECLARATION = re.compile(rb"<\?xml\s[^>]*>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


def excess(document: bytes, root: Element, *, side: float) -> dict[str, int]:
    """Count what could go, by kind, in bytes; `side` is the longer one of the viewBox.

    Digits that can't be seen are those beyond 3 of 24 units, 2 of 256, as svgo takes them.
    """
    first, *others = document.split(b"<!--")
    bare = first + b"".join(other.partition(b"-->")[2] for other in others)
    n_addresses = sum(
        len(address) + 17
        for address in (address.decode(errors="replace") for address in _NAMESPACE.findall(document))
        if _is_of_editor(address)
    )
    found = {
        "comments": len(document) - len(bare),
        "declarations": len(bare) - len(_DECLARATION.sub(b"", bare, count=2)),
        "editor data": n_addresses
        + _count(
            [root],
            goes=lambda one: one.tag == "metadata" or _is_of_editor(one.tag.rpartition("}")[0]),
            inside=lambda one: sum(
                _length(name) + len(value) + 4
                for name, value in one.items()
                if name == "data-name" or _is_of_editor(name.rpartition("}")[0])
            ),
        ),
        "unused ids and definitions": _unused(document, root),
        "digits": _digits(root, decimals=3 if side < 128 else 2 if side < 1024 else 1),
    }
    return {kind: n for kind, n in found.items() if n > 0}


def _count(elements: Iterable[Element], *, goes: Callable[[Element], bool], inside: Callable[[Element], int]) -> int:
    """Bytes of the elements that could go whole, and `inside` each that stays."""
    return sum(_size(one) if goes(one) else inside(one) + _count(one, goes=goes, inside=inside) for one in elements)


def _size(element: Element) -> int:
    """Bytes of an element, as it is written without needless spaces."""
    n_name = _length(element.tag)
    within = (element.text or "", *(child.tail or "" for child in element))
    attributes = sum(_length(name) + len(value.encode()) + 4 for name, value in element.items())
    n_name += n_name + 2 if any(within) or len(element) else 0
    return n_name + 3 + attributes + sum(len(text.encode()) for text in within) + sum(map(_size, element))


def _length(name: str) -> int:
    """Of a name as it is written: of another namespace with a prefix, as `rdf:`."""
    return len(name.rpartition("}")[2]) + 4 * name.startswith("{")


def _is_of_editor(name: str) -> bool:
    return any(editor in name.lower() for editor in _EDITORS)


def _unused(document: bytes, root: Element) -> int:
    """Definitions that nothing refers to; ids but the root's, by which pages know an icon, and empty groups."""
    used = {None, *(name.decode(errors="replace") for name in _REFERENCE.findall(document))}

    def goes(element: Element) -> bool:
        return (element.tag in ("g", "defs") and not len(element) and not (element.text or "").strip()) or (
            element.tag in _DRAWN_BY_REFERENCE and element.get("id") not in used - {None}
        )

    def unused_id(element: Element) -> int:
        is_unused = element.get("id") not in used and not element.tag.startswith("{")
        return len(f' id="{element.get("id")}"'.encode()) if is_unused else 0

    return _count(root, goes=goes, inside=unused_id if root.find(".//style") is None else lambda _: 0)


def _digits(root: Element, *, decimals: int) -> int:
    """Digits of coordinates that are too fine to be seen."""
    stated = (element.attrib[name] for element in root.iter() for name in _NUMERIC & element.attrib.keys())
    numbers = (number for text in stated for number in NUMBER.findall(text) if "e" not in number.lower())
    return sum(max(0, len(number.partition(".")[2]) - decimals) for number in numbers)


Point = tuple[float, float]
_TRANSFORMS = re.compile(r"(?:[\s,]*(?:matrix|translate|scale|rotate|skewX|skewY)\s*\([^()]{1,200}\))+\s*")
_STEPS = np.array([0.2, 0.35, 0.5, 0.65, 0.8])
"""Of a curve, at which points are taken beside its end: control points may lie far outside."""
_WEIGHTS = np.stack(
    [(1 - _STEPS) ** 3, 3 * (1 - _STEPS) ** 2 * _STEPS, 3 * (1 - _STEPS) * _STEPS**2, _STEPS**3], axis=1
)

_LONGEST_PATH = 100_000
"""Characters that are followed: fontTools reads hostile arcs in time that grows with the square of their length."""
_LEVEL = 1e-9
"""The end of an arc is worked out, and misses what is written by less."""


class Outline(NamedTuple):
    """A shape as points, in its own units."""

    points: list[Point]
    corners: list[Point]
    """Those of them at which straight lines along an axis end: what a designer snaps to a grid."""


def outline(tag: str, attributes: Mapping[str, str]) -> Outline:
    """Follow a shape; anything else has no points."""

    def of(name: str) -> float:
        return length(attributes.get(name))

    match tag:
        case "path":
            pen = _Pen()
            with suppress(ValueError, AssertionError):  # what is wrong ends the path there, as it does for a browser
                parse_path(attributes.get("d", "")[:_LONGEST_PATH], pen)
            return pen.drawn
        case "rect" if of("width") > 0 and of("height") > 0:
            x, y, width, height = (of(name) for name in ("x", "y", "width", "height"))
            corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
            return Outline(corners, corners)
        case "circle" | "ellipse":
            rx, ry = (of("r"), of("r")) if tag == "circle" else (of("rx"), of("ry"))
            turns = [math.tau * n / 16 for n in range(16)] if rx > 0 and ry > 0 else []
            return Outline([(of("cx") + rx * math.cos(turn), of("cy") + ry * math.sin(turn)) for turn in turns], [])
        case "line":
            ends = [(of("x1"), of("y1")), (of("x2"), of("y2"))]
            return Outline(ends, ends if _is_level(*ends) else [])
        case "polyline" | "polygon":
            numbers = [float(number) for number in NUMBER.findall(attributes.get("points", ""))]
            return Outline(list(zip(numbers[::2], numbers[1::2], strict=False)), [])
    return Outline([], [])


def length(text: str | None, otherwise: float = 0.0) -> float:
    """Read a length in user units; what is none, or in other units, is `otherwise`."""
    match = LENGTH.fullmatch(text) if text else None
    return float(match[1]) if match else otherwise


def _is_level(start: Point, end: Point) -> bool:
    return min(abs(start[0] - end[0]), abs(start[1] - end[1])) < _LEVEL


class _Pen(BasePen):  # type: ignore[misc]  # fontTools has no types
    """Follows path data."""

    def __init__(self) -> None:
        super().__init__(None)
        self.drawn = Outline([], [])

    def _moveTo(self, _: Point) -> None:  # noqa: N802 - so fontTools calls it
        """A place alone draws nothing."""

    def _lineTo(self, end: Point) -> None:  # noqa: N802 - so fontTools calls it
        ends = (self._getCurrentPoint(), end)
        self.drawn.points.extend(ends)
        self.drawn.corners.extend(ends if _is_level(*ends) else ())

    def _curveToOne(self, one: Point, two: Point, end: Point) -> None:  # noqa: N802 - so fontTools calls it
        points = np.array([self._getCurrentPoint(), one, two, end])
        self.drawn.points.extend(map(tuple, [points[0], *_WEIGHTS @ points, points[-1]]))


_NOT_DRAWN = frozenset(("defs", "clipPath", "mask", "symbol", "pattern", "marker", "metadata"))
_ACTIVE = frozenset(("script", "foreignObject", "iframe", "handler"))
_DRAWN_OTHERWISE = frozenset(
    ("style", "use", "image", "text", "foreignObject", "animateTransform", "animateMotion", "animate", "switch")
)
_CUT = frozenset(("clip-path", "mask", "filter"))
IMPLICIT = "nothing"
"""A shape that states none is filled with black."""
BLACK = frozenset(("black", "#000", "#000000", "#000f", "#000000ff", "rgb(0,0,0)"))
_NO_COLOURS = frozenset(("none", "transparent", "inherit", "context-fill", "context-stroke", "unset", "initial"))


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
    extent: tuple[float, ...] | None
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
        RenderError: it can't be parsed.
    """
    parsed = parse(content)
    if parsed is None:
        return None
    document, root = parsed
    view_box, stated = box_of(root.attrib), box_of({"viewBox": root.get("viewBox", "")})
    can_go = excess(document, root, side=max(view_box[2:]) if view_box else 24.0)
    lay_rules(root, partly=True)
    elements = list(root.iter())
    shapes = [shape for shape in _shapes(root, Affine2D.identity(), {}) if shape.is_seen]
    stroked = [shape for shape in shapes if shape.stroke_width > 0]
    return Drawing(
        view_box=view_box,
        states_view_box=stated is not None,
        stroke_widths=frozenset(round(shape.stroke_width, 3) for shape in stroked),
        caps=frozenset(shape.style.get("stroke-linecap", "butt") for shape in stroked),
        joins=frozenset(shape.style.get("stroke-linejoin", "miter") for shape in stroked),
        radii=frozenset(
            round(length(shape.element.get("rx") or shape.element.get("ry")) * shape.scale, 3)
            for shape in shapes
            if shape.element.tag == "rect"
        ),
        paints=frozenset(_paints(shapes, elements)),
        extent=_extent(shapes, elements),
        corners=tuple(corner for shape in shapes for corner in shape.placed(shape.outline.corners)),
        n_images=sum(element.tag in ("image", "feImage") for element in elements),
        n_texts=sum(element.tag == "text" for element in elements),
        active=tuple(dict.fromkeys(_active(elements))),
        excess=can_go,
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape that is drawn, with what holds for it."""

    element: Element
    style: Style
    matrix: Affine2D
    outline: Outline

    @property
    def scale(self) -> float:
        """How much longer its groups make a line, on average of the directions."""
        return math.sqrt(abs(self.matrix.determinant()))

    @property
    def stroke_width(self) -> float:
        """In units of the canvas; 0 where no stroke is seen."""
        if self.style.get("stroke", "none") in ("none", "transparent") or self.style.get("stroke-opacity") == "0":
            return 0.0
        return length(self.style.get("stroke-width"), 1.0) * self.scale

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

    def placed(self, points: Sequence[Point]) -> list[Point]:
        """Its points on the canvas, as far as they are finite."""
        return [one for one in map(self.matrix.map_point, points) if all(map(math.isfinite, one))]


def _shapes(element: Element, around: Affine2D, inherited: Style) -> Iterator[_Shape]:
    """What is drawn in an element; `around`: how those that it lies in are moved."""
    own = own_style(element)
    if element.tag in _NOT_DRAWN or own.get("display") == "none":
        return
    matrix = around @ _transform(element.get("transform", ""))
    handed_on = {name: value for name, value in inherited.items() if name not in NOT_INHERITED}
    style = handed_on | {name: value for name, value in own.items() if value != "inherit"}
    if element.tag in SHAPES:
        yield _Shape(element, style, matrix, outline(element.tag, element.attrib))
    for child in element:
        yield from _shapes(child, matrix, style)


def _transform(text: str) -> Affine2D:
    """Read a transform attribute; what is wrong in it moves nothing."""
    try:
        return Affine2D.fromstring(text) if _TRANSFORMS.fullmatch(text) else Affine2D.identity()
    except (ValueError, TypeError):
        return Affine2D.identity()


def _paints(shapes: Sequence[_Shape], elements: Sequence[Element]) -> Iterator[str]:
    for shape in shapes:
        stroke = shape.style.get("stroke", "none") if shape.stroke_width else "none"
        for paint in map(_plain, (shape.fill, stroke)):
            spelled = _plain(shape.style.get("color", paint)) if paint == "currentcolor" else paint
            if spelled not in _NO_COLOURS and not spelled.startswith("url("):
                yield spelled
    for element in elements:
        if element.tag == "stop":
            yield _plain(own_style(element).get("stop-color", "black"))


def _plain(paint: str) -> str:
    return "".join(paint.lower().split())


def _extent(shapes: Sequence[_Shape], elements: Sequence[Element]) -> tuple[float, ...] | None:
    """None where something is drawn, cut or moved in ways that shapes don't tell."""
    for element in elements:
        if (
            element.tag in _DRAWN_OTHERWISE or (element.tag == "svg" and element is not elements[0])
        ) or _CUT & own_style(element).keys():
            return None
    boxes = []
    for shape in shapes:
        points, half = np.array(shape.placed(shape.outline.points)), shape.stroke_width / 2
        if len(points):
            boxes.append((*points.min(axis=0) - half, *points.max(axis=0) + half))
    if not boxes:
        return None
    (left, top), (right, bottom) = np.min(boxes, axis=0)[:2].tolist(), np.max(boxes, axis=0)[2:].tolist()
    return (left, top, right, bottom) if left < right or top < bottom else None


def _active(elements: Sequence[Element]) -> Iterator[str]:
    for element in elements:
        if element.tag in _ACTIVE:
            yield f"<{element.tag}>"
        for name, value in element.items():
            local = name.rpartition("}")[2]
            if local.startswith("on") and len(local) > 3:
                yield f"{local}="
            elif local == "href" and value.strip().lower().startswith(("http:", "https:", "//", "javascript:")):
                yield f"href={value.strip()[:60]}" if element.tag != "a" else "a link"
