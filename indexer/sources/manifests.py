"""Manifests: a CSV, TSV or JSONL file with one picture a row, in the form that open_clip trains from.

Columns: `file_path`, and any of name, caption, tags, categories, set, style, size, licence. Paths are relative to the
manifest's folder, and lead nowhere outside it. Tags and categories are lists, or text with commas or semicolons
between.
"""

import csv
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from indexer.errors import SourceError
from indexer.sources.folders import reason_of, scan_picture
from indexer.sources.records import MAX_TEXT, UNREAD, FileScan, IconSet, Record, name_of, shown, to_text

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson")

_JSON_SUFFIXES = (".jsonl", ".ndjson")
_REPEAT = re.compile(r"#[0-9]+$")
_LARGEST_FIELD = _LONGEST_LINE = 10_000_000
_TEXTS = ("name", "set", "style", "licence", "license")
Row = dict[str, Any]

_LONGEST_PATH = 4096
"""More than Linux takes."""


def scan(manifest: Path, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield each row, in the order of the file; see `Source.scan`. A file listed again is called `path#2`."""
    times_seen: Counter[str] = Counter()
    rows = _json_rows(manifest) if manifest.suffix.lower() in _JSON_SUFFIXES else _csv_rows(manifest)
    folder = manifest.parent
    inside = os.path.realpath(folder)
    try:
        for line, row, unread in rows:
            path = str(row.get("file_path") or "").strip()
            if why_not := unread or _refusal(row, path):
                yield FileScan(f"#{line}", UNREAD, error=f"line {line}: {why_not}")
                continue
            times_seen[path] += 1
            key, record_of = _key(path, times_seen[path]), partial(_record, row, manifest=manifest, path=path)
            spelled = repr(sorted(row.items(), key=str)).encode(errors="replace")
            beside = hashlib.blake2b(spelled, digest_size=8).hexdigest()
            yield scan_picture(folder / path, key, stamps, inside=inside, beside=beside, record_of=record_of)
    except (OSError, SourceError) as error:
        yield FileScan("", UNREAD, error=reason_of(error))
    except csv.Error as error:
        yield FileScan("", UNREAD, error=f"not valid CSV: {error}")


def path_of_row(key: str) -> str:
    """Tell the path that a row names, relative to its manifest's folder: without what tells rows of one file apart."""
    return _REPEAT.sub("", key, count=1)


def _refusal(row: Row, path: str) -> str | None:
    """Say why a row is not read: it names no path, or a column's text is longer than anybody writes."""
    if not path or not _is_path(path):
        return f'"{shown(ascii(path))}" is no path' if path else 'no "file_path"'
    texts = [(column, _text(row.get(column))) for column in _TEXTS]
    texts += [(column, text) for column in ("tags", "categories") for text in _list(row.get(column))]
    longest = max(texts, key=lambda text: len(text[1] or ""))
    return f'"{longest[0]}" of more than {MAX_TEXT:,} characters' if len(longest[1] or "") > MAX_TEXT else None


def _is_path(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return "\0" not in path and len(path) <= _LONGEST_PATH


def _key(path: str, time: int) -> str:
    """Number repetitions; a path that itself ends like a number gets one too, so that it can be taken off again."""
    text = to_text(path)
    return f"{text}#{time}" if time > 1 or _REPEAT.search(text) else text


def _record(row: Row, digest: bytes, *, manifest: Path, path: str) -> Record:
    set_key = _text(row.get("set")) or manifest.stem
    size = _text(row.get("size"))
    return Record(
        member="",
        name=_text(row.get("name")) or name_of(path),
        digest=digest,
        set=IconSet(key=set_key, title=set_key),
        tags=_list(row.get("tags")),
        categories=_list(row.get("categories")),
        caption=_text(row.get("caption")),
        style=_text(row.get("style")),
        size=int(number[0]) if size and (number := re.match(r"[0-9]{1,6}", size)) else None,
        licence=_text(row.get("licence")) or _text(row.get("license")),
    )


def _json_rows(manifest: Path) -> Iterator[tuple[int, Row, str | None]]:
    """Yield (line number, row, None), or an empty row and what is wrong with it."""
    with manifest.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
        for number, line in enumerate(_bounded(lines), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, {}, f"not valid JSON: {error}"
                continue
            yield (number, row, None) if isinstance(row, dict) else (number, {}, "no JSON object")


def _csv_rows(manifest: Path) -> Iterator[tuple[int, Row, str | None]]:
    csv.field_size_limit(_LARGEST_FIELD)
    with manifest.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as opened:
        header = opened.readline(_LONGEST_LINE)
        opened.seek(0)
        # The sign that cuts the header into most columns; open_clip itself writes tabs.
        delimiter = max("\t,;|", key=lambda sign: len(next(csv.reader([header], delimiter=sign), [])))
        reader = csv.DictReader(_bounded(opened), delimiter=delimiter)
        if "file_path" not in (reader.fieldnames or ()):
            raise SourceError(f'no column "file_path" in the first line "{to_text(header.strip()[:80])}"')
        for row in reader:
            yield reader.line_num, row, None


def _bounded(lines: TextIO) -> Iterator[str]:
    """Give out the lines of a file; one without end is not read into memory.

    Raises:
        SourceError: a line is too long.
    """
    while line := lines.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise SourceError(f"a line of more than {_LONGEST_LINE // 1_000_000} million characters")
        yield line


def _text(value: object) -> str | None:
    """Read a field as text that can be stored; empty ones are none."""
    if value is None or isinstance(value, list | dict):
        return None
    return str(value).encode(errors="replace").decode().strip() or None


def _list(value: object) -> tuple[str, ...]:
    """Read a field that is a list, or text with commas or semicolons between."""
    parts = value if isinstance(value, list) else re.split("[,;]", _text(value) or "")
    return tuple(dict.fromkeys(text for part in parts if (text := _text(part))))
