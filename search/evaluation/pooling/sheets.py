"""What does somebody who judges look at? Pages of numbered pictures without names.

Writes `pool.json`, which `answers` reads again, and `sheet-00.png` ... into a folder.
"""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from indexer.errors import IconsError, QueryFileError
from indexer.library.durable import write_file
from indexer.rendering.render import draw
from search.evaluation.corpus import Corpus
from search.evaluation.originals import Originals
from search.evaluation.pooling.pool import Pooled

POOL = "pool.json"
ROWS, COLUMNS = 10, 13
"""Queries a sheet, and pictures a line."""
CELL, PICTURE, HEAD, EDGE = 84, 60, 24, 10
"""Pixels: a cell's side, a picture's longer side, the line with the query, the sheet's edge."""


def write_sheets(pooled: Sequence[Pooled], corpus: Corpus, originals: Originals, out: Path) -> int:
    """Write the pool and its sheets into a folder; return how many sheets there are.

    Raises:
        IconsError: the folder holds a pool already.
    """
    refuse_used(out)
    facts = [
        {"query": found.query, "kind": found.kind, "icons": [corpus.names[row] for row in found.rows]}
        for found in pooled
    ]
    write_file(out / POOL, json.dumps(facts, indent=1).encode())
    starts = range(0, len(pooled), ROWS)
    for number, start in enumerate(starts):
        sheet = _sheet(pooled[start : start + ROWS], corpus, originals, first=start)
        buffer = BytesIO()
        sheet.quantize(16).save(buffer, "PNG")
        write_file(out / f"sheet-{number:02}.png", buffer.getvalue())
    return len(starts)


def refuse_used(folder: Path) -> None:
    """Refuse a folder that a pool was written into: its sheets would show other numbers than the new pool.

    Raises:
        IconsError: it holds one.
    """
    if (folder / POOL).exists():
        raise IconsError(f'"{folder}" holds a pool already; `add` its answers and delete it, or choose another --out')


def read_pool(folder: Path) -> Mapping[tuple[str, str], Sequence[str]]:
    """Read the names of the numbered icons of each query, by the query and its kind.

    Raises:
        QueryFileError: the folder holds no pool.
    """
    if not (folder / POOL).is_file():
        raise QueryFileError(f'no "{folder / POOL}"; `python -m search.evaluation.pooling pool` writes it')
    pooled = json.loads((folder / POOL).read_text("utf-8"))
    return {(found["query"], found["kind"]): found["icons"] for found in pooled}


def _sheet(pooled: Sequence[Pooled], corpus: Corpus, originals: Originals, *, first: int) -> Image.Image:
    heights = [HEAD + CELL * -(-len(found.rows) // COLUMNS) for found in pooled]
    sheet = Image.new("RGB", (2 * EDGE + COLUMNS * CELL, 2 * EDGE + sum(heights)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(16)
    top = EDGE
    for number, (found, height) in enumerate(zip(pooled, heights, strict=True), first):
        pen.line((0, top, sheet.width, top), fill="#999999")
        pen.text((EDGE, top + 2), f"{number}: {found.query} ({found.kind})", fill="#0000cc", font=font)
        for place, row in enumerate(found.rows):
            left, above = EDGE + place % COLUMNS * CELL, top + HEAD + place // COLUMNS * CELL
            pen.text((left, above), f"{place}", fill="#cc0000")
            _paste(sheet, originals.content(int(corpus.image_rows[row])), left + CELL - PICTURE - 8, above + 8)
        top += height
    return sheet


def _paste(sheet: Image.Image, content: bytes, left: int, top: int) -> None:
    picture = Image.fromarray(np.ascontiguousarray(draw(content, size=PICTURE)), "RGBA")
    sheet.paste(picture, (left, top), picture)
