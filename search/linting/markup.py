"""The elements of an SVG, parsed by expat within limits; what each is painted with; and bytes that could go.

Nothing is drawn, no entity is read from anywhere, and no address is followed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from xml.parsers import expat

from indexer.errors import RenderError
from indexer.rendering.render import svg_document
from indexer.rendering.styles import Declaration
from indexer.rendering.styles import declarations as all_declarations
from search.drawings.sheets import rules_of

SVG = "http://www.w3.org/2000/svg"
_MOST_ELEMENTS = 20_000
_MOST_DEPTH = 200
_SEPARATOR = " "
"""Between a namespace and a name: no address holds one."""


class MarkupError(Exception):
    """An SVG that is no well-formed XML, or has more in it than an icon has."""


@dataclass(eq=False, slots=True)
class Element:
    """One element; `namespace` is "" where none is stated."""

    tag: str
    namespace: str
    attributes: Mapping[str, str]
    """By local name; those of another namespace as "NAMESPACE NAME"."""
    parent: "Element | None"
    start: int
    """Bytes of the document at which it begins, and behind which it has ended."""
    end: int = 0
    has_content: bool = False
    """Whether it holds elements, or text that is more than space."""

    @property
    def is_svg(self) -> bool:
        """Whether it is an element of SVG: one without any namespace is taken for that."""
        return self.namespace in ("", SVG)


def parse(content: bytes) -> "Markup | None":
    """Parse an SVG, packed or not; None for anything but an SVG.

    Raises:
        MarkupError: it can't be parsed; the message says why.
    """
    try:
        document = svg_document(content)
        return None if document is None else Markup(document)
    except expat.ExpatError as error:
        raise MarkupError(f"not well-formed: {error}") from error
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        raise MarkupError(f"not readable: {error}") from error
    except RenderError as error:
        raise MarkupError(str(error)) from error


class Markup:
    """A parsed SVG."""

    def __init__(self, document: bytes) -> None:
        self.document = document
        self.elements: list[Element] = []
        """In the order in which they begin; the first is the root."""
        self.styles: list[str] = []
        """Texts of its style elements."""
        self.namespaces: list[str] = []
        """Addresses of those that are declared, as often as they are."""
        self._open: list[Element] = []
        self._text: list[str] = []
        self._parser = parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartNamespaceDeclHandler = lambda _, address: self.namespaces.append(address)
        parser.Parse(document, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, tag = name.rpartition(_SEPARATOR)
        if len(self.elements) >= _MOST_ELEMENTS or len(self._open) >= _MOST_DEPTH:
            raise MarkupError(f"more than {_MOST_ELEMENTS:,} elements, or {_MOST_DEPTH} in each other")
        parent = self._open[-1] if self._open else None
        element = Element(tag, namespace, attributes, parent, self._parser.CurrentByteIndex)
        if parent is not None:
            parent.has_content = True
        self.elements.append(element)
        self._open.append(element)
        self._text.clear()

    def _end(self, _: str) -> None:
        element = self._open.pop()
        # Of `<a/>` expat tells where it ends, of others where their end tag begins.
        at = self._parser.CurrentByteIndex
        is_empty_tag = not element.has_content and self.document[at - 2 : at] == b"/>"
        element.end = at if is_empty_tag else self.document.find(b">", at) + 1
        if element.is_svg and element.tag == "style":
            self.styles.append("".join(self._text))

    def _characters(self, text: str) -> None:
        if self._open and text.strip():
            self._open[-1].has_content = True
        self._text.append(text)


PROPERTIES = frozenset(
    (
        *("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "color", "stop-color", "display"),
        *("opacity", "fill-opacity", "stroke-opacity", "visibility", "vector-effect", "flood-color"),
        *("clip-path", "mask", "filter"),
    )
)
_OWN = frozenset(("opacity", "display", "clip-path", "mask", "filter", "stop-color", "vector-effect", "flood-color"))
"""Properties that a group does not hand on."""
_MOST_CSS = 50_000
_MOST_CLASSES = 50
_PLAIN_SELECTOR = re.compile(r"(?:[.#]?[A-Za-z_][\w-]*|\*)")

Style = Mapping[str, str]


class Sheet:
    """The rules of an SVG's style elements."""

    def __init__(self, markup: Markup) -> None:
        self._rules: dict[str, list[tuple[int, Style]]] = {}
        """By selector, with the place at which each stands."""
        text = "".join(markup.styles)
        self.is_understood = len(text) <= _MOST_CSS
        for place, (selectors, stated) in enumerate(rules_of(text[:_MOST_CSS])):
            declared = _known(stated)
            for selector in selectors:
                if _PLAIN_SELECTOR.fullmatch(selector):
                    self._rules.setdefault(selector, []).append((place, declared))
                else:
                    self.is_understood = False
        self._of: dict[Element, Style] = {}

    def style_of(self, element: Element) -> Style:
        """All properties that hold for an element, inherited ones among them."""
        found = self._of.get(element)
        if found is None:
            inherited: Style = {} if element.parent is None else self.style_of(element.parent)
            kept = {name: value for name, value in inherited.items() if name not in _OWN}
            own = self.own_style(element)
            found = self._of[element] = kept | {name: value for name, value in own.items() if value != "inherit"}
        return found

    def own_style(self, element: Element) -> dict[str, str]:
        """What an element states itself, or a rule says of it; of two, the one that wins in CSS."""
        own = {name: value.strip() for name, value in element.attributes.items() if name in PROPERTIES}
        if self._rules:
            classes = dict.fromkeys(element.attributes.get("class", "").split()[:_MOST_CLASSES])
            ids = [f"#{element.attributes.get('id', '')}"]
            for selectors in (["*"], [element.tag], [f".{name}" for name in classes], ids):  # by weight
                found = [rule for selector in selectors for rule in self._rules.get(selector, ())]
                for _, declared in sorted(found, key=lambda rule: rule[0]):
                    own.update(declared)
        if style := element.attributes.get("style"):
            own.update(declarations(style))
        return own


@lru_cache(maxsize=4096)
def declarations(text: str) -> dict[str, str]:
    """Read `fill:none;stroke:#000` of a style; only what is known is kept."""
    return _known(all_declarations(text[:_MOST_CSS]))


def _known(declared: Iterable[Declaration]) -> dict[str, str]:
    return {one.name: one.value for one in declared if one.name in PROPERTIES}


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
_REFERENCE = re.compile(rb"#([^\s\"'()<>&]{1,200})")
_DRAWN_BY_REFERENCE = frozenset(
    ("linearGradient", "radialGradient", "clipPath", "mask", "pattern", "symbol", "filter", "marker")
)


_DECLARATION = re.compile(rb"<\?xml\s[^>]*>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


def excess(markup: Markup, *, side: float) -> dict[str, int]:
    """Count what could go, by kind, in bytes; `side` is the longer one of the viewBox.

    Digits that can't be seen are those beyond 3 of 24 units, 2 of 256, as svgo takes them.
    """
    first, *others = markup.document.split(b"<!--")
    bare = first + b"".join(other.partition(b"-->")[2] for other in others)
    found = {
        "comments": len(markup.document) - len(bare),
        "declarations": len(bare) - len(_DECLARATION.sub(b"", bare, count=2)),
        "editor data": _editor_data(markup),
        "unused ids and definitions": _unused(markup),
        "digits": _digits(markup, decimals=3 if side < 128 else 2 if side < 1024 else 1),
    }
    return {kind: n for kind, n in found.items() if n > 0}


def _count(elements: Sequence[Element], *, goes: Callable[[Element], bool], inside: Callable[[Element], int]) -> int:
    """Bytes of the elements that could go whole, and `inside` each that stays."""
    n, behind = 0, -1
    for element in elements:
        if element.start >= behind and goes(element):
            n += element.end - element.start
            behind = element.end
        elif element.start >= behind:
            n += inside(element)
    return n


def _editor_data(markup: Markup) -> int:
    """Metadata, elements and attributes of editors, and the declarations of their namespaces."""

    def attributes(element: Element) -> int:
        named = ((*name.rpartition(_SEPARATOR), value) for name, value in element.attributes.items())
        return sum(
            len(local) + len(value) + 10
            for namespace, gap, local, value in named
            if _is_of_editor(namespace) or (not gap and local == "data-name")
        )

    n = _count(
        markup.elements,
        goes=lambda element: element.tag == "metadata" or _is_of_editor(element.namespace),
        inside=attributes,
    )
    return n + sum(len(address) + 17 for address in markup.namespaces if _is_of_editor(address))


def _is_of_editor(namespace: str) -> bool:
    return bool(namespace) and any(editor in namespace.lower() for editor in _EDITORS)


def _unused(markup: Markup) -> int:
    """Definitions that nothing refers to; ids but the root's, by which pages know an icon, and empty groups."""
    used = {name.decode(errors="replace") for name in _REFERENCE.findall(markup.document)}

    def goes(element: Element) -> bool:
        is_empty = element.tag in ("g", "defs") and not element.has_content
        is_unused = element.tag in _DRAWN_BY_REFERENCE and element.attributes.get("id") not in used
        return element.is_svg and (is_empty or is_unused)

    def unused_id(element: Element) -> int:
        name = element.attributes.get("id")
        is_used = name is None or name in used or markup.styles or not element.is_svg
        return 0 if is_used else len(f' id="{name}"'.encode(errors="replace"))

    return _count(markup.elements[1:], goes=goes, inside=unused_id)


def _digits(markup: Markup, *, decimals: int) -> int:
    """Digits of coordinates that are too fine to be seen."""
    stated = (element.attributes[name] for element in markup.elements for name in _NUMERIC & element.attributes.keys())
    numbers = (number for text in stated for number in NUMBER.findall(text) if "e" not in number.lower())
    return sum(max(0, len(number.partition(".")[2]) - decimals) for number in numbers)
