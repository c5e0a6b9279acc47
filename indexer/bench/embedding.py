"""What does `icons bench embed` measure? Sweeps, strategies, scaling, the machine, the limit, and precision's price.

Writes into a folder: `runs.jsonl`, a line a run as it comes; `report.json`; `report.html`; `charts/*.png`.
"""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

from indexer.bench.choices import Sweeps, strategies, swept, usual_sweeps
from indexer.bench.limit import measure_tower
from indexer.bench.machine import describe, measure_all_reduce, measure_host_to_device
from indexer.bench.parity import measure_parity
from indexer.bench.report.findings import Findings
from indexer.bench.trials.apart import call_apart, in_part
from indexer.bench.trials.knobs import Knobs, check, fits_index
from indexer.bench.trials.material import Material, gather
from indexer.bench.trials.sweep import Journal, measure
from indexer.bench.trials.trial import Trial
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError, DeviceError, IconsError
from indexer.process import cores
from indexer.ranks.devices import parse_devices

Section = Literal["sweeps", "strategies", "scaling", "machine", "limit", "parity"]
SECTIONS: tuple[Section, ...] = ("machine", "limit", "sweeps", "strategies", "scaling", "parity")
N_IMAGES = {"cpu": 1024, "cuda": 20_000}


class Watcher(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def advance(self, done: int, total: int | None, note: str = "") -> None:
        """The step has come this far."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is to be measured, and with what."""

    out: Path
    source: Path | None = None
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    devices: str = "auto"
    n_images: int | None = None
    repeats: int = 3
    base: Knobs = field(default_factory=Knobs)
    sweeps: Sweeps = ()
    """What the person asked for; nothing: the usual ones."""
    is_grid: bool = False
    is_thorough: bool = False
    sections: Sequence[Section] = SECTIONS


def bench_embed(options: BenchOptions, watcher: Watcher) -> Findings:
    """Measure what was asked for. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    n_images = options.n_images or N_IMAGES[kind]
    groups = _groups(options, kind=kind, n_devices=n_devices, n_images=n_images)
    everything = [options.base, *(knobs for _, configurations in groups for knobs in configurations)]
    if "scaling" in options.sections:
        everything.append(_scaled(options.base, n_devices))
    for knobs in everything:
        check(knobs, kind=kind, n_devices=n_devices, n_images=n_images)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        watcher.stage("Gathering pictures")
        material = gather(Path(folder), options.source, choice=options.choice, n_images=n_images)
        run = _Run(options, material, kind, n_devices, n_images, watcher)
        with suppress(KeyboardInterrupt):
            run.everything(groups)
            run.findings.is_cut_off = False
        run.journal.close()
    return run.findings


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


def _scaled(base: Knobs, n_devices: int) -> Knobs:
    """A base on so many devices, as `icons index` puts them to work where it can."""
    knobs = replace(base, strategy="ranks", devices=n_devices, barrier=base.barrier and n_devices > 1)
    return replace(knobs, path="index" if fits_index(knobs) else "loop")


def _groups(options: BenchOptions, *, kind: str, n_devices: int, n_images: int) -> list[tuple[str, list[Knobs]]]:
    """All configurations by the group that they are compared in; scaling needs none of its own."""
    found: list[tuple[str, list[Knobs]]] = []
    if "sweeps" in options.sections:
        usual = usual_sweeps(kind, n_devices=n_devices, n_images=n_images, is_thorough=options.is_thorough)
        sweeps = options.sweeps if options.sweeps or options.is_grid else usual
        found += swept(options.base, sweeps, is_grid=options.is_grid)
    if "strategies" in options.sections:
        found.append(("strategy", strategies(options.base, n_devices, kind=kind)))
    return found


@dataclass(slots=True)
class _Run:
    """One measuring: what stays the same over its parts."""

    options: BenchOptions
    material: Material
    kind: str
    n_devices: int
    n_images: int
    watcher: Watcher
    findings: Findings = field(init=False)
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        choice = self.options.choice
        self.findings = Findings(
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            model=" ".join(filter(None, (choice.model, choice.pretrained))),
            fingerprint=self.material.fingerprint,
            kind=self.kind,
            n_images=self.n_images,
            n_distinct=self.material.n_distinct,
            repeats=self.options.repeats,
            n_devices=self.n_devices,
            is_cut_off=True,
        )
        self.journal = Journal(self.options.out / "runs.jsonl")

    def everything(self, groups: Sequence[tuple[str, list[Knobs]]]) -> None:
        """Measure all parts, in this order."""
        self.findings.machine = call_apart(describe, self.kind)
        if "machine" in self.options.sections:
            self.links()
        if "limit" in self.options.sections:
            self.limit()
        for group, configurations in groups:
            self.measure(group, [self.trial(knobs) for knobs in configurations])
        if "scaling" in self.options.sections and self.n_devices > 1:
            self.scaling()
        if "parity" in self.options.sections:
            self.parity()

    def links(self) -> None:
        """Bandwidths between devices, and to them."""
        self.watcher.stage("Measuring links")
        if self.kind == "cuda":
            self.findings.links["host to device, GB/s"] = call_apart(measure_host_to_device)
        backends = ("nccl", "gloo") if self.kind == "cuda" else ("gloo",)
        for backend in backends if self.n_devices > 1 else ():
            kind = self.kind if backend == "nccl" else "cpu"
            try:
                found = measure_all_reduce(self.material.folder, kind=kind, n_ranks=self.n_devices, backend=backend)
            except BenchError as error:
                self.findings.notes.append(str(error))
                continue
            name = f"all-reduce over {self.n_devices} ranks, {backend}, GB/s by MB"
            self.findings.links[name] = found

    def limit(self) -> None:
        """Ceilings, and what rendering and the forward pass take alone."""
        self.watcher.stage("Measuring the limit")
        whole = self.trial(replace(self.options.base, path="loop", strategy="ranks", devices=1, loader="icons"))
        self.findings.tower = call_apart(measure_tower, whole)
        self.measure("limit", [in_part(whole, "render"), in_part(whole, "forward")])

    def scaling(self) -> None:
        """The same work, and as much for each, on 1 to N devices; then every stage by itself."""
        counts = [n for n in range(1, self.n_devices + 1) if n in (1, 2, 3, 4, 6, 8) or n == self.n_devices]
        scaled = {n: _scaled(self.options.base, n) for n in counts}
        each = self.n_images // self.n_devices
        same = [self.part_of_machine(knobs, self.n_images) for knobs in scaled.values()]
        self.measure("scaling", same)
        self.measure("weak scaling", [self.part_of_machine(knobs, n * each) for n, knobs in scaled.items()])
        self.measure("stages", [in_part(trial, "stages") for trial in same])

    def parity(self) -> None:
        """What each precision costs in quality."""
        self.watcher.stage("Comparing precisions")
        precisions = ["bf16", "fp16"] if self.kind == "cuda" else ["bf16"]
        try:
            self.findings.parities = call_apart(measure_parity, self.options.choice, self.kind, precisions, cores())
        except IconsError as error:
            self.findings.notes.append(f"precisions were not compared: {error}")

    def measure(self, group: str, trials: Sequence[Trial]) -> None:
        """Measure a group."""
        self.watcher.stage(f"Measuring {group}")
        measure(
            group,
            trials,
            self.findings.rows,
            repeats=self.options.repeats,
            journal=self.journal,
            tell=lambda label, done, total: self.watcher.advance(done, total, label),
        )

    def trial(self, knobs: Knobs) -> Trial:
        """A configuration on the whole machine."""
        return Trial(knobs, self.material, self.kind, machine_cores(), self.n_images)

    def part_of_machine(self, knobs: Knobs, n_images: int) -> Trial:
        """A configuration on its devices' share of the cores: N of them have N times the share of one."""
        everyone = machine_cores()
        share = max(1, len(everyone) // self.n_devices) * knobs.devices
        return Trial(knobs, self.material, self.kind, everyone[:share], n_images)


def machine_cores() -> tuple[int, ...]:
    """Numbers of the cores that this process may run on."""
    import os

    return tuple(sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(cores()))
