"""Files and lists that a person names: read as far as a limit; written without a loss of what they were.

Text is UTF-8, UTF-16 or, line by line, Windows-1252. A list is CSV as Excel, pandas and Windows write it, JSON Lines or
a JSON list. Its columns are known by their letters ("File Path" is `file_path`), the separator by the header or a line
"sep=;" before it. A row that can't be read costs itself alone, and is told with its line.
"""

import codecs
import csv
import json
import lzma
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from indexer.errors import IconsError, SourceError
from indexer.library.durable import replace_file

STDIN = Path("-")
PACKED = ".xz"
MOST_BYTES = 64_000_000
"""Of a file that is read, where nothing else is said."""


def read_named(path: Path, *, limit: int = MOST_BYTES) -> bytes:
    """Read a file, a pipe until it ends, or stdin: "-".

    Raises:
        SourceError: it can't be read, or holds more.
    """
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read(limit + 1)
        else:
            with path.open("rb") as file:
                content = file.read(limit + 1)
    except OSError as error:
        raise SourceError(f'"{path}" can\'t be read: {error.strerror}') from error
    return _within(content, path, limit)


def read_unpacked(path: Path, *, limit: int = MOST_BYTES) -> bytes:
    """Read such a file; one whose name ends in .xz is unpacked.

    Raises:
        SourceError: it can't be read, or holds more.
    """
    content = read_named(path, limit=limit)
    if path.suffix != PACKED:
        return content
    try:
        with lzma.open(BytesIO(content)) as unpacked:
            return _within(unpacked.read(limit + 1), path, limit)
    except (lzma.LZMAError, EOFError) as error:
        raise SourceError(f'"{path}" can\'t be read: it is no {PACKED} file') from error


def read_text(path: Path, *, limit: int = MOST_BYTES) -> str:
    """Read such a file as text.

    Raises:
        SourceError: it can't be read, holds more, or is something else.
    """
    try:
        return as_text(read_unpacked(path, limit=limit))
    except ValueError as error:
        raise SourceError(f'"{path}" can\'t be read: {error}') from error


NOT_TEXT = "neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8"
LOST = re.compile("[\0\udc80-\udcff]")
"""What a decoded text has of bytes that are no letters."""
_OTHER = re.compile(rb"\x83|[\xa1-\xff]{3}|\xc3[\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
"""What no text in Windows-1252 has: three letters in a row that are not ASCII, as Russian, Chinese and Japanese code
pages have; and pieces of UTF-8, of which another part is damaged."""


def as_text(content: bytes) -> str:
    """Decode a text.

    Raises:
        ValueError: it is none, or in another encoding; the message names the line.
    """
    text = "".join(lines_of(BytesIO(content)))
    if lost := LOST.search(text):
        raise ValueError(f"line {text.count(chr(10), 0, lost.start()) + 1:,} is {NOT_TEXT}")
    return text


def lines_of(opened: BinaryIO, *, longest: int = -1) -> Iterator[str]:
    """Decode the lines of a file, and close it; bytes that are no letters become halves of pairs, as in paths.

    Raises:
        SourceError: a line is longer than `longest`.
        ValueError: what begins as UTF-16 is none.
    """
    encoding = _wide(opened.read(4096)) or "latin-1"
    opened.seek(0)
    try:
        with TextIOWrapper(opened, encoding, newline="") as lines:
            while line := lines.readline(longest):
                if len(line) == longest:
                    raise SourceError(f"a line of more than {longest // 1_000_000} million characters")
                yield (line if encoding != "latin-1" else _decoded(line.encode("latin-1"))).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is {NOT_TEXT}") from error


def _wide(start: bytes) -> str | None:
    """The encoding of what has several bytes a sign, by its mark, or by the zeros beside letters of ASCII."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    big, little = start[::2].count(0), start[1::2].count(0)
    is_wide = max(big, little) > max(8 * min(big, little), len(start) // 30)
    return ("utf-16-le" if little > big else "utf-16-be") if is_wide else None


def _decoded(line: bytes) -> str:
    """UTF-8, else Windows-1252; lines that end as on an old Macintosh are in its letters."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        own = "mac-roman" if line.endswith(b"\r") else "cp1252"
        return line.decode("utf-8" if _OTHER.search(line) else own, "surrogateescape")


def _within(content: bytes, path: Path, limit: int) -> bytes:
    if len(content) > limit:
        raise SourceError(f'"{path}" can\'t be read: it has more than {limit / 1e6:.0f} MB')
    return content


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
    """Read a field as text that can be stored; None where it says nothing."""
    if isinstance(value, list | dict):
        return None
    text = str(value).encode(errors="replace").decode().strip()
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


def _shown(text: str) -> str:
    return text.strip()[:80].encode(errors="replace").decode()


def _words(column: str) -> str:
    return re.sub(r"[\W_]+", "", column).casefold()


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
        return [
            known.get(_words(cell), cell.strip()) for cell in _cells(header, separator, is_strict=False) or [header]
        ]

    # The sign that cuts the header into most columns; open_clip itself writes tabs.
    signs = stated[1] if stated else "\t,;|"
    separator = max(signs, key=lambda sign: (len({*needed}.intersection(columns_by(sign))), len(columns_by(sign))))
    columns = columns_by(separator)
    if missing := [column for column in needed if column not in columns]:
        raise SourceError(f'no column "{missing[0]}" in the first line "{_shown(header)}"')
    for number, cells in _records(lines, separator):
        if cells is None:
            yield number, {}, 'a text that begins with " does not end'
        elif more := [cell for cell in cells[len(columns) :] if cell.strip()]:
            why = f'no column is left for "{_shown(more[0])}"'
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


def write_result(path: Path, content: bytes, *, option: str) -> None:
    """Write a file that the user has named with an option.

    A regular file is replaced, and so is what a link leads to. A device or a pipe is written to where it is, and so is
    a file that would lose something: `why_kept` says what.

    Raises:
        IconsError: it can't be written there.
    """
    try:
        if goes_aside(path):
            replace_file(Path(os.path.realpath(path)), content)
        else:
            own = _own_stream(path)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC) if own is None else os.dup(own), "wb") as file:
                file.write(content)
    except OSError as error:
        raise IconsError(f'"{path}" can\'t be written ({error.strerror or error}); choose another {option}') from error


def goes_aside(path: Path) -> bool:
    """Whether what `write_result` writes there takes the place of a regular file, or of nothing."""
    try:
        return why_kept(path) is None and _own_stream(path) is None
    except FileNotFoundError:
        return True


def why_kept(path: Path) -> str | None:
    """Say why a file of the user's can't be replaced by one that has all but its content; None: it can."""
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        return "it is no regular file"
    if not facts.st_mode & 0o222:
        return "it is read-only"
    if facts.st_nlink != 1:
        return f"it has {facts.st_nlink} hard links"
    if os.geteuid() and (facts.st_uid != os.geteuid() or facts.st_gid not in (os.getegid(), *os.getgroups())):
        return "it belongs to somebody else"
    return None


def _own_stream(path: Path) -> int | None:
    """Our stdout or stderr, if that is what a path leads to: more of our own goes there."""
    facts = path.stat()
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), facts):
                return descriptor
    return None
