"""A cleaned drawing as markup: XML, JSX, Svelte, a class, a data URI."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote
from xml.etree import ElementTree

from indexer.rendering.styles import box_of, declarations
from search.drawings.clean import SVG, clean_tree, set_apart
from search.drawings.frameworks import Look, NamedIcon, capitals, free_name
from search.drawings.licences import plain_name
from search.drawings.shapes import path_data

_ESCAPES = {
    **{"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"},
    **{"'": "&#39;", "{": "&#123;", "}": "&#125;"},
}


@dataclass(frozen=True, slots=True)
class Markup:
    """A way to write elements."""

    attribute: Callable[[str, str], str]
    text: Callable[[str], str]
    style: Callable[[str], str]
    """The text of a <style>."""


def written(root: ElementTree.Element, markup: Markup, *, rest: str = "", indent: int | None = None) -> str:
    """Write a tree; `rest` stands behind the attributes of its root, lines are indented from `indent` on, if any.

    Elements that hold text stay on one line, since spaces between them would be drawn.
    """
    start = "" if indent is None else "  " * indent
    holds_text = bool(root.text) or any(child.tail for child in root)
    inner = None if indent is None or holds_text else indent + 1
    attributes = "".join(f" {markup.attribute(name, value)}" for name, value in root.items())
    opening = f"{start}<{root.tag}{attributes}{f' {rest}' if rest else ''}"
    within = _content(root, markup, inner)
    if not within:
        return f"{opening} />"
    before, behind = ("", "") if inner is None else ("\n", f"\n{start}")
    return f"{opening}>{before}{within}{behind}</{root.tag}>"


def _content(parent: ElementTree.Element, markup: Markup, indent: int | None) -> str:
    text = markup.style if parent.tag == "style" else markup.text
    parts = [text(parent.text)] if parent.text else []
    for child in parent:
        parts.append(written(child, markup, indent=indent))
        parts += [text(child.tail)] if child.tail else []
    return ("" if indent is None else "\n").join(parts)


def _escaper(signs: str) -> Callable[[str], str]:
    """Escape the signs that mean something there; what no XML may hold, its parser refuses."""
    table = {ord(sign): _ESCAPES[sign] for sign in signs}
    return lambda text: text.translate(table)


_xml_text, _svelte_text = _escaper("&<>"), _escaper("&<>{}")
_between_quotes, _between_apostrophes = _escaper('&<>"\n\t\r'), _escaper("&<>\"'\n\t\r")
_in_svelte = _escaper('&<>"\n\t\r{}')


XML = Markup(lambda name, value: f'{name}="{_between_quotes(value)}"', _xml_text, _xml_text)
"""Of an SVG file, and of SVG inside HTML."""
QUOTED = Markup(lambda name, value: f"{name}='{_between_apostrophes(value)}'", _xml_text, _xml_text)
"""The same inside double quotes."""
SVELTE = Markup(lambda name, value: f'{name}="{_in_svelte(value)}"', _svelte_text, _xml_text)
"""In which braces are expressions, in attributes too."""


_PLAIN_VALUE = re.compile(r"[^\"'&\\{}<>\x00-\x1f]*")
_UNSAFE_IN_JS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "<": "\\u003c"})
_AS_SVG_HAS_IT = ("data-", "aria-", "mask-type", "text-overflow", "transform-box", "transform-origin", "white-space")
"""How the names of attributes begin that React and its types know under no other name."""
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
    spelled = "className" if name == "class" else name if name.startswith(_AS_SVG_HAS_IT) else _camel(name)
    return f'{spelled}="{value}"' if _PLAIN_VALUE.fullmatch(value) else f"{spelled}={{{js_string(value)}}}"


def _typed_attribute(name: str, value: str) -> str:
    """As types take it: what they would refuse is handed over unchecked."""
    if name == "style" and not {one.name for one in declarations(value)} <= _STYLED:
        return f"style={{{_style_object(value)} as object}}"
    if value not in _TYPED.get(name, (value,)):
        return f"{{...({{ {_camel(name)}: {js_string(value)} }} as object)}}"
    return _attribute(name, value)


def merging(root: ElementTree.Element, markup: Markup, *, rest: str) -> str:
    """Write the root of a component, whose user adds a class and a style to the icon's own."""
    own = {name: root.attrib.pop(name) for name in ("class", "style") if name in root.attrib}
    for name, value in own.items():
        if markup is SVELTE:
            joined = '.join(";")' if name == "style" else ""
            rest += f" {name}={{[{js_string(value)}, props.{name}]{joined}}}"
        elif name == "class":
            rest += f' className={{[{js_string(value)}, props.className].join(" ")}}'
        else:
            head, _, end = markup.attribute(name, value).rpartition(" }")
            rest += f" {head}, ...props.style }}{end}"
    return written(root, markup, rest=rest, indent=0 if markup is SVELTE else 2)


def _style_object(style: str) -> str:
    return f"{{ {', '.join(f'{_property(one.name)}: {js_string(one.value)}' for one in declarations(style))} }}"


def _property(name: str) -> str:
    """The key of a style object: `stroke-width` -> `strokeWidth`; React wants `msTransform` without a capital."""
    spelled = name if name.startswith("--") else _camel(name.removeprefix("-") if name.startswith("-ms-") else name)
    return spelled if re.fullmatch(r"[A-Za-z_$][\w$]*", spelled, re.ASCII) else js_string(spelled)


def _camel(name: str) -> str:
    """`stroke-width` -> `strokeWidth`, `xml:space` -> `xmlSpace`, `-webkit-mask` -> `WebkitMask`."""
    return re.sub("[-:](.)", lambda joint: joint[1].upper(), name)


def _expression(text: str) -> str:
    return f"{{{js_string(text)}}}"


JSX = Markup(_attribute, _expression, _expression)
TSX = Markup(_typed_attribute, _expression, _expression)


REACT_IMPORT = 'import type { SVGProps } from "react";'
_IN_URI = " =:/,;'"
"""Signs that stand in a data URI as they are, for people to read; quotes, angles, # and % may not."""
_SVELTE_HEAD = "<script>\n  let props = $props();\n</script>\n\n"
_FIRST = ("xmlns", "width", "height", "viewBox", "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin")
_OPEN_PAINTS = frozenset(("", "none", "currentcolor", "inherit", "transparent"))
_PAINTS = ("fill", "stroke", "color", "background", "background-color", "stop-color", "flood-color", "lighting-color")
_PAINT = re.compile(rf'(?<![\w-])(?:{"|".join(_PAINTS)})\s*[:=]\s*"?\s*(?:url\([^)]*\)\s*)?([^;"}}]*)')
_COLOURFUL = frozenset(("image", "linearGradient", "radialGradient", "pattern", "filter"))


def component_name(name: str) -> str:
    """`arrow-left` -> `ArrowLeft`; what JSX takes for a component begins with a capital letter."""
    joined = capitals(name if name.isascii() else "") or capitals(plain_name(name))
    return free_name(joined) if joined[:1].isalpha() else f"Icon{joined}"


def slug(name: str) -> str:
    """`Arrow left` -> `arrow-left`, for class and file names."""
    return re.sub(r"\W+", "-", name.lower() if name.isascii() else "").strip("-_") or plain_name(name)


def _component_of_react(icon: NamedIcon, look: Look, *, markup: Markup, props: str) -> str:
    body = merging(_beside_others(icon, look), markup, rest="{...props}")
    return f"export function {component_name(icon.name)}({props}) {{\n  return (\n{body}\n  );\n}}"


def _vue(icon: NamedIcon, look: Look) -> str:
    """A single-file component; attributes fall through to the SVG by themselves, mustaches in its text are text."""
    root = _beside_others(icon, look)
    sheets = [(parent, child) for parent in root.iter() for child in parent if child.tag == "style"]
    for parent, sheet in sheets:  # no template takes them
        parent.remove(sheet)
    rest = "v-pre" if any(element.text or element.tail for element in root.iter()) else ""
    template = f"<template>\n{written(root, XML, rest=rest, indent=1)}\n</template>"
    return "\n\n".join(
        [template, *(f"<style>\n@media {sheet.get('media', 'all')} {{{sheet.text}}}\n</style>" for _, sheet in sheets)]
    )


def _uri(root: ElementTree.Element) -> str:
    """A data URI that may stand between double quotes, in CSS, HTML and JavaScript."""
    return f"data:image/svg+xml,{quote(written(root, QUOTED), safe=_IN_URI)}"


def _css(icon: NamedIcon, look: Look) -> str:
    """A class that draws the icon: in the colour of the text, or, where it has colours, in its own."""
    root = _with_namespace(clean_tree(icon, Look(stroke_width=look.stroke_width, corner=look.corner)))
    if has_own_colours(root):
        drawing = f'  background: url("{_uri(root)}") center / contain no-repeat;'
    else:
        drawing = (
            f'  --icon: url("{_uri(root)}");\n  background: {look.colour or "currentColor"};\n'
            "  -webkit-mask: var(--icon) center / contain no-repeat;\n  mask: var(--icon) center / contain no-repeat;"
        )
    side = "1em" if look.size is None else f"{look.size}px"
    return f".icon-{slug(icon.name)} {{\n  display: inline-block;\n  width: {side};\n  height: {side};\n{drawing}\n}}"


def _path(icon: NamedIcon, look: Look) -> str:
    root = clean_tree(icon, look)
    set_apart(root, name=icon.key)
    return "\n".join(path_data(root, key=icon.key))


def has_own_colours(root: ElementTree.Element) -> bool:
    """Tell whether a drawing has more than one colour, or one that it does not leave open, black aside."""
    if any(one.tag in _COLOURFUL or one.get("attributeName") in _PAINTS for one in root.iter()):
        return True
    return bool(
        {paint.strip().lower() for paint in _PAINT.findall(written(root, XML))}
        - _OPEN_PAINTS
        - {"black", "#000", "#000000"}
    )


def _beside_others(icon: NamedIcon, look: Look) -> ElementTree.Element:
    """A drawing that stands in a page, where others do, and beside a text that says what it means."""
    root = clean_tree(icon, look)
    set_apart(root, name=icon.key)
    if box := box_of(root.attrib):
        root.attrib.setdefault("viewBox", " ".join(f"{number:g}" for number in box))
    if not any(name == "role" or name.startswith("aria-") for name in root.attrib) and root.find("title") is None:
        root.set("aria-hidden", "true")
    return _with_namespace(root)


def _with_namespace(root: ElementTree.Element) -> ElementTree.Element:
    """State the namespace, and what a reader looks for first before all else."""
    attributes = {"xmlns": SVG, **root.attrib}
    root.attrib = {name: attributes[name] for name in (*_FIRST, *attributes) if name in attributes}
    return root


DRAWINGS: Mapping[str, Callable[[NamedIcon, Look], str]] = {
    "react": partial(_component_of_react, markup=TSX, props="props: SVGProps<SVGSVGElement>"),
    "jsx": partial(_component_of_react, markup=JSX, props="props"),
    "vue": _vue,
    "svelte": lambda icon, look: _SVELTE_HEAD + merging(_beside_others(icon, look), SVELTE, rest="{...props}"),
    "html": lambda icon, look: written(_beside_others(icon, look), XML),
    "svg": lambda icon, look: written(_with_namespace(clean_tree(icon, look)), XML),
    "css": _css,
    "data-uri": lambda icon, look: _uri(_with_namespace(clean_tree(icon, look))),
    "path": _path,
}
"""By the name of a framework: an icon in a look -> its drawing as code."""
