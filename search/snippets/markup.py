"""How is a cleaned drawing written as markup? As XML, which HTML and Vue read too, and for Svelte; JSX stands apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_BRACES = {"{": "&#123;", "}": "&#125;"}


@dataclass(frozen=True, slots=True)
class Markup:
    """A way to write elements."""

    attribute: Callable[[str, str], str]
    text: Callable[[str], str]
    style: Callable[[str], str]
    """The text of a <style>."""


def written(root: ElementTree.Element, markup: Markup, *, rest: str = "", indent: int | None = None) -> str:
    """Write a tree; `rest` stands behind the attributes of its root, lines are indented from `indent` on, if given.

    Elements that hold text stay on one line, since spaces between them would be drawn.
    """
    start = "" if indent is None else "  " * indent
    inner = None if indent is None or _holds_text(root) else indent + 1
    attributes = "".join(f" {markup.attribute(name, value)}" for name, value in root.items())
    opening = f"{start}<{root.tag}{attributes}{f' {rest}' if rest else ''}"
    within = _content(root, markup, inner)
    if not within:
        return f"{opening} />"
    if inner is None:
        return f"{opening}>{within}</{root.tag}>"
    return f"{opening}>\n{within}\n{start}</{root.tag}>"


def _content(parent: ElementTree.Element, markup: Markup, indent: int | None) -> str:
    text = markup.style if parent.tag == "style" else markup.text
    parts = [text(parent.text)] if parent.text else []
    for child in parent:
        parts.append(written(child, markup, indent=indent))
        parts += [text(child.tail)] if child.tail else []
    return ("" if indent is None else "\n").join(parts)


def _holds_text(element: ElementTree.Element) -> bool:
    return bool(element.text) or any(child.tail for child in element)


def _escaper(more: Mapping[str, str]) -> Callable[[str], str]:
    """Escape a value between quotes, and what else a language reads there; what no XML may hold, its parser refuses."""
    table = {ord(sign): escape for sign, escape in {**_ESCAPES, **more}.items()}
    return lambda text: text.translate(table)


_between_quotes, _between_apostrophes, _in_svelte = _escaper({}), _escaper({"'": "&#39;"}), _escaper(_BRACES)


def _xml_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _svelte_text(text: str) -> str:
    return _xml_text(text).replace("{", _BRACES["{"]).replace("}", _BRACES["}"])


XML = Markup(lambda name, value: f'{name}="{_between_quotes(value)}"', _xml_text, _xml_text)
"""Of an SVG file, and of SVG inside HTML."""
QUOTED = Markup(lambda name, value: f"{name}='{_between_apostrophes(value)}'", _xml_text, _xml_text)
"""The same inside double quotes."""
SVELTE = Markup(lambda name, value: f'{name}="{_in_svelte(value)}"', _svelte_text, _xml_text)
"""In which braces are expressions, in attributes too."""
