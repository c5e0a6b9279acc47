"""How well the model finds icons whose names it never saw.

Tags of held-out icons that share no word with their names are asked of pictures, names, and both; names are asked of
pictures; and pictures, degraded as screenshots are, are searched among the clean ones.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from statistics import mean

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from indexer.arrays import Floats, Ids
from indexer.errors import TrainError
from indexer.finetune.augment import augment, draw_changes
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

Scores = dict[str, dict[str, Figure]]
Plain = dict[str, dict[str, list[float]]]
"""As `to_plain` spells them."""


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
    alike = (looks @ looks.T >= twins).fill_diagonal_(True)
    return Exam(
        pixels,
        _degraded(pixels),
        [row.nonzero().flatten().tolist() for row in alike],
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
    scores: Scores = {}
    if exam.answers:
        queries = _text_vectors(student, exam.queries, device, live)
        found = compare_rankers(queries, pictures, names, exam.answers)
        scores |= {f"tags: {ranker}": figured for ranker, figured in found.items()}
    scores["names: pictures"] = figures(first_ranks(names[exam.name_queries], pictures, exam.namesakes))
    scores["screenshots: pictures"] = figures(first_ranks(degraded, pictures, exam.twins))
    student.train(was_training)
    return scores


def compare_rankers(queries: Floats, pictures: Floats, names: Floats, answers: Sequence[Sequence[int]]) -> Scores:
    """Figures of pictures only, names only, and both as a library fuses them; all vectors of unit length."""
    rankers = {
        "pictures": pictures,
        "names": names,
        "fused": WEIGHTS.picture * pictures + (1 - WEIGHTS.picture) * names,
    }
    return {ranker: figures(first_ranks(queries, corpus, answers)) for ranker, corpus in rankers.items()}


def main_figure(scores: Scores) -> float:
    """The one number that checkpoints are compared by."""
    return mean(scores[task][MAIN_FIGURE].value for task in MAIN_TASKS if task in scores)


def to_plain(scores: Scores) -> Plain:
    """Spell each figure as [value, low, high], for JSON."""
    return {task: {name: list(astuple(figure)) for name, figure in found.items()} for task, found in scores.items()}


def fallen(scores: Plain, parent: Plain) -> list[str]:
    """Say of each task that fell below the parent's interval by how much, in words."""
    lines = []
    for task, before in parent.items():
        for name in GATED_FIGURES:
            now, (value, low, _) = scores[task][name][0], before[name]
            if now < low:
                lines.append(f"{task} {name} {now:.3f}, the parent's {value:.3f} ({low:.3f} at least)")
    return lines


def _without_copies(lesson: Lesson) -> Ids:
    """Held-out rows, but for those that are an icon once more, called by its looks alone (`corpus.gather`).

    With the same picture and name they stand where the icon stands, and would be wrong answers to its tags.
    """
    has_own = {row: len(lesson.captions.of_kind(row, "own")) > 0 for row in lesson.held_out_rows.tolist()}
    described = {lesson.words[row] for row, is_so in has_own.items() if is_so}
    shown = {_icon(lesson, row) for row, is_so in has_own.items() if not is_so and lesson.words[row] in described}
    left = [row for row, is_so in has_own.items() if not (is_so and _icon(lesson, row) in shown)]
    return np.array(left, np.int64)


def _icon(lesson: Lesson, row: int) -> tuple[str, bytes]:
    return lesson.words[row], content_digest(lesson.pixels[row].tobytes())


def _tag_queries(lesson: Lesson, rows: Ids) -> list[tuple[int, list[int]]]:
    """Captions' numbers with the places in `rows` that carry them as a tag or as a caption of their own."""
    right: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for kind in ("tag", "own"):
            for number in lesson.captions.of_kind(int(row), kind):
                right[int(number)].append(place)
    asked = []
    for number, places in sorted(right.items()):
        words = set(lesson.captions.texts[number].split())
        if all(words.isdisjoint(lesson.words[rows[place]].split()) for place in places):
            asked.append((number, places))
    chosen = np.random.default_rng(1).permutation(len(asked))[:MAX_QUERIES]
    return [asked[place] for place in chosen]


def _degraded(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The same pictures as screenshots would have them; by a fixed seed, so that every model gets the same ones."""
    changes = draw_changes(range(len(pixels)), len(pixels), _SCREENSHOT, seed=(0,))
    parts = []
    for start in range(0, len(pixels), 256):
        rows = slice(start, min(len(pixels), start + 256))
        images = torch.from_numpy(pixels[rows]).permute(0, 3, 1, 2).float() / 255
        parts.append((augment(images, changes.of(rows)) * 255).round().byte().permute(0, 2, 3, 1))
    found: npt.NDArray[np.uint8] = torch.cat(parts).contiguous().numpy()
    return found


def _picture_vectors(
    student: Student, pixels: npt.NDArray[np.uint8], device: torch.device, live: Callable[[], None]
) -> Floats:
    parts = []
    for start in range(0, len(pixels), 128):
        images = torch.from_numpy(pixels[start : start + 128]).to(device).permute(0, 3, 1, 2).float() / 255
        parts.append(student.encode_images(images).cpu())
        live()
    return _floats(torch.cat(parts))


def _text_vectors(student: Student, tokens: Tensor, device: torch.device, live: Callable[[], None]) -> Floats:
    parts = []
    for chunk in torch.split(tokens, 256):
        parts.append(student.encode_texts(chunk.long().to(device)).cpu())
        live()
    return _floats(torch.cat(parts))


def _floats(vectors: Tensor) -> Floats:
    found: Floats = vectors.float().numpy()
    if not np.isfinite(found).all():
        raise TrainError(
            'the model gives "nan" for vectors: its weights are broken, or the rate is too high; the last good '
            "checkpoint stays: give a lower --rate"
        )
    return found
