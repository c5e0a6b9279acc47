"""What does `icons bench train` measure? Strategies, the options of DDP, batch, accumulation, precision.

Writes into a folder: `runs.jsonl`, a line a run as it comes; `report.json`; `report.html`; `charts/*.png`.
"""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from indexer.bench.embedding import Watcher, count_devices, machine_cores
from indexer.bench.machine import describe
from indexer.bench.training.findings import TrainFindings
from indexer.bench.training.knobs import Sweeps, TrainKnobs, check, check_batch, groups_of
from indexer.bench.training.ranks import RankGroups, options_of
from indexer.bench.training.tasks import places_in
from indexer.bench.training.trial import TrainRow
from indexer.bench.trials.apart import call_apart
from indexer.bench.trials.sweep import Journal, Take, alternate
from indexer.encoders.checkpoint import ModelChoice
from indexer.library.bundled import bundled

STEPS = {"cpu": 8, "cuda": 50}
PROFILED_STEPS = 3


@dataclass(frozen=True, slots=True)
class TrainBenchOptions:
    """What is to be measured, and with what."""

    out: Path
    source: Path | None = None
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    devices: str = "auto"
    steps: int | None = None
    repeats: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the base, which otherwise is what `icons finetune` does on all devices."""
    sweeps: Sweeps = ()
    """What the person asked for; nothing: the usual ones."""
    is_thorough: bool = False


def bench_train(options: TrainBenchOptions, watcher: Watcher) -> TrainFindings:
    """Measure what was asked for. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    base = replace(TrainKnobs(devices=n_devices), **options.settings)
    groups = groups_of(base, n_devices=n_devices, kind=kind, sweeps=options.sweeps, is_thorough=options.is_thorough)
    everything = [base, *(knobs for _, configurations in groups for knobs in configurations)]
    for knobs in everything:
        check(knobs, kind=kind, n_devices=n_devices)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        findings = make_plan(Path(folder), options, kind=kind, n_devices=n_devices, watcher=watcher)
        for knobs in everything:
            check_batch(knobs, n_icons=findings.n_icons)
        journal = Journal(options.out / "runs.jsonl")
        with suppress(KeyboardInterrupt), RankGroups(Path(folder), kind=kind) as ranks:
            findings.machine = call_apart(describe, kind)
            for group, configurations in groups:
                watcher.stage(f"Measuring {group}")
                _measure(group, configurations, findings, ranks=ranks, journal=journal, watcher=watcher)
            findings.is_cut_off = False
        journal.close()
    return findings


def make_plan(
    folder: Path, options: TrainBenchOptions, *, kind: str, n_devices: int, watcher: Watcher
) -> TrainFindings:
    """Render what is learnt from, once, and write a plan that each run will change the options of."""
    from indexer.finetune.corpus.lesson import read_facts
    from indexer.finetune.plan import read_plan
    from indexer.finetune.prepare import Request, prepare
    from indexer.process import cores
    from indexer.ranks.devices import Devices

    request = Request(
        places_in(folder).out,
        sources=[options.source or bundled("samples/lucide-static")],
        choice=options.choice,
        options=options_of(TrainKnobs(batch=2), steps=1),
        workers=cores(),
    )
    plan = read_plan(prepare(request, Devices(kind, 1), _Quiet(watcher)))
    return TrainFindings(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        model=" ".join(filter(None, (options.choice.model, options.choice.pretrained))),
        fingerprint=plan.fingerprint,
        kind=kind,
        n_icons=len(read_facts(plan.corpus)["words"]),
        n_devices=n_devices,
        steps=options.steps or STEPS[kind],
        repeats=options.repeats,
        is_cut_off=True,
    )


class _Quiet:
    """Shows the pictures that are rendered, and nothing else that `icons finetune` would say."""

    def __init__(self, watcher: Watcher) -> None:
        self.stage, self._advance = watcher.stage, watcher.advance

    def rendered(self, done: int, total: int) -> None:
        self._advance(done, total)

    def note(self, text: str) -> None:
        pass


def _measure(
    group: str,
    configurations: Sequence[TrainKnobs],
    findings: TrainFindings,
    *,
    ranks: RankGroups,
    journal: Journal,
    watcher: Watcher,
) -> None:
    """Measure a group; the run that is not counted is the profiled one."""
    everyone = machine_cores()
    lanes: list[tuple[TrainRow, Take]] = []
    for knobs in configurations:
        n = len(everyone)
        if group == "devices" and findings.kind == "cpu":  # N of D devices have N times a D-th of the cores
            n = max(1, n // findings.n_devices) * knobs.devices
        row = TrainRow(group, knobs, n)
        lanes.append((row, _taking(row, everyone[:n], findings, ranks)))
    findings.rows += [row for row, _ in lanes]

    def tell(label: str, done: int, total: int) -> None:
        watcher.advance(done, total, label)

    alternate(lanes, repeats=findings.repeats, journal=journal, tell=tell)


def _taking(row: TrainRow, cores: Sequence[int], findings: TrainFindings, ranks: RankGroups) -> Take:
    def take(repeat: int) -> Mapping[str, Any] | None:
        if repeat == 0:
            row.shares = ranks.profile(row.knobs, cores=cores, steps=PROFILED_STEPS)
            return {"shares": row.shares}
        trained = ranks.train(row.knobs, cores=cores, steps=findings.steps)
        row.runs.append(trained)
        return asdict(trained)

    return take
