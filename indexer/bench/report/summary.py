"""What do measurements say in a terminal? One table of all rows, the laws, the limit, precision's price."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from rich.table import Table

from indexer.bench.report.charts import label_in, seconds, times, whole
from indexer.bench.report.findings import ALONE, EmbedFindings
from indexer.bench.scaling import Speedups
from indexer.bench.trials.sweep import Row
from indexer.reports.measures import Figure, short
from indexer.reports.tables import open_console, table_of

COLUMNS = ("measured", "configuration", "images/s", "seconds", "waits", "memory", "of the limit", "MFU", "bound by")


def print_summary(findings: EmbedFindings) -> None:
    """Print what was measured."""
    print_measured(headline(findings), table_of(COLUMNS, cells(findings), n_left=2))
    if lines := [*scaling_lines(findings), *limit_lines(findings)]:
        print_measured(["", *lines])
    if findings.parities:
        print_measured([], table_of(PARITY_COLUMNS, parity_cells(findings), n_left=1))
    print_measured(findings.notes)


def print_measured(lines: Sequence[str], table: Table | None = None) -> None:
    """Print lines, and a table beneath."""
    console = open_console()
    for line in lines:
        console.print(line, highlight=False, markup=False)
    if table:
        console.print()
        console.print(table)


def headline(findings: EmbedFindings) -> list[str]:
    """Say in a few lines what was measured on what."""
    again = f" ({findings.n_distinct:,} distinct)" if findings.n_distinct < findings.n_images else ""
    first = (
        f"{findings.n_images:,} pictures{again}, encoder {findings.model} ({findings.fingerprint}), "
        f"medians of {findings.repeats} with 95 % intervals"
    )
    return [first, *machine_lines(findings)]


class OfMachine(Protocol):
    """What was measured on some machine, at some time."""

    machine: dict[str, Any]
    made_at: str
    is_cut_off: bool


def machine_lines(findings: OfMachine) -> list[str]:
    """Say in a few lines what was measured on, and when."""
    lines = []
    if machine := findings.machine:
        gpus = ", ".join(gpu["name"] for gpu in machine.get("gpus", ()))
        packages = machine["packages"]
        lines.append(
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:g} GB{gpus and f'; {gpus}'}"
        )
        lines.append(f"torch {packages['torch']}, Python {machine['python']}, {machine['system']}; {findings.made_at}")
        if machine["load_before"] > 0.5:
            lines.append(f"the machine was busy before (load {machine['load_before']}): times are too long")
    if findings.is_cut_off:
        lines.append("cut off: what was measured until then is kept")
    return lines


def cells(findings: EmbedFindings) -> Iterator[Sequence[str]]:
    """Rows of the one table, as text."""
    limit = findings.limit
    previous = None
    for row in findings.rows:
        if row.part != "all":
            continue
        first, previous = ("" if row.group == previous else row.group), row.group
        label = label_in(row, [other for other in findings.rows if other.group == row.group])
        if not row.runs:
            yield first, label, row.error or "not measured", *[""] * 6
            continue
        waits = "" if row.waited_share is None else f"{row.waited_share:.0%}"
        others = ("", "", "")
        if limit and _is_like(row, limit.precision):
            others = (f"{limit.share(row):.0%}", f"{limit.mfu(row):.1%}", limit.bound_of(row))
        memory = f"{max(run.memory_bytes for run in row.runs) / 1e9:.2f} GB"
        yield first, label, interval(row.rate, whole), interval(row.seconds, seconds), waits, memory, *others


def _is_like(row: Row, precision: str) -> bool:
    """Whether the limit, which was measured at one precision and size, is this row's too."""
    return row.knobs.size is None and row.knobs.loader == "icons" and row.knobs.precision in ("auto", precision)


def interval(figure: Figure, spell_value: Callable[[float], str]) -> str:
    """Spell a figure with its interval."""
    low, high = spell_value(figure.low), spell_value(figure.high)
    return f"{spell_value(figure.value)} ({low.removesuffix(' s').removesuffix('x')}-{high})"


def scaling_lines(findings: EmbedFindings) -> Iterator[str]:
    """Speed-ups, and what the laws make of them: with drawing, and of the devices alone."""
    for feed, named in (("", "with drawing"), (ALONE, "devices alone")):
        for group, label in (("scaling", "same work"), ("weak scaling", "as much for each")):
            if found := findings.speedups(f"{group}{feed}"):
                yield from _speedup_lines(found, f"{named}, {label}")
        for law in findings.fits(feed):
            beyond = "; ".join(f"{n} devices {interval(figure, times)}" for n, figure in law.extrapolated.items())
            share = law.parallel_share
            serial = f"serial share {1 - share.value:.3f} ({1 - share.high:.3f}-{1 - share.low:.3f})"
            yield f"{named}, {law.law}: {serial}; {beyond}"


def _speedup_lines(found: Speedups, label: str) -> Iterator[str]:
    for n, speedup, efficiency in zip(found.devices, found.speedup, found.efficiency, strict=True):
        if n > 1:
            yield f"{n} devices, {label}: {interval(speedup, times)}, efficiency {efficiency.value:.0%}"


def limit_lines(findings: EmbedFindings) -> Iterator[str]:
    """The ceilings, and the machine's links."""
    limit = findings.limit
    if limit is not None:
        takes = f"{limit.flops_per_image / 1e9:.3g} GFLOP and at least {limit.bytes_per_image / 1e6:.2f} MB"
        gives = f"{limit.flops_per_second / 1e9:,.0f} GFLOP/s, memory {limit.bytes_per_second / 1e9:,.1f} GB/s"
        yield f"limit: a picture takes {takes}; {limit.precision} matrix products {gives}"
        yield (
            f"alone: rendering {1000 * limit.render_seconds:.3f} ms of a core, forward pass "
            f"{1000 * limit.forward_seconds:.3f} ms; so at most {limit.images_per_second:,.0f} images/s"
        )
    for name, found in findings.links.items():
        yield f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in found.items())


PARITY_COLUMNS = (
    "precision",
    "least cosine to fp32",
    "mean",
    "queries whose rank changed",
    "by (median)",
    "R@10",
    "MRR@50",
)


def parity_cells(findings: EmbedFindings) -> Iterator[Sequence[str]]:
    """Rows of the table of precisions."""
    for one in findings.parities:
        moved = (f"{one.changed_share:.1%}", f"{one.median_move:g}")
        quality = (interval(one.recall, short), interval(one.reciprocal, short))
        yield one.precision, f"{one.least_cosine:.5f}", f"{one.mean_cosine:.5f}", *moved, *quality
