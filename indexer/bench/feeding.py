"""Are devices kept busy here? Goals for devices that are simulated, at rates that follow from what this machine draws.

| goal | at least |
|---|---|
| a device at half of what the host draws: share of its time in which it is busy | 0.97 |
| four devices at an eighth each: images/s of each against one alone | 0.97 |
| a device faster than the host: share of the host's cores that are busy | 0.97 |
| the same: images/s against drawing alone | 0.97 |
| two devices, one twice as fast: share of their time in which both are busy | 0.97 |
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from indexer.bench.goals import Goal
from indexer.bench.simulation.device import Simulation
from indexer.bench.simulation.drawing import Drawn, draw_alone
from indexer.bench.simulation.pictures import Pictures
from indexer.bench.simulation.run import SimulatedRun, simulate
from indexer.bench.trials.material import distinct_jobs
from indexer.reports.bars import Bars

LEAST = 0.97
SECONDS = 20.0
"""Of one run."""
_UNEQUAL_SECONDS = 30.0
"""At its end the faster of two devices waits half a second for what the slower one has claimed, however long it is."""
_FAST = 20.0
"""Times as fast as the host."""
_N_FIRST = 2048
"""Pictures by which it is found out how fast the host is."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """What pictures are like."""

    name: str
    size: int
    in_one_file: bool = False
    broken_every: int | None = None

    def pictures(self, n: int) -> Pictures:
        """As many of them."""
        return Pictures(n, self.in_one_file, self.broken_every)


SET_UPS = (
    SetUp("64 px", 64),
    SetUp("224 px", 224),
    SetUp("one huge file", 64, in_one_file=True),
    SetUp("1 % broken", 64, broken_every=100),
)


@dataclass
class Fed:
    """What was measured in one set-up, a value a repeat."""

    set_up: SetUp
    alone: list[tuple[Drawn, Drawn]] = field(default_factory=list)
    """Before and after each run of "fast", since machines do not draw alike for minutes."""
    runs: dict[str, list[SimulatedRun]] = field(default_factory=dict)

    def goals(self) -> Iterator[Goal]:
        """Hold it against the goals."""
        name, runs = self.set_up.name, self.runs
        yield _goal(f"{name}: a device at half of the host's rate is busy", [run.busy for run in runs["half"]])
        one, four = ([run.images_per_second / len(run.devices) for run in runs[key]] for key in ("one", "four"))
        yield _goal(f"{name}: four devices at an eighth against one", [a / b for a, b in zip(four, one, strict=True)])
        yield _goal(f"{name}: cores are busy before a fast device", [run.host_busy for run in runs["fast"]])
        rates = [
            run.images_per_second / mean(drawn.images_per_second for drawn in around)
            for run, around in zip(runs["fast"], self.alone, strict=True)
        ]
        yield _goal(f"{name}: a fast device against drawing alone", rates)
        yield _goal(
            f"{name}: both of two unequal devices are busy",
            [min(one.busy for one in run.devices) for run in runs["unequal"]],
        )


def measure_feeding(set_up: SetUp, *, repeats: int, bars: Bars) -> list[Goal]:
    """Measure all goals in a set-up; what is compared runs in turn, in the same minutes."""
    bars.stage(f"Feeding simulated devices, {set_up.name}")
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        return list(_measure(set_up, Path(folder), repeats=repeats, bars=bars).goals())


def _measure(set_up: SetUp, folder: Path, *, repeats: int, bars: Bars) -> Fed:
    first = distinct_jobs(set_up.pictures(_N_FIRST).write(folder / "first"))
    rate = draw_alone(first, size=set_up.size).images_per_second
    fed = Fed(set_up)
    kinds = {
        "half": (rate / 2,),
        "one": (rate / 8,),
        "four": (rate / 8,) * 4,
        "fast": (rate * _FAST,),
        "unequal": (rate / 3, rate / 6),
    }
    sources = {}
    for name, rates in kinds.items():
        seconds = _UNEQUAL_SECONDS if name == "unequal" else SECONDS
        sources[name] = set_up.pictures(round(seconds * min(rate, sum(rates)))).write(folder / name)

    def alone() -> Drawn:
        # Anew each time, as a scan reads all pictures before they are drawn: cold files made it a fifth slower.
        return draw_alone(distinct_jobs(sources["fast"]), size=set_up.size)

    for repeat in range(repeats):
        for done, (name, rates) in enumerate(kinds.items()):
            bars.advance(repeat * len(kinds) + done, repeats * len(kinds), name)
            before = alone() if name == "fast" else None
            fed.runs.setdefault(name, []).append(simulate(sources[name], Simulation(rates, set_up.size)))
            if before is not None:
                fed.alone.append((before, alone()))
    return fed


def _goal(name: str, values: Sequence[float]) -> Goal:
    ratios = tuple(round(value, 3) for value in values)
    return Goal(name, median(ratios), least=LEAST, ratios=ratios, note=f"{len(values)} runs")
