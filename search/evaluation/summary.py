"""What does an evaluation say in a terminal? Tables of figures; intervals where decisions are made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from indexer.languages.words import printable
from indexer.reports.measures import short, spell
from indexer.reports.terminal import open_console, table_of
from search.evaluation.findings import MEASURES

if TYPE_CHECKING:
    from search.evaluation.described import DescribedAnswer, DescribedRow, EmptyRow
    from search.evaluation.findings import Evaluation, Row
    from search.evaluation.judged import JudgedRow

WITH_INTERVAL = ("R@10", "MRR@50")
WITH_INTERVAL_OF_SHOTS = ("R@1", "MRR@50")


def print_summary(evaluation: "Evaluation") -> None:
    """Print what was asked of what, and the figures of every ranker."""
    console = open_console()
    for line in headline(evaluation):
        console.print(printable(line), highlight=False, markup=False)
    asked = [row for rows in evaluation.of_words().values() for row in rows]
    tables = (("task", asked, WITH_INTERVAL), ("screenshots", evaluation.of_screenshots(), WITH_INTERVAL_OF_SHOTS))
    for title, rows, with_interval in tables:
        if rows:
            console.print()
            console.print(_table(title, rows, with_interval))
    if below := [*evaluation.below()]:
        console.print()
        for line in ("The engine finds less than a part of it:", *(f"  {line}" for line in below)):
            console.print(printable(line), highlight=False, markup=False)
    if evaluation.judged:
        console.print()
        console.print(_judged(evaluation.judged))
    if evaluation.empty:
        console.print()
        console.print(_empty_answers(evaluation.empty))
    if evaluation.described:
        console.print()
        console.print(_described(evaluation.described))
    for answer in evaluation.failed():
        console.print(printable(f"  {_failure(answer)}"), highlight=False, markup=False)


def headline(evaluation: "Evaluation") -> list[str]:
    """Say in a few lines what was measured and what was left out."""
    lines = [
        f"{evaluation.n_icons:,} icons, {evaluation.n_pictures:,} pictures; {evaluation.library}, generation "
        f"{evaluation.generation}",
        f"fused: {evaluation.picture_weight:g} picture + {1 - evaluation.picture_weight:g} name, tags for "
        f"{evaluation.tag_weight:g} of it where known; exact search, fp32",
    ]
    if not evaluation.files:
        lines.append("no words were asked: --queries FILE gives some, docs/evaluation.md says how to write them")
    if evaluation.n_dropped:
        lines.append(f"{evaluation.n_dropped:,} queries not asked: none of their relevant names is in this library")
    if evaluation.unknown:
        some = ", ".join(evaluation.unknown[:10]) + (", ..." if len(evaluation.unknown) > 10 else "")
        lines.append(f"{len(evaluation.unknown):,} relevant names that no icon bears: {some}")
    if evaluation.n_unreadable:
        lines.append(
            f"{evaluation.n_unreadable:,} pictures left out: their sources have gone or changed; `icons index`"
        )
    return lines


def _judged(rows: "Sequence[JudgedRow]") -> Table:
    cells = [
        (
            row.ranker,
            row.encoder,
            f"{row.n_queries:,}",
            *(spell(figure, with_interval=True) for figure in row.figures.values()),
            short(row.unjudged),
        )
        for row in rows
    ]
    return table_of(("judged", "encoder", "queries", *rows[0].figures, "unjudged"), cells, n_left=2)


def _empty_answers(rows: "Sequence[EmptyRow]") -> Table:
    cells = [(row.kind, f"{row.n_queries:,}", *map(spell, row.figures.values())) for row in rows]
    return table_of(("best score below", "queries", *rows[0].figures), cells)


def _described(rows: "Sequence[DescribedRow]") -> Table:
    cells = [(row.title, f"{row.n_queries:,}", spell(row.holds, with_interval=True)) for row in rows]
    return table_of(("described drawings", "queries", "hold"), cells)


def _failure(answer: "DescribedAnswer") -> str:
    names = ", ".join(f"{hit.set}:{hit.name}" for hit in answer.hits) or "nothing"
    return f"{answer.query}: {counted(answer)}: {names}"


def counted(answer: "DescribedAnswer") -> str:
    """Say how many of the first hits are what they must be, and how many what they must not."""
    return f"{answer.n_right} right, {answer.n_wrong} wrong"


def _table(title: str, rows: "Sequence[Row]", with_interval: Sequence[str]) -> Table:
    names = [row.title if row.condition is None else row.condition.label for row in rows]
    cells = [
        (
            "" if name == before else name,
            row.ranker,
            row.encoder or "",
            f"{row.n_queries:,}",
            *(spell(row.figures[measure], measure in with_interval) for measure in MEASURES),
        )
        for row, name, before in zip(rows, names, [None, *names], strict=False)
    ]
    return table_of((title, "ranker", "encoder", "queries", *MEASURES), cells, n_left=3)
