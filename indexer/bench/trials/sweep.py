"""How are configurations compared fairly? Warm-up, repeats in alternating order, medians with intervals.

What is measured together stands in one group: the same minutes of a machine whose other users come and go.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from indexer.bench.trials.apart import Apart
from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.trial import Measured, Part, Trial, measured_json
from indexer.errors import BenchError
from indexer.reports.measures import RESAMPLES, Figure

Told = Callable[[str, int, int], None]
"""What is told of the progress: a label, runs done, runs in all."""
Take = Callable[[int], Mapping[str, Any] | None]
"""Runs a configuration for the n-th time, 0 being the run that is not counted, and says what to note of it, if
anything; a BenchError says why it can't be run."""


class Entry(Protocol):
    """A row of any benchmark."""

    error: str | None

    def label(self) -> str:
        """Name it while it runs."""

    def facts(self) -> dict[str, Any]:
        """Say what it is, for the journal."""


@dataclass(slots=True)
class Row:
    """A configuration with what its runs said so far, or why it can't be run."""

    group: str
    knobs: Knobs
    n_images: int
    n_cores: int
    part: Part = "all"
    runs: list[Measured] = field(default_factory=list)
    error: str | None = None

    def label(self) -> str:
        """Name it while it runs."""
        return self.knobs.label() if self.part == "all" else self.part

    def facts(self) -> dict[str, Any]:
        """Say what it is, for the journal."""
        facts = {"group": self.group, "n_images": self.n_images, "n_cores": self.n_cores, "part": self.part}
        return {**facts, "knobs": asdict(self.knobs)}

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

    def to_json(self) -> dict[str, Any]:
        """Spell it for the report."""
        plain: dict[str, Any] = {**self.facts(), "error": self.error}
        if self.runs:
            plain |= {"images_per_second": asdict(self.rate), "seconds": asdict(self.seconds)}
        return {**plain, "runs": [measured_json(run) for run in self.runs]}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> "Row":
        """Read it from a report."""
        own = ("group", "n_images", "n_cores", "part", "error")
        runs = [Measured(**run) for run in facts["runs"]]
        return cls(knobs=Knobs(**facts["knobs"]), runs=runs, **{name: facts[name] for name in own})


def median(values: Sequence[float], *, seed: int = 0) -> Figure:
    """The median with its 95 % percentile bootstrap interval over repeats: of three it is their range."""
    drawn = np.random.default_rng(seed).choice(values, (RESAMPLES, len(values)))
    low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5))
    return Figure(float(np.median(values)), float(low), float(high))


class Journal:
    """Appends a JSON line for every run, as it comes: whatever ends the process, these are kept."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def write(self, facts: Mapping[str, Any]) -> None:
        """Add a run, or why there is none."""
        self._file.write(json.dumps(facts) + "\n")
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()


def measure(
    group: str, trials: Iterable[Trial], rows: list[Row], *, repeats: int, journal: Journal, tell: Told
) -> None:
    """Measure trials against each other; `rows` grows by one for each and holds what was measured, whatever happens."""
    made = [(trial, Row(group, trial.knobs, trial.n_images, len(trial.cores), trial.part)) for trial in trials]
    rows += [row for _, row in made]
    with ExitStack() as processes:
        lanes = [(row, _taking(processes.enter_context(Apart(trial)), row)) for trial, row in made]
        alternate(lanes, repeats=repeats, journal=journal, tell=tell)


def alternate(lanes: Sequence[tuple[Entry, Take]], *, repeats: int, journal: Journal, tell: Told) -> None:
    """Run configurations against each other.

    Each runs once uncounted. Then all run in turn, forwards and backwards alternating, so that what drifts drifts for
    all. One that can't be run says so in its row, and the others go on.
    """
    n_runs, done = len(lanes) * (repeats + 1), 0
    for repeat in range(repeats + 1):
        for entry, take in lanes if repeat % 2 else reversed(lanes):
            tell(entry.label(), done, n_runs)
            done += 1
            if entry.error is not None:
                continue
            try:
                plain = take(repeat)
            except BenchError as error:
                entry.error = str(error)
                plain = {"error": entry.error}
            if plain is not None:
                journal.write({**entry.facts(), "repeat": repeat, **plain})
    tell("", n_runs, n_runs)


def _taking(apart: Apart, row: Row) -> Take:
    # Ranks are new processes at every run: nothing stays warm.
    starts_anew = row.knobs.strategy == "ranks" and row.knobs.devices > 1

    def take(repeat: int) -> Mapping[str, Any] | None:
        if repeat == 0 and starts_anew:
            return None
        measured = apart.measure()
        if repeat == 0:
            return None
        row.runs.append(measured)
        return measured_json(measured)

    return take
