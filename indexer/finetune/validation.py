"""How well the model finds icons whose names it never saw.

Tags of held-out icons that share no word with their names are asked of pictures, names, and both; names are asked of
pictures; and pictures, degraded as screenshots are, are searched among the clean ones.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import product
from statistics import mean

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
from indexer.merging.manifest import WEIGHTS
from indexer.reports.measures import Figure, figures, first_ranks
from indexer.sources.records import content_digest

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
    rows = np.random.default_rng(0).permutation(_without_copies(lesson))[:MAX_ICONS]
    rows.sort()
    if len(rows) < 2:
        return None
    names = [lesson.words[row] for row in rows]
    places: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[str(lesson.bases[row])].append(place)
    asked = _tag_queries(lesson, rows)
    pixels = lesson.pixels[rows]
    looks = lesson.looks[torch.from_numpy(rows)].float()
    return Exam(
        pixels,
        _degraded(pixels),
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
    pictures, degraded = (_picture_vectors(student, pixels, device, live) for pixels in (exam.pixels, exam.degraded))
    names = _text_vectors(student, exam.names, device, live)
    found: dict[str, dict[str, Figure]] = {}
    if exam.answers:
        queries = _text_vectors(student, exam.queries, device, live)
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


def _without_copies(lesson: Lesson) -> Ids:
    """Held-out rows, but for those that are an icon once more, called by its looks alone (`corpus.gather`).

    With the same picture and name they stand where the icon stands, and would be wrong answers to its tags.
    """

    def icon(row: int) -> tuple[str, bytes]:
        return lesson.words[row], content_digest(lesson.pixels[row].tobytes())

    has_own = {row: len(lesson.captions.of(row, "own")) > 0 for row in lesson.held_out_rows.tolist()}
    described = {lesson.words[row] for row, is_so in has_own.items() if is_so}
    shown = {icon(row) for row, is_so in has_own.items() if not is_so and lesson.words[row] in described}
    return np.array([row for row, is_so in has_own.items() if not (is_so and icon(row) in shown)], np.int64)


def _tag_queries(lesson: Lesson, rows: Ids) -> list[tuple[int, list[int]]]:
    """Captions' numbers with the places in `rows` that carry them as a tag or as a caption of their own."""
    right: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for kind in ("tag", "own"):
            for number in lesson.captions.of(int(row), kind):
                right[int(number)].append(place)
    asked = []
    for number, places in sorted(right.items()):
        words = set(lesson.captions.texts[number].split())
        if all(words.isdisjoint(lesson.words[rows[place]].split()) for place in places):
            asked.append((number, places))
    return [asked[place] for place in np.random.default_rng(1).permutation(len(asked))[:MAX_QUERIES]]


def _degraded(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The same pictures as screenshots would have them; by a fixed seed, so that every model gets the same ones."""
    changes = draw_changes(range(len(pixels)), len(pixels), _SCREENSHOT, seed=(0,))
    found = np.empty_like(pixels)
    for start in range(0, len(pixels), 256):
        rows = slice(start, min(len(pixels), start + 256))
        found[rows] = as_bytes(augment(as_floats(torch.from_numpy(pixels[rows])), changes.of(rows)))
    return found


def _picture_vectors(
    student: Student, pixels: npt.NDArray[np.uint8], device: torch.device, live: Callable[[], None]
) -> Floats:
    return _vectors(
        (student.encode_images(as_floats(chunk.to(device))) for chunk in torch.split(torch.from_numpy(pixels), 128)),
        live,
    )


def _text_vectors(student: Student, tokens: Tensor, device: torch.device, live: Callable[[], None]) -> Floats:
    return _vectors((student.encode_texts(chunk.to(device)) for chunk in torch.split(tokens, 256)), live)


def _vectors(encoded: Iterable[Tensor], live: Callable[[], None]) -> Floats:
    parts = []
    for part in encoded:
        parts.append(part.float().cpu().numpy())
        live()
    found: Floats = np.concatenate(parts)
    if not np.isfinite(found).all():
        raise TrainError(
            'the model gives "nan" for vectors: its weights are broken, or the rate is too high; the last good '
            "checkpoint stays: give a lower --rate"
        )
    return found
