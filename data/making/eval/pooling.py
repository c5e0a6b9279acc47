"""First hits of rankers, judged by looking: `pool` writes sheets of pictures, `add` takes what is said of them.

    python -m data.making.eval.pooling pool --queries FILE --judged FILE --out FOLDER
    python -m data.making.eval.pooling add FOLDER ANSWERS --judged FILE

An answer is `{"query": "planet", "kind": "meaning", "right": [2], "fair": [5, 7]}` a line, by the numbers of a sheet;
what is not named is wrong. Pooling: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008, ch. 8.5.
"""

import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Self

import click
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pydantic import StrictInt, ValidationInfo, model_validator

from data.making.eval.judged import GAINS, N_FIRST, JudgedLine, Judgement, first_rows, read_judgements
from indexer.arrays import Ids
from indexer.commands.options import library_option
from indexer.commands.program import IconsGroup
from indexer.errors import IconsError, QueryFileError
from indexer.languages.words import normalise
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.rendering.render import draw
from indexer.reports.terminal import Progress, ProgressLine
from search.evaluation.evaluate import Subject
from search.evaluation.queries import Corpus, Line, Question, Tags, check_line, find_answers, read_lines, read_queries
from search.evaluation.rankers import VectorRankers, find_contenders, in_blocks, read_vectors_of

RANKERS = ("names", "pictures")
"""Asked beside the engine."""
N_LABELLED = 3
"""Icons that the query file itself calls right, the best ranked by the engine, which are looked at as well."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A query and the icons that are to be judged for it."""

    query: str
    kind: str
    rows: Sequence[int]
    """Of the corpus, in an order that tells nothing of rankers."""


def pool_hits(
    subject: Subject, queries: Path, *, n: int, judged: Sequence[Judgement], seed: int, progress: Progress
) -> list[Pooled]:
    """Draw `n` queries of a file by lot and pool their first hits; those without a new icon are left out.

    Raises:
        QueryFileError: the file is not as it should be, or none of its answers is in the library.
    """
    questions = find_answers(read_queries(queries), subject.corpus).asked
    lot = np.random.default_rng(seed).permutation(len(questions))[:n]
    drawn = [questions[place] for place in np.sort(lot).tolist()]
    known: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in judged:
        known[line.query, line.kind].update(normalise(name) for grade in GAINS for name in line.grades[grade])
    pooled = []
    for (text, kind), rows in _hits_by_query(subject, drawn, progress).items():
        order = random.Random(f"{seed} {text}")
        if new := _unjudged(rows, subject.corpus, known[text, kind], order):
            pooled.append(Pooled(text, kind, new))
    return pooled


def _unjudged(rows: Ids, corpus: Corpus, known: Collection[str], order: random.Random) -> list[int]:
    """Leave out what a grade of a known name says already, and what that of another icon will say; shuffle the rest."""
    names, new = set(known), []
    for row in rows.tolist():
        if names.isdisjoint(normalise(corpus.names[other]) for other in corpus.drawn_alike(np.array([row]))):
            names.add(normalise(corpus.names[row]))
            new.append(row)
    order.shuffle(new)
    return new


def _hits_by_query(
    subject: Subject, questions: Sequence[Question], progress: Progress
) -> Mapping[tuple[str, str], Ids]:
    """First hits by text and kind: lines of a query file that agree in both are judged as one."""
    found: dict[tuple[str, str], Ids] = {}
    for question, rows in zip(questions, _first_hits(subject, questions, progress), strict=True):
        key = question.query.text, question.query.kind
        found[key] = np.union1d(found.get(key, rows), rows)
    return found


def _first_hits(subject: Subject, questions: Sequence[Question], progress: Progress) -> Iterator[Ids]:
    """Rows that any of the rankers has among its first hits, and some of those that are labelled; ascending."""
    corpus, manifest = subject.corpus, subject.manifest
    [contender] = find_contenders(subject.library, (), in_use=manifest.fingerprint)
    vectors = read_vectors_of(subject.library, contender, corpus)
    rankers = VectorRankers(subject.engine, corpus, vectors, manifest.weights, Tags.read(subject.opened))
    for block in in_blocks(len(questions), n_candidates=len(corpus)):
        part = questions[block]
        scores = rankers.scores([question.query.text for question in part])
        for row, question in enumerate(part):
            for ranker in RANKERS:
                scores[ranker][row, corpus.outside(question.sets)] = -np.inf
            firsts = [first_rows(scores[ranker][row], corpus) for ranker in RANKERS]
            hits = rankers.engine.hits(question.query.text, question.sets)
            labelled = [*hits[np.isin(hits, question.right)].tolist(), *question.right.tolist()]
            yield np.unique([*np.concatenate([*firsts, hits[:N_FIRST]]), *[*dict.fromkeys(labelled)][:N_LABELLED]])
        progress("Asking three rankers", block.stop, len(questions))


POOL = "pool.json"
ROWS, COLUMNS = 10, 13
"""Queries a sheet, and pictures a line."""
CELL, PICTURE, HEAD, EDGE = 84, 60, 24, 10
"""Pixels: a cell's side, a picture's longer side, the line with the query, the sheet's edge."""


def write_sheets(pooled: Sequence[Pooled], corpus: Corpus, out: Path) -> int:
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
        sheet = _sheet(pooled[start : start + ROWS], corpus, first=start)
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
        raise QueryFileError(f'no "{folder / POOL}"; `python -m data.making.eval.pooling pool` writes it')
    pooled = json.loads((folder / POOL).read_text("utf-8"))
    return {(found["query"], found["kind"]): found["icons"] for found in pooled}


def _sheet(pooled: Sequence[Pooled], corpus: Corpus, *, first: int) -> Image.Image:
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
            _paste(sheet, corpus.content(int(corpus.image_rows[row])), left + CELL - PICTURE - 8, above + 8)
        top += height
    return sheet


def _paste(sheet: Image.Image, content: bytes, left: int, top: int) -> None:
    picture = Image.fromarray(np.ascontiguousarray(draw(content, size=PICTURE)), "RGBA")
    sheet.paste(picture, (left, top), picture)


class _AnswerLine(Line):
    """A judge's answer, by the numbers of pictures."""

    example = '{"query": "planet", "kind": "meaning", "right": [2], "fair": [5, 7]}'

    right: tuple[StrictInt, ...]
    fair: tuple[StrictInt, ...]

    @model_validator(mode="after")
    def _is_of_the_pool(self, info: ValidationInfo) -> Self:
        names = info.context.get((self.query, self.kind)) if info.context else None
        if names is None:
            raise ValueError(f"{_quoted(self.query, self.kind)} is not in the pool")
        numbers = (*self.right, *self.fair)
        for number in numbers:
            if not 0 <= number < len(names):
                raise ValueError(
                    f'"{number}" is no number of its {len(names)} pictures, which are 0 to {len(names) - 1}'
                )
            if numbers.count(number) > 1:
                raise ValueError(f'"{number}" is there twice')
        return self


def read_answers(folder: Path, file: Path) -> list[Judgement]:
    """Read a judge's answers to the sheets of a folder.

    Raises:
        QueryFileError: a line is not as above, is for no query of the pool, or names a number twice or one
            that no picture has; a query of the pool has two lines or none.
    """
    pooled = read_pool(folder)
    judged: dict[tuple[str, str], Judgement] = {}
    for answer in read_lines(file, _AnswerLine, context=pooled):
        key = answer.query, answer.kind
        if key in judged:
            raise QueryFileError(f'"{file}" answers {_quoted(*key)} twice; leave one line of it')
        judged[key] = _judgement(answer, pooled[key])
    if missing := [key for key in pooled if key not in judged]:
        raise QueryFileError(
            f'"{file}" lacks {len(missing)} queries of "{folder}", the first is {_quoted(*missing[0])}'
        )
    return list(judged.values())


def join(judged: Sequence[Judgement], more: Sequence[Judgement]) -> list[Judgement]:
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
        lines.append(f"{json.dumps(fields, ensure_ascii=False)}\n")
        check_line(lines[-1], JudgedLine, where=f'"{file}" stays as it is: its new line {number}')
    write_file(file, "".join(lines).encode())


def _judgement(answer: _AnswerLine, names: Sequence[str]) -> Judgement:
    grades = {"right": [names[number] for number in answer.right], "fair": [names[number] for number in answer.fair]}
    graded = {normalise(name) for of_grade in grades.values() for name in of_grade}
    rest = {normalise(name): name for name in names}
    grades["wrong"] = [name for spelt, name in rest.items() if spelt not in graded]
    return Judgement(answer.query, answer.kind, grades)


def _joined(before: Judgement, line: Judgement) -> Judgement:
    known = {normalise(name) for grade in GAINS for name in before.grades[grade]}
    grades = {
        grade: sorted([*before.grades[grade], *(name for name in line.grades[grade] if normalise(name) not in known)])
        for grade in GAINS
    }
    return Judgement(before.query, before.kind, grades)


def _quoted(query: str, kind: str) -> str:
    return f'"{query}" of kind "{kind}"'


_Input = click.Path(exists=True, dir_okay=False, path_type=Path)
_JUDGED = click.option(
    "--judged", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File of judgements; may be new."
)


@click.group(cls=IconsGroup)
def main() -> None:
    """Judge the first hits of three rankers by looking at them."""


@main.command()
@library_option
@click.option("--queries", required=True, type=_Input, help="Query file of which some are drawn.")
@click.option("--drawn", "n", default=300, show_default=True, type=click.IntRange(1), help="Queries to draw.")
@click.option("--seed", default=0, show_default=True)
@_JUDGED
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path))
def pool(library: Library, queries: Path, judged: Path, out: Path, n: int, seed: int) -> None:
    """Write sheets of the pictures that nobody has judged yet."""
    refuse_used(out)
    known = read_judgements(judged) if judged.exists() else []
    subject = Subject(library)
    with ProgressLine() as progress:
        pooled = pool_hits(subject, queries, n=n, judged=known, seed=seed, progress=progress)
    n_sheets = write_sheets(pooled, subject.corpus, out)
    n_icons = sum(len(found.rows) for found in pooled)
    click.echo(f"{out}: {n_icons:,} icons of {len(pooled):,} queries on {n_sheets} sheets", err=True)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("answers", type=_Input)
@_JUDGED
def add(folder: Path, answers: Path, judged: Path) -> None:
    """Add a judge's answers to the judgements."""
    known = read_judgements(judged) if judged.exists() else []
    joined = join(known, read_answers(folder, answers))
    write_judgements(judged, joined)
    click.echo(f"{judged}: {len(joined):,} queries", err=True)


if __name__ == "__main__":
    main()
