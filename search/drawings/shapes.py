"""An icon as path data alone, and its strokes and size, read and changed."""

import math
import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from indexer.errors import IconsError
from search.drawings.drawn import Look
from search.drawings.sheets import declarations

_SHAPES = frozenset(("path", "circle", "ellipse", "rect", "line", "polyline", "polygon"))
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
        IconsError: something is no shape, or is moved, cut or filled by something else; the message names `key`.
    """
    found = list(_shapes(root, {"fill": "black", "stroke": "none"}, key))
    if not found:
        raise IconsError(f'"{key}" holds no shape; --format svg writes it whole')
    return found


def _shapes(element: ElementTree.Element, inherited: Mapping[str, str], key: str) -> Iterator[str]:
    for attribute in _REACHING:
        if attribute in element.attrib:
            raise IconsError(f'"{key}" has a {attribute}, which path data can\'t say; --format svg writes it whole')
    look = {name: _stated(element, name) or value for name, value in inherited.items()}
    if any(value.lower().startswith("url(") for value in look.values()):
        raise IconsError(f'"{key}" is filled with a pattern or gradient; --format svg writes it whole')
    if element.tag in _GROUPS:
        for child in element:
            yield from _shapes(child, look, key)
    elif element.tag in _SHAPES:
        if look["fill"] != "none" or look["stroke"] != "none":
            yield from filter(None, [_data(element, key)])
    elif element.tag not in _UNDRAWN:
        raise IconsError(f'"{key}" holds <{element.tag}>, which is no shape; --format svg writes it whole')


def _data(element: ElementTree.Element, key: str) -> str:
    def of(name: str) -> float:
        return _read(element.get(name, "0"), key)

    match element.tag:
        case "path":
            return _SPACE.sub(" ", element.get("d", "")).strip()
        case "circle" | "ellipse":
            wide, high = (of("r"), of("r")) if element.tag == "circle" else (of("rx"), of("ry"))
            # Two arcs, from the right and back, as SVG defines the equivalent path of an ellipse.
            arc = f"a{wide:.6g} {high:.6g} 0 1 1"
            start = f"M{of('cx') + wide:.6g} {of('cy'):.6g}"
            return f"{start}{arc} {-2 * wide:.6g} 0{arc} {2 * wide:.6g} 0z" if wide > 0 and high > 0 else ""
        case "rect":
            rounded = {name: of(name) for name in ("rx", "ry") if element.get(name, "auto") != "auto"}
            return _rect(of("x"), of("y"), of("width"), of("height"), rounded)
        case "line":
            return f"M{of('x1'):.6g} {of('y1'):.6g}L{of('x2'):.6g} {of('y2'):.6g}"
    numbers = [_read(part, key) for part in _SEPARATOR.split(element.get("points", "").strip()) if part]
    points = "L".join(f"{x:.6g} {y:.6g}" for x, y in zip(numbers[::2], numbers[1::2], strict=False))
    return f"M{points}{'z' if element.tag == 'polygon' else ''}" if points else ""


def _rect(x: float, y: float, width: float, height: float, rounded: Mapping[str, float]) -> str:
    if width <= 0 or height <= 0:
        return ""
    wide = min(rounded.get("rx", rounded.get("ry", 0)), width / 2)
    high = min(rounded.get("ry", rounded.get("rx", 0)), height / 2)
    if wide <= 0 or high <= 0:
        return f"M{x:.6g} {y:.6g}h{width:.6g}v{height:.6g}h{-width:.6g}z"
    arc = f"a{wide:.6g} {high:.6g} 0 0 1"
    across, down = width - 2 * wide, height - 2 * high
    return (
        f"M{x + wide:.6g} {y:.6g}h{across:.6g}{arc} {wide:.6g} {high:.6g}v{down:.6g}{arc} {-wide:.6g} {high:.6g}"
        f"h{-across:.6g}{arc} {-wide:.6g} {-high:.6g}v{-down:.6g}{arc} {wide:.6g} {-high:.6g}z"
    )


def _read(text: str, key: str) -> float:
    number = _LENGTH.fullmatch(text)
    if number is None:
        raise IconsError(f'"{key}" has a length of "{text}", which path data can\'t say; --format svg writes it whole')
    return float(number[1])


_DECLARED = re.compile(r"(^|;)(\s*)stroke-width\s*:([^;]+)")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:px)?")
ENDS = {"round": ("round", "round"), "sharp": ("square", "miter")}
"""Caps and joins. Square caps: a dot is a stroke without length, of which butt caps would leave nothing."""
_CORNERS = re.compile(r"(^|;)\s*stroke-line(cap|join)\s*:[^;]*")


def reshape(root: ElementTree.Element, look: Look) -> None:
    """Change a tree in place; an icon without a stroke gets none."""
    if look.size is not None:
        _resize(root, look.size)
    if all(_stated(element, "stroke") in (None, "none", "transparent") for element in root.iter()):
        return
    if look.stroke_width is not None:
        _widen(root, look.stroke_width)
    if look.corner is not None:
        _end(root, look.corner)


def box_of(attributes: Mapping[str, str]) -> tuple[float, ...] | None:
    """Left, top, width and height of a canvas, by its viewBox or its sides; None where neither says it."""
    view = [_LENGTH.fullmatch(part) for part in _SEPARATOR.split(attributes.get("viewBox", "").strip())]
    sides = [_LENGTH.fullmatch(attributes.get(side, "")) for side in ("width", "height")]
    for before, found in (((), view), ((0.0, 0.0), sides)):
        box = (*before, *(float(number[1]) for number in found if number))
        if len(box) == 4 and all(map(math.isfinite, box)) and min(box[2:]) > 0:
            return box
    return None


def _resize(root: ElementTree.Element, size: int) -> None:
    """Let the longer side be so long, and the other as the viewBox has it; without a viewBox both sides make one."""
    box = box_of(root.attrib) or (0, 0, size, size)
    if "viewBox" not in root.attrib and "width" in root.attrib:
        root.set("viewBox", f"0 0 {box[2]:g} {box[3]:g}")
    for side, length in zip(("width", "height"), box[2:], strict=True):
        root.set(side, f"{size * length / max(box[2:]):.4g}")


def _widen(root: ElementTree.Element, width: float) -> None:
    """Let the widest stroke be so wide, and others in proportion; where none states its width, the root does."""
    stated = (_NUMBER.fullmatch((_stated(element, "stroke-width") or "").strip()) for element in root.iter())
    widest = max((float(number[1]) for number in stated if number), default=None)
    if not widest:
        root.set("stroke-width", f"{width:g}")
        return
    factor = width / widest

    def wider(value: str) -> str:
        number = _NUMBER.fullmatch(value.strip())
        return f"{float(number[1]) * factor:.4g}" if number else value

    for element in root.iter():
        if (own := element.get("stroke-width")) is not None:
            element.set("stroke-width", wider(own))
        if style := element.get("style"):
            changed = _DECLARED.sub(lambda found: f"{found[1]}{found[2]}stroke-width:{wider(found[3].strip())}", style)
            element.set("style", changed)


def _end(root: ElementTree.Element, corner: str) -> None:
    cap, join = ENDS[corner]
    for element in root.iter():
        element.attrib.pop("stroke-linecap", None)
        element.attrib.pop("stroke-linejoin", None)
        if style := element.get("style"):
            element.set("style", _CORNERS.sub("", style).lstrip("; "))
    root.set("stroke-linecap", cap)
    root.set("stroke-linejoin", join)


def _stated(element: ElementTree.Element, name: str) -> str | None:
    """What an element states by itself, in its style or as an attribute."""
    stated = {one.name: one.value for one in declarations(element.get("style", ""))}
    return stated.get(name, element.get(name))
