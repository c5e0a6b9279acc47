"""Lists that people make: CSV as Excel, pandas and Windows write it, JSON Lines or a JSON list; one reader for all.

Columns are known by their words ("File Path" is `file_path`), the separator by the header or a line "sep=;"
before it. A row that can't be read costs itself alone, and is told with its line.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from indexer.errors import SourceError
from indexer.library.named import LOST, MOST_BYTES, NOT_TEXT, lines_of, read_unpacked
from indexer.sources.records import shown, to_text

Row = dict[str, Any]
Line = tuple[int, str]
Found = tuple[int, Row, str | None]
"""The number of a row's first line, the row, and what is wrong with it: the row is empty then."""
JSON_SUFFIXES = (".jsonl", ".ndjson")
_LONGEST_LINE = 10_000_000
_MOST_LINES = 100
"""Of one row: text in quotes goes over several."""
_STATED = re.compile(r'"?sep=([,;|\t])"?[,;|\s]*', re.IGNORECASE)
_ABSENT = frozenset(("", "NaN", "nan", "None", "<NA>", "NaT", "#N/A", "NULL"))
"""What Excel, pandas and databases write for a cell without a value."""
_LINE_ENDS = re.compile(r"\s*[\r\n]+\s*")
_BRACKETED = re.compile(r"""\[.*\]|\{.*\}|\(\s*['"].*\)""", re.DOTALL)
_ITEM = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,;|'"\r\n]+)""")
"""Of a list as Python, numpy and databases write it: in quotes or without."""


def read_list(
    path: Path, columns: Sequence[str], *, needed: Sequence[str] = (), limit: int = MOST_BYTES, hint: str = ""
) -> list[tuple[int, Row]]:
    """Read a list that the user has named: the number of each row's first line, and the row.

    Raises:
        SourceError: it can't be read, or one of its rows; the message names the line.
    """
    rows, opened = [], BytesIO(read_unpacked(path, limit=limit))
    try:
        for line, row, problem in read_rows(opened, columns, needed=needed, is_json=path.suffix in JSON_SUFFIXES):
            rows.append((line, row, problem or why_lost(row, columns)))
        problems = [f"line {line:,}: {problem}" for line, _, problem in rows if problem]
    except SourceError as error:
        problems = [str(error)]
    if problems:
        raise SourceError(f'"{path}" can\'t be read: {problems[0]}{hint}')
    return [(line, row) for line, row, _ in rows]


def read_rows(
    opened: BinaryIO, columns: Sequence[str], *, needed: Sequence[str] = (), is_json: bool = False
) -> Iterator[Found]:
    """Yield the rows of a list, by the names of `columns` where these are known; what begins as JSON is JSON.

    Raises:
        SourceError: its first line lacks a needed column, a line is too long, or it is no text.
    """
    csv.field_size_limit(_LONGEST_LINE)
    known = {_words(column): column for column in columns}
    lines = enumerate(lines_of(opened, longest=_LONGEST_LINE), start=1)
    try:
        first = next((line for line in lines if line[1].strip()), (1, ""))
        if is_json or first[1].lstrip().startswith(("{", "[")):
            for number, row, problem in _json_rows(chain([first], lines), is_list=first[1].lstrip().startswith("[")):
                yield number, {known.get(_words(column), column): row[column] for column in row}, problem
        else:
            yield from _table(first, lines, known, needed)
    except ValueError as error:
        raise SourceError(str(error)) from error


def why_lost(row: Row, columns: Iterable[str]) -> str | None:
    """Say which column of a row is no text, as it is in an unknown encoding."""
    texts = ((column, row.get(column)) for column in columns)
    lost = (
        column
        for column, text in texts
        if LOST.search("".join(map(str, text)) if isinstance(text, list) else str(text))
    )
    return next((f'"{column}" is {NOT_TEXT}' for column in lost), None)


def text_of(value: object) -> str | None:
    """Read a field as one line of text that can be stored; None where it says nothing."""
    if isinstance(value, list | dict):
        return None
    text = _LINE_ENDS.sub(" ", str(value).strip()).encode(errors="replace").decode()
    return None if text in _ABSENT else text


def several(value: object, *, between: str = ",;|") -> tuple[str, ...]:
    """Read a field that is a list, the text of one, or text with certain signs or line ends between."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    parts = value if isinstance(value, list) else ()
    if isinstance(value, str | int | float):
        text = str(value).strip()
        found = _ITEM.findall(text[1:-1]) if _BRACKETED.fullmatch(text) else None
        split = re.split(rf"[{between}\r\n]", text)
        parts = split if found is None else [re.sub(r"\\(.)", r"\1", "".join(one)) for one in found]
    return tuple(dict.fromkeys(word for part in parts if (word := text_of(part))))


def _words(column: str) -> str:
    return re.sub(r"[\W_]+", "_", column.strip()).casefold()


def _json_rows(lines: Iterable[Line], *, is_list: bool) -> Iterator[Found]:
    """Rows of JSON Lines; or of a list, as a whole, else of its lines as far as each is an entry."""
    if is_list:
        lines = list(lines)
        with suppress(ValueError, RecursionError):
            entries = json.loads("".join(line for _, line in lines))
            lines = [(number, json.dumps(entry)) for number, entry in enumerate(entries, start=1)]
    for number, line in lines:
        if text := line.strip().strip("[]," if is_list else ""):
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield number, {}, f"not valid JSON: {error}"
            else:
                yield (number, row, None) if isinstance(row, dict) else (number, {}, "no JSON object")


def _table(first: Line, lines: Iterator[Line], known: Mapping[str, str], needed: Sequence[str]) -> Iterator[Found]:
    """Rows of CSV, whatever stands between the cells."""
    stated = _STATED.fullmatch(first[1].rstrip("\r\n"))
    _, header = next(lines, first) if stated else first

    def columns_by(separator: str) -> list[str]:
        cells = _cells(header, separator) or [header]
        return [known.get(_words(cell), cell.strip()) for cell in cells]

    # The sign that cuts the header into most columns; open_clip itself writes tabs.
    signs = stated[1] if stated else "\t,;|"
    separator = max(signs, key=lambda sign: (len({*needed}.intersection(columns_by(sign))), len(columns_by(sign))))
    columns = columns_by(separator)
    if missing := [column for column in needed if column not in columns]:
        raise SourceError(f'no column "{missing[0]}" in the first line "{to_text(header.strip()[:80])}"')
    for number, cells in _records(lines, separator):
        if cells is None:
            yield number, {}, 'a text that begins with " does not end'
        elif more := [cell for cell in cells[len(columns) :] if cell.strip()]:
            why = f'no column is left for "{shown(more[0])}"'
            yield number, {}, f'{why}; put text that has "{separator}" in it in quotes'
        elif any(map(str.strip, cells)):
            yield number, dict(zip(columns, cells, strict=False)), None


def _records(lines: Iterator[Line], separator: str) -> Iterator[tuple[int, list[str] | None]]:
    """Cut lines into cells; None where a quote does not end, and the next row begins in the next line."""
    again: list[Line] = []

    def following() -> Line | None:
        return again.pop() if again else next(lines, None)

    while found := following():
        number, text = found
        more: list[Line] = []
        cells = _cells(text, separator)
        while cells is None and text.count('"') % 2 and len(more) < _MOST_LINES and (found := following()):
            more.append(found)
            text += found[1]
            cells = _cells(text, separator)
        if cells is None and not more and not text.count('"') % 2:
            cells = _cells(text, separator, is_strict=False)
        again += reversed(more) if cells is None else ()
        yield number, cells


def _cells(text: str, separator: str, *, is_strict: bool = True) -> list[str] | None:
    """Cut one row; None where a quote in it does not end, or stands inside a text."""
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=is_strict), [])
    except csv.Error:
        return None
