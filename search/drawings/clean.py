"""What of an SVG may become markup: its drawing, as a tree, without scripts and handlers.

`svg-hush` (Cloudflare's, in Rust, behind py-svg-hush) does the cleaning, by lists of what is allowed: 0.02 ms an icon.
It knows SVG and CSS: url() in styles, links of any scheme, animations that set a link. `nh3` (Ammonia) is as fast and
better known, but cleans HTML: lists of elements and attributes would be ours, and styles go through it unread.
"""

import re
from xml.etree import ElementTree
from xml.parsers import expat

from indexer.errors import IconsError, RenderError
from indexer.rendering.render import SVG_START, svg_document
from search.drawings.drawn import Look, NamedIcon, coloured
from search.drawings.shapes import DECLARATION, reshape

SVG = "http://www.w3.org/2000/svg"
_SVG_NAME = f"{{{SVG}}}"
_XML_NAME = "{http://www.w3.org/XML/1998/namespace}"
_XLINK_NAME = "{http://www.w3.org/1999/xlink}"
_PICTURES = {"image": ["png", "jpeg", "gif", "webp"]}
"""What may be held inside, as data: a bitmap runs nothing."""
_WITH_TEXT = frozenset(("text", "tspan", "textPath", "title", "desc", "style"))
"""Elements whose characters are drawn or read; between others they are indentation."""
_DEEPEST = 200
"""Elements in each other; svg-hush indents, so that 100,000 empty groups would take it 20 GB."""
_NAMESPACE = re.compile(rb"\sxmlns\s*=")
_SPACES = re.compile(r"[ \t\r\n]+")
_UNDRAWN = frozenset(("enable-background", "solid-color", "line-height", "hidden", "tabindex", "title"))
"""Attributes that editors leave behind, and that no browser draws anything by."""
_OBSOLETE = re.compile(r"\s*(?:enable-background|-inkscape-[\w-]+|solid-(?:color|opacity))\s*:")
_WITH_ANY_TEXT = ("aria-", "data-")
"""Attributes that hold any text."""
_LINK = re.compile(r"\s*(?:#|data:image/(?!svg))")
_REACHING = re.compile(
    r"\\|@import|(?:url|src|image|image-set|cross-fade|element|paint)\s*\((?!\s*[\"']?#)", re.IGNORECASE
)
"""In styles and paints: what lies elsewhere. svg-hush takes out addresses with a host, and leaves those of a path."""
_BLOCK, _QUOTES = re.compile(r"\{[^{}]*\}"), re.compile("[\"']")
_SET_LINK = re.compile(r"(?:xlink:)?href", re.IGNORECASE)


def clean_tree(icon: NamedIcon, look: Look) -> ElementTree.Element:
    """Read an icon's drawing into a tree, cleaned and in its look, with names as SVG inside HTML has them.

    Raises:
        IconsError: it is a bitmap, is not at hand, or is no SVG that can be read.
    """
    if icon.svg is None:
        raise IconsError(f'the drawing of "{icon.key}" is not at hand; --format name writes its name')
    try:
        document = svg_document(icon.svg)
    except RenderError as error:
        raise IconsError(f'"{icon.key}" can\'t be written as code: {error}') from error
    if document is None:
        raise IconsError(
            f'"{icon.key}" is a bitmap and no SVG; `icons export` into a zip or a folder copies it as it is'
        )
    try:
        document = _with_namespace(document if look.colour is None else coloured(document, look.colour))
        _refuse_deep(document)
        root = _plain(ElementTree.fromstring(_hushed(document)))
    except (ValueError, LookupError, expat.ExpatError, ElementTree.ParseError) as error:  # LookupError: of encodings
        raise IconsError(f'"{icon.key}" can\'t be written as code: it is no well-formed SVG ({error})') from error
    reshape(root, look)
    return root


def _hushed(document: bytes) -> bytes:
    from py_svg_hush import filter_svg

    return filter_svg(document, _PICTURES)


def _with_namespace(document: bytes) -> bytes:
    """svg-hush refuses what states no namespace, as SVG inside HTML may."""
    start = SVG_START.match(document)
    assert start is not None
    root = document[start.end() : document.find(b">", start.end())]
    if _NAMESPACE.search(root):
        return document
    return document[: start.end()] + b' xmlns="%b"' % SVG.encode() + document[start.end() :]


def _refuse_deep(document: bytes) -> None:
    """Refuse what is nested deeper than a drawing is.

    Raises:
        ValueError: it is.
        ExpatError: it is not well-formed.
    """
    depth = 0

    def start(_: str, __: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"elements nested more than {_DEEPEST} deep")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(document, True)


def _plain(root: ElementTree.Element) -> ElementTree.Element:
    """Take namespaces out of names, and what draws nothing out of the tree.

    Raises:
        ValueError: it is no svg.
    """
    if not _rename(root) or root.tag != "svg":
        raise ValueError("its root is not svg")
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        parent.text = _characters(parent, parent.text)
        for child in list(parent):
            child.tail = _characters(parent, child.tail)
            if _rename(child):
                waiting.append(child)
            else:
                parent.remove(child)
    return root


def _characters(parent: ElementTree.Element, text: str | None) -> str | None:
    """What of an element's characters is drawn or read."""
    if not text or parent.tag not in _WITH_TEXT:
        return None
    return text.strip() if parent.tag == "style" else _SPACES.sub(" ", text)


def _rename(element: ElementTree.Element) -> bool:
    """Name an element and its attributes without namespaces; tell whether it belongs to a drawing."""
    if not isinstance(element.tag, str) or not element.tag.startswith(_SVG_NAME):
        return False
    element.tag = element.tag.removeprefix(_SVG_NAME)
    attributes = dict(element.attrib)
    element.attrib.clear()
    for name, value in attributes.items():
        plain = name.removeprefix(_XLINK_NAME).replace(_XML_NAME, "xml:")
        held = _held(plain, value)
        if held and not plain.startswith("{") and plain not in _UNDRAWN:
            element.set(plain, held)
    if element.tag == "style" and not _is_sheet(element.text or ""):
        return False
    return not _SET_LINK.fullmatch(element.get("attributeName", ""))


def _held(name: str, value: str) -> str:
    """What of an attribute is held by the drawing itself; "" for none of it."""
    if name == "href":
        return value if _LINK.match(value) else ""
    if name == "style":
        kept = [
            part.strip()
            for part in DECLARATION.findall(value)
            if not _REACHING.search(part) and not _OBSOLETE.match(part)
        ]
        return ";".join(filter(None, kept))
    return "" if _REACHING.search(value) and not name.startswith(_WITH_ANY_TEXT) else value


def _is_sheet(text: str) -> bool:
    """Tell whether a <style> is rules that hold all they need: what svg-hush cut an @import out of is not."""
    return not _REACHING.search(text) and not _QUOTES.search(_BLOCK.sub("", text))
