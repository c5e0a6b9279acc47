"""What does somebody who judges look at, and what became of it? Pages of numbered pictures without names.

Writes `pool.json` and `sheet-00.png` ... into a folder; reads the judge's answers, `{"query": "planet", "right": [2],
"fair": [5, 7]}` a line by those numbers, and adds them to a file of judgements. What is not named is wrong.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from indexer.errors import QueryFileError
from indexer.library.durable import write_file
from indexer.rendering.render import draw
from search.evaluation.corpus import Corpus
from search.evaluation.judged import GAINS, Judgement
from search.evaluation.originals import Originals
from search.evaluation.pooling.pool import Pooled

ROWS, COLUMNS = 10, 13
"""Queries a sheet, and pictures a line."""
CELL, PICTURE, HEAD, EDGE = 84, 60, 24, 10
"""Pixels: a cell's side, a picture's longer side, the line with the query, the sheet's edge."""
LINE = {"query": "planet", "right": [2], "fair": [5, 7]}


def write_sheets(pooled: Sequence[Pooled], corpus: Corpus, originals: Originals, out: Path) -> int:
    """Write the pool and its sheets into a folder; return how many sheets there are."""
    facts = [
        {"query": found.query, "kind": found.kind, "icons": [corpus.names[row] for row in found.rows]}
        for found in pooled
    ]
    write_file(out / "pool.json", json.dumps(facts, indent=1).encode())
    starts = range(0, len(pooled), ROWS)
    for number, start in enumerate(starts):
        sheet = _sheet(pooled[start : start + ROWS], corpus, originals, first=start)
        buffer = BytesIO()
        sheet.quantize(16).save(buffer, "PNG")
        write_file(out / f"sheet-{number:02}.png", buffer.getvalue())
    return len(starts)


def _sheet(pooled: Sequence[Pooled], corpus: Corpus, originals: Originals, *, first: int) -> Image.Image:
    heights = [HEAD + CELL * -(-len(found.rows) // COLUMNS) for found in pooled]
    sheet = Image.new("RGB", (2 * EDGE + COLUMNS * CELL, 2 * EDGE + sum(heights)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(16)
    top = EDGE
    for number, (found, height) in enumerate(zip(pooled, heights, strict=True), first):
        pen.line((0, top, sheet.width, top), fill="#999999")
        pen.text((EDGE, top + 2), f"{number}: {found.query}", fill="#0000cc", font=font)
        for place, row in enumerate(found.rows):
            left, above = EDGE + place % COLUMNS * CELL, top + HEAD + place // COLUMNS * CELL
            pen.text((left, above), f"{place}", fill="#cc0000")
            _paste(sheet, originals.content(int(corpus.image_rows[row])), left + CELL - PICTURE - 8, above + 8)
        top += height
    return sheet


def _paste(sheet: Image.Image, content: bytes, left: int, top: int) -> None:
    picture = Image.fromarray(np.ascontiguousarray(draw(content, size=PICTURE)), "RGBA")
    sheet.paste(picture, (left, top), picture)


def read_answers(folder: Path, file: Path) -> list[Judgement]:
    """Read a judge's answers to the sheets of a folder.

    Raises:
        QueryFileError: a line is not as above, asks for no query of the pool, or a query of it has no line.
    """
    pooled = {found["query"]: found for found in json.loads((folder / "pool.json").read_text("utf-8"))}
    judged = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        where = f'"{file}", line {number}'
        try:
            answer = json.loads(line)
            found = pooled[answer["query"]]
            graded = {grade: [found["icons"][place] for place in answer[grade]] for grade in ("right", "fair")}
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise QueryFileError(f"{where}: {error!r}; a line is {json.dumps(LINE)}") from error
        named = {name for names in graded.values() for name in names}
        graded["wrong"] = [name for name in found["icons"] if name not in named]
        judged[found["query"]] = Judgement(found["query"], found["kind"], graded)
    if missing := [query for query in pooled if query not in judged]:
        raise QueryFileError(
            f'"{file}" says nothing of "{missing[0]}" and {len(missing) - 1} more queries of "{folder}"'
        )
    return list(judged.values())


def add(judged: Sequence[Judgement], more: Sequence[Judgement]) -> list[Judgement]:
    """Join judgements, a line a query, by query; of icons that were judged twice the first grade stays."""
    joined = {line.query: line for line in judged}
    for line in more:
        before = joined.get(line.query, Judgement(line.query, line.kind, dict.fromkeys(GAINS, ())))
        known = {name for names in before.grades.values() for name in names}
        grades = {
            grade: sorted({*before.grades[grade], *(name for name in line.grades[grade] if name not in known)})
            for grade in GAINS
        }
        joined[line.query] = Judgement(line.query, line.kind, grades)
    return [joined[query] for query in sorted(joined)]


def write_judgements(file: Path, judged: Sequence[Judgement]) -> None:
    """Write a file of judgements."""
    lines = (json.dumps({"query": line.query, "kind": line.kind, **line.grades}, ensure_ascii=False) for line in judged)
    write_file(file, "".join(f"{line}\n" for line in lines).encode())
