"""Which bytes of an SVG could go without any change of what is seen? What svgo would take off, estimated, not done."""

import re
from collections.abc import Iterator

from search.linting.reading.geometry import NUMBER
from search.linting.reading.markup import Element, Markup

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
