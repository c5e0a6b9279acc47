"""Is it an SVG that may be drawn? Bytes -> its text, unpacked, of bounded size, without entities that grow or read."""

import gzip
import io
import math
import re
import zlib

from indexer.errors import RenderError

MAX_SVG_BYTES = 1_000_000

# Groups are atomic: without that, a file of many comments and no <svg> takes exponential time to refuse.
SVG_START = re.compile(
    rb"(?>\xef\xbb\xbf)?\s*+"
    rb"(?>(?>(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?>\[.*?\]\s*+>|>))\s*+)*)"
    rb"<(?>[A-Za-z_][\w.-]*+:)?svg(?=[\s/>])",
    re.DOTALL,
)
_XML_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml\b.*?\?>", re.DOTALL)
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
# Entities are how a small file grows without end, or reads other files. What stands for a short text without markup or
# another entity does neither, and old exports of Illustrator abbreviate their namespaces so.
_PLAIN_ENTITY = re.compile(rb"""<!ENTITY\s+[\w:][\w:.-]*\s+(?>"[^"&%<]{0,200}"|'[^'&%<]{0,200}')\s*>""")
_ATTRIBUTE = re.compile(rb"\s(width|height|viewBox)\s*=\s*[\"']([^\"']{1,80})[\"']")


def svg_document(content: bytes) -> bytes | None:
    """The SVG's text, unpacked and in an encoding that the checks below can read; None for anything but an SVG."""
    if content.startswith(b"\x1f\x8b"):
        content = _gunzip(content)
    if content.startswith(_UTF16_STARTS):
        content = _utf16_to_utf8(content)
    if SVG_START.match(content) is None:
        return None
    if len(content) > MAX_SVG_BYTES:
        raise RenderError(f"SVG of {len(content) / 1e6:.2f} MB, the limit is {MAX_SVG_BYTES / 1e6:.0f} MB")
    if content.count(b"<!ENTITY") != len(_PLAIN_ENTITY.findall(content)):
        raise RenderError("svg: declares entities (<!ENTITY) that are more than short plain text")
    return content


def _gunzip(content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(MAX_SVG_BYTES + 1)
    except EOFError as error:
        raise RenderError("truncated SVGZ") from error
    except (OSError, zlib.error) as error:
        raise RenderError(f"svgz: {error}") from error
    if len(unpacked) > MAX_SVG_BYTES:
        raise RenderError(f"SVGZ that unpacks to more than {MAX_SVG_BYTES / 1e6:.0f} MB")
    return unpacked


def _utf16_to_utf8(content: bytes) -> bytes:
    codec = "utf-16" if content.startswith(_UTF16_STARTS[:2]) else "utf-16-le" if content[0] else "utf-16-be"
    # The declaration names the encoding that has just been left.
    return _XML_DECLARATION.sub("", content.decode(codec, errors="replace"), count=1).encode()


def stated_side(document: bytes) -> float | None:
    """The longer side in px as the root element states it, None where it states nothing plain."""
    start = SVG_START.match(document)
    assert start is not None
    root = document[start.end() : document.find(b">", start.end(), start.end() + 4000)]
    stated = dict(_ATTRIBUTE.findall(root))
    if b"width" in stated and b"height" in stated:
        sides = [stated[b"width"], stated[b"height"]]
    else:
        sides = stated.get(b"viewBox", b"").replace(b",", b" ").split()[2:4]
    try:
        longer = max(float(side.removesuffix(b"px")) for side in sides)
    except ValueError:
        return None
    return longer if 0 < longer < math.inf else None
