"""How is a query file read? JSON objects, one a line; the first line that is not as it should be stops the reading.

A file whose name ends in .xz is unpacked.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import QueryFileError, SourceError
from indexer.library.named import read_text

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """What a line of a query file holds, beside the texts "query" and "kind"."""

    fields: Sequence[str]
    """Names of the further fields."""
    problems: Callable[[Fields], Iterator[str]]
    """Says what is wrong with their values."""
    example: str


def read_lines(file: Path, expected: Format) -> list[Fields]:
    """Read the objects of a query file; empty lines are passed over.

    Raises:
        QueryFileError: it can't be read, holds no query, or a line is not as expected; the message names the line.
    """
    try:
        lines = read_text(file).split("\n")  # splitlines would cut inside a text
    except SourceError as error:
        raise QueryFileError(str(error)) from error
    queries = [_parse(line, expected, where=f'"{file}", line {n}') for n, line in enumerate(lines, 1) if line.strip()]
    if not queries:
        raise QueryFileError(f'"{file}" holds no query; write one a line: {expected.example}')
    return queries


def check_line(fields: object, expected: Format, *, where: str) -> None:
    """Hold what a line says, or is to say, against its format.

    Raises:
        QueryFileError: it is not as expected; the message begins with `where`.
    """
    problem = next(_problems(fields, expected), None)
    if problem:
        raise QueryFileError(f"{where}: {problem}; a line is {expected.example}")


def _parse(line: str, expected: Format, *, where: str) -> Fields:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise QueryFileError(f"{where} is not JSON ({error}); a line is {expected.example}") from error
    check_line(fields, expected, where=where)
    return dict(fields)


def _problems(fields: Any, expected: Format) -> Iterator[str]:
    if not isinstance(fields, dict):
        yield "it is not an object"
        return
    for name in ("query", "kind", *expected.fields):
        if name not in fields:
            yield f'"{name}" is missing'
    for name in ("query", "kind"):
        if not isinstance(fields[name], str) or not fields[name].strip():
            yield f'"{name}" is not a text'
    yield from expected.problems(fields)
