"""What does `icons bench embed` measure? Sweeps, strategies, scaling, the machine, the limit, and precision's price.

Writes into a folder: `runs.jsonl`, a line a run as it comes; `report.json`; `report.html`; `charts/*.png`.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from indexer.bench.choices import fed, scaled, strategies, swept, usual_sweeps
from indexer.bench.limit import measure_tower
from indexer.bench.machine import describe, measure_all_reduce, measure_host_to_device
from indexer.bench.parity import measure_parity
from indexer.bench.report.findings import ALONE, EmbedFindings
from indexer.bench.trials.apart import call_apart, in_part
from indexer.bench.trials.knobs import Knobs, Sweeps, check
from indexer.bench.trials.material import gather
from indexer.bench.trials.sweep import Series
from indexer.bench.trials.trial import Trial
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError, DeviceError, IconsError
from indexer.process import cores
from indexer.ranks.devices import parse_devices
from indexer.reports.bars import Bars

N_IMAGES = {"cpu": 1024, "cuda": 20_000}


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is to be measured by any benchmark, and with what."""

    out: Path
    source: Path | None = None
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    devices: str = "auto"
    repeats: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Knobs of the base, where it is not the usual one."""
    sweeps: Sweeps = ()
    """What the person asked for; nothing: the usual ones."""
    is_thorough: bool = False


@dataclass(frozen=True, slots=True)
class EmbedBenchOptions(BenchOptions):
    """The same for embedding."""

    n_images: int | None = None
    is_grid: bool = False
    sections: Sequence[str] = ()
    """Parts to measure: machine, limit, sweeps, strategies, scaling, parity."""


def bench_embed(options: EmbedBenchOptions, bars: Bars) -> EmbedFindings:
    """Measure what was asked for. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    n_images = options.n_images or N_IMAGES[kind]
    base = replace(Knobs(), **options.settings)
    groups = _groups(options, base, kind=kind, n_devices=n_devices, n_images=n_images)
    everything = [base, *(knobs for _, configurations in groups for knobs in configurations)]
    if "scaling" in options.sections:
        everything += scaled(base, n_devices)
    for knobs in everything:
        check(knobs, kind=kind, n_devices=n_devices, n_images=n_images)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        whole = gathered(Path(folder), options, base, n_images=n_images, bars=bars)
        run = _Run(options, whole, n_devices, bars)
        with suppress(KeyboardInterrupt):
            run.everything(groups)
            run.findings.is_cut_off = False
    return run.findings


def gathered(folder: Path, options: BenchOptions, knobs: Knobs, *, n_images: int, bars: Bars) -> Trial:
    """Gather pictures into a folder, and put a configuration to all of them on the whole machine."""
    bars.stage("Gathering pictures")
    material = gather(folder, options.source, choice=options.choice, n_images=n_images)
    return Trial(knobs, material, count_devices(options.devices)[0], machine_cores(), n_images)


def count_devices(text: str) -> tuple[str, int]:
    """Kind of the devices and how many; "auto" and "cpu" mean all of them: GPUs, or cores that stand for devices.

    Raises:
        DeviceError: they are not there.
    """
    devices = parse_devices(text)
    if devices.device == "cuda":
        return "cuda", devices.n
    there = cores()
    if text in ("auto", "cpu"):
        return "cpu", min(there, 8)
    if devices.n > there:
        raise DeviceError(f'--devices "{text}" asks for {devices.n} processes, this machine has {there} cores')
    return "cpu", devices.n


def _groups(
    options: EmbedBenchOptions, base: Knobs, *, kind: str, n_devices: int, n_images: int
) -> list[tuple[str, list[Knobs]]]:
    """All configurations by the group that they are compared in; scaling needs none of its own."""
    found: list[tuple[str, list[Knobs]]] = []
    if "sweeps" in options.sections:
        usual = usual_sweeps(kind, n_devices=n_devices, n_images=n_images, is_thorough=options.is_thorough)
        sweeps = options.sweeps if options.sweeps or options.is_grid else usual
        found += swept(base, sweeps, is_grid=options.is_grid)
    if "strategies" in options.sections:
        found.append(("strategy", strategies(base, n_devices, kind=kind)))
    return found


class _Run:
    """One measuring: what stays the same over its parts."""

    def __init__(self, options: EmbedBenchOptions, whole: Trial, n_devices: int, bars: Bars) -> None:
        self.options, self.whole, self.kind, self.n_devices, self.bars = options, whole, whole.kind, n_devices, bars
        self.findings = EmbedFindings(
            model=" ".join(filter(None, astuple(options.choice))),
            fingerprint=whole.material.fingerprint,
            kind=whole.kind,
            n_images=whole.n_images,
            n_distinct=whole.material.n_distinct,
            repeats=options.repeats,
            n_devices=n_devices,
        )
        journal = options.out / "runs.jsonl"
        self.series = Series(journal, self.findings.rows, repeats=options.repeats, bars=bars)

    def everything(self, groups: Sequence[tuple[str, list[Knobs]]]) -> None:
        """Measure all parts, in this order."""
        self.findings.machine = call_apart(describe, self.kind)
        if "machine" in self.options.sections:
            self.links()
        if "limit" in self.options.sections:
            self.limit()
        for group, configurations in groups:
            self.series.measure(group, [replace(self.whole, knobs=knobs) for knobs in configurations])
        if "scaling" in self.options.sections and self.n_devices > 1:
            self.scaling()
        if "parity" in self.options.sections:
            self.parity()

    def links(self) -> None:
        """Bandwidths between devices, and to them."""
        self.bars.stage("Measuring links")
        if self.kind == "cuda":
            self.findings.links["host to device, GB/s"] = call_apart(measure_host_to_device)
        backends = {"gloo": "cpu"} if self.kind == "cpu" else {"nccl": "cuda", "gloo": "cpu"}
        folder, n = self.whole.material.folder, self.n_devices
        for backend, kind in backends.items() if n > 1 else ():
            try:
                found = measure_all_reduce(folder, kind=kind, n_ranks=n, backend=backend)
                self.findings.links[f"all-reduce over {n} ranks, {backend}, GB/s by MB"] = found
            except BenchError as error:
                self.findings.notes.append(str(error))

    def limit(self) -> None:
        """Ceilings, and what rendering and the forward pass take alone."""
        self.bars.stage("Measuring the limit")
        knobs = replace(self.whole.knobs, path="loop", strategy="ranks", devices=1, loader="icons")
        one = replace(self.whole, knobs=knobs)
        self.findings.tower = call_apart(measure_tower, one)
        self.series.measure("limit", [in_part(one, "render"), in_part(one, "forward")])

    def scaling(self) -> None:
        """The same work, and as much for each, on 1 to N devices, drawn and from memory; then each stage by itself."""
        each = self.whole.n_images // self.n_devices
        drawn = scaled(self.whole.knobs, self.n_devices)
        for feed, configurations in (("", drawn), (ALONE, [fed(knobs, "memory") for knobs in drawn])):
            same = [self.part_of_machine(knobs) for knobs in configurations]
            self.series.measure(f"scaling{feed}", same)
            as_much = [replace(trial, n_images=trial.knobs.devices * each) for trial in same]
            self.series.measure(f"weak scaling{feed}", as_much)
        self.series.measure("stages", [in_part(self.part_of_machine(knobs), "stages") for knobs in drawn])

    def part_of_machine(self, knobs: Knobs) -> Trial:
        """A configuration on its cores: GPUs have all of them, N of D devices that stand for cores N times a D-th."""
        there = self.whole.cores
        share = max(1, len(there) // self.n_devices) * knobs.devices
        return replace(self.whole, knobs=knobs, cores=there if self.kind == "cuda" else there[:share])

    def parity(self) -> None:
        """What each precision costs in quality."""
        self.bars.stage("Comparing precisions")
        precisions = ["bf16", "fp16"] if self.kind == "cuda" else ["bf16"]
        try:
            self.findings.parities = call_apart(measure_parity, self.options.choice, self.kind, precisions, cores())
        except IconsError as error:
            self.findings.notes.append(f"precisions were not compared: {error}")


def machine_cores() -> tuple[int, ...]:
    """Numbers of the cores to measure on: as many of this process as its quota pays for."""
    n = cores()
    return tuple(sorted(os.sched_getaffinity(0))[:n] if hasattr(os, "sched_getaffinity") else range(n))
