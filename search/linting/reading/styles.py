"""What is an element painted with? Presentation attributes, style sheets and style attributes, through its groups.

Of style sheets only plain selectors are read (`.a`, `#a`, `path`, and lists of them), which is what design tools write;
a sheet with others is told as one that was not understood.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from search.linting.reading.markup import Element, Markup

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
    return dict(_declared(text[:_MOST_CSS]))


def _declared(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        if colon and (name := name.strip().lower()) in PROPERTIES:
            yield name, value.replace("!important", "").strip()
