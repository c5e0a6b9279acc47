"""What does `icons bench search` look like? Charts and tables on one HTML page."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from indexer.publishing.index_kinds import KINDS
from indexer.reports.charts import Bar, Chart, Curve, Point, Scale, bar_chart, line_chart, scatter_chart
from indexer.reports.measures import Figure
from indexer.reports.page import page, section, table_html
from search.bench.measured import Cold, IndexRow, Load, SearchBench, Spread, Warm
from search.bench.tables import Grid, facts, index_grid, left_out, megabytes, ms, part_grids, rate, seconds

_COLOURS = {kind: number for number, kind in enumerate(KINDS)}


def bench_page(found: SearchBench) -> str:
    """Lay out what was measured as one page that needs nothing beside it."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return page("How fast icons are found", facts=[*facts(found), made], sections=list(_sections(found)))


def _sections(found: SearchBench) -> Iterator[str]:
    charts = {
        "cold start": [_cold(found.cold)] if found.cold else [],
        "warm query": [_warm(found.warm)] if found.warm else [],
        "clients": _loads(found.loads) if found.loads else [],
    }
    for grid in part_grids(found):
        yield _section(grid, charts.get(grid.title, []))
    if len(found.sizes()) > 1:
        yield section("index over size", charts=_over_sizes(found))
    for n in found.sizes():
        yield _section(index_grid(found.at(n)), _kinds(found.at(n)))
    if found.left_out:
        yield section("not measured", lines=left_out(found))


def _section(grid: Grid, charts: Sequence[Chart]) -> str:
    return section(grid.title, charts=charts, table=table_html(grid.head, grid.rows), lines=grid.notes)


def _cold(cold: Cold) -> Chart:
    bars = [Bar("icons search arrow", cold.search, 0), Bar("import torch, open_clip", cold.imports, 5)]
    return bar_chart("a whole process; median, least, most", bars, written=seconds)


def _warm(warm: Warm) -> Chart:
    bars = [Bar(stage, _to_p99(of), colour) for colour, (stage, of) in enumerate(warm.stages.items())]
    return bar_chart("a warm query: p50, whisker to p99", bars, written=ms)


def _loads(loads: Sequence[Load]) -> list[Chart]:
    ticks = [str(load.clients) for load in loads]
    rates = [load.queries_per_second for load in loads]
    latencies = [_to_p99(load.latency) for load in loads]
    of_rates, of_latencies = Scale(written=rate), Scale(written=ms)
    x_title = "clients at the same time"
    return [
        line_chart("queries/s", [Curve("one engine", rates, 0)], ticks=ticks, x_title=x_title, y=of_rates),
        line_chart(
            "ms a query: p50, band to p99", [Curve("p50", latencies, 2)], ticks=ticks, x_title=x_title, y=of_latencies
        ),
    ]


def _over_sizes(found: SearchBench) -> list[Chart]:
    """p50 and recall of every kind over the sizes, as far as the kind was measured."""
    sizes = found.sizes()
    ticks = [_short_count(n) for n in sizes]
    times, recalls = [], []
    for kind, colour in _COLOURS.items():
        rows = [row for row in found.rows if row.kind == kind]
        if [row.n_vectors for row in rows] == sizes[: len(rows)] and rows:
            times.append(Curve(kind, [_point(row.query.p50) for row in rows], colour))
            recalls.append(Curve(kind, [_point(row.recall_at_10) for row in rows], colour))
    of_times, of_recalls = Scale(written=ms, is_log=True), Scale(low=None, high=1.01)
    return [
        line_chart("p50 of a query, in ms", times, ticks=ticks, x_title="vectors", y=of_times),
        line_chart("recall@10", recalls, ticks=ticks, x_title="vectors", y=of_recalls),
    ]


def _kinds(rows: Sequence[IndexRow]) -> list[Chart]:
    """One size: how right over how fast, and what each kind costs."""
    points = [Point(row.kind, row.query.p50, row.recall_at_10, _COLOURS[row.kind]) for row in rows]
    x, y = Scale("p50 of a query, ms", ms, is_log=True), Scale("recall@10", low=None, high=1.01)
    built = [Bar(row.kind, _point(row.build_seconds), _COLOURS[row.kind]) for row in rows]
    sizes = [Bar(row.kind, _point(row.n_bytes / 1e6), _COLOURS[row.kind]) for row in rows]
    return [
        scatter_chart("recall@10 over p50: up and left is better", points, x=x, y=y),
        bar_chart("built in, s", built, written=seconds),
        bar_chart("size, MB", sizes, written=lambda value: megabytes(1e6 * value)),
    ]


def _to_p99(spread: Spread) -> Figure:
    return Figure(spread.p50, spread.p50, spread.p99)


def _point(value: float) -> Figure:
    return Figure(value, value, value)


def _short_count(n: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1000, "k")):
        if n >= unit:
            return f"{n / unit:g}{letter}"
    return str(n)
