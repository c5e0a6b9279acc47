"""How is a cleaned drawing written as markup? As XML, for JSX, for Vue and for Svelte, each with its own escapes."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_BRACES = {"{": "&#123;", "}": "&#125;"}
_CAMEL_ANYWAY = re.compile(r"(data|aria)-.*")
"""The two families of attributes that JSX leaves alone."""
_JOINT = re.compile(r"[-:](.)")
_APART = re.compile(r";(?![^(]*\))")
_PLAIN_VALUE = re.compile(r"[^\"'&\\{}<>\x00-\x1f]*")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_UNSAFE_IN_JS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "<": "\\u003c"})


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


def js_string(text: str) -> str:
    """A string of JavaScript that may stand in JSX, in a script and in a template."""
    return json.dumps(text, ensure_ascii=False).translate(_UNSAFE_IN_JS)


def _jsx_attribute(name: str, value: str) -> str:
    if name == "style":
        return f"style={{{{ {', '.join(_style_properties(value))} }}}}"
    spelled = "className" if name == "class" else name if _CAMEL_ANYWAY.fullmatch(name) else _camel(name)
    return f'{spelled}="{value}"' if _PLAIN_VALUE.fullmatch(value) else f"{spelled}={{{js_string(value)}}}"


def _style_properties(style: str) -> list[str]:
    declared = (declaration.partition(":") for declaration in _APART.split(style))
    return [f"{_property(name.strip())}: {js_string(value.strip())}" for name, _, value in declared if value.strip()]


def _property(name: str) -> str:
    """The key of a style object: `stroke-width` -> `strokeWidth`; React wants `msTransform` without a capital."""
    spelled = name if name.startswith("--") else _camel(name.removeprefix("-") if name.startswith("-ms-") else name)
    return spelled if _IDENTIFIER.fullmatch(spelled) else js_string(spelled)


def _camel(name: str) -> str:
    """`stroke-width` -> `strokeWidth`, `xml:space` -> `xmlSpace`, `-webkit-mask` -> `WebkitMask`."""
    return _JOINT.sub(lambda joint: joint[1].upper(), name)


def _expression(text: str) -> str:
    return f"{{{js_string(text)}}}"


XML = Markup(lambda name, value: f'{name}="{_between_quotes(value)}"', _xml_text, _xml_text)
"""Of an SVG file, and of SVG inside HTML."""
QUOTED = Markup(lambda name, value: f"{name}='{_between_apostrophes(value)}'", _xml_text, _xml_text)
"""The same inside double quotes."""
JSX = Markup(_jsx_attribute, _expression, _expression)
SVELTE = Markup(lambda name, value: f'{name}="{_in_svelte(value)}"', _svelte_text, _xml_text)
"""In which braces are expressions, in attributes too."""
