"""An icon as path data alone, and its strokes and size, read and changed."""

from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from indexer.errors import IconsError
from indexer.rendering.styles import LENGTH, box_of, declarations, stated_by
from search.drawings.frameworks import Look

SHAPES = frozenset(("path", "circle", "ellipse", "rect", "line", "polyline", "polygon"))
_GROUPS = frozenset(("svg", "g", "a"))
_UNDRAWN = frozenset(("title", "desc", "defs", "linearGradient", "radialGradient", "clipPath", "mask", "symbol"))
_REACHING = ("transform", "filter", "mask", "clip-path")
"""Attributes by which a shape is not as its own numbers say."""
_NUMBERS = ("x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "x1", "y1", "x2", "y2")
_SIDES = {"circle": ("r",), "ellipse": ("rx", "ry"), "rect": ("width", "height")}
"""What of a shape makes it nothing where it is 0."""


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
    stated = stated_by(element)
    look = {name: stated.get(name) or value for name, value in inherited.items()}
    if any(value.lower().startswith("url(") for value in look.values()):
        raise IconsError(f'"{key}" is filled with a pattern or gradient; --format svg writes it whole')
    if element.tag in _GROUPS:
        for child in element:
            yield from _shapes(child, look, key)
    elif element.tag in SHAPES:
        if look["fill"] != "none" or look["stroke"] != "none":
            yield from filter(None, [_data(element, key)])
    elif element.tag not in _UNDRAWN:
        raise IconsError(f'"{key}" holds <{element.tag}>, which is no shape; --format svg writes it whole')


def _data(element: ElementTree.Element, key: str) -> str:
    if element.tag == "path":
        return " ".join(element.get("d", "").split())
    numbers = {name: _read(element.attrib[name], key) for name in _NUMBERS if element.get(name, "auto") != "auto"}
    points = {"points": element.get("points", "").strip()} if element.tag.startswith("poly") else {}
    if (min((numbers.get(side, 0) for side in _SIDES.get(element.tag, ())), default=1) <= 0) or not all(
        points.values()
    ):
        return ""
    from search.drawings.web_font import path_of

    return path_of(element.tag, {name: f"{number:.6g}" for name, number in numbers.items()} | points)


def _read(text: str, key: str) -> float:
    number = LENGTH.fullmatch(text)
    if number is None:
        raise IconsError(f'"{key}" has a length of "{text}", which path data can\'t say; --format svg writes it whole')
    return float(number[1])


ENDS = {"round": ("round", "round"), "sharp": ("square", "miter")}
"""Caps and joins. Square caps: a dot is a stroke without length, of which butt caps would leave nothing."""


def reshape(root: ElementTree.Element, look: Look) -> None:
    """Change a tree in place; an icon without a stroke gets none."""
    if look.size is not None:
        _resize(root, look.size)
    if all(stated_by(element).get("stroke") in (None, "none", "transparent") for element in root.iter()):
        return
    if look.stroke_width is not None:
        _widen(root, look.stroke_width)
    if look.corner is not None:
        _end(root, look.corner)


def _resize(root: ElementTree.Element, size: int) -> None:
    """Let the longer side be so long, and the other as the viewBox has it; without a viewBox both sides make one."""
    box = box_of(root.attrib) or (0, 0, size, size)
    if "viewBox" not in root.attrib and "width" in root.attrib:
        root.set("viewBox", f"0 0 {box[2]:g} {box[3]:g}")
    for side, length in zip(("width", "height"), box[2:], strict=True):
        root.set(side, f"{size * length / max(box[2:]):.4g}")


def _widen(root: ElementTree.Element, width: float) -> None:
    """Let the widest stroke be so wide, and others in proportion; where none states its width, the root does."""
    stated = (LENGTH.fullmatch(stated_by(element).get("stroke-width", "")) for element in root.iter())
    widest = max((float(number[1]) for number in stated if number), default=None)
    if not widest:
        root.set("stroke-width", f"{width:g}")
        return

    def wider(value: str) -> str:
        return f"{float(number[1]) * width / widest:.4g}" if (number := LENGTH.fullmatch(value)) else value

    _restate(root, "stroke-width", wider)


def _end(root: ElementTree.Element, corner: str) -> None:
    for name, end in zip(("stroke-linecap", "stroke-linejoin"), ENDS[corner], strict=True):
        _restate(root, name, lambda _: "")
        root.set(name, end)


def _restate(root: ElementTree.Element, name: str, change: Callable[[str], str]) -> None:
    """Change what elements state of a property, as an attribute or in a style; "" takes it away."""
    for element in root.iter():
        style = ";".join(
            f"{name}:{change(one.value)}" if one.name == name else one.text
            for one in declarations(element.get("style", ""))
            if one.name != name or change(one.value)
        )
        stated = {"style": style, name: change(element.get(name, ""))}
        for attribute in stated.keys() & element.attrib.keys():
            element.set(attribute, stated[attribute])
            if not stated[attribute]:
                element.attrib.pop(attribute)
