"""What of an SVG goes into another document? Its viewBox, what its root says of all shapes, and what stands in it.

Names of elements and attributes are those of SVG, without namespaces: what editors note beside it is left out.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.sax.saxutils import escape, quoteattr

from indexer.errors import RenderError

_SVG, _XLINK, _XML = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/XML/1998/namespace"
_DEEPEST, _MOST_ELEMENTS = 100, 50_000
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
_LENGTH = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(px)?\s*")
_OF_ROOT = frozenset(("viewBox", "width", "height", "x", "y", "version", "baseProfile", "id", "preserveAspectRatio"))


@dataclass(frozen=True, slots=True)
class Box:
    """Where an icon lies in its own coordinates."""

    left: float
    top: float
    width: float
    height: float

    def __str__(self) -> str:
        return " ".join(map(spell, (self.left, self.top, self.width, self.height)))


@dataclass(slots=True)
class Drawing:
    """One icon, taken apart."""

    box: Box
    attributes: dict[str, str]
    """Of its root, which hold for all of it: fill, stroke-width, class, preserveAspectRatio."""
    body: list[Element]

    def elements(self) -> Iterator[Element]:
        """All that stands in it, in the order of the document."""
        for element in self.body:
            yield from element.iter()


class _Strict(TreeBuilder):
    """Builds a tree of bounded depth and size."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._n = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:  # type: ignore[override]
        self._depth, self._n = self._depth + 1, self._n + 1
        if self._depth > _DEEPEST or self._n > _MOST_ELEMENTS:
            raise RenderError(f"svg: more than {_DEEPEST} elements inside each other, or {_MOST_ELEMENTS:,} in all")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def take_apart(document: bytes) -> Drawing:
    """Take an SVG's text apart, as `svg_document` gives it.

    Raises:
        RenderError: it is not well-formed, too deep, or states no size.
    """
    parser = XMLParser(target=_Strict())
    try:
        parser.feed(document)
        root = parser.close()
    except (ParseError, ValueError, LookupError) as error:
        raise RenderError(f"svg: {error}") from error
    assert isinstance(root, Element)
    _without_namespaces(root)
    attributes = dict(root.attrib)
    box = _box(attributes)
    kept = {name: value for name, value in attributes.items() if name not in _OF_ROOT or name == "preserveAspectRatio"}
    return Drawing(box, kept, list(root))


def _without_namespaces(element: Element) -> None:
    """Leave elements and attributes of SVG under their plain names, and no others."""
    element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
    element.attrib = dict(_plain_attributes(element.attrib))
    for child in list(element):
        if not isinstance(child.tag, str) or ("}" in child.tag and not child.tag.startswith(f"{{{_SVG}}}")):
            _remove(element, child)
        else:
            _without_namespaces(child)


def _remove(parent: Element, child: Element) -> None:
    parent.remove(child)


def _plain_attributes(attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        if name == f"{{{_XLINK}}}href":
            if "href" not in attributes:
                yield "href", value
        elif name == f"{{{_XML}}}space":
            yield "xml:space", value
        elif "}" not in name:
            yield name, value


def _box(attributes: Mapping[str, str]) -> Box:
    stated = [_NUMBER.fullmatch(part) for part in re.split(r"[\s,]+", attributes.get("viewBox", "").strip())]
    sides = [_LENGTH.fullmatch(attributes.get(side, "")) for side in ("width", "height")]
    numbers = [float(one[1]) for one in stated if one]
    if len(numbers) != 4 or len(stated) != 4:
        numbers = [0.0, 0.0, *(float(side[1]) for side in sides if side)]
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or min(numbers[2:]) <= 0:
        raise RenderError("svg: states neither a viewBox nor width and height")
    return Box(*numbers)


def spell(number: float) -> str:
    """Spell a number as short as it is exact."""
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def markup(elements: list[Element]) -> str:
    """Spell elements as XML."""
    return "".join(map(_spelled, elements))


def _spelled(element: Element) -> str:
    attributes = spelled_attributes(element.attrib)
    inner = escape(element.text or "") + "".join(_spelled(child) + escape(child.tail or "") for child in element)
    keeps_space = element.tag in ("text", "tspan", "style", "textPath")
    inner = inner if keeps_space or inner.strip() else ""
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>" if inner else f"<{element.tag}{attributes}/>"


def spelled_attributes(attributes: Mapping[str, str]) -> str:
    """Spell attributes as XML, each with a space before it."""
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())


def whole_svg(drawing: Drawing, *, width: str = "", height: str = "") -> bytes:
    """Spell a drawing as a document of its own."""
    sides = {"width": width or spell(drawing.box.width), "height": height or spell(drawing.box.height)}
    attributes = {"xmlns": _SVG, **sides, "viewBox": str(drawing.box), **drawing.attributes}
    return f"<svg{spelled_attributes(attributes)}>{markup(drawing.body)}</svg>\n".encode()
