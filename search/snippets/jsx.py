"""How is a drawing written in JSX? Attributes and styles as React spells them, and as its types take them."""

import json
import re
from collections.abc import Mapping, Sequence

from search.snippets.markup import Markup

_CAMEL_ANYWAY = re.compile(r"(data|aria)-.*")
"""The two families of attributes that JSX leaves alone."""
_JOINT = re.compile(r"[-:](.)")
_APART = re.compile(r";(?![^(]*\))")
_PLAIN_VALUE = re.compile(r"[^\"'&\\{}<>\x00-\x1f]*")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_UNSAFE_IN_JS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "<": "\\u003c"})
_UNTYPED = frozenset(("mask-type", "transform-origin"))
"""Attributes that React sets and @types/react lacks."""
_TYPED: Mapping[str, frozenset[str]] = {
    "fill-rule": frozenset(("nonzero", "evenodd", "inherit")),
    "clip-rule": frozenset(("nonzero", "evenodd", "inherit")),
    "stroke-linecap": frozenset(("butt", "round", "square", "inherit")),
    "stroke-linejoin": frozenset(("miter", "round", "bevel", "inherit")),
    "text-anchor": frozenset(("start", "middle", "end", "inherit")),
    "color-interpolation-filters": frozenset(("auto", "sRGB", "linearRGB", "inherit")),
    "accumulate": frozenset(("none", "sum")),
    "additive": frozenset(("replace", "sum")),
    **dict.fromkeys(
        ("alignment-baseline", "dominant-baseline", "arabic-form", "preserveAlpha", "externalResourcesRequired"),
        frozenset(("auto", "middle", "central", "hanging", "alphabetic", "inherit", "initial", "true", "false")),
    ),
}
"""Attributes of which @types/react takes these values alone, and of some a few more."""
_STYLED = frozenset((
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-miterlimit", "stroke-opacity",
    "fill-opacity", "opacity", "stop-color", "stop-opacity", "clip-path", "mask", "filter", "transform", "color",
))  # fmt: skip
"""Properties of which CSSProperties takes any text; others are handed over unchecked."""


def js_string(text: str) -> str:
    """A string of JavaScript that may stand in JSX, in a script and in a template."""
    return json.dumps(text, ensure_ascii=False).translate(_UNSAFE_IN_JS)


def _attribute(name: str, value: str) -> str:
    if name == "style":
        return f"style={{{_style_object(value)}}}"
    spelled = "className" if name == "class" else name if _CAMEL_ANYWAY.fullmatch(name) else _camel(name)
    return f'{spelled}="{value}"' if _PLAIN_VALUE.fullmatch(value) else f"{spelled}={{{js_string(value)}}}"


def _typed_attribute(name: str, value: str) -> str:
    """As types take it: what they would refuse is handed over unchecked."""
    if name == "style" and not {key for key, _ in _declarations(value)} <= _STYLED:
        return f"style={{{_style_object(value)} as object}}"
    if name in _UNTYPED or value not in _TYPED.get(name, (value,)):
        return f"{{...({{ {_camel(name)}: {js_string(value)} }} as object)}}"
    return _attribute(name, value)


def _style_object(style: str) -> str:
    return f"{{ {', '.join(f'{_property(name)}: {js_string(value)}' for name, value in _declarations(style))} }}"


def _declarations(style: str) -> Sequence[tuple[str, str]]:
    parts = (declaration.partition(":") for declaration in _APART.split(style))
    return [(name.strip(), value.strip()) for name, _, value in parts if name.strip() and value.strip()]


def _property(name: str) -> str:
    """The key of a style object: `stroke-width` -> `strokeWidth`; React wants `msTransform` without a capital."""
    spelled = name if name.startswith("--") else _camel(name.removeprefix("-") if name.startswith("-ms-") else name)
    return spelled if _IDENTIFIER.fullmatch(spelled) else js_string(spelled)


def _camel(name: str) -> str:
    """`stroke-width` -> `strokeWidth`, `xml:space` -> `xmlSpace`, `-webkit-mask` -> `WebkitMask`."""
    return _JOINT.sub(lambda joint: joint[1].upper(), name)


def _expression(text: str) -> str:
    return f"{{{js_string(text)}}}"


JSX = Markup(_attribute, _expression, _expression)
TSX = Markup(_typed_attribute, _expression, _expression)
