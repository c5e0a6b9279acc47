"""What do the hits look like, in one bitmap? Pictures in rows with their names, to paste where a page can't go."""

import io
from collections.abc import Sequence
from math import ceil, isqrt

from PIL import Image, ImageDraw, ImageFont

from indexer.errors import IconsError, RenderError
from indexer.naming.printable import printable
from indexer.rendering.render import render
from search.results import Hit

MOST_HITS = 1_000
"""83 MB of pixels while the sheet is drawn."""
_PICTURE = 96
_TILE_WIDTH, _TILE_HEIGHT = 160, 168
_MARGIN, _HEADER = 24, 48
_MOST_COLUMNS = 10
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
        _paste(sheet, draw, content, left=left + 6, top=top + 6)
        _write(draw, (left, top + _PICTURE + 20), hit.name, size=13, width=_TILE_WIDTH - 12)
        caption = f"{hit.score:.2f}  {hit.set}"
        _write(draw, (left, top + _PICTURE + 38), caption, size=11, width=_TILE_WIDTH - 12, fill=_DIM)
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


def _paste(sheet: Image.Image, draw: ImageDraw.ImageDraw, content: bytes | None, *, left: int, top: int) -> None:
    frame = (left - 6, top - 6, left + _PICTURE + 6, top + _PICTURE + 6)
    draw.rounded_rectangle(frame, radius=8, outline=_FRAME)
    try:
        drawn = render(content or b"", size=_PICTURE)
    except RenderError:
        _write(draw, (left, top + _PICTURE // 2), "gone", size=13, width=_PICTURE, fill=_DIM)
        return
    if drawn.background == "dark":
        draw.rounded_rectangle(frame, radius=8, fill="#000000")
    sheet.paste(Image.fromarray(drawn.pixels), (left, top))


def _write(
    draw: ImageDraw.ImageDraw, place: tuple[int, int], text: str, *, size: int, width: int, fill: str = _TEXT
) -> None:
    """Write one line, cut to its width."""
    font = ImageFont.load_default(size)
    shown = printable(text)
    while shown and draw.textlength(shown, font=font) > width:
        shown = shown[:-2].rstrip("…") + "…" if len(shown) > 2 else ""
    draw.text(place, shown, font=font, fill=fill)
