"""What does `icons bench embed` measure? Sweeps, strategies, scaling, the machine, the limit, and precision's price.

Writes into a folder: `runs.jsonl`, a line a run as it comes; `report.json`; `report.html`; `charts/*.png`.
"""

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from indexer.bench.apart import call_apart, in_part
from indexer.bench.knobs import NAIVE, Knobs, Strategy, check, fits_index, grid, one_at_a_time
from indexer.bench.limit import Limit, make_limit, measure_tower
from indexer.bench.machine import describe, measure_all_reduce, measure_host_to_device
from indexer.bench.material import Material, gather
from indexer.bench.parity import Parity, measure_parity
from indexer.bench.scaling import Fit, Speedups, fit, speedups
from indexer.bench.sweep import Journal, Row, measure
from indexer.bench.trial import Part, Trial
from indexer.checkpoint import ModelChoice
from indexer.errors import BenchError, DeviceError, IconsError
from indexer.launch import parse_devices
from indexer.process import cores

Section = Literal["sweeps", "strategies", "scaling", "machine", "limit", "parity"]
SECTIONS: tuple[Section, ...] = ("machine", "limit", "sweeps", "strategies", "scaling", "parity")
Sweeps = Sequence[tuple[str, list[Any]]]
BATCHES = (32, 64, 128, 256, 512, 768, 1024, 1080, 1280, 1400)
"""Of the original posts; those that the pictures allow are tried."""
N_IMAGES = {"cpu": 1024, "cuda": 20_000}
FORMAT = 1
"""Of `report.json`."""


class Watcher(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def advance(self, done: int, total: int | None, told: str = "") -> None:
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


@dataclass(slots=True)
class Findings:
    """All that was measured; parts that were not are empty."""

    made_at: str
    model: str
    fingerprint: str
    kind: str
    n_images: int
    n_distinct: int
    repeats: int
    n_devices: int
    machine: dict[str, Any] = field(default_factory=dict)
    links: dict[str, dict[str, float]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    tower: dict[str, Any] = field(default_factory=dict)
    parities: list[Parity] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_cut_off: bool = False

    def of(self, group: str, part: Part = "all") -> list[Row]:
        """Rows of a group that were measured, in the order in which they were asked for."""
        return [row for row in self.rows if row.group == group and row.part == part and row.runs]

    @property
    def limit(self) -> Limit | None:
        """What bounds the rows, where it was measured."""
        render, forward = self.of("limit", "render"), self.of("limit", "forward")
        return (
            make_limit(self.tower, render[0], forward[0], kind=self.kind) if self.tower and render and forward else None
        )

    def rates(self, group: str) -> dict[int, list[float]]:
        """Images/s of every run by the number of devices."""
        return {row.knobs.devices: [run.images_per_second for run in row.runs] for row in self.of(group)}

    def speedups(self, group: str) -> Speedups | None:
        """Against one device; None where that was not measured."""
        rates = self.rates(group)
        return speedups(rates) if 1 in rates and len(rates) > 1 else None

    def fits(self) -> list[Fit]:
        """Amdahl over the same work, Gustafson over as much for each; extrapolated to 2, 4 and 16 times the devices."""
        beyond = [self.n_devices * more for more in (2, 4, 16)]
        found = [
            fit("Amdahl", self.rates("scaling"), beyond=beyond),
            fit("Gustafson", self.rates("weak scaling"), beyond=beyond),
        ]
        return [law for law in found if law]

    def to_json(self) -> dict[str, Any]:
        """Spell everything for programs, with what follows from it."""
        own = ("made_at", "model", "fingerprint", "kind", "n_images", "n_distinct", "repeats", "n_devices")
        told = {name: getattr(self, name) for name in (*own, "machine", "links", "tower", "notes", "is_cut_off")}
        limit = self.limit
        return {
            "format": FORMAT,
            **told,
            "rows": [row.to_json() for row in self.rows],
            "parities": [asdict(parity) for parity in self.parities],
            "laws": [asdict(law) for law in self.fits()],
            "limit": limit and {**asdict(limit), "images_per_second": limit.images_per_second},
        }


def read_findings(path: Path) -> Findings:
    """Read a saved `report.json`.

    Raises:
        BenchError: it is none, or of another version.
    """
    from indexer.measures import Figure

    try:
        facts = json.loads(path.read_text("utf-8"))
        if facts["format"] != FORMAT:
            raise BenchError(f'"{path}" is of format {facts["format"]}, this program reads {FORMAT}; measure again')
        parities = [
            Parity(**{**one, "recall": Figure(**one["recall"]), "reciprocal": Figure(**one["reciprocal"])})
            for one in facts.pop("parities")
        ]
        rows = [Row.from_json(row) for row in facts.pop("rows")]
        for derived in ("format", "laws", "limit"):
            facts.pop(derived)
        return Findings(rows=rows, parities=parities, **facts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchError(f'"{path}" is no report.json of `icons bench embed` ({error!r}); give such a file') from error


def bench_embed(options: BenchOptions, watcher: Watcher) -> Findings:
    """Measure what was asked for. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    n_images = options.n_images or N_IMAGES[kind]
    groups = _groups(options, kind=kind, n_devices=n_devices, n_images=n_images)
    for _, configurations in groups:
        for knobs in configurations:
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


def _groups(options: BenchOptions, *, kind: str, n_devices: int, n_images: int) -> list[tuple[str, list[Knobs]]]:
    """All configurations by the group that they are compared in; scaling needs none of its own."""
    found: list[tuple[str, list[Knobs]]] = []
    if "sweeps" in options.sections:
        if options.is_grid:
            if not options.sweeps:
                raise BenchError("--grid needs at least one --sweep KNOB=VALUE,VALUE")
            found.append(("grid", grid(options.base, options.sweeps)))
        else:
            usual = usual_sweeps(kind, n_devices=n_devices, n_images=n_images, is_thorough=options.is_thorough)
            found += one_at_a_time(options.base, options.sweeps or usual)
    if "strategies" in options.sections:
        found.append(("strategy", _strategies(options.base, n_devices)))
    return found


def usual_sweeps(kind: str, *, n_devices: int, n_images: int, is_thorough: bool) -> Sweeps:
    """What is varied where nothing else was asked for: what decides most, or `is_thorough` everything that can be."""
    is_gpu, many = kind == "cuda", n_devices > 1
    batches: list[Any] = [size for size in BATCHES if size <= n_images]
    workers: list[Any] = sorted({0, 1, 2, 4, 8} & set(range(cores() + 1)) | {cores()})
    precisions: list[Any] = ["fp32", "tf32", "bf16", "fp16"] if is_gpu else ["fp32", "bf16"]
    if not is_thorough:
        short = batches if is_gpu else [size for size in batches if size in (32, 64, 256, 512)]
        few = workers if is_gpu else sorted({1, cores()})
        return [("batch", [None, *short]), ("workers", [None, *few]), ("precision", precisions)]
    found: list[tuple[str, list[Any]]] = [
        ("batch", [None, *batches]),
        ("workers", [None, *workers]),
        ("precision", ["fp64", *precisions]),
        ("prefetch", [1, 2, 4, 8]),
        ("shuffle", [False, True]),
        ("compile", [False, True]),
        ("channels_last", [True, False]),
        ("copy", ["batch", "item", *(["stream", "stream-high"] if is_gpu else [])]),
    ]
    if is_gpu:
        found += [("pinned", [False, True]), ("cudnn_benchmark", [False, True])]
    if many:
        found += [("barrier", [False, True])]
    if is_gpu and many:
        found += [("backend", ["nccl", "gloo"])]
    return found


def _strategies(base: Knobs, n_devices: int) -> list[Knobs]:
    """One device and all of them in three ways, each with both loaders, and the naive script."""
    kinds: list[tuple[Strategy, int]] = [("ranks", 1)]
    if n_devices > 1:
        kinds += [("ranks", n_devices), ("data-parallel", n_devices), ("threads", n_devices)]
    found = []
    for strategy, n in kinds:
        for loader in ("icons", "files"):
            knobs = replace(base, strategy=strategy, devices=n, loader=loader)
            found.append(replace(knobs, path="index" if fits_index(knobs) else "loop"))
    found.append(NAIVE)
    return [*found, replace(NAIVE, devices=n_devices)] if n_devices > 1 else found


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
        base = replace(self.options.base, strategy="ranks", loader="icons")
        base = replace(base, path="index" if fits_index(base) else "loop")
        counts = [n for n in range(1, self.n_devices + 1) if n in (1, 2, 3, 4, 6, 8) or n == self.n_devices]
        self.measure("scaling", [self.part_of_machine(replace(base, devices=n), self.n_images) for n in counts])
        each = self.n_images // self.n_devices
        self.measure("weak scaling", [self.part_of_machine(replace(base, devices=n), n * each) for n in counts])
        loop = replace(base, path="loop")
        stages = [self.part_of_machine(replace(loop, devices=n), self.n_images) for n in counts]
        self.measure("stages", [in_part(trial, "stages") for trial in stages])

    def parity(self) -> None:
        """What each precision costs in quality."""
        self.watcher.stage("Comparing precisions")
        precisions = ["bf16", "fp16"] if self.kind == "cuda" else ["bf16"]
        choice = (self.options.choice.model, self.options.choice.pretrained)
        try:
            self.findings.parities = call_apart(measure_parity, choice, self.kind, precisions, cores())
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
