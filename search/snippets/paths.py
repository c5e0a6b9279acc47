"""What is an icon as path data alone? The `d` of each of its shapes, in the order in which they are drawn."""

import re
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from indexer.errors import IconsError

_GROUPS = frozenset(("svg", "g", "a"))
_UNDRAWN = frozenset(("title", "desc", "defs", "linearGradient", "radialGradient", "clipPath", "mask", "symbol"))
_REACHING = ("transform", "filter", "mask", "clip-path")
"""Attributes by which a shape is not as its own numbers say."""
_LENGTH = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)(?:px)?\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,]+")
_SPACE = re.compile(r"\s+")


def path_data(root: ElementTree.Element, *, key: str) -> list[str]:
    """Write the shapes of a cleaned drawing as path data, those that draw nothing left out.

    Raises:
        IconsError: it holds what is no shape, or shapes that something else moves, cuts or fills; `key` is told.
    """
    found = list(_shapes(root, {"fill": "black", "stroke": "none"}, key))
    if not found:
        raise IconsError(f'"{key}" holds no shape; --format svg writes it whole')
    return found


def _shapes(element: ElementTree.Element, inherited: Mapping[str, str], key: str) -> Iterator[str]:
    for attribute in _REACHING:
        if attribute in element.attrib:
            raise IconsError(f'"{key}" has a {attribute}, which path data can\'t say; --format svg writes it whole')
    look = {name: element.get(name, value) for name, value in inherited.items()} | _declared(element)
    if any(value.lower().startswith("url(") for value in look.values()):
        raise IconsError(f'"{key}" is filled with a pattern or gradient; --format svg writes it whole')
    if element.tag in _GROUPS:
        for child in element:
            yield from _shapes(child, look, key)
    elif element.tag in _SHAPES:
        if look["fill"] != "none" or look["stroke"] != "none":
            yield from filter(None, [_SHAPES[element.tag](element, key)])
    elif element.tag not in _UNDRAWN:
        raise IconsError(f'"{key}" holds <{element.tag}>, which is no shape; --format svg writes it whole')


def _declared(element: ElementTree.Element) -> dict[str, str]:
    """Fill and stroke as the style of an element states them."""
    declared = (declaration.partition(":") for declaration in element.get("style", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in declared if name.strip() in ("fill", "stroke")}


def _path(element: ElementTree.Element, _: str) -> str:
    return _SPACE.sub(" ", element.get("d", "")).strip()


def _circle(element: ElementTree.Element, key: str) -> str:
    radius = _number(element, "r", key)
    return _round(element, radius, radius, key)


def _ellipse(element: ElementTree.Element, key: str) -> str:
    return _round(element, _number(element, "rx", key), _number(element, "ry", key), key)


def _round(element: ElementTree.Element, wide: float, high: float, key: str) -> str:
    """Two arcs, from the right and back, as SVG defines the equivalent path of an ellipse."""
    if wide <= 0 or high <= 0:
        return ""
    x, y = _number(element, "cx", key), _number(element, "cy", key)
    arc = f"a{wide:.6g} {high:.6g} 0 1 1"
    return f"M{x + wide:.6g} {y:.6g}{arc} {-2 * wide:.6g} 0{arc} {2 * wide:.6g} 0z"


def _rect(element: ElementTree.Element, key: str) -> str:
    x, y, width, height = (_number(element, name, key) for name in ("x", "y", "width", "height"))
    if width <= 0 or height <= 0:
        return ""
    own = {name: _number(element, name, key) for name in ("rx", "ry") if element.get(name, "auto") != "auto"}
    wide = min(own.get("rx", own.get("ry", 0)), width / 2)
    high = min(own.get("ry", own.get("rx", 0)), height / 2)
    if wide <= 0 or high <= 0:
        return f"M{x:.6g} {y:.6g}h{width:.6g}v{height:.6g}h{-width:.6g}z"
    arc = f"a{wide:.6g} {high:.6g} 0 0 1"
    across, down = width - 2 * wide, height - 2 * high
    return (
        f"M{x + wide:.6g} {y:.6g}h{across:.6g}{arc} {wide:.6g} {high:.6g}v{down:.6g}{arc} {-wide:.6g} {high:.6g}"
        f"h{-across:.6g}{arc} {-wide:.6g} {-high:.6g}v{-down:.6g}{arc} {wide:.6g} {-high:.6g}z"
    )


def _line(element: ElementTree.Element, key: str) -> str:
    x1, y1, x2, y2 = (_number(element, name, key) for name in ("x1", "y1", "x2", "y2"))
    return f"M{x1:.6g} {y1:.6g}L{x2:.6g} {y2:.6g}"


def _polyline(element: ElementTree.Element, key: str) -> str:
    numbers = [_read(part, key) for part in _SEPARATOR.split(element.get("points", "").strip()) if part]
    points = [f"{x:.6g} {y:.6g}" for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
    return f"M{'L'.join(points)}" if points else ""


def _polygon(element: ElementTree.Element, key: str) -> str:
    line = _polyline(element, key)
    return f"{line}z" if line else ""


_SHAPES: Mapping[str, Callable[[ElementTree.Element, str], str]] = {
    "path": _path,
    "circle": _circle,
    "ellipse": _ellipse,
    "rect": _rect,
    "line": _line,
    "polyline": _polyline,
    "polygon": _polygon,
}


def _number(element: ElementTree.Element, name: str, key: str) -> float:
    return _read(element.get(name, "0"), key)


def _read(text: str, key: str) -> float:
    number = _LENGTH.fullmatch(text)
    if number is None:
        raise IconsError(f'"{key}" has a length of "{text}", which path data can\'t say; --format svg writes it whole')
    return float(number[1])
