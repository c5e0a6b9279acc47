"""What does `icons bench search` say? Its figures as tables of text, for the terminal and for the page alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.publishing.index_kinds import KINDS, LEAST_RECALL
from indexer.reports.measures import short, spell
from search.bench.measured import Cold, Filtered, IndexRow, Load, Pictured, SearchBench, Warm


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
    tables = []
    if found.cold:
        tables.append(cold_grid(found.cold))
    if found.warm:
        tables.append(warm_grid(found.warm))
    if found.filtered:
        tables.append(filtered_grid(found.filtered))
    if found.pictured:
        tables.append(pictured_grid(found.pictured))
    if found.loads:
        tables.append(loads_grid(found.loads))
    tables += [index_grid(found.at(n)) for n in found.sizes()]
    return tables


def cold_grid(cold: Cold) -> Grid:
    """Whole processes."""
    rows = [
        ["icons search arrow", spell(cold.search, True, seconds)],
        ["import torch, open_clip", spell(cold.imports, True, seconds)],
    ]
    ratio = f"{cold.imports.value / cold.search.value:.1f} times faster than the bare import; medians of {cold.n_runs}"
    return Grid("cold start", ["process", "seconds (least-most)"], rows, [f"{ratio} runs each, alternating"])


def warm_grid(warm: Warm) -> Grid:
    """Stages of a query."""
    rows = [[stage, ms(of.p50), ms(of.p95), ms(of.p99)] for stage, of in warm.stages.items()]
    note = f"{warm.n_queries:,} queries for {warm.k} hits among {warm.n_icons:,} icons; index {warm.spec}"
    return Grid("warm query", ["stage", "p50", "p95", "p99"], rows, [note])


def filtered_grid(filtered: Sequence[Filtered]) -> Grid:
    """Queries under filters."""
    rows = [
        [of.filters, f"{of.n_icons:,}", ms(of.latency.p50), ms(of.latency.p95), ms(of.latency.p99)] for of in filtered
    ]
    note = f"{filtered[0].n_queries:,} queries under each filter, facets counted"
    return Grid("under filters", ["filter", "icons", "p50", "p95", "p99"], rows, [note])


def pictured_grid(pictured: Sequence[Pictured]) -> Grid:
    """Queries with a picture."""
    rows = [[of.told, ms(of.latency.p50), ms(of.latency.p95), ms(of.latency.p99)] for of in pictured]
    note = f"{pictured[0].n_queries:,} files of the library's own icons, drawn and cut out as a stranger's picture is"
    return Grid("asked with a picture", ["query", "p50", "p95", "p99"], rows, [note])


def loads_grid(loads: Sequence[Load]) -> Grid:
    """Clients at the same time."""
    rows = [
        [str(load.clients), spell(load.queries_per_second, True, rate), ms(load.latency.p50), ms(load.latency.p99)]
        for load in loads
    ]
    return Grid("clients", ["clients", "queries/s (least-most)", "p50", "p99"], rows)


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


def ms(value: float) -> str:
    """Spell milliseconds with three digits."""
    return f"{_three(value)} ms"


def seconds(value: float) -> str:
    """Spell seconds with three digits."""
    return f"{_three(value)} s"


def rate(value: float) -> str:
    """Spell queries per second."""
    return f"{_three(value)}/s"


def megabytes(n_bytes: float) -> str:
    """Spell a size."""
    return f"{_three(n_bytes / 1e6)} MB"


def _three(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
