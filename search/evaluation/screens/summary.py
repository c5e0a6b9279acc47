"""What does a measurement on screens say in a terminal? Tables of figures, with intervals where decisions are made."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from indexer.naming.printable import printable
from indexer.reports.measures import short, spell
from indexer.reports.tables import open_console, table_of
from search.evaluation.screens.findings import FALSE_BOXES

if TYPE_CHECKING:
    from search.evaluation.screens.findings import ContenderRow, GroupRow, Quality, ScreenEvaluation

COST_HEAD = ("1440 x 900", "seconds", "to find", "to name", "boxes", "peak memory")
_SETS_NAMED = 12


def print_screens(evaluation: "ScreenEvaluation") -> None:
    """Print what was looked at, and the figures of every contender."""
    console = open_console()
    for line in headline(evaluation):
        console.print(printable(line), highlight=False, markup=False)
    costs = [row for row in evaluation.rows if row.cost]
    tables = [_boxes(evaluation.rows), _end_to_end(evaluation)]
    tables += [table_of(COST_HEAD, map(cost_cells, costs))] if costs else []
    tables += [_group(evaluation.of_group(by)) for by in dict.fromkeys(row.by for row in evaluation.groups)]
    for table in tables:
        console.print()
        console.print(table)


def headline(evaluation: "ScreenEvaluation") -> Iterator[str]:
    """Say what was looked at, by what, and what was left aside."""
    yield (
        f"{evaluation.n_screens:,} screens, {evaluation.n_empty:,} of them without icons; "
        f"{evaluation.n_icons:,} icons; {evaluation.screens}"
    )
    yield (
        f"named by {evaluation.n_library_icons:,} icons; {evaluation.library}, generation {evaluation.generation}, "
        f"which holds {evaluation.n_held:,} of the icons on the screens; each screen is named by the sets that it shows"
    )
    sets = sorted(evaluation.sets.items(), key=lambda item: -item[1])
    more = f", {len(sets) - _SETS_NAMED} more" if len(sets) > _SETS_NAMED else ""
    yield f"sets on the screens: {', '.join(f'{name} {n:,}' for name, n in sets[:_SETS_NAMED])}{more}"
    yield f"measured on {evaluation.machine}"
    if not evaluation.n_held:
        yield "no names were measured: index the sets that the screens show, and give --library"


def _boxes(rows: "Sequence[ContenderRow]") -> Table:
    head = ("boxes", "AP50", "AP75", "threshold", "precision", "recall", "F1", "best F1", "P/R", "at", "false/empty")
    return table_of(head, map(_box_cells, rows))


def _box_cells(row: "ContenderRow") -> tuple[str, ...]:
    best = row.best
    return (
        row.contender,
        spell(row.ap50, with_interval=True),
        spell(row.ap75, with_interval=True),
        *_quality(row.fixed),
        short(best.f1.value),
        f"{short(best.precision.value)}/{short(best.recall.value)}",
        f"{best.threshold:.2f}",
        spell(row.false_on_empty, True, count) if row.false_on_empty else "",
    )


def _quality(quality: "Quality") -> tuple[str, ...]:
    figures = (short(quality.precision.value), short(quality.recall.value), spell(quality.f1, with_interval=True))
    return (f"{quality.threshold:.2f}", *figures)


def _end_to_end(evaluation: "ScreenEvaluation") -> Table:
    cells = [(row.contender, *_quality(row.end_to_end), "") for row in evaluation.rows if row.end_to_end]
    if evaluation.naming:
        ceiling = evaluation.naming
        cells.append(
            ("true boxes", "", "", "", spell(ceiling.top_1, with_interval=True), spell(ceiling.top_5, True)),
        )
    return table_of(("boxes and names", "threshold", "precision", "recall", "F1", "top 5"), cells)


def cost_cells(row: "ContenderRow") -> tuple[str, ...]:
    """Spell what one picture takes for a table."""
    if row.cost is None:
        return (row.contender,)
    cost = row.cost
    seconds = (f"{value:.3f}" for value in (cost.seconds, cost.find_seconds, cost.name_seconds))
    return (row.contender, *seconds, f"{cost.n_boxes:,}", f"{cost.peak_bytes / 1e6:,.0f} MB")


def _group(rows: "Sequence[GroupRow]") -> Table:
    measures = list(dict.fromkeys(name for row in rows for name in row.figures))
    cells = [
        (
            "" if row.value == before else row.value,
            row.contender,
            f"{row.n_screens:,}",
            f"{row.n_icons:,}",
            *(group_figure(row, name) for name in measures),
        )
        for row, before in zip(rows, [None, *(row.value for row in rows)], strict=False)
    ]
    return table_of((f"by {rows[0].by}", "contender", "screens", "icons", *measures), cells, n_left=2)


def group_figure(row: "GroupRow", measure: str, *, with_interval: bool = False) -> str:
    """Spell a figure of a group, if it has that one."""
    figure = row.figures.get(measure)
    if figure is None:
        return ""
    return spell(figure, with_interval, written=count if measure == FALSE_BOXES else short)


def count(value: float) -> str:
    """Spell how many boxes there are on average."""
    return f"{value:.2f}"
