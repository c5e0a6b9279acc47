"""`icons lab bench gpu`: all that only a GPU shows, the most important first, in parts of some 15 seconds.

`report.json` in the folder holds what there is after each part. The same command goes on with the parts that are
missing, then tries those again that have failed.
"""

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from indexer.bench import knobs
from indexer.bench.compare import rows_of, usual_batch
from indexer.bench.knobs import EMBED, PLAIN, TRAIN, Config, turned
from indexer.bench.processes import ask_alone, machine_cores, run_icons
from indexer.bench.report import EACH, SAME, Report, Row, number
from indexer.bench.runs import Bench, Lesson, Pictures, embed, gather, make_lesson, train
from indexer.encoders.checkpoint import LOCAL, ModelChoice
from indexer.encoders.devices import MASK, Devices, parse_devices
from indexer.errors import BenchError, DeviceError, IconsError
from indexer.library.durable import make_folder
from indexer.reports.terminal import Bars

COMMAND = "icons lab bench gpu"
BUNDLED, LARGE, MIDDLE = "bundled", "ViT-L-14", "ViT-B-32"
N_PICTURES = {BUNDLED: 40_000, MIDDLE: 20_000, LARGE: 16_000}
"""Pictures of an embedding: some seconds of one H100, as long as its host draws fast enough."""
_MOST_PICTURES, _FEWER = 160_000, 4
"""For all devices together; a configuration gets so many times fewer than the base."""
LEAST_COSINE, LEAST_OF_LIMIT, LEAST_CORES_BUSY = 0.999, 0.60, 0.97
_SECONDS, _LIMIT_SECONDS = 15.0, 100.0
"""What a part takes, roughly; and after what one of its processes is ended and named."""
_PART = "part"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is measured on what, and how much of it."""

    out: Path
    kind: str = "cuda"
    n_devices: int = 1
    models: tuple[str, ...] = (BUNDLED, LARGE, MIDDLE)
    n_pictures: int | None = None
    """Of an embedding; None: `N_PICTURES`."""
    n_compared: int = 32
    """Pictures whose vectors are held against the CPU's."""
    batches: tuple[int, ...] = (64, 1024)
    steps: int = 10
    train_batch: int | None = None

    def n(self, model: str) -> int:
        """Pictures of an embedding by a model."""
        return self.n_pictures or min(N_PICTURES.get(model, N_PICTURES[MIDDLE]), _MOST_PICTURES // self.n_devices)

    def choice(self, model: str) -> ModelChoice:
        """Name a model as `icons index` does; those of which nobody has weights get random ones."""
        return ModelChoice(f"{LOCAL}{self.weights(model)}" if self.weights(model) else model)

    def weights(self, model: str) -> Path | None:
        """Where random weights lie."""
        return None if model == BUNDLED or model.startswith(LOCAL) else self.out.absolute() / "weights" / model


def tiny(out: Path, *, models: tuple[str, ...] = (BUNDLED,)) -> Setting:
    """The least that goes through all parts, on the CPU: it shows that they run, and measures nothing."""
    return Setting(out, "cpu", 1, models, n_pictures=96, n_compared=16, batches=(16,), steps=1, train_batch=16)


def find_gpus(text: str) -> Devices:
    """Read `--devices`, and have all parts see the GPUs that are named, numbered from 0.

    Raises:
        DeviceError: there is no GPU.
    """
    devices = parse_devices(text)
    if devices.device == "cpu" and text == "auto":
        raise DeviceError(
            f"no GPU can be used: {devices.why or 'no driver of one is here'}; look at `nvidia-smi`, or try all "
            "parts in small with --devices cpu"
        )
    if devices.visible is not None:
        os.environ[MASK] = devices.visible
    return devices


class Part(NamedTuple):
    """Something that is measured by itself."""

    name: str
    measure: Callable[[], list[Row]]


class Parts:
    """All parts of a setting, in the order of their importance."""

    def __init__(self, setting: Setting, bars: Bars) -> None:
        self.setting, self.bars, self.bench = setting, bars, Bench(setting.kind, machine_cores(), _LIMIT_SECONDS)

    def all(self) -> list[Part]:
        """List them, each once."""
        return list({part.name: part for part in self._every()}.values())

    def _every(self) -> Iterator[Part]:
        setting, (first, *others) = self.setting, self.setting.models
        is_gpu, n_devices, n_cores = setting.kind == "cuda", setting.n_devices, len(self.bench.cores)
        if is_gpu:
            yield self._alone("links", "links")
        asked = {model: {"choice": setting.choice(model).to_json(), "kind": setting.kind} for model in setting.models}
        precisions = ("bf16", "fp16") if is_gpu else ("auto",)
        for model in setting.models:
            if folder := setting.weights(model):
                yield self._alone(f"weights {model}", "weights", folder=str(folder), model=model)
            yield self._alone(f"parity {model}", "parity", precisions=precisions, n=setting.n_compared, **asked[model])
        for model in setting.models:
            yield self._alone(f"limit {model}", "limit", batches=setting.batches, **asked[model])
        yield from (self._embed(model) for model in setting.models)
        yield from (self._start(model) for model in (first, *others[:1]))
        usual = usual_batch(setting.kind, n_devices, choice=setting.choice(first), n_icons=2000)
        base = turned(TRAIN, {}, devices=n_devices, batch=setting.train_batch or usual)
        yield self._train(base, base)
        for model in others[:1]:
            plain = partial(self._embed, model, program=PLAIN, workers=n_cores)
            yield plain(batch=64, precision="fp32")
            yield plain(batch=256, precision="bf16", pinned=is_gpu)
        if n_devices > 1:
            counts = sorted({1, 2, 4, 8, n_devices} & set(range(1, n_devices + 1)))
            for model, behind, n in itertools.product((first, *others[:1]), (EACH, SAME), counts):
                n_pictures = setting.n(model) * (n if behind == EACH else 1)
                yield self._embed(model, f"devices {model}{behind}", n_pictures, devices=n)
            backend = "nccl" if is_gpu else "gloo"
            yield self._alone("all-reduce", "all-reduce", n_ranks=n_devices, kind=setting.kind, backend=backend)

    def _alone(self, name: str, question: str, **parameters: Any) -> Part:
        return Part(name, partial(rows_of, name, question, limit=_LIMIT_SECONDS, **parameters))

    def _start(self, model: str) -> Part:
        """Embed the samples in a new library by `icons index`, whose own table says where the time goes."""
        choice, devices = self.setting.choice(model), "1" if self.setting.kind == "cuda" else "cpu"

        def measure() -> list[Row]:
            with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
                run_icons("index", "--only", "scan", "--library", folder)
                how = ("--json", "--devices", devices, "--model", choice.model, "--library", folder)
                ran = run_icons("index", "--only", "embed", *how, is_watched=False)
            rows = [Row(f"start {model}", name, runs=[run]) for name, run in ran.spans().items()]
            return [Row(f"start {model}", "the whole", runs=[{"seconds": ran.seconds}]), *rows]

        return Part(f"start {model}", measure)

    def _embed(self, model: str, group: str = "", n: int = 0, **chosen: Any) -> Part:
        config, group = turned(EMBED, {"devices": 1}, **chosen), group or f"embed {model}"
        name = knobs.label(EMBED, config, [{"devices": 1}])
        n = n or self.setting.n(model) // (1 if name == "base" else _FEWER)

        choose, row = partial(replace, choice=self.setting.choice(model)), Row(group, name, dict(config))
        return Part(
            f"{group}: {name}", lambda: [replace(row, runs=[embed(config, choose(self.pictures.first(n)), self.bench)])]
        )

    def _train(self, config: Config, base: Config) -> Part:
        row = Row("training", knobs.label(TRAIN, config, [base]), dict(config))
        return Part(f"training: {row.name}", lambda: [replace(row, runs=[train(config, self.lesson, self.bench)])])

    @cached_property
    def pictures(self) -> Pictures:
        """What is embedded: enough for all parts."""
        most = max(map(self.setting.n, self.setting.models)) * self.setting.n_devices
        return gather(self._folder("pictures"), None, choice=ModelChoice.bundled(), n=most)

    @cached_property
    def lesson(self) -> Lesson:
        """What is learnt from."""
        kind, steps, choice = self.setting.kind, self.setting.steps, self.setting.choice(self.setting.models[0])
        return make_lesson(self._folder("lesson"), None, choice=choice, kind=kind, steps=steps, bars=self.bars)

    def _folder(self, name: str) -> Path:
        make_folder(self.setting.out / name)
        return self.setting.out / name


def chosen(parts: Sequence[Part], only: Sequence[str]) -> list[Part]:
    """Those of some parts whose names begin so. Raises BenchError: there is none."""
    if unknown := [name for name in only if not any(part.name.startswith(name) for part in parts)]:
        raise BenchError(f'--only "{unknown[0]}" is no part; there are {", ".join(part.name for part in parts)}')
    return [part for part in parts if not only or part.name.startswith(tuple(only))]


def bench_gpu(
    parts: Sequence[Part], out: Path, *, kind: str, bars: Bars, minutes: float | None, show: Callable[[Row], None]
) -> Report:
    """Measure the parts that are missing, those that have failed last; `show` gets each row as it comes.

    No part begins that would take longer than what is left of the `minutes`; the first one always does. Ctrl-C keeps
    what there is.

    Raises:
        BenchError: the folder holds what was measured on another machine.
    """
    report = _open(out, kind)
    failed = {row.setting[_PART] for row in report.failed}
    done = {row.setting[_PART] for row in report.rows} - failed
    due = sorted((part for part in parts if part.name not in done), key=lambda part: part.name in failed)
    until = None if minutes is None else time.monotonic() + 60 * minutes
    report.is_whole = not due
    with suppress(KeyboardInterrupt):
        for place, part in enumerate(due):
            if place and until is not None and time.monotonic() + _SECONDS > until:
                break
            bars.stage(part.name)
            bars.advance(place, len(due), unit="parts")
            started = time.monotonic()
            try:
                rows = part.measure()
            except IconsError as error:
                rows = [Row(part.name, part.name, error=str(error))]
            for row in rows:
                row.setting |= {_PART: part.name, "seconds": round(time.monotonic() - started, 1)}
            report.rows = [row for row in report.rows if row.setting[_PART] != part.name] + rows
            report.is_whole = place == len(due) - 1
            report.save(out)
            for row in rows:
                show(row)
    return report


def _open(out: Path, kind: str) -> Report:
    machine = ask_alone("machine", kind=kind)[0]
    if not (out / "report.json").is_file():
        return Report(command=COMMAND, main="images/s", machine=machine)
    report = Report.read(out / "report.json", command=COMMAND)
    now, before = (
        ", ".join([of["processor"], *(it["name"] for it in of.get("gpus", ())), f"torch {of['packages']['torch']}"])
        for of in (machine, report.machine)
    )
    if now != before:
        raise BenchError(f'"{out}" holds what was measured on {before}, this is {now}; give another --out')
    return report


def goals(report: Report) -> Iterator[tuple[str, bool]]:
    """Hold what was measured against the goals: what was reached, and whether that is enough."""
    for row, value in ((it, value) for it in report.rows for value in it.values("least cosine")):
        yield f"{row.group}, {row.name}: least cosine {value:.5f} of {LEAST_COSINE}", value >= LEAST_COSINE
    if "gpus" not in report.machine:  # what is tried in small has no speed
        return
    bases = {row.group: row for row in report.rows if row.name == "base"}
    large, bundled = bases.get(f"embed {LARGE}"), bases.get(f"embed {BUNDLED}")
    alone = [value for row in report.of(f"limit {LARGE}") for value in row.values("images/s")]
    for rate in large.values("images/s") if large and alone else ():
        share = rate / max(alone)
        yield f"{LARGE}: end to end {number(share)} of passes alone, of {LEAST_OF_LIMIT}", share >= LEAST_OF_LIMIT
    all_busy = bundled.values("cores busy") if bundled else ()
    yield from (
        (f"{BUNDLED}: cores busy {number(it)} of {LEAST_CORES_BUSY}", it >= LEAST_CORES_BUSY) for it in all_busy
    )
