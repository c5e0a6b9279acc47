"""How are configurations trained in turn without loading torch each time? Groups of ranks that live to the end.

Each group is one torchrun: so many processes with one backend on some cores. It trains whatever plan it is given. The
benchmark and its ranks leave word for each other in files of the group's folder.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from indexer.bench.training.knobs import NCCL_VARIABLES, TrainKnobs
from indexer.bench.training.trial import SHARES, Trained
from indexer.errors import BenchError
from indexer.finetune.options import FinetuneOptions, Places
from indexer.finetune.plan import read_plan, write_plan
from indexer.library.durable import write_file
from indexer.ranks.devices import Devices, first_devices
from indexer.ranks.launch import Ranks
from indexer.ranks.progress import clear_progress

LIMIT_SECONDS = 1800.0
"""Of one run: a training that hangs is ended and named."""
WARM_UP_STEPS = 2
"""Not counted; in the first one DDP learns in which order gradients come, and puts its buckets together anew."""
MOST_WARM_UP_STEPS = {"cpu": WARM_UP_STEPS, "cuda": 20}
"""A GPU chooses algorithms, fills its caches of memory and takes up its clock meanwhile."""
_STEADY = 1.1
"""A step takes so much of the later ones' median at most, once all is warm; three in a row tell it."""
_LOOK_SECONDS = 0.05
NEVER = 10**9
_OF_FINETUNE = (
    *("batch", "accumulate", "backend", "bucket_cap_mb", "gradient_as_bucket_view", "static_graph"),
    *("find_unused_parameters", "sync_batch_norm", "compile", "grad_checkpointing", "ema", "picture_tower"),
)
"""Knobs that `icons finetune` has under the same names."""


def places_in(folder: Path) -> Places:
    """Where in the folder of a benchmark the plan lies that is trained next: one group of ranks at a time does."""
    return Places(folder / "model")


def corpus_of(folder: Path, size: int) -> Path:
    """The same pictures, drawn so many px wide."""
    return folder / f"corpus-{size}"


def task_file(folder: Path, number: int) -> Path:
    """What is to be done, in the words of `TrainKnobs`."""
    return folder / f"task-{number}.json"


def done_file(folder: Path, number: int, rank: int) -> Path:
    """Where a rank writes what came of it."""
    return folder / f"done-{number}-{rank}.json"


def steady_from(ended: Sequence[float], *, most: int) -> int:
    """How many steps warm up, from the seconds at which each ended: `WARM_UP_STEPS` at least, `most` at most."""
    taken = np.diff(ended, prepend=0.0)
    steady = taken <= _STEADY * np.median(taken[most:])
    return next((step for step in range(WARM_UP_STEPS, most) if steady[step : step + 3].all()), most)


class RankGroups:
    """The groups of ranks of a benchmark, each started when first needed; a context manager."""

    def __init__(self, folder: Path, *, kind: str) -> None:
        self._folder, self._kind = folder, kind
        self._groups: dict[str, _Group] = {}

    def __enter__(self) -> "RankGroups":
        return self

    def __exit__(self, *error: object) -> None:
        for group in self._groups.values():
            group.ranks.end()

    def train(self, knobs: TrainKnobs, *, cores: Sequence[int], steps: int) -> Trained:
        """Train so many counted steps.

        Raises:
            BenchError: it can't be run so; the ranks have ended, and others take their place at the next run.
        """
        most = MOST_WARM_UP_STEPS[self._kind_for(knobs)]
        places = self._plan(knobs, steps=most + steps, profiled=0)
        shares = self._do(knobs, cores)
        lines = [json.loads(line) for line in places.log.read_text("utf-8").splitlines()]
        taken = [line for line in lines if line["kind"] == "step"]
        ended = [line["seconds"] for line in taken]
        warm_up = steady_from(ended, most=most)
        memory = [share["memory_bytes"] for share in shares]
        return Trained(
            steps,
            ended[warm_up + steps - 1] - ended[warm_up - 1],
            float(np.mean([share["waited_share"] for share in shares])),
            taken[-1]["loss"],
            None if None in memory else sum(memory),
            warm_up,
        )

    def profile(self, knobs: TrainKnobs, *, cores: Sequence[int], steps: int) -> dict[str, float]:
        """Train so many steps under the profiler: shares of data, compute and communication, the mean over ranks."""
        places = self._plan(knobs, steps=WARM_UP_STEPS + steps, profiled=steps)
        self._do(knobs, cores)
        files = [places.work / "profile" / f"rank-{rank}.json" for rank in range(knobs.ranks)]
        shares = [json.loads(file.read_text("utf-8")) for file in files]
        return {name: float(np.mean([share[f"{name} share"] for share in shares])) for name in SHARES}

    def _plan(self, knobs: TrainKnobs, *, steps: int, profiled: int) -> Places:
        """Write down what the ranks of `icons finetune` shall do, without an exam and checkpoints on the way."""
        places = places_in(self._folder)
        places.forget()
        corpus = places.corpus if knobs.size is None else corpus_of(self._folder, knobs.size)
        options = options_of(knobs, steps=steps, profiled=profiled)
        write_plan(places, replace(read_plan(places), corpus=corpus, options=options))
        return places

    def _kind_for(self, knobs: TrainKnobs) -> str:
        """Devices that are simulated are processes on the cores, which meet through gloo."""
        return "cpu" if knobs.is_simulated else self._kind

    def _do(self, knobs: TrainKnobs, cores: Sequence[int]) -> list[dict[str, Any]]:
        kind, backend = self._kind_for(knobs), knobs.backend if knobs.ranks > 1 else "auto"
        environment, urgent = knobs.environment, "-high" if knobs.nccl_high_priority else ""
        variables = "".join(f"-{name}={value}" for name, value in knobs.changed(tuple(NCCL_VARIABLES)).items())
        n_devices = knobs.devices if kind == "cuda" else len(cores)
        name = f"{knobs.ranks}-{backend}-{kind}-{n_devices}{urgent}{variables}"
        group = self._groups.get(name)
        if group is None:
            devices = replace(first_devices(kind, knobs.devices), n=knobs.ranks)
            settings = ["--device", kind, "--backend", backend, "--cores", ",".join(map(str, cores))]
            settings += ["--high-priority"] if urgent else []
            group = _Group(self._folder / name, devices, settings, environment)
            self._groups[name] = group
        try:
            return group.do(knobs)
        except BenchError:
            self._groups.pop(name).ranks.end()
            raise


def options_of(knobs: TrainKnobs, *, steps: int, profiled: int = 0) -> FinetuneOptions:
    """Every choice of a training: those of `icons finetune`, but for the knobs and for what is not to be measured."""
    chosen = {name: getattr(knobs, name) for name in _OF_FINETUNE}
    chosen["precision"] = "fp32" if knobs.precision == "tf32" else knobs.precision
    chosen["strategy"] = "fsdp" if knobs.strategy == "fsdp" else "ddp"
    unmeasured = {"held_out": NEVER, "validate_steps": NEVER, "patience": 0, "checkpoint_seconds": float(NEVER)}
    return FinetuneOptions.of({**chosen, **unmeasured, "steps": steps, "profile_steps": profiled, "log_steps": 1})


class _Group:
    """One torchrun and its tasks."""

    def __init__(self, folder: Path, devices: Devices, settings: Sequence[str], environment: Mapping[str, str]) -> None:
        folder.mkdir(exist_ok=True)
        for left in folder.iterdir():  # of a group that ended
            left.unlink()
        self._folder, self._n, self._number = folder, devices.n, 0
        arguments = ("indexer.bench.training.rank", str(folder), *settings)
        self.ranks = Ranks(*arguments, devices=devices, folder=folder, environment=environment)

    def do(self, knobs: TrainKnobs) -> list[dict[str, Any]]:
        """Have a task done; what every rank says of it."""
        number, self._number = self._number, self._number + 1
        clear_progress(self._folder)
        write_file(task_file(self._folder, number), json.dumps(asdict(knobs)).encode())
        files = [done_file(self._folder, number, rank) for rank in range(self._n)]
        until = time.monotonic() + LIMIT_SECONDS
        while not all(file.is_file() for file in files):
            if not self.ranks.is_running:
                raise BenchError(self.ranks.cause())
            if time.monotonic() > until:
                raise BenchError(f"took longer than {LIMIT_SECONDS:.0f} s")
            time.sleep(_LOOK_SECONDS)
        return [json.loads(file.read_text("utf-8")) for file in files]
