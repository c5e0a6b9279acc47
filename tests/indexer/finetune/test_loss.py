"""The losses are what their definitions say, pair by pair."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from indexer.finetune.step import sigmoid_loss, softmax_loss

N = 5
OWN = torch.arange(N)
SCALE, BIAS = torch.tensor(7.0), torch.tensor(-2.0)


def vectors(seed: int) -> Tensor:
    return functional.normalize(torch.randn(N, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


def pairs() -> Tensor:
    right = torch.eye(N, dtype=torch.bool)
    right[0, 1] = right[1, 0] = right[2, 4] = True
    return right


def logit(images: Tensor, texts: Tensor, row: int, column: int) -> float:
    return float(SCALE * images[row] @ texts[column])


@pytest.mark.parametrize("masked", [True, False])
def test_softmax_loss_is_the_mean_of_each_rows_cross_entropy(masked: bool) -> None:
    images, texts, right = vectors(1), vectors(2), pairs()
    total = 0.0
    for row in range(N):
        fitting = [column for column in range(N) if right[row, column]]
        seen = [column for column in range(N) if not (masked and right[row, column] and column != row)]
        norm = math.log(sum(math.exp(logit(images, texts, row, column)) for column in seen))
        wanted = [row] if masked else fitting
        total += sum(norm - logit(images, texts, row, column) for column in wanted) / len(wanted)
    found = softmax_loss(images, texts, SCALE, right, OWN, masked=masked)
    assert float(found) == pytest.approx(total / N)


@pytest.mark.parametrize("masked", [True, False])
def test_sigmoid_loss_is_the_sum_of_each_pairs_log_loss(masked: bool) -> None:
    images, texts, right = vectors(1), vectors(2), pairs()
    total = 0.0
    for row in range(N):
        for column in range(N):
            if masked and right[row, column] and row != column:
                continue
            sign = 1 if right[row, column] else -1
            total += math.log(1 + math.exp(-sign * (logit(images, texts, row, column) + float(BIAS))))
    found = sigmoid_loss(images, texts, (SCALE, BIAS), right, OWN, masked=masked)
    assert float(found) == pytest.approx(total / N)
