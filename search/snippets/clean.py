"""What of an SVG may become markup? Its drawing, as a tree: without scripts, handlers, and whatever lies elsewhere.

`svg-hush` (Cloudflare's, in Rust, behind py-svg-hush) does the cleaning, by lists of what is allowed: 0.02 ms an icon.
It knows SVG and CSS: url() in styles, links of any scheme, animations that set a link. `nh3` (Ammonia) is as fast and
better known, but cleans HTML: lists of elements and attributes would be ours, and styles go through it unread.
"""

import re
from xml.etree import ElementTree
from xml.parsers import expat

from indexer.errors import IconsError, RenderError
from indexer.rendering.svg_document import SVG_START, svg_document
from search.snippets.drawn import Look, NamedIcon, coloured
from search.snippets.shaped import reshape

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
_SET_LINK = re.compile(r"(?:xlink:)?href", re.IGNORECASE)


def clean_tree(icon: NamedIcon, look: Look) -> ElementTree.Element:
    """Read an icon's drawing into a tree, cleaned and in its look, with names as SVG inside HTML has them.

    Raises:
        IconsError: it is a bitmap, was not given, or is no SVG that can be read.
    """
    if icon.svg is None:
        raise IconsError(f'the drawing of "{icon.key}" is not at hand; --format name writes its name')
    try:
        document = svg_document(icon.svg)
    except RenderError as error:
        raise IconsError(f'"{icon.key}" can\'t be written as code: {error}') from error
    if document is None:
        raise IconsError(f'"{icon.key}" is a bitmap and no SVG; --copy-to DIR of `icons search` copies it as it is')
    try:
        document = _with_namespace(document if look.colour is None else coloured(document, look.colour))
        _refuse_deep(document)
        root = _plain(ElementTree.fromstring(_hushed(document)))
    except (ValueError, expat.ExpatError, ElementTree.ParseError) as error:
        raise IconsError(f'"{icon.key}" can\'t be written as code: it is no well-formed SVG ({error})') from error
    reshape(root, look.shape)
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
        if not plain.startswith("{"):
            element.set(plain, value)
    return not _SET_LINK.fullmatch(element.get("attributeName", ""))
