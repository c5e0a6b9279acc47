"""How do stored SVGs leave the server? One as text, if wished in one colour; many as a stack.

The fragment of a stack's address says which of its icons is seen. A browser makes a document of every SVG that it
shows, and each lengthens every task of the page: thirty icons took it 122 to 298 ms by themselves and 24 ms as a stack
(Chromium 150, one busy core). Icons of a stack share one document, so only those go into it as they are that are
nothing but shapes; all others stand in it as images of their own.
"""

import base64
import re
from collections.abc import Mapping
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from indexer.errors import RenderError
from indexer.rendering.svg_document import svg_document
from search.snippets.drawn import coloured

_HEAD = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><style>:root>svg{display:none}:root>svg:target{display:inline}</style>'
)
_SHAPES = frozenset(["g", "path", "circle", "ellipse", "rect", "line", "polyline", "polygon", "title", "desc"])
_OF_ROOT = re.compile(r"xmlns(:\w+)?|version|viewBox|width|height|x|y|fill(-\w+)?|stroke(-\w+)?|role|aria-\w+")
_PLACE = ("x", "y", "width", "height")
_VIEW = re.compile(r"\s*[-+.\de]+[\s,]+[-+.\de]+[\s,]+(\d+(?:\.\d+)?)[\s,]+(\d+(?:\.\d+)?)\s*")
"""A viewBox: its width and height."""
_NOT_SHARED = re.compile(r"id|class|href|(?!xmlns:).*:.*")
_REACHING = re.compile(r"url|var|[@\\<>&]", re.IGNORECASE)
"""In the value of an attribute: what may mean something else beside other icons."""


def svg_text(content: bytes, *, colour: str | None = None) -> bytes | None:
    """The text of an SVG, unpacked; None for anything but an SVG.

    `colour` is given to what the icon leaves open: to currentColor, and to shapes without any fill, black otherwise.
    """
    try:
        document = svg_document(content)
    except RenderError:
        return None
    return document if document is None or colour is None else coloured(document, colour)


def stacked(pictures: Mapping[int, bytes]) -> bytes:
    """Stack SVGs; the one of the image 17 is seen at the fragment #i17."""
    layers = (_layer(image, document) for image, document in pictures.items())
    return b"".join([_HEAD, *layers, b"</svg>"])


def _layer(image: int, document: bytes) -> bytes:
    root = _plain_root(document)
    if root is None:
        address = b"data:image/svg+xml;base64," + base64.b64encode(document)
        return b'<svg id="i%d"><image width="100%%" height="100%%" href="%b"/></svg>' % (image, address)
    kept = {name: value for name, value in root.items() if name not in _PLACE} | _placed(root["viewBox"])
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in kept.items())
    return b'<svg id="i%d"%b%b' % (image, attributes.encode(), document[document.index(b">") :])


def _placed(view: str) -> dict[str, str]:
    """Where a layer stands in a square stack: in the middle, and no larger than its viewBox, which clips it."""
    found = _VIEW.fullmatch(view)
    assert found is not None  # whose root is plain has one
    width, height = float(found[1]), float(found[2])
    wide, high = (100 * side / max(width, height) for side in (width, height))
    sides = {"x": (100 - wide) / 2, "y": (100 - high) / 2, "width": wide, "height": high}
    return {name: f"{share:g}%" for name, share in sides.items()}


class _NotPlainError(Exception):
    """Something of an SVG could reach another one, or be reached."""


def _plain_root(document: bytes) -> dict[str, str] | None:
    """Attributes of the root, if an SVG is well-formed and nothing but shapes, the same wherever they stand."""
    if not document.startswith(b"<svg") or b"<!" in document or b"<?" in document:
        return None
    root: dict[str, str] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        if not root:
            view = _VIEW.fullmatch(attributes.get("viewBox", ""))
            if name != "svg" or view is None or not all(map(_OF_ROOT.fullmatch, attributes)):
                raise _NotPlainError
            if not float(view[1]) or not float(view[2]):
                raise _NotPlainError
            root.update(attributes)
        elif name not in _SHAPES:
            raise _NotPlainError
        if any(map(_NOT_SHARED.fullmatch, attributes)) or any(map(_REACHING.search, attributes.values())):
            raise _NotPlainError

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    try:
        parser.Parse(document, True)
    except (expat.ExpatError, _NotPlainError):
        return None
    is_empty = document[document.index(b">") - 1 :].startswith(b"/>")
    return None if is_empty else root
