"""What does `icons bench search` say? Its figures as tables of text, for the terminal and for the page alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from indexer.publishing.index_kinds import KINDS, LEAST_RECALL
from indexer.reports.measures import short, spell
from search.bench.measured import IndexRow, SearchBench, Spread


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: the first column names a row, the others are figures."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def facts(found: SearchBench) -> list[str]:
    """Say in a few lines what was measured, and where."""
    machine = found.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    memory = f"{machine.memory_bytes / 1e9:.0f} GB of memory"
    lines = [
        f"{found.library}, generation {found.generation}: {found.n_icons:,} icons, {found.n_pictures:,} pictures, "
        f"vectors of {found.dim}; {found.queries}; seed {found.seed}",
        f"{machine.processor}, {machine.cores} cores, {memory}; {machine.system}; {versions}",
    ]
    if found.likeness is not None:
        lines.append(
            "a made vector is a real one moved along the difference of two others to a cosine of "
            f"{found.likeness:g}, the median of a real one with its nearest neighbour"
        )
    return lines


def grids(found: SearchBench) -> list[Grid]:
    """Lay out every part that was measured."""
    return [*part_grids(found), *(index_grid(found.at(n)) for n in found.sizes())]


def part_grids(found: SearchBench) -> Iterator[Grid]:
    """Lay out every part that was measured but the indexes."""
    quantiles = ["p50", "p95", "p99"]
    if cold := found.cold:
        processes = {"icons search arrow": cold.search, "import torch, open_clip": cold.imports}
        rows = [[name, spell(figure, True, seconds)] for name, figure in processes.items()]
        times = f"{cold.imports.value / cold.search.value:.1f} times faster than the bare import"
        note = f"{times}; medians of {cold.n_runs} runs each, alternating"
        yield Grid("cold start", ["process", "seconds (least-most)"], rows, [note])
    if warm := found.warm:
        rows = [[stage, *spread_cells(of)] for stage, of in warm.stages.items()]
        note = f"{warm.n_queries:,} queries for {warm.k} hits among {warm.n_icons:,} icons; index {warm.spec}"
        yield Grid("warm query", ["stage", *quantiles], rows, [note])
    if found.filtered:
        rows = [[of.filters, f"{of.n_icons:,}", *spread_cells(of.latency)] for of in found.filtered]
        note = f"{found.filtered[0].n_queries:,} queries under each filter, facets counted"
        yield Grid("under filters", ["filter", "icons", *quantiles], rows, [note])
    if found.pictured:
        rows = [[of.told, *spread_cells(of.latency)] for of in found.pictured]
        n = found.pictured[0].n_queries
        note = f"{n:,} files of the library's own icons, drawn and cut out as a stranger's picture is"
        yield Grid("asked with a picture", ["query", *quantiles], rows, [note])
    if found.loads:
        rows = [
            [str(load.clients), spell(load.queries_per_second, True, rate), ms(load.latency.p50), ms(load.latency.p99)]
            for load in found.loads
        ]
        yield Grid("clients", ["clients", "queries/s (least-most)", "p50", "p99"], rows)


def index_grid(rows: Sequence[IndexRow]) -> Grid:
    """Kinds of index at one size, and which to take."""
    n, n_real = rows[0].n_vectors, rows[0].n_real
    made = f", {n - n_real:,} of them made from the {n_real:,} that the library holds" if n_real < n else ""
    cells = [
        [
            f"{row.kind}{' *' if row.is_rule else ''}",
            megabytes(row.n_bytes),
            seconds(row.build_seconds),
            short(row.recall_at_10),
            ms(row.query.p50),
            ms(row.query.p95),
            f"{row.n_queries:,}",
        ]
        for row in rows
    ]
    head = ["kind", "size", "built in", "recall@10", "p50", "p95", "queries"]
    notes = [f"{row.kind}: {KINDS[row.kind].note}" for row in rows]
    return Grid(f"index of {n:,} vectors{made}", head, cells, [*advice(rows), "; ".join(notes)])


def advice(rows: Sequence[IndexRow]) -> list[str]:
    """Hold the rule that `icons merge` follows against what was measured at one size."""
    rule = next((row for row in rows if row.is_rule), None)
    right = [row for row in rows if row.recall_at_10 >= LEAST_RECALL]
    if not right:
        return [f"no kind reaches recall@10 {short(LEAST_RECALL)}, which `icons merge` asks for"]
    best = min(right, key=lambda row: row.query.p50)
    lines = []
    if rule is not None:
        lines.append(f"* `icons merge` builds {_summary(rule)}")
    if best is not rule:
        lines.append(f"fastest with recall@10 {short(LEAST_RECALL)} or more: {_summary(best)}")
    return lines


def left_out(found: SearchBench) -> list[str]:
    """Say what was not measured, and why."""
    return [
        f"not measured: {gap.n_vectors:,} vectors, {gap.kind or 'all kinds'}: {gap.reason}" for gap in found.left_out
    ]


def _summary(row: IndexRow) -> str:
    return (
        f"{row.kind} ({ms(row.query.p50)}, recall@10 {short(row.recall_at_10)}, built in {seconds(row.build_seconds)})"
    )


def spread_cells(spread: Spread) -> list[str]:
    """Spell p50, p95 and p99."""
    return [ms(spread.p50), ms(spread.p95), ms(spread.p99)]


def megabytes(n_bytes: float) -> str:
    """Spell a size."""
    return with_unit(n_bytes / 1e6, " MB")


def with_unit(value: float, unit: str) -> str:
    """Spell a figure with three digits."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}{unit}"


ms, seconds, rate = partial(with_unit, unit=" ms"), partial(with_unit, unit=" s"), partial(with_unit, unit="/s")
