"""What was measured of training, and what follows from it? Rows and effects; as `report.json`, and read from it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.bench.report.findings import Findings
from indexer.bench.training.trial import TrainRow
from indexer.reports.measures import Figure


@dataclass(kw_only=True)
class TrainFindings(Findings):
    """All that was measured of training."""

    COMMAND, FORMAT = "icons bench train", "train 1"
    OTHER_FORMAT = 'is of format "{}", `icons bench train` reads "train 1"; give one of its own'
    SETTING = ("model", "fingerprint", "kind", "n_icons", "n_devices", "steps")

    n_icons: int
    steps: int
    """Counted, of every run."""
    rows: list[TrainRow] = field(default_factory=list)

    def groups(self) -> list[str]:
        """What was compared, in the order in which it was asked for."""
        return list(dict.fromkeys(row.group for row in self.rows))

    def of(self, group: str) -> list[TrainRow]:
        """Rows of a group; the first is what the others are held against."""
        return [row for row in self.rows if row.group == group]

    def effects(self) -> Iterator[tuple[TrainRow, TrainRow, Figure | None]]:
        """Every row with the base of its group, and the ratio of their pictures/s."""
        for group in self.groups():
            base, *others = self.of(group)
            yield from ((row, base, row.effect(base)) for row in (base, *others))

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        rows = [{**row.to_json(), "effect": effect and asdict(effect)} for row, _, effect in self.effects()]
        return {**super().to_json(), "rows": rows}
