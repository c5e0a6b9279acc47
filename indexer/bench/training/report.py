"""What do measurements of training look like? One table for terminal and page alike, charts, the report."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from indexer.bench.report.charts import times, whole
from indexer.bench.report.page import compared_html, machine_html, write_files
from indexer.bench.report.summary import interval, machine_lines, print_measured
from indexer.bench.training.findings import TrainFindings
from indexer.bench.training.trial import SHARES, TrainRow
from indexer.bench.trials.knobs import spell
from indexer.reports.charts import Bar, Chart, Stack, bar_chart, stacked_chart
from indexer.reports.page import page, section, table_html
from indexer.reports.tables import table_of

COLUMNS = ("measured", "configuration", "steps/s", "pictures/s", "against the first", *SHARES, "waits", "loss")
_NAMES = {"data-parallel": "nn.DataParallel", "ddp": "DDP", "ddp-sampled": "DDP, distributed sampling", "fsdp": "FSDP"}
_TOLD = {
    "strategy": "the same batches in every way",
    "DDP options": "each changed alone",
    "options": "each changed alone",
    "NCCL": "each changed alone, in ranks of its own",
    "accumulation": "two micro-batches; a plain loss compares each by itself, and is another number",
    "devices": "the same batches; on a CPU each device has its share of the cores",
}


def label_in(row: TrainRow, rows: Sequence[TrainRow]) -> str:
    """Spell what sets a row apart from the first of its group, which bears its own value of what the others change."""
    base = rows[0]
    if row.group == "strategy":
        n = row.knobs.devices
        label = "one device" if n == 1 else f"{_NAMES[row.knobs.strategy]} x {n}"
    elif row is base:
        has = row.group in row.knobs.__dataclass_fields__
        label = f"{row.group}={spell(getattr(row.knobs, row.group))}" if has else "base"
    else:
        label = row.knobs.label(of=base.knobs)
    return f"{label}, simulated" if row.knobs.is_simulated else label


def headline(findings: TrainFindings) -> list[str]:
    """Say in a few lines what was measured on what."""
    simulated = [row for row in findings.rows if row.knobs.is_simulated]
    devices = f"{findings.n_devices} GPUs" if findings.kind == "cuda" else f"CPU, up to {findings.n_devices} devices"
    if simulated and len(simulated) == len(findings.rows):
        devices = f"simulated devices, up to {max(row.knobs.devices for row in simulated)}"
    first = (
        f"{findings.n_icons:,} icons, model {findings.model} ({findings.fingerprint}), {devices}; {findings.steps} "
        f"steps a run, medians of {findings.repeats} with 95 % intervals"
    )
    lines = [_simulated_line(len(simulated), of=len(findings.rows))] if simulated else []
    return [first, *lines, *machine_lines(findings)]


def _simulated_line(n: int, *, of: int) -> str:
    return f"simulated: a step of {n} of {of} rows is a delay on the processor, and nothing is learnt; there is no loss"


def cells(findings: TrainFindings) -> Iterator[Sequence[str]]:
    """Rows of the one table, as text."""
    previous = None
    for row, base, effect in findings.effects():
        first, previous = ("" if row.group == previous else row.group), row.group
        label = label_in(row, [base])
        shares = [f"{row.shares[name]:.0%}" if name in row.shares else "" for name in SHARES]
        if not row.runs:
            yield first, label, row.error or "not measured", "", "", *shares, "", ""
            continue
        against = "" if row is base or effect is None else interval(effect, times)
        rates = (interval(row.rate, rate), interval(row.images_per_second, whole))
        loss = "" if row.knobs.is_simulated else f"{row.runs[-1].loss:.4f}"
        yield first, label, *rates, against, *shares, f"{row.waited_share:.0%}", loss


def rate(value: float) -> str:
    """Spell steps/s."""
    return f"{value:,.1f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def print_training(findings: TrainFindings) -> None:
    """Print what was measured."""
    print_measured(headline(findings), table_of(COLUMNS, cells(findings), n_left=2))


def charts(findings: TrainFindings) -> dict[str, Chart]:
    """Pictures/s and shares of every group, by the names of their files without suffix."""
    found: dict[str, Chart] = {}
    for group in findings.groups():
        everyone = findings.of(group)
        rows = [row for row in everyone if row.runs]
        if not rows:
            continue
        bars = [Bar(label_in(row, everyone), row.images_per_second, 0 if row is everyone[0] else 1) for row in rows]
        found[f"{_file(group)}-rate"] = bar_chart(f"{group}: pictures/s", bars, written=whole)
        if all(row.shares for row in rows):
            stacks = [Stack(label_in(row, everyone), [_seconds(row, name) for name in SHARES]) for row in rows]
            title = f"{group}: seconds of a step"
            found[f"{_file(group)}-shares"] = stacked_chart(title, stacks, parts=SHARES, written=_spell_seconds)
    return found


def _seconds(row: TrainRow, name: str) -> float:
    """Of a step, by the shares of the profiled run; communication happens within computing, and is taken off there."""
    within = row.shares["communication"] if name == "compute" else 0.0
    return max(0.0, row.shares[name] - within) / row.rate.value


def _spell_seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def write_training(findings: TrainFindings, out: Path, *, before: TrainFindings | None = None) -> None:
    """Write `report.json`, `report.html` and `charts/*.png` into a folder."""
    drawn = charts(findings)
    sections = []
    if before is not None:
        sections.append(compared_html(before, findings, unit="steps/s", label=label_in, written=rate))
    for group in findings.groups():
        pictures = [drawn[name] for name in (f"{_file(group)}-rate", f"{_file(group)}-shares") if name in drawn]
        if pictures:
            simulated = ["simulated"] if any(row.knobs.is_simulated for row in findings.of(group)) else []
            small = "; ".join([*filter(None, [_TOLD.get(group)]), *simulated])
            sections.append(section(group, small=small, charts=pictures))
    if findings.rows:
        sections.append(section("All rows", table=table_html(COLUMNS, cells(findings), n_left=2)))
    sections += machine_html(findings.machine)
    html = page("How fast a model learns", facts=headline(findings), sections=sections)
    write_files(out, findings.to_json(), html, drawn)


def _file(group: str) -> str:
    return group.replace(" ", "-")
