"""Captions are right for those icons that have them, share the name, or look alike, and for no other."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from lessons import tiny_lesson, tiny_model, tiny_options
from torch import Tensor

from indexer.embedding.distributed import Rank
from indexer.finetune.batches import draw_step, list_relations
from indexer.finetune.captions import make_captions
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import Loss

CPU = torch.device("cpu")


def lesson_of(looks: Tensor) -> tuple[Lesson, dict[str, int]]:
    """Four icons with captions, base names and looks."""
    captions = make_captions(["trash", "bin", "trash", "arrow up"], [["delete", "remove"], ["trash"], [], []], seed=0)
    none = np.arange(0)
    lesson = Lesson(np.zeros((4, 2, 2, 3), np.uint8), captions, looks, np.array([2, 1, 2, 0]), looks, none, none, [])
    return lesson, {text: place for place, text in enumerate(captions.texts)}


def test_equal_captions_tags_of_others_equal_names_and_twins_are_no_negatives() -> None:
    looks = torch.eye(4)
    lesson, number = lesson_of(looks)
    drawn = np.array([number["delete"], number["trash"], number["trash"], number["arrow up"]])

    def spelled(twins: float) -> list[list[int]]:
        loss, rows = Loss(twin_similarity=twins), slice(0, 4)
        ((there, back),) = list_relations(lesson, np.arange(4), [drawn], loss=loss, rows=rows).spelled(CPU, twins=twins)
        assert torch.equal(there, back.T)
        return there.int().tolist()

    expected = [
        [1, 1, 1, 0],  # "trash" is its name; the third is of the same name
        [0, 1, 1, 0],  # "trash" is a tag of "bin"
        [1, 1, 1, 0],
        [0, 0, 0, 1],
    ]
    assert spelled(0.98) == expected
    looks[3] = torch.tensor([0.0, 0.995, 0.0, math.sqrt(1 - 0.995**2)])
    assert spelled(1.1) == expected
    expected[1][3] = expected[3][1] = 1
    assert spelled(0.98) == expected
    assert spelled(0.999)[1][3] == 0


def one_by_one(lesson: Lesson, icons: Any, drawn: Any, *, twins: float) -> Tensor:
    """The same, asked of every pair of icon and caption."""
    found = torch.zeros(len(icons), len(icons), dtype=torch.bool)
    for row, icon in enumerate(icons):
        for column, other in enumerate(icons):
            bears = drawn[column] in lesson.captions.of(icon).tolist()
            cosine = float(lesson.looks[icon].float() @ lesson.looks[other].float())
            found[row, column] = bool(bears or lesson.bases[icon] == lesson.bases[other] or cosine >= twins)
    return found


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("twins", [0.9, 1.1])
def test_every_ranks_rows_are_those_of_all_pairs_asked_one_by_one(local: bool, twins: float) -> None:
    options = tiny_options(local=local, caption_pair_weight=1.0, twin_similarity=twins)
    lesson, icons = tiny_lesson(tiny_model(), options), np.random.default_rng(1).permutation(48)[:24]
    for rank in (Rank(number, number, 4) for number in range(4)):
        draw = draw_step(lesson, icons, options, step=2, rank=rank)
        assert draw.seconds is not None
        found = draw.relations.spelled(CPU, twins=twins)
        rows = slice(6 * rank.index, 6 * rank.index + 6) if local else slice(0, 24)
        for (there, back), drawn in zip(found, (draw.captions, draw.seconds), strict=True):
            expected = one_by_one(lesson, icons, drawn, twins=twins)
            assert torch.equal(there, expected[rows])
            assert torch.equal(back, expected.T[rows])
            assert 24 < int(expected.sum()) < 24 * 24
