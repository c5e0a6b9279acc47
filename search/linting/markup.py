"""The elements of an SVG, parsed within limits; what each states of its paint; and bytes that could go.

Nothing is drawn, no entity is read from anywhere, and no address is followed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from indexer.errors import RenderError
from indexer.rendering.render import svg_document
from indexer.rendering.styles import declarations
from search.drawings.clean import SVG, parsed_tree

_MOST_ELEMENTS = 20_000
_MOST_CSS = 50_000


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
    stated = {one.name: one.value for one in declarations(element.get("style", "")[:_MOST_CSS])}
    return {name: value.strip() for name, value in {**element.attrib, **stated}.items() if name in PROPERTIES}


NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?")
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
            inside=_bytes_of_editors,
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


def _bytes_of_editors(element: Element) -> int:
    """Bytes of an element's attributes that only editors read."""
    return sum(
        _length(name) + len(value) + 4
        for name, value in element.items()
        if name == "data-name" or _is_of_editor(name.rpartition("}")[0])
    )


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
