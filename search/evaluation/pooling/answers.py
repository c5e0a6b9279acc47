"""What did somebody say who looked at the sheets? Answers by numbers -> judgements by names, joined with earlier ones.

An answer is `{"query": "planet", "kind": "meaning", "right": [2], "fair": [5, 7]}` a line, by the numbers of a sheet.
What is not named is wrong.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from indexer.errors import QueryFileError
from indexer.library.named import write_result
from indexer.naming.names import normalise
from search.evaluation.judged import GAINS, LINE, Judgement
from search.evaluation.pooling.sheets import read_pool
from search.evaluation.query_lines import Fields, Format, check_line, read_lines

NUMBERED = ("right", "fair")
"""Grades that an answer says by numbers."""
EXAMPLE = '{"query": "planet", "kind": "meaning", "right": [2], "fair": [5, 7]}'

_Pool = Mapping[tuple[str, str], Sequence[str]]


def read_answers(folder: Path, file: Path) -> list[Judgement]:
    """Read a judge's answers to the sheets of a folder.

    Raises:
        QueryFileError: a line is not as above, is for no query of the pool, or names a number twice or one
            that no picture has; a query of the pool has two lines or none.
    """
    pooled = read_pool(folder)
    judged: dict[tuple[str, str], Judgement] = {}
    for answer in read_lines(file, Format(NUMBERED, partial(_problems, pooled), EXAMPLE)):
        key = answer["query"], answer["kind"]
        if key in judged:
            raise QueryFileError(f'"{file}" answers {_quoted(*key)} twice; leave one line of it')
        judged[key] = _judgement(answer, pooled[key])
    if missing := [key for key in pooled if key not in judged]:
        raise QueryFileError(
            f'"{file}" lacks {len(missing)} queries of "{folder}", the first is {_quoted(*missing[0])}'
        )
    return list(judged.values())


def add(judged: Sequence[Judgement], more: Sequence[Judgement]) -> list[Judgement]:
    """Join judgements, a line a query and kind; of icons that were judged twice the first grade stays."""
    joined: dict[tuple[str, str], Judgement] = {}
    for line in (*judged, *more):
        key = line.query, line.kind
        joined[key] = _joined(joined[key], line) if key in joined else line
    return [joined[key] for key in sorted(joined)]


def write_judgements(file: Path, judged: Sequence[Judgement]) -> None:
    """Write a file of judgements, if `read_judgements` would take all of it.

    Raises:
        QueryFileError: it would refuse a line; nothing is written.
    """
    lines = []
    for number, line in enumerate(judged, 1):
        grades = {grade: list(names) for grade, names in line.grades.items()}
        fields = {"query": line.query, "kind": line.kind, **grades}
        check_line(fields, LINE, where=f'"{file}" stays as it is: its new line {number}')
        lines.append(f"{json.dumps(fields, ensure_ascii=False)}\n")
    write_result(file, "".join(lines).encode(), option="--judged")


def _judgement(answer: Fields, names: Sequence[str]) -> Judgement:
    grades = {grade: [names[number] for number in answer[grade]] for grade in NUMBERED}
    graded = {normalise(name) for of_grade in grades.values() for name in of_grade}
    rest = {normalise(name): name for name in names}
    grades["wrong"] = [name for spelt, name in rest.items() if spelt not in graded]
    return Judgement(answer["query"], answer["kind"], grades)


def _joined(before: Judgement, line: Judgement) -> Judgement:
    known = {normalise(name) for grade in GAINS for name in before.grades[grade]}
    grades = {
        grade: sorted([*before.grades[grade], *(name for name in line.grades[grade] if normalise(name) not in known)])
        for grade in GAINS
    }
    return Judgement(before.query, before.kind, grades)


def _problems(pooled: _Pool, answer: Fields) -> Iterator[str]:
    names = pooled.get((answer["query"], answer["kind"]))
    if names is None:
        yield f"{_quoted(answer['query'], answer['kind'])} is not in the pool"
        return
    numbers: list[object] = []
    for grade in NUMBERED:
        if not isinstance(answer[grade], list):
            yield f'"{grade}" is not a list of numbers'
        numbers += answer[grade]
    for number in numbers:
        if type(number) is not int or not 0 <= number < len(names):  # True would be 1
            yield f'"{number}" is no number of its {len(names)} pictures, which are 0 to {len(names) - 1}'
        if numbers.count(number) > 1:
            yield f'"{number}" is there twice'


def _quoted(query: str, kind: str) -> str:
    return f'"{query}" of kind "{kind}"'
