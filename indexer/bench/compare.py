"""`icons lab bench embed` and `train`: configurations measured against each other, group by group.

Repeats alternate: all configurations of a group once forwards, once backwards, and so on, so that what drifts drifts
for all. Every run is new processes; `report.json` is written after each.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from indexer.bench import knobs
from indexer.bench.knobs import EMBED, PLAIN, TRAIN, Config, Groups, Table, turned
from indexer.bench.processes import ask_alone, machine_cores
from indexer.bench.report import EACH, SAME, Report, Row, Run
from indexer.bench.runs import Bench, embed, gather, make_lesson, train
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import parse_devices
from indexer.errors import BenchError, DeviceError, IconsError
from indexer.reports.terminal import Bars

N_PICTURES, N_STEPS = {"cpu": 8192, "cuda": 40_000}, {"cpu": 8, "cuda": 50}
LINKS, LIMIT, DRAWING, STRATEGY, DEVICES = "links", "limit", "drawing", "strategy", "devices"
ALONE, REDUCTION, PARITY = "devices alone", "all-reduce", "parity"
LIMIT_BATCHES = {"cpu": (64, 256), "cuda": (64, 256, 1024, 2048)}
PRECISIONS = {"cpu": ("bf16",), "cuda": ("bf16", "fp16")}
_N_DRAWN = 2000
_OF_CPU, _SMALL, _OF_SMALL, _OF_LARGE = 64, 96, 1024, 256
"""Icons a step on CPUs; pictures of so many px are small; icons of a GPU of small ones, and of larger ones."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be measured, and with what."""

    out: Path
    source: Path | None = None
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    devices: str = "auto"
    repeats: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Knobs of the base, where it is not the usual one."""
    sweeps: Sequence[tuple[str, list[Any]]] = ()
    """Nothing: the usual ones."""
    is_grid: bool = False
    is_thorough: bool = False
    only: Sequence[str] = ()
    """Names of groups; nothing: all of them."""
    n: int | None = None
    """Pictures of a run, or counted steps."""

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Those of some groups that are asked for. Raises BenchError: a name is that of none."""
        if unknown := [name for name in self.only if name not in names]:
            raise BenchError(f'no group "{unknown[0]}"; there are {", ".join(names)}')
        return [name for name in dict.fromkeys(names) if not self.only or name in self.only]

    def groups(self, table: Table, base: Config, *, kind: str, n_devices: int, most: Mapping[str, int]) -> Groups:
        """What is asked for, or the usual: each configuration can be measured here."""
        knobs.check(table, base, kind=kind, n_devices=n_devices)
        if self.sweeps or self.is_grid:
            groups = knobs.swept(table, base, self.sweeps, is_grid=self.is_grid)
        else:
            groups = knobs.usual_groups(
                table, base, kind=kind, n_devices=n_devices, is_thorough=self.is_thorough, most=most
            )
        for _, configs in groups:
            for config in configs:
                knobs.check(table, config, kind=kind, n_devices=n_devices)
        return groups


@dataclass(slots=True)
class Series:
    """Measures one group after the other into a report, which is saved on the way."""

    report: Report
    table: Table
    options: Options
    bars: Bars
    _is_warm: bool = False

    def measure(self, group: str, configs: Sequence[Config], take: Callable[[Config], Run]) -> None:
        """Run configurations in turn; one that can't be run says so in its row, and the others go on."""
        self.bars.stage(f"Measuring {group}")
        repeats = self.options.repeats
        rows = [Row(group, knobs.label(self.table, config, configs), dict(config)) for config in configs]
        self.report.rows += rows
        for repeat in range(repeats + 1):
            in_turn = rows if repeat % 2 else rows[::-1]
            for done, row in enumerate(in_turn):
                self.bars.advance(repeat * len(rows) + done, len(rows) * (repeats + 1), row.name)
                try:
                    if row.error is None and repeat:
                        row.runs.append(take(row.setting))
                    elif not self._is_warm:  # files come from the page cache from now on
                        take(row.setting)
                except IconsError as error:
                    row.error = str(error)
                self._is_warm = True
                self.report.save(self.options.out)

    def ask(self, group: str, question: str, **parameters: Any) -> None:
        """Answer a question of `alone`, once; its rows are a group."""
        self.bars.stage(f"Measuring {group}")
        self.report.rows += rows_of(group, question, **parameters)
        self.report.save(self.options.out)


def rows_of(group: str, question: str, **parameters: Any) -> list[Row]:
    """Answer a question of `alone` in a process of its own, as rows."""
    rows = []
    for answer in ask_alone(question, **parameters):
        name, error = answer.pop("name", question), answer.pop("error", None)
        rows.append(Row(group, name, error=error, runs=[answer] if answer else []))
    return rows


def count_devices(text: str) -> tuple[str, int]:
    """Kind of the devices and how many; "auto" and "cpu" mean all of them: GPUs, or cores that stand for devices.

    Raises:
        DeviceError: they are not there.
    """
    devices = parse_devices(text)
    n_cores = len(machine_cores())
    if devices.device == "cpu" and text in ("auto", "cpu"):
        return "cpu", min(n_cores, 8)
    if devices.device == "cpu" and devices.n > n_cores:
        raise DeviceError(f'--devices "{text}" asks for {devices.n} processes, this machine has {n_cores} cores')
    return devices.device, devices.n


def bench_embed(options: Options, bars: Bars) -> Report:
    """Measure how pictures become vectors. Ctrl-C ends the measuring; what was measured is returned, and is on disk.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    n = options.n or N_PICTURES[kind]
    whole = Bench(kind, machine_cores())
    base = turned(EMBED, {"devices": 1}, **options.settings)
    most = {"batch": n // n_devices, "workers": len(whole.cores)}
    groups = options.groups(EMBED, base, kind=kind, n_devices=n_devices, most=most)
    groups.append((STRATEGY, knobs.strategies(base, kind=kind, n_devices=n_devices)))
    links = [LINKS] if kind == "cuda" else []
    of_many = [DEVICES, ALONE, REDUCTION] if n_devices > 1 else []
    names = options.chosen([*links, LIMIT, DRAWING, *(name for name, _ in groups), *of_many, PARITY])
    report = Report(command="icons lab bench embed", main="images/s")
    series = Series(report, EMBED, options, bars)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder, suppress(KeyboardInterrupt):
        bars.stage("Gathering pictures")
        pictures = gather(Path(folder), options.source, choice=options.choice, n=n)
        again = f" ({pictures.n_distinct:,} distinct)" if pictures.n_distinct < n else ""
        what = f"{n:,} pictures{again}, encoder {options.choice.model}"
        report.facts.append(f"{what}; medians of {options.repeats} with 95 % intervals")
        report.machine = ask_alone("machine", kind=kind)[0]
        probes = _probes(options, whole, n=n, n_devices=n_devices, precision=base.get("precision", "auto"))
        starts = {DEVICES: base, ALONE: turned(EMBED, base, program=PLAIN, loader="memory")}

        def take_share(behind: str, one: Config) -> Run:
            some = pictures.first(n if behind == SAME else n // n_devices * one["devices"])
            return embed(one, some, whole.part(one, n_devices))

        for name in names:
            for question, parameters in probes.get(name, ()):
                series.ask(name, question, **parameters)
            if name in starts:
                configs = knobs.scaled(EMBED, starts[name], n_devices)
                for behind in (SAME, EACH):
                    series.measure(f"{name}{behind}", configs, partial(take_share, behind))
            for group, configs in groups:
                if group == name:
                    series.measure(name, configs, lambda one: embed(one, pictures, whole))
        report.facts += _limit_lines(report, whole)
        report.is_whole = True
    return report


def _probes(
    options: Options, whole: Bench, *, n: int, n_devices: int, precision: str
) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Questions of `alone` by the groups that they answer."""
    kind = whole.kind
    asked: dict[str, Any] = {"choice": options.choice.to_json(), "kind": kind}
    passes = {"precision": precision, "batches": LIMIT_BATCHES[kind], **asked}
    drawn = {
        "source": options.source and str(options.source),
        "n": min(n, _N_DRAWN),
        "size": find_checkpoint(options.choice).image_size,
        "workers": len(whole.cores),
    }
    sums = {"gloo": "cpu", "nccl": "cuda"} if kind == "cuda" else {"gloo": "cpu"}
    return {
        LINKS: [("links", {})],
        LIMIT: [("limit", passes)],
        DRAWING: [("drawing", drawn)],
        REDUCTION: [("all-reduce", {"n_ranks": n_devices, "kind": of, "backend": it}) for it, of in sums.items()],
        PARITY: [("parity", {"precisions": PRECISIONS[kind], **asked})],
    }


def _limit_lines(report: Report, whole: Bench) -> list[str]:
    """What neither the device nor the cores could exceed, and how near to it the fastest run comes."""
    on_cores = whole.kind == "cpu"
    unit = "ms of a core" if on_cores else "images/s"
    passes = [value for row in report.of(LIMIT) for value in row.values(unit)]
    drawn = [value for row in report.of(DRAWING) for value in row.values(unit)]
    if not passes or (on_cores and not drawn):
        return []
    best = 1e3 * len(whole.cores) / (min(passes) + min(drawn)) if on_cores else max(passes)
    ours = [row for row in report.rows if row.setting and row.setting.get("program") != PLAIN]
    reached = max((value for row in ours for value in row.values("images/s")), default=0.0)
    what = "all cores drawing and computing, nothing else" if on_cores else "passes alone, nothing drawn"
    return [f"limit: {best:,.0f} images/s, {what}; the fastest run reached {reached / best:.0%} of it"]


def bench_train(options: Options, bars: Bars) -> Report:
    """Measure how a model learns. Ctrl-C ends the measuring; what was measured is returned, and is on disk already.

    Raises:
        IconsError: with the value that is wrong, before anything is measured.
    """
    kind, n_devices = count_devices(options.devices)
    whole = Bench(kind, machine_cores())
    steps = options.n or N_STEPS[kind]

    def groups_of(n_icons: int | None = None) -> tuple[Config, Groups]:
        n_used = options.settings.get("devices", n_devices)
        batch = usual_batch(kind, n_used, choice=options.choice, n_icons=n_icons)
        base = turned(TRAIN, {"devices": n_devices, "batch": batch}, **options.settings)
        return base, options.groups(TRAIN, base, kind=kind, n_devices=n_devices, most={})

    scaling = [DEVICES] if n_devices > 1 and not options.sweeps else []
    names = options.chosen([*scaling, *(name for name, _ in groups_of()[1])])
    report = Report(command="icons lab bench train", main="images/s")
    series = Series(report, TRAIN, options, bars)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder, suppress(KeyboardInterrupt):
        lesson = make_lesson(Path(folder), options.source, choice=options.choice, kind=kind, steps=steps, bars=bars)
        what = f"{lesson.n_icons:,} icons, {steps} steps a run, model {options.choice.model}"
        report.facts.append(f"{what}; medians of {options.repeats} with 95 % intervals")
        report.machine = ask_alone("machine", kind=kind)[0]
        base, groups = groups_of(lesson.n_icons)

        def take_share(one: Config) -> Run:
            return train(one, lesson, whole.part(one, n_devices))

        if DEVICES in names:
            same = knobs.scaled(TRAIN, base, n_devices)
            each = [{**one, "batch": base["batch"] // n_devices * one["devices"]} for one in same]
            for behind, configs in ((SAME, same), (EACH, each)):
                series.measure(f"{DEVICES}{behind}", configs, take_share)
        for name, configs in groups:
            if name in names:
                series.measure(name, configs, lambda one: train(one, lesson, whole))
        report.is_whole = True
    return report


def usual_batch(kind: str, n_devices: int, *, choice: ModelChoice, n_icons: int | None = None) -> int:
    """Icons a step where nobody says how many, as far as there are so many: on GPUs enough for them to compute."""
    if kind == "cpu":
        return _OF_CPU
    each = _OF_SMALL if find_checkpoint(choice).image_size <= _SMALL else _OF_LARGE
    while n_icons is not None and each > 2 and each * n_devices > n_icons:
        each //= 2
    return each * n_devices
