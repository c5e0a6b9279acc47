"""What does an evaluation say in a terminal? Tables of figures; intervals where decisions are made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from indexer.naming.printable import printable
from indexer.reports.measures import spell
from indexer.reports.tables import open_console, plain
from search.evaluation.metrics import MEASURES

if TYPE_CHECKING:
    from search.evaluation.empty_answers import EmptyRow
    from search.evaluation.findings import Evaluation, Row

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
    if evaluation.empty:
        console.print()
        console.print(_empty_answers(evaluation.empty))


def headline(evaluation: "Evaluation") -> list[str]:
    """Say in a few lines what was measured and what was left out."""
    lines = [
        f"{evaluation.n_icons:,} icons, {evaluation.n_pictures:,} pictures; {evaluation.library}, generation "
        f"{evaluation.generation}",
        f"fused: {evaluation.picture_weight:g} picture + {1 - evaluation.picture_weight:g} name; exact search, fp32",
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


def _empty_answers(rows: "Sequence[EmptyRow]") -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("best score below", no_wrap=True)
    for column in ("queries", *rows[0].figures):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.kind, f"{row.n_queries:,}", *map(spell, row.figures.values()))
    return table


def _table(title: str, rows: "Sequence[Row]", with_interval: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in (title, "ranker", "encoder"):
        table.add_column(column, no_wrap=True)
    for column in ("queries", *MEASURES):
        table.add_column(column, justify="right", no_wrap=True)
    previous = None
    for row in rows:
        name = row.task if row.condition is None else row.condition.label
        cells = [spell(row.figures[measure], measure in with_interval) for measure in MEASURES]
        first = "" if name == previous else name
        table.add_row(plain(first), row.ranker, plain(row.encoder or ""), f"{row.n_queries:,}", *cells)
        previous = name
    return table
