"""How does a picture stand in a page of HTML? As a data URI, on a dark ground where it vanishes on white."""

import base64


def data_uri(content: bytes) -> str:
    """Spell a picture as an address that holds it."""
    from indexer.rendering.svg_document import svg_document

    unpacked = svg_document(content) or content  # no browser unpacks an .svgz that stands in a page
    return f"data:{media_type(unpacked)};base64,{base64.b64encode(unpacked).decode('ascii')}"


def media_type(content: bytes) -> str:
    """Tell the media type of a picture from its bytes."""
    starts = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"BM": "image/bmp"}
    starts |= {b"RIFF": "image/webp", b"\x00\x00\x01\x00": "image/x-icon"}
    return next((kind for start, kind in starts.items() if content.startswith(start)), "image/svg+xml")


def is_drawn_in_white(content: bytes) -> bool:
    """Tell whether a picture was indexed on dark because it vanishes on white."""
    from indexer.errors import RenderError
    from indexer.rendering.render import render

    try:
        return render(content, size=32).background == "dark"
    except RenderError:
        return False
