"""What did simulated devices show? Images/s, efficiency and bound by the number of devices, as table, JSON and page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from indexer.bench.report.page import machine_html, write_files
from indexer.bench.report.summary import interval, machine_lines, print_measured
from indexer.bench.scaling import Fit, Law, fit, speedups
from indexer.bench.simulation.device import Simulation
from indexer.bench.simulation.run import SimulatedRun
from indexer.reports.measures import Figure
from indexer.reports.page import page, section, table_html
from indexer.reports.tables import table_of

SAME, AS_MUCH_EACH = "the same work", "as much for each"
COLUMNS = ("", "devices", "images/s", "efficiency", "devices busy", "cores busy", "bound, images/s", "of the bound")
_BEYOND = (16, 32)


@dataclass
class SimulatedFindings:
    """What was measured; runs by (work, number of devices), in the order of the repeats."""

    simulation: Simulation
    repeats: int
    images_per_core: float
    """What one core draws in a second, with nothing else to do."""
    n_cores: int
    machine: dict[str, Any] = field(default_factory=dict)
    rows: dict[tuple[str, int], list[SimulatedRun]] = field(default_factory=dict)
    is_cut_off: bool = True
    made_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def bound(self, n_devices: int) -> float:
        """Images/s that neither devices nor cores could exceed."""
        return min(sum(self.simulation.rates[:n_devices]), self.n_cores * self.images_per_core)

    def rates(self, work: str) -> Mapping[int, Sequence[float]]:
        """Images/s by number of devices, one value a repeat."""
        return {
            n: [run.images_per_second for run in runs] for (of, n), runs in self.rows.items() if of == work and runs
        }

    def fits(self) -> Iterator[Fit]:
        """Amdahl's share by the same work, Gustafson's by as much for each."""
        laws: tuple[tuple[Law, str], ...] = (("Amdahl", SAME), ("Gustafson", AS_MUCH_EACH))
        for law, work in laws:
            found = fit(law, self.rates(work), beyond=_BEYOND)
            if found is not None:
                yield found

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs."""
        rows = [
            {"work": work, "devices": n, "bound": self.bound(n), "runs": [asdict(run) for run in runs]}
            for (work, n), runs in self.rows.items()
        ]
        facts = {item.name: getattr(self, item.name) for item in fields(self)}
        facts |= {"simulation": asdict(self.simulation), "rows": rows}
        return {**facts, "fits": [asdict(found) for found in self.fits()]}


def cells(findings: SimulatedFindings) -> Iterator[Sequence[str]]:
    """Rows of the table, as text."""
    for work in (SAME, AS_MUCH_EACH):
        rates = findings.rates(work)
        if 1 not in rates:
            continue
        found = speedups(rates)
        for n, speedup in zip(found.devices, found.speedup, strict=True):
            of_first = sum(findings.simulation.rates[:n]) / findings.simulation.rates[0]  # n, where all are alike
            efficiency = Figure(speedup.value / of_first, speedup.low / of_first, speedup.high / of_first)
            runs = findings.rows[work, n]
            busy = [one.busy for run in runs for one in run.devices]
            rate, bound = median(rates[n]), findings.bound(n)
            yield (
                *(work if n == found.devices[0] else "", str(n), f"{rate:,.0f}"),
                interval(efficiency, lambda value: f"{value:.3f}"),
                f"{min(busy):.1%} to {max(busy):.1%}",
                f"{median(run.host_busy for run in runs):.1%}",
                *(f"{bound:,.0f}", f"{rate / bound:.1%}"),
            )


def headline(findings: SimulatedFindings) -> list[str]:
    """Say in a few lines what was measured on what."""
    rates, size = findings.simulation.rates, findings.simulation.image_size
    spelled = ", ".join(f"{rate:,.0f}" for rate in dict.fromkeys(rates))
    lines = [
        f"simulated devices, up to {len(rates)}, of {spelled} pictures/s; pictures of {size} x {size}; "
        f"medians of {findings.repeats}",
        f"one of {findings.n_cores} cores draws {findings.images_per_core:,.0f} pictures/s with nothing else to do",
    ]
    for found in findings.fits():
        share, beyond = found.parallel_share, found.extrapolated
        further = ", ".join(f"{n} devices {beyond[n].value:.1f}x" for n in _BEYOND)
        lines.append(f"{found.law}: P = {share.value:.4f} ({share.low:.4f} to {share.high:.4f}); {further}")
    return [*lines, *machine_lines(findings)]


def print_simulated(findings: SimulatedFindings) -> None:
    """Print what was measured."""
    print_measured(headline(findings), table_of(COLUMNS, cells(findings), n_left=2))


def write_simulated(findings: SimulatedFindings, out: Path) -> None:
    """Write `report.json` and `report.html` into a folder."""
    table = section("Devices that are simulated", table=table_html(COLUMNS, cells(findings), n_left=2))
    html = page("Are devices kept busy?", facts=headline(findings), sections=[table, *machine_html(findings.machine)])
    write_files(out, findings.to_json(), html, {})
