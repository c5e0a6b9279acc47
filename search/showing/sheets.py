"""What hits look like, in one file: an HTML page with every picture inside, or a PNG."""

import base64
import hashlib
import io
import re
import subprocess
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from math import ceil, isqrt
from unicodedata import normalize

from PIL import Image, ImageDraw, ImageFont

from indexer.errors import IconsError, RenderError
from indexer.languages.words import printable
from indexer.rendering.render import render, svg_document
from search.query import Hit

MOST_HITS = 1_000
"""83 MB of pixels while the sheet is drawn."""
_PICTURE = 96
_TILE_WIDTH, _TILE_HEIGHT = 160, 168
_MARGIN, _HEADER, _SMALL = 24, 48, 11
_MOST_COLUMNS = 10
_KINDS = {
    b"\x89PNG": ("image/png", ".png"),
    b"\xff\xd8\xff": ("image/jpeg", ".jpg"),
    b"GIF8": ("image/gif", ".gif"),
    b"BM": ("image/bmp", ".bmp"),
    b"RIFF": ("image/webp", ".webp"),
    b"\x00\x00\x01\x00": ("image/x-icon", ".ico"),
    b"\x00\x00\x02\x00": ("image/x-icon", ".cur"),
    b"....ftypavi[fs]": ("image/avif", ".avif"),
    b"\x1f\x8b": ("image/svg+xml", ".svgz"),
    b"": ("image/svg+xml", ".svg"),
}
"""Media type and end of a file's name, by how a picture begins."""
_TEXT, _DIM, _PAPER, _FRAME = "#1b1c1e", "#6b6e76", "#ffffff", "#dfe1e6"


def sheet_png(query: str, hits: Sequence[tuple[Hit, bytes | None]]) -> bytes:
    """Lay hits with their pictures out as a PNG, best first, row by row; None where a picture's source has gone.

    Raises:
        IconsError: there are too many for one picture.
    """
    if len(hits) > MOST_HITS:
        raise IconsError(f'"{len(hits):,}" hits are too many for a PNG; ask for {MOST_HITS:,} with -k, or write .html')
    n_columns = min(_MOST_COLUMNS, max(1, isqrt(2 * len(hits))))
    n_rows = ceil(len(hits) / n_columns)
    sheet = Image.new("RGB", (2 * _MARGIN + n_columns * _TILE_WIDTH, _HEADER + _MARGIN + n_rows * _TILE_HEIGHT), _PAPER)
    draw = ImageDraw.Draw(sheet)
    _write(draw, (_MARGIN, 14), query, size=18, width=sheet.width - 2 * _MARGIN)
    for number, (hit, content) in enumerate(hits):
        row, column = divmod(number, n_columns)
        left, top = _MARGIN + column * _TILE_WIDTH, _HEADER + row * _TILE_HEIGHT
        frame = (left, top, left + _PICTURE + 12, top + _PICTURE + 12)
        draw.rounded_rectangle(frame, radius=8, outline=_FRAME)
        try:
            drawn = render(content or b"", size=_PICTURE)
        except RenderError:
            _write(draw, (left + 6, top + 6 + _PICTURE // 2), "gone", size=_SMALL, width=_PICTURE)
        else:
            if drawn.background == "dark":
                draw.rounded_rectangle(frame, radius=8, fill="#000000")
            sheet.paste(Image.fromarray(drawn.pixels), (left + 6, top + 6))
        below, width = top + _PICTURE, _TILE_WIDTH - 12
        _write(draw, (left, below + 20), hit.name, size=13, width=width, english=hit.words)
        below_name = f"{hit.score:.2f}  {'animated, ' if hit.animated else ''}{hit.set}"
        _write(draw, (left, below + 38), below_name, size=_SMALL, width=width)
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


@cache
def _font_with(signs: frozenset[str]) -> str | None:
    """The file of a plain font of this machine that has some signs, one of Noto's before others."""
    pattern = f":weight=80:slant=0:charset={' '.join(f'{ord(sign):x}' for sign in sorted(signs))}"
    with suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(["fc-list", pattern, "file"], capture_output=True, text=True, timeout=5, check=True)
        return min(
            (line.rstrip(": ") for line in listed.stdout.splitlines()),
            key=lambda file: ("Noto" not in file, len(file), file),
            default=None,
        )
    return None


def _write(
    draw: ImageDraw.ImageDraw, place: tuple[int, int], text: str, *, size: int, width: int, english: str = ""
) -> None:
    """Write one line, cut to its width; in Latin letters where no font has its signs, or what it says in English."""
    shown, font = printable(text), ImageFont.load_default(size)
    if not shown.isascii():  # Pillow's own font has no others
        if file := _font_with(frozenset(shown) | {"…"}):
            font = ImageFont.truetype(file, size)
        else:
            warnings.warn("no font here has all signs of these names, which are spelt otherwise", stacklevel=2)
            shown = normalize("NFKD", shown).encode("ascii", "ignore").decode() or printable(english)
    while shown and draw.textlength(shown, font=font) > width:
        shown = shown[:-2].rstrip("…") + "…" if len(shown) > 2 else ""
    draw.text(place, shown, font=font, fill=_DIM if size == _SMALL else _TEXT)


def data_uri(content: bytes) -> str:
    """Spell a picture as an address that holds it."""
    unpacked = svg_document(content) or content  # no browser unpacks an .svgz that stands in a page
    return f"data:{kind_of(unpacked)[0]};base64,{base64.b64encode(unpacked).decode('ascii')}"


def script_digest(script: str) -> str:
    """The sha256 by which a page's policy knows the one script that may run in it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def kind_of(content: bytes) -> tuple[str, str]:
    """Tell the media type of a picture from its bytes, and how the name of its file ends."""
    return next(kind for start, kind in _KINDS.items() if re.match(start, content, re.DOTALL))


def is_drawn_in_white(content: bytes) -> bool:
    """Tell whether a picture was indexed on dark because it vanishes on white."""
    try:
        return render(content, size=32).background == "dark"
    except RenderError:
        return False


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }}
body {{ margin: 2rem; }}
h1 {{ font-size: 1.3rem; font-weight: 600; }}
ol {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }}
ol {{ padding: 0; list-style: none; }}
li {{ border: 1px solid #8884; border-radius: .6rem; padding: .8rem; overflow-wrap: anywhere; }}
.picture {{ display: grid; place-items: center; height: 6rem; border-radius: .4rem; background: #fff; }}
.picture img {{ width: 4rem; height: 4rem; object-fit: contain; }}
.dark {{ background: #1b1c1e; }}
b {{ display: block; margin-top: .6rem; font-weight: 600; }}
small {{ color: #777; display: block; }}
</style></head><body><h1>{title}</h1><ol>
{items}
</ol></body></html>
"""
_ITEM = """<li title="{path}"><div class="picture{dark}">{picture}</div>
<b>{name}</b><small>{set}{more}</small><small>{score:.2f}</small></li>"""


def sheet_html(query: str, hits: Iterable[tuple[Hit, bytes | None]]) -> str:
    """Lay hits with their pictures out as a page; None where a picture's source has gone.

    Pictures stand in `img`, where no script of an SVG can run.
    """
    items = "\n".join(
        _ITEM.format(
            path=shown(hit.path),
            name=shown(hit.name),
            set=shown(hit.set_title),
            more=f", {hit.n_variants} variants" if hit.n_variants > 1 else "",
            score=hit.score,
            picture=f'<img alt="{shown(hit.name)}" src="{data_uri(content)}">' if content is not None else "gone",
            dark=" dark" if content and is_drawn_in_white(content) else "",
        )
        for hit, content in hits
    )
    return _PAGE.format(title=f"icons: {shown(query)}", items=items)


def shown(text: str) -> str:
    """A text of unknown origin in HTML."""
    return escape(printable(text))
