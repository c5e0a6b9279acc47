"""What does one run of a training say, and what a row of them? Plain data, as files hold it. No torch here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from indexer.bench.training.knobs import TrainKnobs
from indexer.bench.trials.sweep import Entry, median
from indexer.reports.measures import Figure

SHARES = ("data", "compute", "communication")


@dataclass(frozen=True, slots=True)
class Trained:
    """One run: so many steps after those that warm up, in seconds as the training's own log tells them."""

    steps: int
    seconds: float
    waited_share: float
    """Of a rank's time, in which it waited for data; the mean over ranks."""
    loss: float
    """Of the last step: the same wherever the same was computed."""
    memory_bytes: int | None = None
    """Largest, of all GPUs together."""
    warm_up: int = 2
    """Steps before those, which are not counted."""

    @property
    def steps_per_second(self) -> float:
        """Of the whole batch."""
        return self.steps / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Spell it for a file."""
        return asdict(self)


@dataclass
class TrainRow(Entry):
    """A configuration by which a model learns."""

    FACTS = ("group", "n_cores")
    knobs: TrainKnobs
    n_cores: int
    runs: list[Trained] = field(default_factory=list, kw_only=True)
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of the profiled run, which is not among the others: data, compute, communication; the mean over ranks."""

    @property
    def rate(self) -> Figure:
        """Steps/s: the median of the runs."""
        return median([run.steps_per_second for run in self.runs])

    @property
    def images_per_second(self) -> Figure:
        """Pictures/s over all devices: the median of the runs."""
        return median([run.steps_per_second * self.knobs.batch for run in self.runs])

    @property
    def waited_share(self) -> float:
        """Share of time spent waiting for data: the median of the runs."""
        return float(np.median([run.waited_share for run in self.runs]))

    def effect(self, base: "TrainRow") -> Figure | None:
        """Pictures/s over those of a base, repeat by repeat; None where nothing was measured of either."""
        pairs = list(zip(self.runs, base.runs, strict=False))
        if not pairs:
            return None
        of_batch = self.knobs.batch / base.knobs.batch
        return median([of_batch * mine.steps_per_second / its.steps_per_second for mine, its in pairs])

    def figures(self) -> dict[str, Figure]:
        """What follows from its runs, for the report."""
        return {"steps_per_second": self.rate, "images_per_second": self.images_per_second}

    def to_json(self) -> dict[str, Any]:
        """Spell it for the report."""
        return {**super().to_json(), "shares": dict(self.shares)}
