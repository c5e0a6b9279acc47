"""What can be seen of a run while it runs: progress of each rank, a JSON log, TensorBoard."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import TrainError
from indexer.library.durable import naming, write_file
from indexer.reports.terminal import Bars

REPORT_SECONDS = 0.5


@dataclass(slots=True)
class TrainingProgress:
    """How far one rank is."""

    rank: int
    world: int
    step: int = 0
    n_steps: int = 0
    loss: float = 0.0
    images: int = 0
    """Since this process began."""
    seconds: float = 0.0
    waited_seconds: float = 0.0
    """Of `seconds`, those in which the device waited for data."""
    first_step: int = 0
    device: str = ""
    memory_bytes: int = 0
    """Largest so far: of the GPU, or of the process where there is none; where devices are watched, that of now."""
    utilisation: float | None = None
    """Share of the GPU, or of this rank's cores, that was busy of late; None where nobody has looked."""
    power_watts: float | None = None
    note: str = ""
    at: str = ""
    """What it is doing now."""
    waits: bool = False
    """Whether it does that together with other ranks, so that one of them may be who hangs."""
    steps: int = 0
    """Grows with every sign of life."""
    finished: bool = False

    @property
    def done(self) -> int:
        """Pictures learnt from."""
        return self.images

    @property
    def waited_share(self) -> float:
        """Share of its time in which the device waited for data."""
        return self.waited_seconds / self.seconds if self.seconds else 0.0

    @property
    def images_per_second(self) -> float:
        """Rate over the rank's own steps."""
        return self.images / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """At the rate so far."""
        done = self.step - self.first_step
        return (self.n_steps - self.step) * self.seconds / done if done else 0.0


Report = Callable[[TrainingProgress], None]


@dataclass(slots=True)
class Reporter:
    """Tells how far this rank is and what it is at: twice a second at most, but for what a person should know."""

    report: Report
    progress: TrainingProgress
    reported_at: float = 0.0

    def begin(self, what: str) -> None:
        """Say what this rank is at now, which is a sign of life."""
        self._be_at(what, waits=False)

    def join(self, what: str) -> None:
        """Say what it is at together with all ranks, if there are others: then one of these may be who hangs."""
        is_joint = self.progress.world > 1
        self._be_at(f"{what}, together with the other ranks" if is_joint else what, waits=is_joint)

    def live(self) -> None:
        """Say that it gets on with what it is at."""
        self.progress.steps += 1
        self.tell()

    def note(self, text: str) -> None:
        """Say something that a person should know; nothing: what was said is over."""
        self.progress.note = text
        self.tell(now=bool(text))

    def finish(self) -> None:
        """Say that all is done."""
        self.progress.finished = True
        self.tell(now=True)

    def tell(self, *, now: bool = False) -> None:
        """Report, unless that was done just now."""
        seconds = time.monotonic()
        if now or seconds - self.reported_at >= REPORT_SECONDS:
            self.reported_at = seconds
            self.report(self.progress)

    def _be_at(self, what: str, *, waits: bool) -> None:
        self.progress.at, self.progress.waits = what, waits
        self.live()


def silent_reporter() -> Reporter:
    """One that tells nobody."""
    return Reporter(lambda _: None, TrainingProgress(0, 1))


class TrainingView(Bars):
    """Shows a run: loss, rate of each rank, memory and time left."""

    def __init__(self) -> None:
        super().__init__(estimate=False)  # the run itself tells the time left
        self._noted = ""

    def rendered(self, done: int, total: int) -> None:
        """Show how many pictures are drawn."""
        self.advance(done, total, "pictures")

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        if not first.note:
            self.advance(first.step, first.n_steps, described(ranks), now=first.finished)
        elif first.note != self._noted:
            self._noted = first.note
            self.advance(first.step, first.n_steps or None, first.note, now=True)


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
    """Appends JSON lines; a resumed run first forgets what came after the step that it goes on from."""

    def __init__(self, path: Path, *, from_step: int) -> None:
        kept = []
        if path.is_file() and from_step:
            lines = path.read_text("utf-8").splitlines()
            kept = [line for line in lines if _step_of(line) <= from_step]
        write_file(path, "".join(f"{line}\n" for line in kept).encode())
        self._path, self._file = path, path.open("a", encoding="utf-8")

    def write(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        """Add a line; of a number that is infinite or none, as fp16 gives now and then, JSON knows nothing: null."""
        plain = {name: None if isinstance(it, float) and not math.isfinite(it) else it for name, it in facts.items()}
        with naming(self._path):
            self._file.write(json.dumps({"kind": kind, "step": step, **plain}) + "\n")
            self._file.flush()

    def close(self) -> None:
        """End the file."""
        with naming(self._path):
            self._file.close()


def _step_of(line: str) -> float:
    """The step of a line; one that a kill has cut comes after everything."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError):
        return float("inf")


class Events:
    """TensorBoard events in a folder: `tensorboard --logdir FOLDER` shows them."""

    def __init__(self, folder: Path, *, from_step: int) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise TrainError('--tensorboard needs "tensorboard": run pip install "icons[train]"') from error
        self._writer = SummaryWriter(str(folder), purge_step=from_step or None)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add scalars at a step."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()
