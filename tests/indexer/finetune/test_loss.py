"""What belongs together is right, and nothing else; the losses are what their definitions say, pair by pair."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.batches import list_relations
from indexer.finetune.captions import make_captions
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import Loss
from indexer.finetune.step import sigmoid_loss, softmax_loss

N = 5
OWN = torch.arange(N)
SCALE, BIAS = torch.tensor(7.0), torch.tensor(-2.0)
FIRST, SECOND = functional.normalize(torch.randn(2, N, 4, generator=torch.Generator().manual_seed(1)).double(), dim=-1)
RIGHT = torch.eye(N, dtype=torch.bool)
RIGHT[0, 1] = RIGHT[1, 0] = RIGHT[2, 4] = True


@pytest.mark.parametrize("masked", [True, False])
def test_each_loss_is_the_mean_over_rows_of_what_its_definition_says_of_them(masked: bool) -> None:
    softmax, sigmoid = 0.0, 0.0
    for row in range(N):
        logits = [float(SCALE * FIRST[row] @ SECOND[column]) for column in range(N)]
        seen = [column for column in range(N) if not (masked and RIGHT[row, column] and column != row)]
        fitting = [column for column in seen if RIGHT[row, column]]
        norm = math.log(sum(math.exp(logits[column]) for column in seen))
        softmax += sum(norm - logits[column] for column in fitting) / len(fitting) / N
        for column in seen:
            sign = 1 if RIGHT[row, column] else -1
            sigmoid += math.log(1 + math.exp(-sign * (logits[column] + float(BIAS)))) / N
    assert float(softmax_loss(FIRST, SECOND, SCALE, RIGHT, OWN, masked=masked)) == pytest.approx(softmax)
    assert float(sigmoid_loss(FIRST, SECOND, (SCALE, BIAS), RIGHT, OWN, masked=masked)) == pytest.approx(sigmoid)


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
