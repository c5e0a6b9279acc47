"""How does a stored SVG leave the server? As text, and if wished in one colour."""

import re

from indexer.errors import RenderError
from indexer.rendering.svg_document import SVG_START, svg_document

_CURRENT_COLOUR = re.compile(rb"\bcurrentColor\b", re.IGNORECASE)
_FILL = re.compile(rb"\sfill\s*=|\bfill\s*:")


def svg_text(content: bytes, *, colour: str | None = None) -> bytes | None:
    """The text of an SVG, unpacked; None for anything but an SVG.

    `colour` is given to what the icon leaves open: to currentColor, and to shapes without any fill, black otherwise.
    """
    try:
        document = svg_document(content)
    except RenderError:
        return None
    return document if document is None or colour is None else _coloured(document, colour.encode("ascii"))


def _coloured(document: bytes, colour: bytes) -> bytes:
    start = SVG_START.match(document)
    assert start is not None
    root = document[start.end() : document.find(b">", start.end())]
    fill = b"" if _FILL.search(root) else b' fill="%b"' % colour
    return _CURRENT_COLOUR.sub(colour, document[: start.end()] + fill + document[start.end() :])
