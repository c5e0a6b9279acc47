"""One run of a configuration, and its figures: ranks of `icons index` and `icons lab finetune`, the plain script.

Pictures are those of a source or the bundled samples, never those of the user's library: every run of embedding gets a
library of its own in a temporary folder, which holds nothing but a plan.

Rates of the product are those that its ranks report: of embedding all pictures, some of which are drawn while the
encoder loads; of training all steps but those that warm up.
"""

import itertools
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from indexer.bench.knobs import PLAIN, TRAIN, Config, environment
from indexer.bench.processes import ask_alone, busy_seconds, on_cores, run_module
from indexer.bench.report import Run
from indexer.embedding.planning import EmbedOptions, image_item
from indexer.embedding.progress import EmbeddingProgress, Watch
from indexer.embedding.progress import Run as RanksRun
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import Devices, first_devices
from indexer.errors import BenchError
from indexer.finetune.options import FinetuneOptions, Places, TrainingProgress, read_plan
from indexer.finetune.options import write_plan as write_training
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.library.plans import Plan, cut_blocks, write_plan
from indexer.process import cores
from indexer.rendering.pool import Job, RenderPool
from indexer.reports.terminal import Bars
from indexer.sources.source import open_sources

_SHARES = {"data": "waiting for data", "compute": "steps", "communication": "exchange", "optimiser": "optimiser"}
"""Of a step, by the span that tells each."""
_WARM_UP_STEPS = {"cpu": 3, "cuda": 20}
"""Of a training: DDP puts its buckets together anew; a GPU chooses algorithms, fills its caches, takes up its clock."""
_NEVER = 10**9
_OF_INDEX = {"precision": "precision", "batch": "batch_size", "workers": "workers"}
"""Knobs of embedding, as `EmbedOptions` calls them."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where is measured: kind of the devices, cores of this machine, and what takes too long."""

    kind: str
    cores: tuple[int, ...]
    limit: float = 1800.0

    def run(self, module: str, *arguments: str, **how: Any) -> None:
        """Run a module in a process for each device (`run_module`), on these cores.

        Raises:
            BenchError: it can't be run so.
        """
        with on_cores(self.cores):
            run_module(module, *arguments, limit=self.limit, **how)

    def part(self, config: Config, n_devices: int) -> "Bench":
        """GPUs have all cores; of D devices that stand for cores, N have N times a D-th."""
        share = max(1, len(self.cores) // n_devices) * config["devices"]
        return self if self.kind == "cuda" else replace(self, cores=self.cores[:share])


FILE_SIDE = 224
"""Of the PNG files, in pixels, whatever the model takes: icons are exported larger than the bundled model sees them."""
SAMPLES = "samples/lucide-static"


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures to embed, the encoder to do it with, and a folder for what is made of them."""

    folder: Path
    choice: ModelChoice
    jobs: Sequence[Job]
    n_distinct: int
    """Where more pictures were asked for than there are, some are taken again."""

    def first(self, n: int) -> "Pictures":
        """So many of them."""
        return replace(self, jobs=self.jobs[:n])


def gather(folder: Path, source: Path | None, *, choice: ModelChoice, n: int) -> Pictures:
    """Choose pictures, each once, evenly from the whole source, or from the bundled samples.

    Raises:
        BenchError, SourceError: the source holds no pictures, or is not there.
    """
    found: dict[bytes, Job] = {}
    scans = ((opened, scanned) for opened in open_sources(source or bundled(SAMPLES)) for scanned in opened.scan({}))
    for opened, scanned, record in ((*scan, record) for scan in scans for record in scan[1].records or ()):
        found.setdefault(record.digest, Job(0, opened.address_of(scanned, record)))
    if not found:
        raise BenchError(f'no pictures in "{source}"; give a folder of icons, or none for the bundled samples')
    jobs = list(found.values())
    places = np.linspace(0, len(jobs) - 1, n) if n <= len(jobs) else np.arange(n) % len(jobs)
    chosen = [jobs[place]._replace(id=number) for number, place in enumerate(places.astype(int))]
    return Pictures(folder, choice, chosen, min(n, len(jobs)))


def make_library(root: Path, pictures: Pictures, options: EmbedOptions) -> tuple[Library, Plan]:
    """Make a library that holds nothing but a plan of these pictures, and let ranks begin with it."""
    library, fingerprint = Library(root), find_checkpoint(pictures.choice).fingerprint
    items = [image_item(*job) for job in pictures.jobs]
    blocks = list(cut_blocks("images", items, n=len(items), attempt=""))
    plan = Plan(fingerprint, pictures.choice.to_json(), len(items), 0, len(blocks), options=asdict(options))
    write_plan(library, plan, blocks)
    return library, plan


def png_files(pictures: Pictures, *, workers: int) -> Path:
    """Draw the pictures as PNG files, as a preparing script would have done; once. Returns their folder."""
    folder = pictures.folder / "files"
    folder.mkdir(exist_ok=True)
    if missing := [job for job in pictures.jobs if not (folder / f"{job.id:07d}.png").exists()]:
        with RenderPool(size=FILE_SIDE, workers=workers) as pool:
            drawn = (zip(chunk.ids.tolist(), chunk.pixels, strict=True) for chunk in pool.render([missing]))
            for number, pixels in itertools.chain.from_iterable(drawn):
                Image.fromarray(pixels).save(folder / f"{number:07d}.png")
    return folder


@dataclass(slots=True)
class Reports:
    """What the ranks of an embedding report at last, and how busy the machine is meanwhile."""

    run: Path
    last: dict[int, EmbeddingProgress] = field(default_factory=dict)
    busy: list[tuple[float, float]] = field(default_factory=list)

    def look(self) -> None:
        """Note what there is now."""
        self.busy.append((time.time(), busy_seconds()))
        reported = Watch(RanksRun.of_folder(self.run), EmbeddingProgress).look()
        self.last |= {progress.rank: progress for progress in reported if progress.began_at}

    def figures(self, n_cores: int) -> Run:
        """Figures of all ranks together, from the first picture of any to the last.

        Raises:
            BenchError: no rank has embedded a picture.
        """
        ranks = [*self.last.values()]
        if not sum(rank.done for rank in ranks):
            raise BenchError("no picture was embedded")
        start, end = min(rank.began_at for rank in ranks), max(rank.began_at + rank.seconds for rank in ranks)
        seconds, failed = end - start, sum(rank.failed for rank in ranks)
        remarks = dict.fromkeys(rank.remark for rank in ranks if rank.remark)
        device_busy = float(np.mean([rank.busy_seconds or 0.0 for rank in ranks])) / seconds
        cores_busy = np.diff(np.interp([start, end], *np.transpose(self.busy)))[0] / (seconds * n_cores)
        return {
            "images/s": sum(rank.done for rank in ranks) / seconds,
            "seconds": seconds,
            "waits": float(np.mean([rank.waited_seconds for rank in ranks])) / seconds,
            **({"device busy": device_busy} if ranks[0].busy_seconds is not None else {}),
            "cores busy": float(cores_busy),
            "memory, GB": sum(rank.memory_bytes for rank in ranks) / 1e9,
            "batch": max(rank.batch_size for rank in ranks),
            "pictures": sum(rank.images for rank in ranks),
            **({"failed": failed} if failed else {}),
            **({"remark": "; ".join(remarks)} if remarks else {}),
        }


def embed(config: Config, pictures: Pictures, bench: Bench) -> Run:
    """Embed pictures once. Raises BenchError: it can't be run so."""
    devices = first_devices(bench.kind, config["devices"])
    with tempfile.TemporaryDirectory(dir=pictures.folder) as name:
        if config.get("program") == PLAIN:
            asked = {"folder": str(png_files(pictures, workers=len(bench.cores))), "choice": pictures.choice.to_json()}
            n_ranks = 1 if config.get("strategy") == "data-parallel" else config["devices"]
            with on_cores(bench.cores):
                found = ask_alone("plain", n_ranks=n_ranks, limit=bench.limit, kind=bench.kind, **asked, **config)[-1]
            if error := found.get("error"):
                raise BenchError(error)
            return found
        chosen = {of_index: config[knob] for knob, of_index in _OF_INDEX.items() if knob in config}
        library, plan = make_library(Path(name), pictures, EmbedOptions(bench.kind, **chosen))
        arguments = ("--library", str(library.root), "--fingerprint", plan.fingerprint)
        reports = Reports(run := library.run(plan.fingerprint, plan.run))
        bench.run("indexer.embedding.embed", *arguments, devices=devices, folder=run, look=reports.look)
        reports.look()
        return reports.figures(len(bench.cores))


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a model learns from: a plan whose options change from run to run."""

    places: Places
    n_icons: int
    steps: int
    """Counted, of every run."""


def make_lesson(folder: Path, source: Path | None, *, choice: ModelChoice, kind: str, steps: int, bars: Bars) -> Lesson:
    """Render what is learnt from, once."""
    from indexer.finetune.session import Request, prepare, working

    options, sources = _options_of({"batch": 2}, steps=1), [source or bundled(SAMPLES)]
    request = Request(folder / "model", sources=sources, choice=choice, options=options, workers=cores())
    with working(request) as places:
        return Lesson(places, len(prepare(request, places, Devices(kind, 1), bars).bases), steps)


def train(config: Config, lesson: Lesson, bench: Bench) -> Run:
    """Train once: rates by the training's own log, shares by its own timings.

    Raises:
        BenchError: it can't be run so.
    """
    places, warm_up, devices = lesson.places, _WARM_UP_STEPS[bench.kind], first_devices(bench.kind, config["devices"])
    places.forget()
    RanksRun.of_folder(places.work).store.clear("workers/")
    write_training(places, replace(read_plan(places), options=_options_of(config, steps=warm_up + lesson.steps)))
    arguments, variables = ("--out", str(places.out), "--device", bench.kind), environment(config)
    bench.run("indexer.finetune.rank", *arguments, devices=devices, folder=places.work, environment=variables)
    taken = [it for it in map(json.loads, places.log.read_text("utf-8").splitlines()) if it["kind"] == "step"]
    rate = lesson.steps / (taken[-1]["seconds"] - taken[warm_up - 1]["seconds"])
    ranks = Watch(RanksRun.of_folder(places.work), TrainingProgress).look()
    spans = [{span.name: span.seconds for span in rank.spans} for rank in ranks]
    wholes = [of["steps"] + of["waiting for data"] for of in spans]
    return {
        "images/s": rate * config["batch"],
        "steps/s": rate,
        "waits": float(np.mean([rank.waited_share for rank in ranks])),
        **{
            name: float(np.mean([of.get(span, 0.0) / whole for of, whole in zip(spans, wholes, strict=True)]))
            for name, span in _SHARES.items()
        },
        "loss": taken[-1]["loss"],
        "memory, GB": sum(rank.memory_bytes for rank in ranks) / 1e9,
        "warm-up": warm_up,
    }


def _options_of(config: Config, *, steps: int) -> FinetuneOptions:
    """Every choice of a training: those of `icons lab finetune`, but for the knobs and what is not to be measured."""
    chosen = {name: value for name, value in config.items() if name != "devices" and not TRAIN[name].variable}
    unmeasured = {"held_out": _NEVER, "validate_steps": _NEVER, "patience": 0, "checkpoint_seconds": float(_NEVER)}
    return FinetuneOptions.of({**chosen, **unmeasured, "log_steps": 1, "steps": steps})
