"""Are the goals for speed met here? Each is a ratio of medians of alternating runs, on the same pictures.

| goal | at least, or at most |
|---|---|
| `icons index` against the naive script, images/s | 3.6 for the bundled model, 2.3 for ViT-B-32 |
| wall time of embedding against (rendering alone + forward pass alone, processor time) / cores | at most 1.10 |
| two processes of one core against one process of two cores | 1.0 |
| what `auto` chooses against the best of a sweep: batch size, workers, precision | 0.95 |
| time that a GPU waits for pictures, of all time | at most 0.05 |
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexer.bench.choices import usual_sweeps
from indexer.bench.embedding import EmbedBenchOptions, count_devices, gathered
from indexer.bench.trials.apart import in_part
from indexer.bench.trials.knobs import NAIVE, Knobs
from indexer.bench.trials.sweep import Row, Series
from indexer.bench.trials.trial import Trial
from indexer.errors import BenchError
from indexer.reports.bars import Bars

LEAST_OVER_NAIVE = {"bundled": 3.6, "ViT-B-32": 2.3}
_SWEPT_ON_CPU = {"batch": 2048, "workers": 2048, "precision": 512}
"""What is chosen automatically, and how many pictures tell its values apart; emulated bf16 takes seconds for 512."""

_Run = Callable[[str, Sequence[Trial]], list[Row]]
"""Measures trials against each other, as a group of that name."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What was reached of one goal; `ratios` are those of single repeats, in order, where they were paired."""

    name: str
    reached: float
    least: float | None = None
    most: float | None = None
    ratios: tuple[float, ...] = ()
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """None where nothing was set."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or self.reached >= self.least) and (self.most is None or self.reached <= self.most)


def measure_goals(options: EmbedBenchOptions, bars: Bars) -> list[Goal]:
    """Measure all goals that this machine can tell of; runs go to `runs.jsonl` in the folder as they come."""
    _, n_devices = count_devices(options.devices)
    series = Series(options.out / "runs.jsonl", [], repeats=options.repeats, bars=bars)

    def run(group: str, trials: Sequence[Trial]) -> list[Row]:
        rows = series.measure(group, trials)
        for row in rows:
            if row.error:
                raise BenchError(f"{group}: {row.error}")
        return rows

    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        whole = gathered(Path(folder), options, Knobs(), n_images=options.n_images or 2048, bars=bars)
        return [
            *_against_the_whole(whole, run, n_devices=n_devices, model=options.choice.model),
            *_automatic(whole, run, n_devices=n_devices),
        ]


def _against_the_whole(whole: Trial, run: _Run, *, n_devices: int, model: str) -> Iterator[Goal]:
    """One group, so that what all of it is held against is measured once."""
    trials = {"whole": whole, "naive": replace(whole, knobs=NAIVE)}
    if whole.kind == "cpu":
        trials |= {"render": in_part(whole, "render"), "forward": in_part(whole, "forward")}
        if n_devices > 1:
            trials["many"] = replace(whole, knobs=Knobs(devices=n_devices))
    rows = dict(zip(trials, run("the whole and its parts", list(trials.values())), strict=True))
    yield _faster("over the naive script", rows["whole"], rows["naive"], least=LEAST_OVER_NAIVE.get(model))
    if whole.kind == "cpu":
        yield _towards_limit(rows["whole"], rows["render"], rows["forward"])
    else:
        share, note = rows["whole"].waited_share or 0.0, f"{rows['whole'].rate.value:,.0f} images/s"
        yield Goal("share of waiting for pictures", share, most=0.05, note=note)
    if "many" in rows:
        name = f"{n_devices} processes against one, on the same cores"
        yield _faster(name, rows["many"], rows["whole"], least=1.0)


def _automatic(whole: Trial, run: _Run, *, n_devices: int) -> Iterator[Goal]:
    usual = dict(usual_sweeps(whole.kind, n_devices=n_devices, n_images=whole.n_images, is_thorough=False))
    for name, n_swept in _SWEPT_ON_CPU.items():
        part = replace(whole, n_images=min(whole.n_images, n_swept)) if whole.kind == "cpu" else whole
        values = list(dict.fromkeys([getattr(Knobs(), name), *usual[name]]))
        swept = [replace(part, knobs=replace(Knobs(), **{name: value})) for value in values]
        automatic, *others = run(f"auto {name}", swept)
        if others:
            yield _choosing(name, automatic, others)


def _faster(name: str, ours: Row, other: Row, *, least: float | None) -> Goal:
    """The ratio of images/s, and the ratios repeat by repeat."""
    pairs = zip(ours.runs, other.runs, strict=False)
    ratios = tuple(round(mine.images_per_second / theirs.images_per_second, 3) for mine, theirs in pairs)
    note = f"{other.rate.value:,.0f} -> {ours.rate.value:,.0f} images/s"
    return Goal(name, ours.rate.value / other.rate.value, least=least, ratios=ratios, note=note)


def _towards_limit(whole: Row, render: Row, forward: Row) -> Goal:
    """Processor time alone, as medians, over the cores: what no arrangement of the same work could beat."""
    alone = [float(np.median([run.cpu_seconds or 0.0 for run in row.runs])) for row in (render, forward)]
    least = sum(alone) / whole.n_cores
    ratios = tuple(run.seconds / least for run in whole.runs)
    note = (
        f"(rendering {alone[0]:.2f} s + forward {alone[1]:.2f} s) / {whole.n_cores}, whole {whole.seconds.value:.2f} s"
    )
    return Goal("wall time over the limit", whole.seconds.value / least, most=1.10, ratios=ratios, note=note)


def _choosing(name: str, automatic: Row, others: Sequence[Row]) -> Goal:
    best = max(others, key=lambda row: row.rate.value)
    note = f"best {name}={getattr(best.knobs, name)} {best.rate.value:,.0f}, auto {automatic.rate.value:,.0f} images/s"
    return Goal(f"auto {name} against the best", automatic.rate.value / best.rate.value, least=0.95, note=note)
