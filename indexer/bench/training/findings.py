"""What was measured of training, and what follows from it? Rows and effects; as `report.json`, and read from it."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexer.bench.training.trial import TrainRow
from indexer.errors import BenchError
from indexer.reports.measures import Figure

FORMAT = "train 1"
"""Of `report.json`."""


@dataclass(slots=True)
class TrainFindings:
    """All that was measured."""

    made_at: str
    model: str
    fingerprint: str
    kind: str
    n_icons: int
    n_devices: int
    steps: int
    """Counted, of every run."""
    repeats: int
    machine: dict[str, Any] = field(default_factory=dict)
    rows: list[TrainRow] = field(default_factory=list)
    is_cut_off: bool = False

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
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "rows"}
        rows = [{**row.to_json(), "effect": effect and asdict(effect)} for row, _, effect in self.effects()]
        return {"format": FORMAT, **facts, "rows": rows}


def read_training(path: Path) -> TrainFindings:
    """Read a saved `report.json`.

    Raises:
        BenchError: it is none, or of another kind or version.
    """
    try:
        facts = json.loads(path.read_text("utf-8"))
        if (found := facts.pop("format")) != FORMAT:
            raise BenchError(
                f'"{path}" is of format "{found}", `icons bench train` reads "{FORMAT}"; give one of its own'
            )
        rows = [TrainRow.from_json(row) for row in facts.pop("rows")]
        return TrainFindings(rows=rows, **facts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f'"{path}" is no report.json of `icons bench train` ({error!r}); give such a file') from error
