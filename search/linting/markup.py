"""The elements of an SVG, parsed by expat within limits, and what each is painted with.

Nothing is drawn, no entity is read from anywhere, and no address is followed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from xml.parsers import expat

from indexer.errors import RenderError
from indexer.rendering.render import svg_document
from search.drawings.shapes import declarations as all_declarations

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


@dataclass(slots=True)
class Markup:
    """A parsed SVG."""

    document: bytes
    elements: list[Element] = field(default_factory=list)
    """In the order in which they begin; the first is the root."""
    styles: list[str] = field(default_factory=list)
    """Texts of its style elements."""
    namespaces: list[tuple[str | None, str]] = field(default_factory=list)
    """(prefix, address) of those that are declared, as often as they are."""
    n_comment_bytes: int = 0
    n_declaration_bytes: int = 0
    """Of the XML declaration and the document type."""


def parse(content: bytes) -> Markup | None:
    """Parse an SVG, packed or not; None for anything but an SVG.

    Raises:
        MarkupError: it can't be parsed; the message says why.
    """
    try:
        document = svg_document(content)
    except RenderError as error:
        raise MarkupError(str(error)) from error
    return None if document is None else _Parsing(document).markup


class _Parsing:
    """One run of the parser."""

    def __init__(self, document: bytes) -> None:
        self.markup = Markup(document)
        self._open: list[Element] = []
        self._text: list[str] = []
        self._parser = parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.CommentHandler = self._comment
        parser.StartNamespaceDeclHandler = self._namespace
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        try:
            parser.Parse(document, True)
        except expat.ExpatError as error:
            raise MarkupError(f"not well-formed: {error}") from error
        except (ValueError, LookupError) as error:  # an encoding that nobody knows
            raise MarkupError(f"not readable: {error}") from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, tag = name.rpartition(_SEPARATOR)
        if len(self.markup.elements) >= _MOST_ELEMENTS or len(self._open) >= _MOST_DEPTH:
            raise MarkupError(f"more than {_MOST_ELEMENTS:,} elements, or {_MOST_DEPTH} in each other")
        parent = self._open[-1] if self._open else None
        element = Element(tag, namespace, attributes, parent, self._parser.CurrentByteIndex)
        if parent is not None:
            parent.has_content = True
        self.markup.elements.append(element)
        self._open.append(element)
        self._text.clear()

    def _end(self, name: str) -> None:
        element = self._open.pop()
        # Of `<a/>` expat tells where it ends, of others where their end tag begins.
        at, document = self._parser.CurrentByteIndex, self.markup.document
        is_empty_tag = not element.has_content and document[at - 2 : at] == b"/>"
        element.end = at if is_empty_tag else document.find(b">", at) + 1
        if element.is_svg and element.tag == "style":
            self.markup.styles.append("".join(self._text))

    def _characters(self, text: str) -> None:
        if self._open and text.strip():
            self._open[-1].has_content = True
        self._text.append(text)

    def _comment(self, text: str) -> None:
        self.markup.n_comment_bytes += len(text.encode(errors="replace")) + len("<!---->")

    def _declaration(self, *_: object) -> None:
        start = self._parser.CurrentByteIndex
        self.markup.n_declaration_bytes += self.markup.document.find(b">", start) + 1 - start

    def _doctype(self, *_: object) -> None:
        self.markup.n_declaration_bytes -= self.markup.document.rfind(
            b"<!DOCTYPE", 0, self._parser.CurrentByteIndex + 9
        )

    def _end_doctype(self) -> None:
        at = self._parser.CurrentByteIndex
        self.markup.n_declaration_bytes += self.markup.document.find(b">", at) + 1

    def _namespace(self, prefix: str | None, address: str) -> None:
        self.markup.namespaces.append((prefix, address))


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
        for place, (selectors, body) in enumerate(_rules_of(text[:_MOST_CSS])):
            declared = declarations(body)
            for selector in map(str.strip, selectors.split(",")):
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
            for selectors in _selectors_of(element):
                found = [rule for selector in selectors for rule in self._rules.get(selector, ())]
                for _, declared in sorted(found, key=lambda rule: rule[0]):
                    own.update(declared)
        if style := element.attributes.get("style"):
            own.update(declarations(style))
        return own


def _rules_of(text: str) -> Iterator[tuple[str, str]]:
    """Cut a style sheet into selectors and what is declared for them; by hand, so that no text takes long."""
    first, *others = text.split("/*")
    plain = first + "".join(other.partition("*/")[2] for other in others)
    for rule in plain.split("}"):
        selectors, brace, body = rule.rpartition("{")
        if brace:
            yield selectors, body


def _selectors_of(element: Element) -> Iterator[list[str]]:
    """Plain selectors that fit an element, those that weigh least first."""
    yield ["*"]
    yield [element.tag]
    yield [f".{name}" for name in dict.fromkeys(element.attributes.get("class", "").split()[:_MOST_CLASSES])]
    yield [f"#{element.attributes.get('id', '')}"]


@lru_cache(maxsize=4096)
def declarations(text: str) -> dict[str, str]:
    """Read `fill:none;stroke:#000` of a style; only what is known is kept."""
    stated = ((name.lower(), value) for name, value in all_declarations(text[:_MOST_CSS]))
    return {name: value.replace("!important", "").strip() for name, value in stated if name in PROPERTIES}
