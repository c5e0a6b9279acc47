"""Which pictures tell what was measured? Batch, workers and devices against time, speed-up, stages."""

from collections.abc import Iterator, Sequence

from indexer.bench.report.findings import ALONE, EmbedFindings
from indexer.bench.scaling import amdahl, gustafson
from indexer.bench.trials.knobs import Knobs, spell
from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import STAGES
from indexer.reports.charts import Bar, Chart, Curve, Scale, Stack, bar_chart, line_chart, stacked_chart
from indexer.reports.measures import Figure

_AXES = {
    "batch": "pictures at once",
    "workers": "rendering processes",
    "prefetch": "batches ahead of each loader worker",
    "size": "side of a picture, px",
}
_OTHER_GROUPS = (
    "limit",
    "scaling",
    "weak scaling",
    f"scaling{ALONE}",
    f"weak scaling{ALONE}",
    "stages",
    "strategy",
    "grid",
)


def sweep_names(findings: EmbedFindings) -> list[str]:
    """Knobs that were swept one at a time."""
    return list(dict.fromkeys(row.group for row in findings.rows if row.runs and row.group not in _OTHER_GROUPS))


def charts(findings: EmbedFindings) -> dict[str, Chart]:
    """All charts by their file names, without suffix."""
    found: dict[str, Chart] = {}
    for name in sweep_names(findings):
        for what, chart in _sweep(name, findings.of(name)):
            found[f"{name}-{what}"] = chart
    for group in ("grid", "strategy"):
        if rows := findings.of(group):
            bars = [Bar(label_in(row, rows), row.rate, _colour(row)) for row in rows]
            found[group] = bar_chart(f"{group}: images/s", bars, written=whole)
    found |= dict(_scaling(findings))
    found |= {f"{name}-alone": chart for name, chart in _scaling(findings, ALONE)}
    if stages := findings.of("stages", "stages"):
        found["stages"] = _stages(stages)
    return found


def label_in(row: Row, rows: Sequence[Row]) -> str:
    """Spell what sets a row apart from the others of its group."""
    names = [name for name in Knobs.__dataclass_fields__ if len({getattr(other.knobs, name) for other in rows}) > 1]
    if row.knobs.path == "naive":
        return "naive script" + (f", {row.knobs.devices} devices" if row.knobs.devices > 1 else "")
    if row.group == "strategy":
        one, n = row.knobs.devices == 1, row.knobs.devices
        if row.knobs.path == "index":
            return "icons index, " + ("one device" if one else f"{n} devices")
        return ("one device" if one else f"{row.knobs.strategy} x {n}") + f", {row.knobs.loader}"
    return ", ".join(f"{name} {spell(getattr(row.knobs, name))}" for name in names if name != "path") or "base"


def whole(value: float) -> str:
    """Spell a rate."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def seconds(value: float) -> str:
    """Spell a time."""
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 0.1 else f"{value:.4f} s"


def milliseconds(value: float) -> str:
    """Spell the time of one picture."""
    return f"{value:.2f} ms"


def times(value: float) -> str:
    """Spell a speed-up."""
    return f"{value:.2f}x"


def _sweep(name: str, rows: Sequence[Row]) -> Iterator[tuple[str, Chart]]:
    """Time and rate over the values of a knob: curves for numbers, bars for anything else."""
    values = [getattr(row.knobs, name) for row in rows]
    if name not in _AXES or len(rows) < 2:
        bars = [Bar(spell(value), row.rate, 0) for value, row in zip(values, rows, strict=True)]
        yield "rate", bar_chart(f"{name}: images/s", bars, written=whole)
        return
    ticks = [spell(value) for value in values]
    for what, title, written, figures in (
        ("time", f"{name} against time, s", seconds, [row.seconds for row in rows]),
        ("rate", f"{name} against images/s", whole, [row.rate for row in rows]),
    ):
        curve = Curve("measured", figures, 0)
        yield what, line_chart(title, [curve], ticks=ticks, x_title=_AXES[name], y=Scale(written=written))


def _scaling(findings: EmbedFindings, feed: str = "") -> Iterator[tuple[str, Chart]]:
    rows = findings.of(f"scaling{feed}")
    if len(rows) > 1 and rows[0].knobs.devices == 1:
        ticks = [str(row.knobs.devices) for row in rows]
        one = rows[0].seconds.value
        ideal = [_exact(one / row.knobs.devices) for row in rows]
        curves = [Curve("ideal", ideal, 5, is_ideal=True), Curve("measured", [row.seconds for row in rows], 0)]
        title, y = f"devices against time, s{feed}", Scale(written=seconds)
        yield "devices-time", line_chart(title, curves, ticks=ticks, x_title="devices", y=y)
    curves = []
    counts: tuple[int, ...] = ()
    for colour, (group, label) in enumerate((("scaling", "same work"), ("weak scaling", "as much for each"))):
        found = findings.speedups(f"{group}{feed}")
        if found is not None:
            counts = found.devices
            curves.append(Curve(label, found.speedup, colour))
    if not curves:
        return
    curves.insert(0, Curve("ideal", [_exact(n) for n in counts], 5, is_ideal=True))
    for law in findings.fits(feed):
        curve = amdahl if law.law == "Amdahl" else gustafson
        figures = [_exact(curve(law.parallel_share.value, n)) for n in counts]
        curves.append(Curve(law.law, figures, 2 if law.law == "Amdahl" else 3, is_ideal=True))
    ticks, title, y = [str(n) for n in counts], f"speed-up over one device{feed}", Scale(written=times)
    yield "speed-up", line_chart(title, curves, ticks=ticks, x_title="devices", y=y)


def _stages(rows: Sequence[Row]) -> Chart:
    """Milliseconds of a device for one picture, stage by stage."""
    stacks = []
    for row in rows:
        run = sorted(row.runs, key=lambda run: run.seconds)[len(row.runs) // 2]
        each = run.images / row.knobs.devices
        parts = [1000 * run.stages.get(stage, 0.0) / each for stage in STAGES]
        stacks.append(Stack(f"{row.knobs.devices} device{'s' if row.knobs.devices > 1 else ''}", parts))
    title = "stages of one picture, ms of a device"
    return stacked_chart(title, stacks, parts=STAGES, written=milliseconds)


def _colour(row: Row) -> int:
    if row.knobs.path == "naive":
        return 5
    return {"icons": 0, "files": 1, "memory": 2}[row.knobs.loader]


def _exact(value: float) -> Figure:
    return Figure(value, value, value)
