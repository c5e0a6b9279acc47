"""How are configurations compared fairly? Warm-up, repeats in alternating order, medians with intervals.

What is measured together stands in one group: the same minutes of a machine whose other users come and go.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from indexer.bench.trials.apart import Apart
from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.trial import Measured, Part, Trial
from indexer.errors import BenchError
from indexer.reports.bars import Bars
from indexer.reports.measures import RESAMPLES, Figure


@dataclass
class Entry:
    """A row of any benchmark: a configuration with what its runs said so far, or why it can't be run."""

    FACTS: ClassVar[tuple[str, ...]]
    """What it is, besides its knobs."""
    group: str
    knobs: Any
    runs: list[Any] = field(default_factory=list, kw_only=True)
    error: str | None = field(default=None, kw_only=True)

    @property
    def title(self) -> str:
        """Name what was measured, and of what: no two rows of the same knobs share it."""
        return self.group

    def label(self) -> str:
        """Name it while it runs."""
        return str(self.knobs.label())

    def facts(self) -> dict[str, Any]:
        """Say what it is, for the journal."""
        return {name: getattr(self, name) for name in self.FACTS} | {"knobs": asdict(self.knobs)}

    def figures(self) -> dict[str, Figure]:
        """What follows from its runs, for the report."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Spell it for the report."""
        figures = {name: asdict(figure) for name, figure in self.figures().items()} if self.runs else {}
        return {**self.facts(), "error": self.error, **figures, "runs": [run.to_json() for run in self.runs]}


Lane = tuple[Entry, Callable[[], Mapping[str, Any] | None], Callable[[], Any]]
"""A row, the run that is not counted, which says what to note of it, if anything, and a run that is. A BenchError of
either says why the configuration can't be run."""


@dataclass
class Row(Entry):
    """A configuration by which pictures become vectors."""

    FACTS = ("group", "n_images", "n_cores", "part")
    knobs: Knobs
    n_images: int
    n_cores: int
    part: Part = "all"
    runs: list[Measured] = field(default_factory=list, kw_only=True)

    @property
    def title(self) -> str:
        """Name its group, and the part that was measured alone."""
        return self.group if self.part == "all" else f"{self.group} ({self.part})"

    def label(self) -> str:
        """Name it while it runs."""
        return self.knobs.label() if self.part == "all" else self.part

    def figures(self) -> dict[str, Figure]:
        """What follows from its runs, for the report."""
        return {"images_per_second": self.rate, "seconds": self.seconds}

    @property
    def rate(self) -> Figure:
        """Images/s over all devices: the median of the runs."""
        return median([run.images_per_second for run in self.runs])

    @property
    def seconds(self) -> Figure:
        """Of the whole work: the median of the runs."""
        return median([run.seconds for run in self.runs])

    @property
    def waited_share(self) -> float | None:
        """Share of the time in which the device waited for pixels: the median of the runs."""
        shares = [run.waited_seconds / run.seconds for run in self.runs if run.waited_seconds is not None]
        return float(np.median(shares)) if shares else None


def median(values: Sequence[float], *, seed: int = 0) -> Figure:
    """The median with its 95 % percentile bootstrap interval over repeats: of three it is their range."""
    drawn = np.random.default_rng(seed).choice(values, (RESAMPLES, len(values)))
    low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5))
    return Figure(float(np.median(values)), float(low), float(high))


class Series:
    """Runs configurations against each other, group by group, each so often.

    Every run is a JSON line of `journal` as it comes: whatever ends the process, these are kept. `rows` hold what was
    measured so far.
    """

    def __init__(self, journal: Path, rows: list[Any], *, repeats: int, bars: Bars) -> None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.touch()
        self._journal, self._rows, self._repeats, self._bars = journal, rows, repeats, bars

    def begin(self, group: str, rows: Sequence[Entry]) -> None:
        """Begin a group."""
        self._bars.stage(f"Measuring {group}")
        self._rows += rows

    def measure(self, group: str, trials: Sequence[Trial]) -> list[Row]:
        """Measure trials against each other, each in its process."""
        rows = [Row(group, trial.knobs, trial.n_images, len(trial.cores), trial.part) for trial in trials]
        self.begin(group, rows)
        with ExitStack() as processes:
            apart = [processes.enter_context(Apart(trial)) for trial in trials]
            self.alternate([(row, of.warm_up, of.measure) for row, of in zip(rows, apart, strict=True)])
        return rows

    def alternate(self, lanes: Sequence[Lane]) -> None:
        """Run a group.

        Each runs once uncounted. Then all run in turn, forwards and backwards alternating, so that what drifts drifts
        for all. One that can't be run says so in its row, and the others go on.
        """
        n_runs, done = len(lanes) * (self._repeats + 1), 0
        for repeat in range(self._repeats + 1):
            for row, warm_up, take in lanes if repeat % 2 else reversed(lanes):
                self._bars.advance(done, n_runs, row.label())
                done += 1
                if row.error is not None:
                    continue
                try:
                    plain = self._counted(row, take) if repeat else warm_up()
                except BenchError as error:
                    row.error = str(error)
                    plain = {"error": row.error}
                if plain is not None:
                    self._note({**row.facts(), "repeat": repeat, **plain})
        self._bars.advance(n_runs, n_runs)

    def _counted(self, row: Entry, take: Callable[[], Any]) -> Mapping[str, Any]:
        run = take()
        row.runs.append(run)
        plain: Mapping[str, Any] = run.to_json()
        return plain

    def _note(self, facts: Mapping[str, Any]) -> None:
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
