"""What was measured, and how it is shown: rows of figures, a table a group, charts, one page, JSON.

`report.json` is written after each run, so that whatever ends a measuring leaves what there is.

How far more devices help, two laws say by a parallel share P. Amdahl (AFIPS 1967), the same work on N devices: S = 1 /
((1 - P) + P / N). Gustafson (CACM 31, 1988), N times the work on N devices: S = (1 - P) + P * N. Each is a line through
the origin in the right coordinates, so P is found by least squares in closed form: 1 - 1/S = P * (1 - 1/N), and
S - 1 = P * (N - 1). Intervals come from the repeats, drawn anew (bootstrap).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from indexer.errors import BenchError
from indexer.library.durable import write_file
from indexer.reports.figures import (
    RESAMPLES,
    Bar,
    Chart,
    Figure,
    Scores,
    bar_chart,
    page,
    section,
    table_html,
)
from indexer.reports.terminal import open_console, table_of

FORMAT = 2
SAME, EACH = ", same work", ", as much for each"
"""Behind the names of two groups that vary the number of devices: Amdahl's question and Gustafson's."""
Law = Literal["Amdahl", "Gustafson"]
LAWS: tuple[tuple[Law, str], ...] = (("Amdahl", SAME), ("Gustafson", EACH))
Run = dict[str, Any]
"""Figures of one run by their names, which hold the unit; texts where there is no number."""


@dataclass(slots=True)
class Row:
    """One configuration, with what its runs have said, or why it can't be run."""

    group: str
    name: str
    setting: dict[str, Any] = field(default_factory=dict)
    """The knobs that it was measured with."""
    runs: list[Run] = field(default_factory=list)
    error: str | None = None

    def values(self, name: str) -> list[float]:
        """A figure of every run that has it."""
        return [run[name] for run in self.runs if isinstance(run.get(name), int | float)]

    def text(self, name: str) -> str:
        """Spell a figure: its median, with its interval where there are several runs."""
        words = str(next((run[name] for run in reversed(self.runs) if run.get(name) is not None), ""))
        return spell(median(values)) if (values := self.values(name)) else words


def median(values: Sequence[float]) -> Figure:
    """The median with its 95 % percentile bootstrap interval over repeats: of three it is their range."""
    return _figure(
        float(np.median(values)), np.median(np.random.default_rng(0).choice(values, (RESAMPLES, len(values))), axis=1)
    )


def spell(figure: Figure) -> str:
    """Spell a figure, with its interval where it has one."""
    interval = f" ({number(figure.low)}-{number(figure.high)})" if figure.low < figure.high else ""
    return f"{number(figure.value)}{interval}"


def number(value: float) -> str:
    """Spell a number with three digits, all that stand before the point, or what is missing to one."""
    plain = f"{value:.2f}" if abs(value) >= 1 else f"{value:.5f}" if abs(value) > 0.99 else f"{value:.3g}"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else plain


Rates = Mapping[int, Sequence[float]]
"""Pictures a second by the number of devices, one value a repeat."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A law fitted to speed-ups; the share is not cut to 0..1, so that what the law can't explain shows."""

    law: Law
    parallel_share: Figure
    extrapolated: dict[int, Figure]
    """Speed-up by a number of devices that was not measured."""


def speedup(law: Law, share: Any, n: float) -> Any:
    """What a law says of n devices, with this parallel share, or with each of several."""
    return 1 / ((1 - share) + share / n) if law == "Amdahl" else (1 - share) + share * n


def fitted_share(law: Law, devices: Sequence[int], speedups: Sequence[float]) -> float:
    """The parallel share by least squares; needs a number of devices above one."""
    n, s = np.asarray(devices, float), np.asarray(speedups, float)
    x, y = (1 - 1 / n, 1 - 1 / s) if law == "Amdahl" else (n - 1, s - 1)
    return float((x @ y) / (x @ x))


def speedups(rates: Rates) -> dict[int, Figure]:
    """Speed-ups against one device, with intervals."""
    drawn = _drawn_speedups(rates)
    return {n: _figure(float(np.median(rates[n]) / np.median(rates[1])), drawn[n]) for n in sorted(rates)}


def fit(law: Law, rates: Rates, *, beyond: Sequence[int]) -> Fit | None:
    """Fit a law to rates of the same work (Amdahl) or of as much for each (Gustafson).

    None where one device was not measured, or nothing else was.
    """
    devices = [n for n in sorted(rates) if n > 1]
    if not devices or 1 not in rates:
        return None
    drawn = _drawn_speedups(rates)
    found = fitted_share(law, devices, [float(np.median(rates[n]) / np.median(rates[1])) for n in devices])
    shares = np.array([fitted_share(law, devices, [drawn[n][row] for n in devices]) for row in range(RESAMPLES)])
    return Fit(
        law, _figure(found, shares), {n: _figure(speedup(law, found, n), speedup(law, shares, n)) for n in beyond}
    )


def _drawn_speedups(rates: Rates) -> dict[int, Scores]:
    """For each number of devices the speed-ups of `RESAMPLES` draws of the repeats."""
    generator = np.random.default_rng(0)
    medians = {
        n: np.median(generator.choice(np.asarray(of_n), (RESAMPLES, len(of_n))), axis=1) for n, of_n in rates.items()
    }
    return {n: of_n / medians[1] for n, of_n in medians.items()}


def _figure(value: float, drawn: Scores) -> Figure:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Figure(value, float(low), float(high))


@dataclass(kw_only=True)
class Report:
    """All that one command has measured."""

    command: str
    main: str
    """The figure by which rows are compared."""
    facts: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    is_whole: bool = False
    """Whether nothing was cut off."""
    made_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def read(cls, path: Path, *, command: str) -> Self:
        """Read a saved `report.json`. Raises BenchError: it is none of this command."""
        try:
            plain = json.loads(path.read_text("utf-8"))
            if (plain.pop("format"), plain["command"]) != (FORMAT, command):
                raise ValueError("of another command or format")  # noqa: TRY301 - refused as all others are
            del plain["laws"]
            return cls(**{**plain, "rows": [Row(**row) for row in plain["rows"]]})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BenchError(f'"{path}" is no report.json of `{command}` ({error}); give another --out') from error

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        return {
            "format": FORMAT,
            **asdict(self),
            "laws": {base: [asdict(law) for law in self.fits(base)] for base in self.scalings()},
        }

    def save(self, out: Path) -> None:
        """Write `report.json`."""
        write_file(out / "report.json", (json.dumps(self.to_json(), indent=1) + "\n").encode())

    def groups(self) -> list[str]:
        """What was compared, in the order in which it was measured."""
        return list(dict.fromkeys(row.group for row in self.rows))

    def of(self, group: str) -> list[Row]:
        """Rows of a group; the first is what the others are held against."""
        return [row for row in self.rows if row.group == group]

    @property
    def failed(self) -> list[Row]:
        """Rows that could not be measured."""
        return [row for row in self.rows if row.error]

    def scalings(self) -> list[str]:
        """Names of the groups that vary the number of devices, without what is behind them."""
        return [group.removesuffix(SAME) for group in self.groups() if group.endswith(SAME)]

    def rates(self, group: str) -> dict[int, list[float]]:
        """The main figure of every run by the number of devices."""
        return {row.setting["devices"]: values for row in self.of(group) if (values := row.values(self.main))}

    def fits(self, base: str) -> list[Fit]:
        """Both laws, each fitted to its group; extrapolated to 2, 4 and 16 times the devices."""
        beyond = [max(self.rates(f"{base}{SAME}"), default=1) * more for more in (2, 4, 16)]
        found = [fit(law, self.rates(f"{base}{behind}"), beyond=beyond) for law, behind in LAWS]
        return [law for law in found if law is not None]


def table(report: Report, group: str) -> tuple[list[str], list[list[str]]]:
    """Lay out a group: column titles, and a line for each row."""
    rows = report.of(group)
    names = list(dict.fromkeys(name for row in rows for run in row.runs for name in run))
    head, lines = ["", *names], [[row.name, *(row.text(name) for name in names)] for row in rows]
    if len(rows) > 1 and rows[0].values(report.main):
        head.append("against the first")
        for line, row in zip(lines, rows, strict=True):
            line.append(against(row, rows[0], report.main) if row is not rows[0] else "")
    if any(row.error for row in rows):
        head, lines = [*head, "error"], [[*line, row.error or ""] for line, row in zip(lines, rows, strict=True)]
    return head, lines


def against(row: Row, base: Row, name: str) -> str:
    """Spell a figure over that of a base, repeat by repeat."""
    ratios = [mine / its for mine, its in zip(row.values(name), base.values(name), strict=False) if its]
    return spell(median(ratios)) if ratios else ""


def scaling_lines(report: Report, base: str) -> Iterator[str]:
    """Speed-ups and efficiency, and what the laws make of them."""
    for _, behind in LAWS:
        rates = report.rates(f"{base}{behind}")
        for n, figure in speedups(rates).items() if 1 in rates else ():
            if n > 1:
                yield f"{base}{behind}: {n} are {spell(figure)} times as fast, efficiency {figure.value / n:.0%}"
    for law in report.fits(base):
        share = law.parallel_share
        beyond = "; ".join(f"{n} devices {spell(figure)} times" for n, figure in law.extrapolated.items())
        serial = f"serial share {1 - share.value:.3f} ({1 - share.high:.3f}-{1 - share.low:.3f})"
        yield f"{base}, {law.law}: {serial}; {beyond}"


def headline(report: Report) -> list[str]:
    """Say in a few lines what was measured on what."""
    lines, machine = list(report.facts), report.machine
    if machine:
        gpus = "".join(f", {gpu['name']}" for gpu in machine.get("gpus", ()))
        packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
        memory = f"{machine['memory_gb']:g} GB"
        lines.append(f"{machine['processor']}, {machine['cores']} cores, {memory}{gpus}; {report.made_at}")
        lines.append(f"{packages}; Python {machine['python']}, {machine['system']}")
        if machine["load_before"] > 0.5:
            lines.append(f"the machine was busy before (load {machine['load_before']}): times are too long")
    return lines if report.is_whole else [*lines, "cut off: what was measured until then is kept"]


def show(report: Report) -> None:
    """Print everything."""
    console = open_console()
    for group in report.groups():
        console.print(f"\n{group}", style="bold", highlight=False, markup=False)
        console.print(table_of(*table(report, group)))
    for line in ["", *(line for base in report.scalings() for line in scaling_lines(report, base)), *headline(report)]:
        console.print(line, highlight=False, markup=False)


def write(report: Report, out: Path, *, has_charts: bool = True) -> None:
    """Write `report.json`, `report.html` and `charts/*.png` into a folder."""
    report.save(out)
    drawn, sections = charts(report) if has_charts else {}, []
    for group in report.groups():
        pictures = [drawn[group]] if group in drawn else []
        lines = list(scaling_lines(report, group.removesuffix(SAME))) if group.endswith(SAME) else []
        sections.append(section(group, charts=pictures, table=table_html(*table(report, group)), lines=lines))
    facts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in report.machine.items()}
    sections.append(section("The machine", lines=[f"{name}: {text}" for name, text in facts.items()]))
    write_file(out / "report.html", page(f"`{report.command}`", facts=headline(report), sections=sections).encode())
    for group, chart in drawn.items():
        name = "-".join(f"{group} {report.main}".replace(",", "").replace("/", " a ").split())
        write_file(out / "charts" / f"{name}.png", chart.png())


def charts(report: Report) -> dict[str, Chart]:
    """Draw every group that compares something; what devices bring is said by the lines beneath."""
    found = {}
    for group in report.groups():
        rows = [row for row in report.of(group) if row.values(report.main)]
        bars = [Bar(row.name, median(row.values(report.main)), int(row is not rows[0])) for row in rows]
        if len(bars) > 1:
            found[group] = bar_chart(f"{group}: {report.main}", bars, written=number)
    return found
