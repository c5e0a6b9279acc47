"""What does a measurement on screens look like? One HTML page: figures, curves, and the worst, to look at."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from indexer.reports.charts import Bar, Chart, Curve, Scale, bar_chart, line_chart
from indexer.reports.measures import Figure, short, spell
from indexer.reports.page import figure_html, page, section, table_html
from search.evaluation.screens import frames, gallery
from search.evaluation.screens.answers import Answered, AnsweredScreen
from search.evaluation.screens.findings import (
    FALSE_BOXES,
    MOST_FALSE,
    RECALLS,
    THRESHOLDS,
    ContenderRow,
    GroupRow,
    ScreenEvaluation,
)
from search.evaluation.screens.summary import COST_HEAD, cost_cells, count, group_figure, headline
from search.evaluation.screens.truth import Truth, size_classes

N_WORST = 16
_CURVE = Scale("precision", written=lambda _: "", high=1.02)
"""Its legend tells the area instead of a last value."""
_TICKS = [f"{recall:g}" if place % 4 == 0 else "" for place, recall in enumerate(RECALLS)]


def screens_html(
    evaluation: ScreenEvaluation, screens: Sequence[AnsweredScreen], read_picture: gallery.ReadPicture
) -> str:
    """Lay out an evaluation as one page that needs nothing beside it; the worst are those of the last contender."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    last = [(screen.by_contender[-1], screen.truth) for screen in screens]
    name = evaluation.rows[-1].contender
    sections = [
        _figures(evaluation),
        _curves(evaluation),
        *_groups(evaluation),
        _worst(last, name),
        *_faults(last, name, read_picture),
    ]
    return page("How well icons are found in screens", facts=[*headline(evaluation), made], sections=sections)


def _figures(evaluation: ScreenEvaluation) -> str:
    rows = evaluation.rows
    charts = [
        bar_chart("AP50", [Bar(row.contender, row.ap50, n) for n, row in enumerate(rows)]),
        bar_chart("F1 of boxes", [Bar(row.contender, row.fixed.f1, n) for n, row in enumerate(rows)]),
    ]
    named = [Bar(row.contender, row.end_to_end.f1, n) for n, row in enumerate(rows) if row.end_to_end]
    if named and evaluation.naming:
        ceiling = Bar("true boxes, named", evaluation.naming.top_1, len(rows))
        charts.append(bar_chart("F1 of boxes and names", [*named, ceiling]))
    false = [Bar(row.contender, row.false_on_empty, n) for n, row in enumerate(rows) if row.false_on_empty]
    if false:
        charts.append(bar_chart("Boxes on an icon-free screen", false, written=count))
    table = table_html(["", *(row.contender for row in rows)], _lines(evaluation))
    costs = [row for row in rows if row.cost]
    table += table_html(COST_HEAD, map(cost_cells, costs)) if costs else ""
    return section("Figures", small="95 % intervals over screens", charts=charts, table=table)


def _lines(evaluation: ScreenEvaluation) -> Iterator[list[str]]:
    """A measure a line, a contender a column."""
    rows = evaluation.rows
    yield ["AP50", *(figure_html(row.ap50) for row in rows)]
    yield ["AP75", *(figure_html(row.ap75) for row in rows)]
    for title, qualities in (
        ("at its threshold", [row.fixed for row in rows]),
        ("at the best threshold for these screens", [row.best for row in rows]),
        ("boxes and names, at its threshold", [row.end_to_end for row in rows]),
    ):
        yield [f"threshold {title}", *(f"{one.threshold:.2f}" if one else "" for one in qualities)]
        for measure in ("precision", "recall", "f1"):
            figures: list[Figure | None] = [getattr(one, measure) if one else None for one in qualities]
            yield [f"{measure} {title}", *(figure_html(one) if one else "" for one in figures)]
    counts = [row.false_on_empty for row in rows]
    yield [
        "boxes on an icon-free screen",
        *(spell(one, with_interval=True, written=count) if one else "" for one in counts),
    ]
    for kind in rows[0].false_kinds:
        yield [f"false boxes: {kind}", *(f"{row.false_kinds[kind]:,}" for row in rows)]
    yield ["seconds to find the boxes of a screen", *(f"{row.seconds:.3f}" for row in rows)]


def _curves(evaluation: ScreenEvaluation) -> str:
    rows = evaluation.rows
    areas = [
        Curve(f"{row.contender}, AP50 {short(row.ap50.value)}", _plain(row.precisions), n)
        for n, row in enumerate(rows)
        if row.precisions
    ]
    charts = [line_chart("Precision over recall", areas, ticks=_TICKS, x_title="recall", y=_CURVE)] if areas else []
    scored = [(n, row) for n, row in enumerate(rows) if row.thresholds[0].f1 != row.thresholds[-1].f1]
    if scored:
        charts += [*_over_thresholds(scored)]
    return section("Curves", small=f"at most {MOST_FALSE:g} boxes on an icon-free screen are wanted", charts=charts)


def _over_thresholds(rows: Sequence[tuple[int, ContenderRow]]) -> Iterator[Chart]:
    ticks = [f"{threshold:g}" if place % 3 == 0 else "" for place, threshold in enumerate(THRESHOLDS)]
    marked = [(f"{row.contender}, threshold {row.fixed.threshold:.2f}:", n, row) for n, row in rows]
    f1 = [Curve(label, _plain([at.f1 for at in row.thresholds]), n) for label, n, row in marked]
    yield line_chart("F1 of boxes over threshold", f1, ticks=ticks, x_title="least score")
    false = [Curve(label, _plain([at.false_on_empty for at in row.thresholds]), n) for label, n, row in marked]
    scale = Scale(written=count)
    yield line_chart("Boxes on an icon-free screen", false, ticks=ticks, x_title="least score", y=scale)


def _plain(values: Sequence[float]) -> list[Figure]:
    """Values without intervals."""
    return [Figure(value, value, value) for value in values]


def _groups(evaluation: ScreenEvaluation) -> Iterator[str]:
    yield section("By size", small="longer painted side, CSS pixels", charts=_by_size(evaluation))
    for by in dict.fromkeys(row.by for row in evaluation.groups):
        rows = evaluation.of_group(by)
        measures = list(dict.fromkeys(name for row in rows for name in row.figures))
        table = table_html([by, "contender", "screens", "icons", *measures], [_cells(row, measures) for row in rows])
        yield f"<details open><summary>by {escape(by)}</summary>{table}</details>"


def _by_size(evaluation: ScreenEvaluation) -> Iterator[Chart]:
    rows = evaluation.of_group("size")
    ticks = [size for size in size_classes() if any(row.value == size for row in rows)]
    for measure in ("recall", "found and named"):
        curves = [
            Curve(one.contender, [row.figures[measure] for row in rows if row.contender == one.contender], n)
            for n, one in enumerate(evaluation.rows)
            if all(measure in row.figures for row in rows)
        ]
        if ticks and curves:
            spelt = [tick.removesuffix(" px").replace(" px and more", "+") for tick in ticks]
            yield line_chart(f"{measure.capitalize()} by size", curves, ticks=spelt, x_title="CSS pixels")


def _cells(row: GroupRow, measures: Sequence[str]) -> list[str]:
    shares = {name: figure_html(figure) for name, figure in row.figures.items() if name != FALSE_BOXES}
    figures = (shares.get(name) or group_figure(row, name, with_interval=True) for name in measures)
    return [row.value, row.contender, f"{row.n_screens:,}", f"{row.n_icons:,}", *figures]


def _worst(answers: Sequence[tuple[Answered, Truth]], name: str) -> str:
    screens = "".join(frames.framed_screen(*pair) for pair in frames.worst_first(answers)[:N_WORST])
    small = f"by faults of {name} at its threshold"
    head = f"<h2>Worst screens <small>{escape(small)}</small></h2>"
    return f"<section>{frames.STYLE}{gallery.STYLE}{head}{frames.legend()}{screens}</section>"


def _faults(answers: Sequence[tuple[Answered, Truth]], name: str, read_picture: gallery.ReadPicture) -> Iterator[str]:
    found = gallery.find_faults(answers)
    titles = {
        "False boxes": "the surest first",
        "Missed icons": "with the score of the box below the threshold; those without a box first",
        "Wrong names": "the surest first, beside what they were called",
    }
    crops = gallery.galleries(found, [truth for _, truth in answers], read_picture)
    for (title, order), faults, shown in zip(titles.items(), found, crops, strict=True):
        many = f"{gallery.MOST} of {len(faults):,}" if len(faults) > gallery.MOST else f"{len(faults):,}"
        yield section(title, small=f"{name}: {many}; {order}", table=shown)
