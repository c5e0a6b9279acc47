"""What was measured, and what follows from it? Rows, speed-ups, laws, the limit; as `report.json`, and read from it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexer.bench.limit import Limit, make_limit
from indexer.bench.parity import Parity
from indexer.bench.scaling import Fit, Speedups, fit, speedups
from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import Part
from indexer.errors import BenchError
from indexer.reports.measures import Figure

FORMAT = 1
"""Of `report.json`."""


@dataclass(slots=True)
class Findings:
    """All that was measured; parts that were not are empty."""

    made_at: str
    model: str
    fingerprint: str
    kind: str
    n_images: int
    n_distinct: int
    repeats: int
    n_devices: int
    machine: dict[str, Any] = field(default_factory=dict)
    links: dict[str, dict[str, float]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    tower: dict[str, Any] = field(default_factory=dict)
    parities: list[Parity] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_cut_off: bool = False

    def of(self, group: str, part: Part = "all") -> list[Row]:
        """Rows of a group that were measured, in the order in which they were asked for."""
        return [row for row in self.rows if row.group == group and row.part == part and row.runs]

    @property
    def limit(self) -> Limit | None:
        """What bounds the rows, where it was measured."""
        render, forward = self.of("limit", "render"), self.of("limit", "forward")
        return (
            make_limit(self.tower, render[0], forward[0], kind=self.kind) if self.tower and render and forward else None
        )

    def rates(self, group: str) -> dict[int, list[float]]:
        """Images/s of every run by the number of devices."""
        return {row.knobs.devices: [run.images_per_second for run in row.runs] for row in self.of(group)}

    def speedups(self, group: str) -> Speedups | None:
        """Against one device; None where that was not measured."""
        rates = self.rates(group)
        return speedups(rates) if 1 in rates and len(rates) > 1 else None

    def fits(self) -> list[Fit]:
        """Amdahl over the same work, Gustafson over as much for each; extrapolated to 2, 4 and 16 times the devices."""
        beyond = [self.n_devices * more for more in (2, 4, 16)]
        found = [
            fit("Amdahl", self.rates("scaling"), beyond=beyond),
            fit("Gustafson", self.rates("weak scaling"), beyond=beyond),
        ]
        return [law for law in found if law]

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        own = ("made_at", "model", "fingerprint", "kind", "n_images", "n_distinct", "repeats", "n_devices")
        plain = {name: getattr(self, name) for name in (*own, "machine", "links", "tower", "notes", "is_cut_off")}
        limit = self.limit
        return {
            "format": FORMAT,
            **plain,
            "rows": [row.to_json() for row in self.rows],
            "parities": [asdict(parity) for parity in self.parities],
            "laws": [asdict(law) for law in self.fits()],
            "limit": limit and {**asdict(limit), "images_per_second": limit.images_per_second},
        }


def read_findings(path: Path) -> Findings:
    """Read a saved `report.json`.

    Raises:
        BenchError: it is none, or of another version.
    """
    try:
        facts = json.loads(path.read_text("utf-8"))
        if facts["format"] != FORMAT:
            raise BenchError(f'"{path}" is of format {facts["format"]}, this program reads {FORMAT}; measure again')
        parities = [
            Parity(**{**one, "recall": Figure(**one["recall"]), "reciprocal": Figure(**one["reciprocal"])})
            for one in facts.pop("parities")
        ]
        rows = [Row.from_json(row) for row in facts.pop("rows")]
        for derived in ("format", "laws", "limit"):
            facts.pop(derived)
        return Findings(rows=rows, parities=parities, **facts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchError(f'"{path}" is no report.json of `icons bench embed` ({error!r}); give such a file') from error
