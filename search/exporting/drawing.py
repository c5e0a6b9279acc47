"""What of an icon goes into another document? Its viewBox, what its root says of all shapes, and what stands in it."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from indexer.errors import RenderError
from search.exporting.chosen import Chosen
from search.snippets.apart import set_apart
from search.snippets.clean import SVG, clean_tree
from search.snippets.drawn import Look, named_icon
from search.snippets.markup import XML, written

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LENGTH = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:px)?\s*")
_OF_DOCUMENT = frozenset(("xmlns", "viewBox", "width", "height", "x", "y", "version", "baseProfile", "id"))
"""Attributes of a root that say nothing of its shapes."""


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
    """One icon, cleaned and taken apart. Its ids begin with its name, so that no other icon of an export has them."""

    box: Box
    attributes: dict[str, str]
    """Of its root, which hold for all of it: fill, stroke-width, preserveAspectRatio."""
    body: list[Element]
    sides: tuple[str, str] | None
    """Width and height, where its root states them."""

    def elements(self) -> Iterator[Element]:
        """All that stands in it, in the order of the document."""
        for element in self.body:
            yield from element.iter()

    @property
    def has_sheet(self) -> bool:
        """Whether a style sheet is left that would hold for other icons of a document as well."""
        return any(element.tag == "style" for element in self.elements())


def take_apart(icon: Chosen, look: Look) -> Drawing:
    """Clean an icon and take it apart.

    Raises:
        IconsError: it is no SVG that can be read, or states no size.
    """
    root = clean_tree(named_icon(icon.hit, icon.content), look)
    set_apart(root, name=f"{icon.name}_")  # no name of an icon holds this sign, so none is another one's id
    sides = (root.get("width", ""), root.get("height", ""))
    drawing = Drawing(_box(root.attrib), {}, list(root), sides if all(sides) else None)
    drawing.attributes = {name: value for name, value in root.items() if name not in _OF_DOCUMENT}
    if not drawing.has_sheet:
        for attributes in (drawing.attributes, *(element.attrib for element in drawing.elements())):
            attributes.pop("class", None)  # a page's own rules might be for it
    return drawing


def _box(attributes: Mapping[str, str]) -> Box:
    stated = [_NUMBER.fullmatch(part) for part in re.split(r"[\s,]+", attributes.get("viewBox", "").strip())]
    numbers = [float(one[0]) for one in stated if one]
    if len(numbers) != 4 or len(stated) != 4:
        sides = [_LENGTH.fullmatch(attributes.get(side, "")) for side in ("width", "height")]
        numbers = [0.0, 0.0, *(float(side[1]) for side in sides if side)]
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or min(numbers[2:]) <= 0:
        raise RenderError("svg: states neither a viewBox nor width and height")
    return Box(*numbers)


def spell(number: float) -> str:
    """Spell a number as short as it is exact."""
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def markup(elements: list[Element]) -> str:
    """Spell elements as XML."""
    return "".join(written(element, XML) for element in elements)


def spelled(attributes: Mapping[str, str]) -> str:
    """Spell attributes as XML, each with a space before it."""
    return "".join(f" {XML.attribute(name, value)}" for name, value in attributes.items())


def whole_svg(drawing: Drawing) -> bytes:
    """Spell a drawing as a document of its own."""
    width, height = drawing.sides or (spell(drawing.box.width), spell(drawing.box.height))
    root = Element("svg", {"xmlns": SVG, "width": width, "height": height, "viewBox": str(drawing.box)})
    root.attrib.update(drawing.attributes)
    root.extend(drawing.body)
    return written(root, XML).encode() + b"\n"
