"""What did somebody say who looked at the sheets? Answers by numbers -> judgements by names, joined with earlier ones.

An answer is `{"query": "planet", "right": [2], "fair": [5, 7]}` a line, by the numbers of a sheet; what is not named is
wrong.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from indexer.errors import QueryFileError
from indexer.library.durable import write_file
from search.evaluation.judged import GAINS, Judgement
from search.evaluation.pooling.sheets import POOL

LINE = {"query": "planet", "right": [2], "fair": [5, 7]}


def read_answers(folder: Path, file: Path) -> list[Judgement]:
    """Read a judge's answers to the sheets of a folder.

    Raises:
        QueryFileError: a line is not as above, asks for no query of the pool, or a query of it has no line.
    """
    pooled = {found["query"]: found for found in json.loads((folder / POOL).read_text("utf-8"))}
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
        raise QueryFileError(f'"{file}" lacks {len(missing)} queries of "{folder}", the first is "{missing[0]}"')
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
