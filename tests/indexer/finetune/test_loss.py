"""What belongs together is right, losses are what their definitions say, and data on its way waits for nobody."""

import math
import threading
from typing import Any

import numpy as np
import pytest
import torch
from lessons import tiny_options, tiny_session
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from indexer.finetune.augment import as_floats, augment
from indexer.finetune.batches import STEPS_AHEAD, Feed, Part, list_relations, on_device
from indexer.finetune.captions import make_captions
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import Loss
from indexer.finetune.step import StepGraphs, sigmoid_loss, softmax_loss, take_step
from indexer.finetune.watch import MAIN_FIGURE, compare_rankers, main_figure
from indexer.ranks import Rank

CPU, ELSEWHERE = torch.device("cpu"), torch.device("meta")
"""The meta device stands for a GPU: nothing is computed there, but how things get there can be seen."""
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
        ((there, back),) = list_relations(lesson, np.arange(4), [drawn], loss=loss, rows=rows).spelled(twins=twins)
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
    assert (spelled(0.98), spelled(0.999)[1][3]) == (expected, 0)


ALL_CHANGES = dict.fromkeys(
    ("inverted", "backed", "photographed", "grained", "neighbours", "resampled", "blurred", "compressed"), 0.4
)


def pictures_of(part: Part) -> Tensor:
    return augment(as_floats(part.pixels), part.changes)


def feed_of(**chosen: Any) -> Feed:
    options = tiny_options(**chosen)
    return Feed(tiny_session(options).lesson, options, Rank())


def test_what_goes_to_a_device_is_page_locked_and_waited_for_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    to = Tensor.to

    def sent(tensor: Tensor, *where: Any, non_blocking: bool = False, **how: Any) -> Tensor:
        return [to(tensor, *where, **how), seen.append("sent on" if non_blocking else "waited for")][0]

    _, (part,) = feed_of(neighbours=0.5, caption_pair_weight=1.0).read(0)
    monkeypatch.setattr(Tensor, "pin_memory", lambda it: [it, seen.append("page-locked")][0])
    monkeypatch.setattr(Tensor, "to", sent)
    there, _ = on_device(part, ELSEWHERE)
    assert (there.pixels.device, there.changes.theta.device, there.texts.device) == (ELSEWHERE,) * 3
    assert seen == ["page-locked", "sent on"]


class Calls(TorchDispatchMode):
    """Notes what is computed within its block, views left out."""

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names = [*getattr(self, "names", []), *([] if call.is_view else [call._schema.name])]
        return call(*args, **(kwargs or {}))


def test_a_step_waits_for_no_answer_and_changes_pictures_in_few_operations() -> None:
    session = tiny_session(tiny_options(caption_pair_weight=1.0, **ALL_CHANGES))
    draw, parts = Feed(session.lesson, session.options, Rank()).read(0)
    with Calls() as step:
        take_step(session, draw, parts, step=0)
    with Calls() as changing:  # once its tables are there
        pictures_of(parts[0])
    assert {"aten::_local_scalar_dense", "aten::nonzero", "aten::equal"}.isdisjoint(step.names)
    assert len(changing.names) <= 110


def test_steps_are_read_in_order_ahead_of_those_that_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    feed, read, begun = feed_of(), Feed.read, threading.Semaphore(0)

    monkeypatch.setattr(Feed, "read", lambda self, step: [begun.release(), read(self, step)][1])
    taken, n_begun = [], 0
    for number, (draw, _) in enumerate(feed.ahead(1, 6, CPU)):
        taken.append(draw.step)
        while n_begun < min(number + 1 + STEPS_AHEAD, 5):  # while this step computes
            assert begun.acquire(timeout=10)
            n_begun += 1
    assert (taken, list(feed.ahead(3, 3, CPU))) == ([1, 2, 3, 4, 5], [])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_pictures_on_a_gpu_are_those_of_the_cpu() -> None:
    device, feed = torch.device("cuda:0"), feed_of(neighbours=0.5)
    plain, brought = (list(feed.ahead(0, 3, where)) for where in (CPU, device))
    for (_, (here,)), (_, (there,)) in zip(plain, brought, strict=True):
        assert there.pixels.device == device
        assert torch.allclose(pictures_of(there).cpu(), pictures_of(here), atol=2 / 255)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_steps_that_a_gpu_repeats_learn_what_launched_ones_learn() -> None:
    launched, repeated = (tiny_session(tiny_options(), where="cuda:0") for _ in range(2))
    repeated.graphs = StepGraphs()
    for session in (launched, repeated):
        for step, (draw, parts) in enumerate(feed_of().ahead(0, 8, session.device)):
            take_step(session, draw, parts, step=step)
    assert repeated.graphs.captured, repeated.graphs.why_not
    torch.testing.assert_close(repeated.student.state_dict(), launched.student.state_dict(), rtol=1e-3, atol=1e-4)


CORPUS = np.array([[1, 0], [0, 1], [0.707, 0.707]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def test_fusion_adds_both_similarities() -> None:
    names = np.array([[0, 1], [1, 0], [0.707, 0.707]], np.float32)
    found = compare_rankers(QUERIES, CORPUS, names, [[2], [2]])
    assert found["tags: pictures"]["R@1"].value == 0.0
    assert found["tags: fused"]["R@1"].value == 1.0  # 0.707 against the weight of the picture, or of the name


def test_checkpoints_are_compared_by_the_mean_of_what_there_is() -> None:
    tasks = {"tags: pictures": 0.1, "tags: fused": 0.3, "names: pictures": 0.5, "screenshots: pictures": 0.7}
    scores = {task: {MAIN_FIGURE: [value, 0.0, 1.0]} for task, value in tasks.items()}
    some = {task: by_name for task, by_name in scores.items() if task != "tags: fused"}
    assert (main_figure(scores), main_figure(some)) == (pytest.approx(0.5), pytest.approx(0.6))
