"""What does a measurement look like? One HTML page with charts and tables, the same charts as PNG, and JSON."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from indexer.reports.charts import standalone
from indexer.reports.page import page

CHART_WIDTH = 1400
"""Of a PNG, in pixels; the longer side."""


def write_report(findings: Findings, out: Path, *, before: Findings | None = None) -> None:
    """Write `report.json`, `report.html` and `charts/*.png` into a folder."""
    drawn = charts(findings)
    write_files(out, findings.to_json(), report_html(findings, drawn, before=before), drawn)


def write_files(out: Path, plain: Mapping[str, Any], html: str, drawn: Mapping[str, str]) -> None:
    """Write a report in its three forms."""
    write_file(out / "report.json", (json.dumps(plain, indent=1) + "\n").encode())
    write_file(out / "report.html", html.encode())
    for name, chart in drawn.items():
        write_file(out / "charts" / f"{name}.png", _png(chart))


def report_html(findings: Findings, drawn: dict[str, str], *, before: Findings | None = None) -> str:
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
    told = lines_html([f"before: {before.made_at}", *differences(before, findings)])
    table = table_html(COMPARED, compared(before, findings))
    yield f'<section><h2>Compared with a saved run</h2><ul class="facts">{told}</ul>{table}</section>'


def _charted(findings: Findings, drawn: dict[str, str]) -> Iterator[str]:
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
        found = "".join(drawn[name] for name in names if name in drawn)
        told = lines_html(lines)
        if found or told:
            what = "" if findings.kind == "cuda" and title == "Devices" else f" <small>{escape(small)}</small>"
            drawn_and_told = f'<div class="charts">{found}</div><ul class="facts">{told}</ul>'
            yield f"<section><h2>{title}{what}</h2>{drawn_and_told}</section>"


def _tables(findings: Findings) -> Iterator[str]:
    if findings.rows:
        yield f"<section><h2>All rows</h2>{table_html(COLUMNS, cells(findings))}</section>"
    if findings.parities:
        small = "<small>pictures in each precision, words in fp32, the benchmark's queries</small>"
        table = table_html(PARITY_COLUMNS, parity_cells(findings))
        yield f"<section><h2>What a precision costs {small}</h2>{table}</section>"


def machine_html(machine: Mapping[str, Any]) -> Iterator[str]:
    """Lay out the description of a machine."""
    if not machine:
        return
    facts = dict(machine)
    topology = facts.pop("topology", None)
    told = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in facts.items())
    lines = lines_html(told)
    links = f"<pre>{escape(topology)}</pre>" if topology else ""
    yield f'<section><h2>The machine</h2><ul class="facts">{lines}</ul>{links}</section>'


def lines_html(lines: Iterable[str]) -> str:
    """Lay out lines as items of a list."""
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def table_html(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a table whose first two columns name a row."""
    head = "".join(f'<th class="left">{name}</th>' if n < 2 else f"<th>{name}</th>" for n, name in enumerate(columns))
    lines = []
    for first, second, *others in rows:
        cells_ = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        lines.append(f'<tr><th>{escape(first)}</th><td class="left">{escape(second)}</td>{cells_}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _png(chart: str) -> bytes:
    """Draw a chart on white."""
    from PIL import Image

    from indexer.rendering.render import draw

    picture = Image.fromarray(draw(standalone(chart), size=CHART_WIDTH))
    page = Image.new("RGBA", picture.size, "white")
    page.alpha_composite(picture)
    file = io.BytesIO()
    page.convert("RGB").save(file, "PNG")
    return file.getvalue()
