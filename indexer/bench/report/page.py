"""What does a measurement look like? One HTML page with charts and tables, the same charts as PNG, and JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from indexer.bench.report.charts import charts, sweep_names
from indexer.bench.report.compare import COLUMNS as COMPARED
from indexer.bench.report.compare import compared, differences
from indexer.bench.report.findings import Findings
from indexer.bench.report.summary import (
    COLUMNS,
    PARITY_COLUMNS,
    cells,
    headline,
    limit_lines,
    parity_cells,
    scaling_lines,
)
from indexer.library.durable import write_file
from indexer.reports.charts import Chart
from indexer.reports.page import page, section, table_html


def write_report(findings: Findings, out: Path, *, before: Findings | None = None) -> None:
    """Write `report.json`, `report.html` and `charts/*.png` into a folder."""
    drawn = charts(findings)
    write_files(out, findings.to_json(), report_html(findings, drawn, before=before), drawn)


def write_files(out: Path, plain: Mapping[str, Any], html: str, drawn: Mapping[str, Chart]) -> None:
    """Write a report in its three forms."""
    write_file(out / "report.json", (json.dumps(plain, indent=1) + "\n").encode())
    write_file(out / "report.html", html.encode())
    for name, chart in drawn.items():
        write_file(out / "charts" / f"{name}.png", chart.png())


def report_html(findings: Findings, drawn: dict[str, Chart], *, before: Findings | None = None) -> str:
    """Lay out measurements as one page that needs nothing beside it."""
    sections = [
        *_compared(findings, before),
        *_charted(findings, drawn),
        *_tables(findings),
        *machine_html(findings.machine),
    ]
    return page("How fast icons are embedded", facts=[*headline(findings), *findings.notes], sections=sections)


def _compared(findings: Findings, before: Findings | None) -> Iterator[str]:
    if before is None:
        return
    lines = [f"before: {before.made_at}", *differences(before, findings)]
    table = table_html(COMPARED, compared(before, findings), n_left=2)
    yield section("Compared with a saved run", table=table, lines=lines)


def _charted(findings: Findings, drawn: dict[str, Chart]) -> Iterator[str]:
    """The charts by subject, each subject with its lines."""
    swept = {f"{name}-{what}" for name in sweep_names(findings) for what in ("time", "rate")}
    subjects: list[tuple[str, str, Iterable[str], Iterable[str]]] = [
        ("Devices", "processes on their share of the cores", ("devices-time", "speed-up"), scaling_lines(findings)),
        ("Stages", "nothing overlaps here; in `icons index` rendering runs ahead", ("stages",), limit_lines(findings)),
        ("Strategies", "the same work in every way", ("strategy",), ()),
        ("Knobs", "one at a time around a base", sorted(swept), ()),
        ("Grid", "all combinations", ("grid",), ()),
    ]
    for title, small, names, lines in subjects:
        found, texts = [drawn[name] for name in names if name in drawn], list(lines)
        if found or texts:
            is_plain = findings.kind == "cuda" and title == "Devices"
            yield section(title, small="" if is_plain else small, charts=found, lines=texts)


def _tables(findings: Findings) -> Iterator[str]:
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
