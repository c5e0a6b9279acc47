"""What can be seen of a run: progress of each rank, a JSON log, TensorBoard, a profiler's trace and shares."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile, schedule

from indexer.embedding.distributed import Rank
from indexer.embedding.progress import RankProgress, Reporter
from indexer.embedding.rank_view import RankView
from indexer.errors import TrainError
from indexer.library.durable import naming, write_file


@dataclass(slots=True)
class TrainingProgress(RankProgress):
    """How far one rank is that trains; its pictures and seconds count from when this process began."""

    step: int = 0
    n_steps: int = 0
    loss: float = 0.0
    first_step: int = 0

    @property
    def seconds_left(self) -> float:
        """At the rate so far."""
        done = self.step - self.first_step
        return (self.n_steps - self.step) * self.seconds / done if done else 0.0


TrainingReporter = Reporter[TrainingProgress]


class TrainingView(RankView):
    """Shows a run: loss, rate of each rank, memory and time left."""

    def __init__(self, *, watch_devices: bool = False) -> None:
        super().__init__(watch_devices=watch_devices, estimate=False)  # the run itself tells the time left
        self._noted = ""

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        if not first.note:
            self.advance(first.step, first.n_steps, described(ranks), now=first.finished)
        elif first.note != self._noted:
            self._noted = first.note
            self.advance(first.step, first.n_steps or None, first.note, now=True)
        self.look([rank for rank in ranks if rank.device])


def described(ranks: list[TrainingProgress]) -> str:
    """Spell how ranks are doing in one line."""
    first = ranks[0]
    each = ", ".join(f"{rank.images_per_second:,.0f}" for rank in ranks)
    total = sum(rank.images_per_second for rank in ranks)
    rate = f"{total:,.0f} images/s" + (f" (ranks {each})" if len(ranks) > 1 else "")
    memory = max(rank.memory_bytes for rank in ranks) / 1e9
    minutes, seconds = divmod(round(first.seconds_left), 60)
    waiting = max(rank.waited_share for rank in ranks)
    waited = f", {waiting:.0%} waiting for data" if waiting >= 0.05 else ""
    return f"loss {first.loss:.3f}, {rate}, {memory:.1f} GB, {minutes}:{seconds:02} left{waited}"


class Log:
    """Appends JSON lines; a resumed run first forgets what came after the step that it goes on from.

    With a folder of `events` TensorBoard's too: `tensorboard --logdir FOLDER` shows them.
    """

    def __init__(self, path: Path, *, from_step: int, events: Path | None = None) -> None:
        lines = path.read_text("utf-8").splitlines() if path.is_file() and from_step else []
        write_file(
            path, "".join(f"{line}\n" for line in (line for line in lines if _step_of(line) <= from_step)).encode()
        )
        self._path, self._file, self._events = path, path.open("a", encoding="utf-8"), None
        if events is not None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError as error:
                raise TrainError('tensorboard=true needs "tensorboard": run pip install "icons[train]"') from error
            self._events = SummaryWriter(str(events), purge_step=from_step or None)

    def write(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        """Add a line; of a number that is infinite or none, as fp16 gives now and then, JSON knows nothing: null."""
        plain = {name: None if isinstance(it, float) and not math.isfinite(it) else it for name, it in facts.items()}
        with naming(self._path):
            self._file.write(json.dumps({"kind": kind, "step": step, **plain}) + "\n")
            self._file.flush()

    def draw(self, step: int, values: Mapping[str, float]) -> None:
        """Add scalars at a step to the events, where there are such."""
        if self._events is not None:
            for name, value in values.items():
                self._events.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left, and end the files."""
        with naming(self._path):
            self._file.close()
        if self._events:
            self._events.close()


def _step_of(line: str) -> float:
    """The step of a line; one that a kill has cut comes after everything."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError):
        return float("inf")


WARM_UP_STEPS = 2
_COMMUNICATION = ("gloo:", "nccl:", "c10d::")
"""As the host names it."""


@contextmanager
def profiled(folder: Path, *, n_steps: int, rank: Rank) -> Iterator[Callable[[], None]]:
    """Watch `n_steps` steps after two that warm up; yield what is to be called when a step has ended.

    Writes `rank-N.trace.json` (for chrome://tracing or Perfetto) and `rank-N.json`, the shares, into a folder; with no
    steps it does nothing.
    """

    def save(profiler: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(str(folder / f"rank-{rank.index}.trace.json"))
        write_file(
            folder / f"rank-{rank.index}.json", (json.dumps(shares_of(profiler.events()), indent=1) + "\n").encode()
        )

    if not n_steps:
        yield lambda: None
        return
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    steps = schedule(wait=WARM_UP_STEPS - 1, warmup=1, active=n_steps, repeat=1)
    with profile(activities=activities, schedule=steps, on_trace_ready=save, acc_events=True) as profiler:
        yield profiler.step


def shares_of(events: Any) -> dict[str, float]:
    """Seconds of the profiled steps and the shares of data, compute and communication in them.

    Data and compute are what the host was at; where it waits for a GPU, it computes. Communication is that of a GPU's
    own kernels where it has any, else by the host, and counts once what goes on at a time. It overlaps with computing,
    so shares may add up to more than one. "kernels" is when a GPU did anything else; all of "compute" beyond is idle.
    """
    marked: Counter[str] = Counter()
    ranges: dict[str, list[tuple[float, float]]] = {"host": [], "exchanged": [], "kernels": []}
    for event in events:
        if event.device_type != DeviceType.CPU:  # there marks come again, around the kernels that they have launched
            if not event.is_user_annotation:
                ranges["exchanged" if "nccl" in event.name.lower() else "kernels"].append(_range(event))
        elif event.name.startswith("icons: "):
            marked[event.name.removeprefix("icons: ")] += event.time_range.end - event.time_range.start
        elif event.name.startswith(_COMMUNICATION):
            ranges["host"].append(_range(event))
    microseconds = {
        "data": marked["data"] + marked["wait"],
        "compute": marked["compute"],
        "communication": _covered(ranges["exchanged"] or ranges["host"]),
        **({"kernels": _covered(ranges["kernels"])} if ranges["kernels"] else {}),
    }
    whole = marked["step"] + marked["wait"]
    shares = {f"{name} share": round(value / whole, 4) for name, value in microseconds.items()} if whole else {}
    seconds = {name: round(value / 1e6, 4) for name, value in {"seconds": whole, **microseconds}.items()}
    return {**seconds, **shares}


def _range(event: Any) -> tuple[float, float]:
    return event.time_range.start, event.time_range.end


def _covered(ranges: list[tuple[float, float]]) -> float:
    """How long at least one of some ranges lasts."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(ranges):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
