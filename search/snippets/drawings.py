"""How is the drawing itself written? Components that hold it, markup, a class, a data URI, path data."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote
from xml.etree import ElementTree

from indexer.errors import IconsError
from search.snippets.apart import set_apart
from search.snippets.clean import SVG, clean_tree
from search.snippets.drawn import Look, NamedIcon
from search.snippets.exports import capitals, free_name
from search.snippets.jsx import JSX, TSX
from search.snippets.markup import QUOTED, SVELTE, XML, Markup, written
from search.snippets.paths import path_data

REACT_IMPORT = 'import type { SVGProps } from "react";'
_NOT_SLUG = re.compile(r"\W+", re.ASCII)
_IN_URI = " =:/,;'"
"""Signs that stand in a data URI as they are, for people to read; quotes, angles, # and % may not."""
_FIRST = ("xmlns", "width", "height", "viewBox", "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin")
_OPEN_PAINTS = frozenset(("none", "currentcolor", "inherit", "transparent"))
_PAINTS = ("fill", "stroke", "stop-color", "flood-color", "lighting-color")
_DECLARED_PAINT = re.compile(rf"(?:^|[;{{])\s*(?:{'|'.join(_PAINTS)})\s*:\s*([^;}}]+)")
_COLOURFUL = frozenset(("image", "linearGradient", "radialGradient", "pattern", "filter"))


def component_name(name: str) -> str:
    """`arrow-left` -> `ArrowLeft`; what JSX takes for a component begins with a capital letter."""
    joined = capitals(name)
    return free_name(joined) if joined[:1].isalpha() else f"Icon{joined}"


def slug(name: str) -> str:
    """`Arrow left` -> `arrow-left`, for class and file names."""
    return _NOT_SLUG.sub("-", name.lower()).strip("-_") or "icon"


def _react(icon: NamedIcon, look: Look) -> str:
    return _component_of_react(icon, look, TSX, props="props: SVGProps<SVGSVGElement>")


def _jsx(icon: NamedIcon, look: Look) -> str:
    return _component_of_react(icon, look, JSX, props="props")


def _component_of_react(icon: NamedIcon, look: Look, markup: Markup, *, props: str) -> str:
    body = written(_beside_others(icon, look), markup, rest="{...props}", indent=2)
    return f"export function {component_name(icon.name)}({props}) {{\n  return (\n{body}\n  );\n}}"


def _vue(icon: NamedIcon, look: Look) -> str:
    """A single-file component; attributes fall through to the SVG by themselves, mustaches in its text are text."""
    root = _beside_others(icon, look)
    if any(element.tag == "style" for element in root.iter()):
        raise IconsError(f'"{icon.key}" holds a <style>, which Vue\'s templates refuse; --format svg writes it whole')
    has_text = any(element.text or element.tail for element in root.iter())
    body = written(root, XML, rest="v-pre" if has_text else "", indent=1)
    return f"<template>\n{body}\n</template>"


def _svelte(icon: NamedIcon, look: Look) -> str:
    body = written(_beside_others(icon, look), SVELTE, rest="{...props}", indent=0)
    return f"<script>\n  let props = $props();\n</script>\n\n{body}"


def _html(icon: NamedIcon, look: Look) -> str:
    return written(_beside_others(icon, look), XML)


def _svg(icon: NamedIcon, look: Look) -> str:
    return written(_with_namespace(clean_tree(icon, look)), XML)


def _data_uri(icon: NamedIcon, look: Look) -> str:
    """A data URI that may stand between double quotes, in CSS, HTML and JavaScript."""
    return _uri(_with_namespace(clean_tree(icon, look)))


def _uri(root: ElementTree.Element) -> str:
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
    set_apart(root, name=slug(icon.name))
    return "\n".join(path_data(root, key=icon.key))


def has_own_colours(root: ElementTree.Element) -> bool:
    """Tell whether a drawing has more than one colour, or one that it does not leave open, black aside."""
    if any(element.tag in _COLOURFUL for element in root.iter()):
        return True
    paints = {paint.strip().lower() for element in root.iter() for paint in _paints(element)}
    return bool(paints - _OPEN_PAINTS - {"black", "#000", "#000000"})


def _paints(element: ElementTree.Element) -> list[str]:
    stated = [element.get(name, "none") for name in _PAINTS]
    sheet = (element.text or "") if element.tag == "style" else element.get("style", "")
    return [paint for paint in (*stated, *_DECLARED_PAINT.findall(sheet)) if not paint.startswith("url(")]


def _beside_others(icon: NamedIcon, look: Look) -> ElementTree.Element:
    """A drawing that stands in a page, where others do, and beside a text that says what it means."""
    root = clean_tree(icon, look)
    set_apart(root, name=slug(icon.name))
    if not any(name == "role" or name.startswith("aria-") for name in root.attrib) and root.find("title") is None:
        root.set("aria-hidden", "true")
    return _with_namespace(root)


def _with_namespace(root: ElementTree.Element) -> ElementTree.Element:
    """State the namespace, and what a reader looks for first before all else."""
    attributes = {"xmlns": SVG, **root.attrib}
    first = [name for name in _FIRST if name in attributes]
    root.attrib.clear()
    root.attrib.update({name: attributes[name] for name in dict.fromkeys((*first, *attributes))})
    return root


DRAWINGS: Mapping[str, Callable[[NamedIcon, Look], str]] = {
    "react": _react,
    "jsx": _jsx,
    "vue": _vue,
    "svelte": _svelte,
    "html": _html,
    "svg": _svg,
    "css": _css,
    "data-uri": _data_uri,
    "path": _path,
}
"""By the name of a framework: an icon in a look -> its drawing as code."""
