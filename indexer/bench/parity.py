"""What does a precision cost in quality? Cosine to fp32, and how far right answers move, on the benchmark's queries.

Pictures are embedded in each precision and searched by the same fp32 vectors of words: as in a library, whose pictures
alone are embedded in the precision that `icons index` chooses.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.library.bundled import bundled
from indexer.library.named import read_text
from indexer.reports.measures import Figure, figures, first_ranks

MAX_QUERIES = 1000


@dataclass(frozen=True, slots=True)
class Parity:
    """One precision against fp32."""

    precision: str
    least_cosine: float
    mean_cosine: float
    changed_share: float
    """Share of queries whose first right answer has another rank than in fp32."""
    median_move: float
    """By so many ranks, among those that moved."""
    recall: Figure
    """R@10 in this precision."""
    reciprocal: Figure
    """MRR@50."""


def measure_parity(choice: ModelChoice, kind: str, precisions: Sequence[str], n_threads: int) -> list[Parity]:
    """Embed the bundled samples in every precision and ask the benchmark's queries of each."""
    import torch

    from indexer.encoders.loading import find_device, load_encoder

    torch.set_num_threads(n_threads)
    checkpoint, device = find_checkpoint(choice), find_device(kind)
    load = partial(load_encoder, checkpoint, device=device, n_images=1)
    exact = load(precision="fp32")
    pixels, places = _pictures(exact.image_size)
    texts, right = _questions(places)
    words = exact.encode_texts(texts).astype(np.float32)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    exact_vectors = _encode(exact, pixels)
    ranks_before = first_ranks(words, exact_vectors, right)
    found = []
    for precision in ("fp32", *precisions):
        vectors = exact_vectors
        if precision != "fp32":
            vectors = _encode(load(precision=cast(Any, precision)), pixels)
        ranks = first_ranks(words, vectors, right)
        cosines = (vectors * exact_vectors).sum(axis=1)
        moved = np.abs(ranks - ranks_before)[ranks != ranks_before]
        measured = figures(ranks)
        found.append(
            Parity(
                precision,
                round(float(cosines.min()), 6),
                round(float(cosines.mean()), 6),
                round(float((ranks != ranks_before).mean()), 4),
                float(np.median(moved)) if len(moved) else 0.0,
                measured["R@10"],
                measured["MRR@50"],
            )
        )
    return found


def _encode(encoder: Any, pixels: Any) -> Any:
    """Unit vectors fp32, from batches of 64."""
    from indexer.encoders.torch_encoder import products_in

    with products_in(encoder.precision):
        batches = [encoder.encode_images(pixels[start : start + 64]) for start in range(0, len(pixels), 64)]
    vectors = np.concatenate(batches).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _pictures(size: int) -> tuple[Any, dict[str, list[int]]]:
    """Pixels of the bundled samples, and the places of each name."""
    from indexer.rendering.render import render

    paths = sorted(bundled("samples/lucide-static").rglob("*.svg"))
    places: dict[str, list[int]] = defaultdict(list)
    for place, path in enumerate(paths):
        places[path.stem].append(place)
    return np.stack([render(path.read_bytes(), size=size).pixels for path in paths]), places


def _questions(places: dict[str, list[int]]) -> tuple[list[str], list[list[int]]]:
    """Texts and places of right answers, evenly from the benchmark's file."""
    lines = read_text(bundled("eval") / "lucide-1.62.0.jsonl.xz").splitlines()
    chosen = np.linspace(0, len(lines) - 1, min(MAX_QUERIES, len(lines))).astype(int)
    texts, right = [], []
    for line in (json.loads(lines[row]) for row in chosen):
        answers = sorted(place for name in line["relevant"] for place in places.get(name, []))
        if answers:
            texts.append(line["query"])
            right.append(answers)
    return texts, right
