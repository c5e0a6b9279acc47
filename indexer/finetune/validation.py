"""How well does the model find icons whose names it never saw? Tags of the held-out base names, asked as queries."""

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from indexer.finetune.batches import make_batch
from indexer.finetune.lesson import Lesson
from indexer.finetune.retrieval import compare_rankers

MAX_ICONS, MAX_QUERIES = 2000, 2000


@torch.inference_mode()
def recall_on_held_out(pair: Any, lesson: Lesson, *, picture_weight: float = 0.5) -> dict[str, float]:
    """R@10 and MRR@50 over held-out icons by pictures, names and both; queries are tags without a word of a name."""
    rows = np.random.default_rng(0).permutation(lesson.held_out_rows)[:MAX_ICONS]
    rows.sort()
    asked = _queries(lesson, rows)
    if not asked:
        return {}
    texts = _text_vectors(pair, lesson, [number for number, _ in asked])
    names = _text_vectors(pair, lesson, [int(lesson.captions.of(int(row))[0]) for row in rows])
    found = compare_rankers(
        texts, _picture_vectors(pair, lesson, rows), names, [right for _, right in asked], picture_weight=picture_weight
    )
    return {f"{ranker} {name}": found[ranker][name].value for ranker in found for name in ("R@10", "MRR@50")}


def _queries(lesson: Lesson, rows: np.ndarray[Any, Any]) -> list[tuple[int, list[int]]]:
    """Captions' numbers with the places in `rows` that carry them as a tag."""
    right: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for number in lesson.captions.of(int(row))[1:-1]:
            right[int(number)].append(place)
    asked = []
    for number, places in sorted(right.items()):
        words = set(lesson.captions.texts[number].split())
        if all(words.isdisjoint(lesson.words[rows[place]].split()) for place in places):
            asked.append((number, places))
    chosen = np.random.default_rng(1).permutation(len(asked))[:MAX_QUERIES]
    return [asked[place] for place in chosen]


def _text_vectors(pair: Any, lesson: Lesson, numbers: list[int]) -> np.ndarray[Any, np.dtype[np.float32]]:
    mapped = lesson.text_vectors[numbers].float() @ pair.text_map
    vectors: np.ndarray[Any, np.dtype[np.float32]] = functional.normalize(mapped, dim=-1).numpy()
    return vectors


def _picture_vectors(pair: Any, lesson: Lesson, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    was_training = pair.training
    pair.eval()
    chunks = []
    for part in np.array_split(rows, max(1, len(rows) // 256)):
        batch = make_batch(lesson.pixels, lesson.captions, part, seed=(0,), change=None)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            chunks.append(functional.normalize(pair.visual(batch.images).float(), dim=-1).numpy())
    pair.train(was_training)
    return np.concatenate(chunks)
