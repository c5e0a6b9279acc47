"""How wide are an icon's strokes, how do they end, how large is the whole? Read and changed in the tree of an SVG."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from indexer.errors import IconsError

_DECLARED = re.compile(r"(^|;)(\s*)stroke-width\s*:\s*([^;]+?)\s*(?=;|$)")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:px)?")
_VIEW = re.compile(r"\s*[-+.\de]+[\s,]+[-+.\de]+[\s,]+([.\de+]+)[\s,]+([.\de+]+)\s*")
ENDS = {"round": ("round", "round"), "sharp": ("square", "miter")}
"""Caps and joins. Square caps: a dot is a stroke without length, of which butt caps would leave nothing."""
_CORNERS = re.compile(r"(^|;)\s*stroke-line(cap|join)\s*:[^;]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is changed; None leaves it as the icon has it."""

    size: int | None = None
    stroke_width: float | None = None
    corner: str | None = None


def reshaped(svg: bytes, shape: Shape) -> bytes:
    """Give an SVG's text another stroke, size and corner.

    Raises:
        IconsError: it is not well-formed.
    """
    for prefix, uri in (("", "http://www.w3.org/2000/svg"), ("xlink", "http://www.w3.org/1999/xlink")):
        ElementTree.register_namespace(prefix, uri)
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, ValueError) as error:
        raise IconsError(f"this SVG is not well-formed ({error}); it can be had as it is") from error
    reshape(root, shape)
    return ElementTree.tostring(root)


def reshape(root: ElementTree.Element, shape: Shape) -> None:
    """Change a tree in place; what an icon does not have, as a stroke, is not given to it."""
    if shape.size is not None:
        _resize(root, shape.size)
    if not is_stroked(root):
        return
    if shape.stroke_width is not None:
        _widen(root, shape.stroke_width)
    if shape.corner is not None:
        _end(root, shape.corner)


def is_stroked(root: ElementTree.Element) -> bool:
    """Tell whether anything of it is drawn as a line."""
    return any(_stated(element, "stroke") not in (None, "none", "transparent") for element in root.iter())


def _resize(root: ElementTree.Element, size: int) -> None:
    """Let the longer side be so long, and the other as the viewBox has it; without a viewBox both sides make one."""
    view = _VIEW.fullmatch(root.get("viewBox", ""))
    if view is None:
        sides = [_NUMBER.fullmatch(root.get(side, "")) for side in ("width", "height")]
        if None in sides:
            root.set("width", f"{size}")
            root.set("height", f"{size}")
            return
        width, height = (float(side[1]) for side in sides if side)
        root.set("viewBox", f"0 0 {width:g} {height:g}")
    else:
        width, height = float(view[1]), float(view[2])
    longer = max(width, height)
    for side, length in (("width", width), ("height", height)):
        root.set(side, f"{size * length / longer:.4g}" if longer else f"{size}")


def _widen(root: ElementTree.Element, wanted: float) -> None:
    """Let the widest stroke be so wide, and others in proportion; where none states its width, the root does."""
    widest = max(_widths(root), default=None)
    if not widest:
        root.set("stroke-width", f"{wanted:g}")
        return
    factor = wanted / widest

    def wider(value: str) -> str:
        number = _NUMBER.fullmatch(value.strip())
        return f"{float(number[1]) * factor:.4g}" if number else value

    for element in root.iter():
        if (width := element.get("stroke-width")) is not None:
            element.set("stroke-width", wider(width))
        if style := element.get("style"):
            changed = _DECLARED.sub(lambda said: f"{said[1]}{said[2]}stroke-width:{wider(said[3])}", style)
            element.set("style", changed)


def _widths(root: ElementTree.Element) -> Iterator[float]:
    for element in root.iter():
        number = _NUMBER.fullmatch((_stated(element, "stroke-width") or "").strip())
        if number:
            yield float(number[1])


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
    for declaration in (element.get("style") or "").split(";"):
        key, _, value = declaration.partition(":")
        if key.strip() == name:
            return value.strip()
    return element.get(name)
