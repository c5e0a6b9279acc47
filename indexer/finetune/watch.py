"""What can be seen of a run: how well the model finds icons whose names it never saw; progress, a log.

Tags of held-out icons that share no word with their names are asked of pictures, names, and both; names are asked of
pictures; and pictures, degraded as screenshots are, are searched among the clean ones. Beside that stand each rank's
progress, a JSON log, TensorBoard.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from indexer.arrays import Floats, Ids
from indexer.errors import TrainError
from indexer.finetune.augment import as_bytes, as_floats, augment, draw_changes
from indexer.finetune.lesson import Lesson, Tokenizer, tokenize
from indexer.finetune.options import Augmentation
from indexer.finetune.student import Student
from indexer.library.durable import naming, write_file
from indexer.merging.manifest import WEIGHTS
from indexer.reports.figures import Figure, figures, first_ranks

MAX_ICONS, MAX_QUERIES = 2000, 2000
MAIN_TASKS = ("tags: fused", "names: pictures", "screenshots: pictures")
"""The tasks that the best checkpoint is chosen by, the mean over those that there are questions for."""
MAIN_FIGURE = "MRR@50"
GATED_FIGURES = ("R@10", "MRR@50")
_SCREENSHOT = Augmentation(
    inverted=0.3, tinted=0.2, two_colours=0.15, smallest_scale=0.6, largest_scale=1.15, resampled=0.6, blurred=0.2,
    compressed=0.3, neighbours=0.0, grained=0.0,
)  # fmt: skip

Scores = dict[str, dict[str, list[float]]]
"""Figures of a task by their names, each as [value, low, high]."""


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions, and the places of right answers among the icons that are searched."""

    pixels: npt.NDArray[np.uint8]
    degraded: npt.NDArray[np.uint8]
    twins: list[list[int]]
    """For each icon the places of those that look the same, its own among them."""
    names: Tensor
    """Tokens of every icon's name."""
    name_queries: list[int]
    """Places of icons, one a distinct name."""
    namesakes: list[list[int]]
    queries: Tensor
    answers: list[list[int]]


def make_exam(lesson: Lesson, tokenizer: Tokenizer, *, twins: float) -> Exam | None:
    """Ask about at most 2,000 held-out icons, chosen once and for all; None where fewer than two are held out."""
    rows = np.random.default_rng(0).permutation(lesson.held_out_rows)[:MAX_ICONS]
    rows.sort()
    if len(rows) < 2:
        return None
    names = [lesson.words[row] for row in rows]
    places: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[str(lesson.bases[row])].append(place)
    asked, pixels, looks = _tag_queries(lesson, rows), lesson.pixels[rows], lesson.looks[torch.from_numpy(rows)].float()
    degraded = np.empty_like(pixels)  # by a fixed seed, so that every model gets the same ones
    for some in (range(len(pixels))[start : start + 256] for start in range(0, len(pixels), 256)):
        changes = draw_changes(some, len(pixels), _SCREENSHOT, seed=(0,))
        degraded[some] = as_bytes(augment(as_floats(torch.from_numpy(pixels[some])), changes))
    return Exam(
        pixels,
        degraded,
        [row.nonzero().flatten().tolist() for row in (looks @ looks.T >= twins).fill_diagonal_(True)],
        tokenize(names, tokenizer),
        [found[0] for found in places.values()],
        list(places.values()),
        tokenize([lesson.captions.texts[number] for number, _ in asked] or [""], tokenizer)[: len(asked)],
        [right for _, right in asked],
    )


@torch.no_grad()  # in inference mode FSDP could not gather weights again afterwards
def sit_exam(student: Student, exam: Exam, device: torch.device, live: Callable[[], None]) -> Scores:
    """Figures of every task with its bootstrap intervals; the student keeps its mode. `live` is called now and then.

    Raises:
        TrainError: a vector is no number.
    """
    was_training = student.training
    student.eval()
    both = (torch.split(torch.from_numpy(pixels), 128) for pixels in (exam.pixels, exam.degraded))
    pictures, degraded = (
        _vectors(lambda it: student.encode_images(as_floats(it)), some, device, live) for some in both
    )
    names = _vectors(student.encode_texts, torch.split(exam.names, 256), device, live)
    found: dict[str, dict[str, Figure]] = {}
    if exam.answers:
        queries = _vectors(student.encode_texts, torch.split(exam.queries, 256), device, live)
        found |= compare_rankers(queries, pictures, names, exam.answers)
    found["names: pictures"] = figures(first_ranks(names[exam.name_queries], pictures, exam.namesakes))
    found["screenshots: pictures"] = figures(first_ranks(degraded, pictures, exam.twins))
    student.train(was_training)
    return {task: {name: list(astuple(figure)) for name, figure in by_name.items()} for task, by_name in found.items()}


def compare_rankers(
    queries: Floats, pictures: Floats, names: Floats, answers: Sequence[Sequence[int]]
) -> dict[str, dict[str, Figure]]:
    """Figures of pictures only, names only, and both as a library fuses them; all vectors of unit length."""
    rankers = {
        "tags: pictures": pictures,
        "tags: names": names,
        "tags: fused": (WEIGHTS.picture * pictures + (1 - WEIGHTS.picture) * names),
    }
    return {ranker: figures(first_ranks(queries, corpus, answers)) for ranker, corpus in rankers.items()}


def main_figure(scores: Scores) -> float:
    """The one number that checkpoints are compared by."""
    return mean(scores[task][MAIN_FIGURE][0] for task in MAIN_TASKS if task in scores)


def fallen(scores: Scores, parent: Scores) -> Iterator[str]:
    """Say of each task that fell below the parent's interval by how much, in words."""
    for task, name in product(parent, GATED_FIGURES):
        now, (value, low, _) = scores[task][name][0], parent[task][name]
        if now < low:
            yield f"{task} {name} {now:.3f}, the parent's {value:.3f} ({low:.3f} at least)"


def _tag_queries(lesson: Lesson, rows: Ids) -> list[tuple[int, list[int]]]:
    """Captions' numbers with the places in `rows` that carry them as a tag or as a caption of their own."""
    right: dict[int, list[int]] = defaultdict(list)
    for (place, row), kind in product(enumerate(rows), ("tag", "own")):
        for number in lesson.captions.of(int(row), kind):
            right[int(number)].append(place)
    texts, names = lesson.captions.texts, [lesson.words[row].split() for row in rows]
    asked = [
        (number, places)
        for number, places in sorted(right.items())
        if {*texts[number].split()}.isdisjoint(word for place in places for word in names[place])
    ]
    return [asked[place] for place in np.random.default_rng(1).permutation(len(asked))[:MAX_QUERIES]]


def _vectors(
    encode: Callable[[Tensor], Tensor], chunks: Iterable[Tensor], device: torch.device, live: Callable[[], None]
) -> Floats:
    parts = []
    for chunk in chunks:
        parts.append(encode(chunk.to(device)).float().cpu().numpy())
        live()
    found: Floats = np.concatenate(parts)
    if not np.isfinite(found).all():
        raise TrainError(
            'the model gives "nan" for vectors: its weights are broken, or the rate is too high; the last good '
            "checkpoint stays: give a lower --rate"
        )
    return found


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
    with suppress(ValueError, KeyError):
        return float(json.loads(line)["step"])
    return math.inf


_HELD_CYCLES = 100_000_000
"""Of a GPU's clock: 50 ms at 2 GHz, in which the host queues all kernels of a step."""
_HELD_EVERY, _FIRST_HELD = 200, 3


@dataclass(slots=True)
class StepClock:
    """How long a GPU waits for its host, the launches of kernels among it.

    One step in many is held back until all its kernels are queued. What it takes then is what a step computes; the
    rest of the time the device waits. That needs no profiler, and costs a fiftieth of a second a hundred steps.
    """

    device: torch.device
    n_steps: int = 0
    step_seconds: float = 0.0
    held: tuple[Any, Any] | None = None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count a step, and time it where its turn has come: the first ones load kernels."""
        self.n_steps += 1
        is_held = self.device.type == "cuda" and self.n_steps % _HELD_EVERY == _FIRST_HELD
        events: list[Any] = [torch.cuda.Event(enable_timing=True) for _ in range(2 * is_held)]  # type: ignore[no-untyped-call]
        if events:
            with torch.cuda.device(self.device):
                torch.cuda._sleep(_HELD_CYCLES)  # type: ignore[no-untyped-call]
            events[0].record(torch.cuda.current_stream(self.device))
        yield
        if events:
            events[1].record(torch.cuda.current_stream(self.device))
            self.held = events[0], events[1]

    def waited(self, seconds: float) -> float:
        """Of so many seconds since the first step, those in which a GPU had nothing to compute; 0: not known."""
        if self.held and self.held[1].query():
            self.step_seconds, self.held = self.held[0].elapsed_time(self.held[1]) / 1000, None
        return max(0.0, seconds - self.n_steps * self.step_seconds) if self.step_seconds else 0.0
