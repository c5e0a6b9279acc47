"""What does `icons bench train` measure? Strategies, options of DDP, NCCL and a student, batch, precision.

Writes into a folder: `runs.jsonl`, a line a run as it comes; `report.json`; `report.html`; `charts/*.png`.
"""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.bench.embedding import BenchOptions, count_devices, machine_cores
from indexer.bench.machine import describe
from indexer.bench.training.findings import TrainFindings
from indexer.bench.training.knobs import TrainKnobs, check, check_batch, groups_of
from indexer.bench.training.ranks import RankGroups, corpus_of, options_of, places_in
from indexer.bench.training.trial import TrainRow
from indexer.bench.trials.apart import call_apart
from indexer.bench.trials.sweep import Lane, Series
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import BenchError
from indexer.finetune.plan import read_plan
from indexer.library.bundled import bundled
from indexer.process import cores
from indexer.ranks.devices import Devices
from indexer.reports.bars import Bars

if TYPE_CHECKING:
    from indexer.finetune.prepare import Request

STEPS = {"cpu": 8, "cuda": 50}
PROFILED_STEPS = 3
ON_CPU = 64
"""Icons a step."""
SMALL, OF_SMALL, OF_LARGE = 96, 1024, 256
"""Pictures of so many px are small; icons a step and GPU of small ones, and of larger ones."""


@dataclass(frozen=True, slots=True)
class TrainBenchOptions(BenchOptions):
    """What is to be measured, and with what; the usual base is what `icons finetune` does on all devices."""

    steps: int | None = None
    only: Sequence[str] = ()
    """Names of groups to measure (`usual_group_names`); nothing: all of them."""


def bench_train(options: TrainBenchOptions, bars: Bars) -> TrainFindings:
    """Measure what was asked for. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    for knobs in _all_of(_groups(options, kind=kind, n_devices=n_devices)):
        check(knobs, kind=kind, n_devices=n_devices)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        findings = make_plan(Path(folder), options, kind=kind, n_devices=n_devices, bars=bars)
        groups = _groups(options, kind=kind, n_devices=n_devices, n_icons=findings.n_icons)
        for knobs in _all_of(groups):
            check_batch(knobs, n_icons=findings.n_icons)
        draw_sizes(Path(folder), options, {knobs.size for knobs in _all_of(groups) if knobs.size}, bars)
        series = Series(options.out / "runs.jsonl", findings.rows, repeats=options.repeats, bars=bars)
        with suppress(KeyboardInterrupt), RankGroups(Path(folder), kind=kind) as ranks:
            findings.machine = call_apart(describe, kind)
            for group, configurations in groups:
                lanes = [_lane(group, knobs, findings, ranks) for knobs in configurations]
                series.begin(group, [row for row, _, _ in lanes])
                series.alternate(lanes)
            findings.is_cut_off = False
    return findings


def usual_batch(kind: str, n_devices: int, *, choice: ModelChoice, n_icons: int | None = None) -> int:
    """Icons a step where nobody says how many: on GPUs so many that they compute, instead of waiting for launches.

    There have to be as many icons, where their number is known.
    """
    if kind == "cpu":
        return ON_CPU
    each = OF_SMALL if find_checkpoint(choice).image_size <= SMALL else OF_LARGE
    while n_icons is not None and each > 2 and each * n_devices > n_icons:
        each //= 2
    return each * n_devices


def _groups(
    options: TrainBenchOptions, *, kind: str, n_devices: int, n_icons: int | None = None
) -> list[tuple[str, list[TrainKnobs]]]:
    """All configurations by their group; of the usual ones only those for which there are icons enough.

    Raises:
        DeviceError, BenchError: as `check` has it, for what the others are held against.
    """
    settings = dict(options.settings)
    if "batch" not in settings:
        n = settings.get("devices", n_devices)
        settings["batch"] = usual_batch(kind, n, choice=options.choice, n_icons=n_icons)
    base = replace(TrainKnobs(devices=n_devices), **settings)
    check(base, kind=kind, n_devices=n_devices)
    kind = "cpu" if base.is_simulated else kind
    groups = groups_of(base, n_devices=n_devices, kind=kind, sweeps=options.sweeps, is_thorough=options.is_thorough)
    groups = _chosen(groups, options.only)
    if options.sweeps or n_icons is None:
        return groups
    return [(name, [knobs for knobs in of_it if knobs is base or knobs.batch <= n_icons]) for name, of_it in groups]


def _chosen(groups: list[tuple[str, list[TrainKnobs]]], only: Sequence[str]) -> list[tuple[str, list[TrainKnobs]]]:
    """Those of some groups that are asked for by name; without names, all.

    Raises:
        BenchError: a name is that of none.
    """
    names = [name for name, _ in groups]
    for name in only:
        if name not in names:
            raise BenchError(f'no group "{name}"; there are {", ".join(names)}')
    return [(name, configurations) for name, configurations in groups if not only or name in only]


def _all_of(groups: Sequence[tuple[str, list[TrainKnobs]]]) -> list[TrainKnobs]:
    return [knobs for _, configurations in groups for knobs in configurations]


def make_plan(folder: Path, options: TrainBenchOptions, *, kind: str, n_devices: int, bars: Bars) -> TrainFindings:
    """Render what is learnt from, once, and write a plan that each run will change the options of."""
    from indexer.finetune.corpus.lesson import read_facts
    from indexer.finetune.prepare import prepare, working

    request = _request(folder, options)
    with working(request) as places:
        prepare(request, places, Devices(kind, 1), _Quiet(bars))
    plan = read_plan(places)
    return TrainFindings(
        model=" ".join(filter(None, astuple(options.choice))),
        fingerprint=plan.fingerprint,
        kind=kind,
        n_icons=len(read_facts(plan.corpus)["words"]),
        n_devices=n_devices,
        steps=options.steps or STEPS[kind],
        repeats=options.repeats,
    )


def draw_sizes(folder: Path, options: TrainBenchOptions, sizes: set[int], bars: Bars) -> None:
    """Render what is learnt from in other sizes than the model's, too."""
    from indexer.finetune.corpus.rendered import build_corpus

    if not sizes:
        return
    gathered, limits = _request(folder, options).gather()
    for size in sorted(sizes):
        bars.stage(f"Rendering at {size} px")
        report, corpus = bars.advance, corpus_of(folder, size)
        build_corpus(gathered, corpus, limits=limits, workers=cores(), size=size, report=report)


def _request(folder: Path, options: TrainBenchOptions) -> "Request":
    from indexer.finetune.prepare import Request

    return Request(
        places_in(folder).out,
        sources=[options.source or bundled("samples/lucide-static")],
        choice=options.choice,
        options=options_of(TrainKnobs(batch=2), steps=1),
        workers=cores(),
        replace=True,
    )


class _Quiet:
    """Shows the pictures that are rendered, and nothing else that `icons finetune` would say."""

    def __init__(self, bars: Bars) -> None:
        self.stage, self.rendered = bars.stage, bars.advance

    def note(self, text: str) -> None:
        pass


def _lane(group: str, knobs: TrainKnobs, findings: TrainFindings, ranks: RankGroups) -> Lane:
    """A row of a group, and how it is measured; the run that is not counted is the profiled one."""
    on = machine_cores()
    # N of D devices have N times a D-th of the cores.
    if group == "devices" and findings.kind == "cpu" and not knobs.is_simulated:
        on = on[: max(1, len(on) // findings.n_devices) * knobs.devices]
    row = TrainRow(group, knobs, len(on))

    def profile() -> Mapping[str, Any]:
        row.shares = ranks.profile(knobs, cores=on, steps=PROFILED_STEPS)
        return {"shares": row.shares}

    return row, profile, partial(ranks.train, knobs, cores=on, steps=findings.steps)
