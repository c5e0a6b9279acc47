"""What does a measurement look like? One HTML page with charts and tables, the same charts as PNG, and JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from indexer.bench.report.charts import charts, label_in, sweep_names, times, whole
from indexer.bench.report.findings import EmbedFindings, Findings
from indexer.bench.report.summary import (
    COLUMNS,
    PARITY_COLUMNS,
    cells,
    headline,
    interval,
    limit_lines,
    parity_cells,
    scaling_lines,
)
from indexer.library.named import write_result
from indexer.reports.charts import Chart, Written
from indexer.reports.measures import Figure
from indexer.reports.page import page, section, table_html

_OF_DEVICES = ("devices-time", "speed-up", "devices-time-alone", "speed-up-alone")
Label = Callable[[Any, Sequence[Any]], str]
"""Spells what sets a row apart from the others of its group."""


def write_report(findings: EmbedFindings, out: Path, *, before: EmbedFindings | None = None) -> None:
    """Write `report.json`, `report.html` and `charts/*.png` into a folder."""
    drawn = charts(findings)
    sections = [*_charted(findings, drawn), *_tables(findings), *machine_html(findings.machine)]
    if before is not None:
        sections.insert(0, compared_html(before, findings, unit="images/s", label=label_in, written=whole))
    html = page("How fast icons are embedded", facts=[*headline(findings), *findings.notes], sections=sections)
    write_files(out, findings.to_json(), html, drawn)


def write_files(out: Path, plain: Mapping[str, Any], html: str, drawn: Mapping[str, Chart]) -> None:
    """Write a report in its three forms."""
    write_result(out / "report.json", (json.dumps(plain, indent=1) + "\n").encode(), option="--out")
    write_result(out / "report.html", html.encode(), option="--out")
    for name, chart in drawn.items():
        write_result(out / "charts" / f"{name}.png", chart.png(), option="--out")


def compared_html(before: Findings, now: Findings, *, unit: str, label: Label, written: Written) -> str:
    """Lay out a line for every configuration that both have measured, and what else differs between the two."""
    known = {(row.title, row.knobs): row.rate for row in before.rows if row.runs}
    lines = []
    for row in now.rows:
        old = known.get((row.title, row.knobs))
        if old is not None and row.runs:
            name = label(row, [other for other in now.rows if other.group == row.group])
            rates = (interval(old, written), interval(row.rate, written))
            lines.append((row.title, name, *rates, times(row.rate.value / old.value), verdict(old, row.rate)))
    head = ("measured", "configuration", f"{unit} before", f"{unit} now", "now / before", "")
    facts = [f"before: {before.made_at}", *differences(before, now)]
    return section("Compared with a saved run", table=table_html(head, lines, n_left=2), lines=facts)


def verdict(before: Figure, now: Figure) -> str:
    """Tell whether a rate has changed: not where the intervals overlap."""
    is_clear = now.low > before.high or now.high < before.low
    return ("faster" if now.value > before.value else "slower") if is_clear else "within the intervals"


def differences(before: Findings, now: Findings) -> Iterator[str]:
    """Say what else differs between two runs, so that nobody compares two machines unawares."""
    facts = [(name, getattr(before, name), getattr(now, name)) for name in now.SETTING]
    of_machine = ("processor", "cores", "python", "system")
    facts += [(name, before.machine.get(name), now.machine.get(name)) for name in of_machine]
    return (f"{name} was {was}, is {is_now}" for name, was, is_now in facts if was != is_now)


def _charted(findings: EmbedFindings, drawn: dict[str, Chart]) -> Iterator[str]:
    """The charts by subject, each subject with its lines."""
    swept = {f"{name}-{what}" for name in sweep_names(findings) for what in ("time", "rate")}
    subjects: list[tuple[str, str, Iterable[str], Iterable[str]]] = [
        ("Devices", "processes on their share of the cores", _OF_DEVICES, scaling_lines(findings)),
        ("Stages", "nothing overlaps here; in `icons index` rendering runs ahead", ("stages",), limit_lines(findings)),
        (
            "Strategies",
            "the same work in every way, all in the plain loop but for those named otherwise",
            ("strategy",),
            (),
        ),
        ("Knobs", "one at a time around a base", sorted(swept), ()),
        ("Grid", "all combinations", ("grid",), ()),
    ]
    for title, small, names, lines in subjects:
        found, texts = [drawn[name] for name in names if name in drawn], list(lines)
        if found or texts:
            is_plain = findings.kind == "cuda" and title == "Devices"
            yield section(title, small="" if is_plain else small, charts=found, lines=texts)


def _tables(findings: EmbedFindings) -> Iterator[str]:
    if findings.rows:
        yield section("All rows", table=table_html(COLUMNS, cells(findings), n_left=2))
    if findings.parities:
        small = "pictures in each precision, words in fp32, the benchmark's queries"
        table = table_html(PARITY_COLUMNS, parity_cells(findings), n_left=2)
        yield section("What a precision costs", small=small, table=table)


def machine_html(machine: Mapping[str, Any]) -> Iterator[str]:
    """Lay out the description of a machine."""
    if not machine:
        return
    facts = dict(machine)
    topology = facts.pop("topology", None)
    lines = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in facts.items())
    links = f"<pre>{escape(topology)}</pre>" if topology else ""
    yield section("The machine", table=links, lines=lines)
