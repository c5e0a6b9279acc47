"""What was measured, and what follows from it? Rows, speed-ups, laws, the limit; as `report.json`, and read from it."""

import json
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self

from indexer.bench.limit import Limit, seconds_per_image
from indexer.bench.parity import Parity
from indexer.bench.scaling import Fit, Speedups, fit, speedups
from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import Part
from indexer.errors import BenchError
from indexer.library.foreign import from_plain
from indexer.library.named import read_text

ALONE = ", devices alone"
"""Behind the name of a group whose pictures lie in memory: how devices scale by themselves; else with drawing."""


@dataclass(kw_only=True)
class Findings:
    """What any benchmark has measured, and on what."""

    COMMAND: ClassVar[str]
    FORMAT: ClassVar[int | str]
    """Of `report.json`."""
    OTHER_FORMAT: ClassVar[str]
    """What is said of a file of another one."""
    SETTING: ClassVar[tuple[str, ...]]
    """What two runs should have in common, besides the machine."""

    made_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    model: str
    fingerprint: str
    kind: str
    n_devices: int
    repeats: int
    machine: dict[str, Any] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)
    is_cut_off: bool = True

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"format": self.FORMAT, **facts, "rows": [row.to_json() for row in self.rows]}

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a saved `report.json`.

        Raises:
            BenchError: it is none, or of another kind or version.
        """
        text = read_text(path)
        try:
            plain = json.loads(text)
            if plain["format"] != cls.FORMAT:
                raise BenchError(f'"{path}" {cls.OTHER_FORMAT.format(plain["format"])}')
            return from_plain(cls, plain, ignores_others=True)
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise BenchError(f'"{path}" is no report.json of `{cls.COMMAND}` ({error!r}); give such a file') from error


@dataclass(kw_only=True)
class EmbedFindings(Findings):
    """All that was measured of embedding; parts that were not are empty."""

    COMMAND, FORMAT = "icons bench embed", 1
    OTHER_FORMAT = "is of format {}, this program reads 1; measure again"
    SETTING = ("model", "fingerprint", "kind", "n_images", "n_devices")

    n_images: int
    n_distinct: int
    rows: list[Row] = field(default_factory=list)
    links: dict[str, dict[str, float]] = field(default_factory=dict)
    tower: dict[str, Any] = field(default_factory=dict)
    parities: list[Parity] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def of(self, group: str, part: Part = "all") -> list[Row]:
        """Rows of a group that were measured, in the order in which they were asked for."""
        return [row for row in self.rows if row.group == group and row.part == part and row.runs]

    @property
    def limit(self) -> Limit | None:
        """What bounds the rows, where it was measured."""
        render, forward = self.of("limit", "render"), self.of("limit", "forward")
        if not (self.tower and render and forward):
            return None
        return Limit(
            **self.tower,
            render_seconds=seconds_per_image(render[0]),
            forward_seconds=seconds_per_image(forward[0]),
            n_cores=forward[0].n_cores,
            kind=self.kind,
        )

    def rates(self, group: str) -> dict[int, list[float]]:
        """Images/s of every run by the number of devices."""
        return {row.knobs.devices: [run.images_per_second for run in row.runs] for row in self.of(group)}

    def speedups(self, group: str) -> Speedups | None:
        """Against one device; None where that was not measured."""
        rates = self.rates(group)
        return speedups(rates) if 1 in rates and len(rates) > 1 else None

    def fits(self, feed: str = "") -> list[Fit]:
        """Amdahl over the same work, Gustafson over as much for each; extrapolated to 2, 4 and 16 times the devices.

        `feed` is empty, with drawing, or `ALONE`.
        """
        beyond = [self.n_devices * more for more in (2, 4, 16)]
        found = [
            fit("Amdahl", self.rates(f"scaling{feed}"), beyond=beyond),
            fit("Gustafson", self.rates(f"weak scaling{feed}"), beyond=beyond),
        ]
        return [law for law in found if law]

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        limit = self.limit
        return {
            **super().to_json(),
            "parities": [asdict(parity) for parity in self.parities],
            "laws": [asdict(law) for law in self.fits()],
            "laws, devices alone": [asdict(law) for law in self.fits(ALONE)],
            "limit": limit and {**asdict(limit), "images_per_second": limit.images_per_second},
        }
