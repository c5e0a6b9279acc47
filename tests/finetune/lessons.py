"""A tiny real lesson: drawn pictures, names, tags, and vectors for their captions."""

import numpy as np
import torch
from torch import nn

from indexer.finetune.captions import make_captions
from indexer.finetune.corpus import base_of
from indexer.finetune.lesson import Lesson
from indexer.finetune.train import Pair, TrainOptions

DIM = 8


def tiny_lesson(n: int = 32) -> Lesson:
    generator = np.random.default_rng(7)
    words = [f"shape{number % 10} thing" for number in range(n)]
    tags = [[f"tag{number % 5}", "common"] if number % 2 else [] for number in range(n)]
    captions = make_captions(words, tags, seed=0)
    vectors = torch.from_numpy(generator.normal(size=(len(captions.texts), DIM)).astype(np.float16))
    _, bases = np.unique([base_of(name) for name in words], return_inverse=True)
    pixels = generator.integers(0, 256, (n, 16, 16, 3), dtype=np.uint8)
    return Lesson(pixels, captions, vectors, bases, np.arange(n), np.arange(0), words, tags)


def tiny_pair() -> Pair:
    torch.manual_seed(3)
    visual = nn.Sequential(nn.Conv2d(3, 6, 5, stride=4), nn.BatchNorm2d(6), nn.Flatten(), nn.LazyLinear(DIM))
    visual(torch.zeros(2, 3, 16, 16))
    return Pair(visual, DIM, logit_scale=2.3).train()


def tiny_options(**changed: object) -> TrainOptions:
    given = {"passes": 2, "batch": 8, "precision": "fp32", "seed": 5, "checkpoint_seconds": 0.0, **changed}
    return TrainOptions(**given)  # type: ignore[arg-type]
