"""Data waits for nobody on its way to the device, and nobody for it."""

import threading
from typing import Any

import pytest
import torch
from lessons import tiny_options, tiny_session
from torch import Tensor

from indexer.embedding.distributed import Rank
from indexer.finetune.batches import STEPS_AHEAD, Feed, on_device, pictures_of

CPU, ELSEWHERE = torch.device("cpu"), torch.device("meta")
"""The meta device stands for a GPU: nothing is computed there, but how things get there can be seen."""


def feed_of(**chosen: Any) -> Feed:
    options = tiny_options(**chosen)
    return Feed(tiny_session(options).lesson, options, Rank())


def test_what_goes_to_a_device_is_page_locked_and_waited_for_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    to = Tensor.to

    def pinned(tensor: Tensor) -> Tensor:
        seen.append("page-locked")
        return tensor

    def sent(tensor: Tensor, *where: Any, **how: Any) -> Tensor:
        seen.append("sent on" if how.get("non_blocking") else "waited for")
        return to(tensor, *where, **how)

    _, (part,) = feed_of(neighbours=0.5, caption_pair_weight=1.0).read(0)
    monkeypatch.setattr(Tensor, "pin_memory", pinned)
    monkeypatch.setattr(Tensor, "to", sent)
    brought: list[Tensor] = []
    on_device(part, ELSEWHERE, brought)
    assert {tensor.device.type for tensor in brought} == {"meta"}
    assert seen == ["page-locked", "sent on"] * 4


def test_nothing_is_asked_of_the_device_before_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever needs an answer, such as a count of pictures to change, would fail where nothing is computed."""
    monkeypatch.setattr(Tensor, "pin_memory", lambda tensor: tensor)
    shares = dict.fromkeys(
        ("inverted", "backed", "photographed", "grained", "neighbours", "resampled", "blurred", "compressed"), 0.4
    )
    draw, (part,) = feed_of(caption_pair_weight=1.0, **shares).read(0)
    for there in (part, on_device(part, ELSEWHERE, [])):
        assert pictures_of(there, ELSEWHERE).shape == (16, 3, 16, 16)
    texts, seconds = on_device(draw, ELSEWHERE, []).relations.spelled(ELSEWHERE, twins=0.98)
    assert {side.shape for side in (*texts, *seconds)} == {(16, 16)}


def test_steps_are_read_in_order_ahead_of_those_that_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    feed, read, begun = feed_of(), Feed.read, threading.Semaphore(0)

    def counted(self: Feed, step: int) -> Any:
        begun.release()
        return read(self, step)

    monkeypatch.setattr(Feed, "read", counted)
    taken, n_begun = [], 0
    for number, (draw, _) in enumerate(feed.ahead(1, 6, CPU)):
        taken.append(draw.step)
        while n_begun < min(number + 1 + STEPS_AHEAD, 5):  # while this step computes
            assert begun.acquire(timeout=10)
            n_begun += 1
    assert taken == [1, 2, 3, 4, 5]
    assert list(feed.ahead(3, 3, CPU)) == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_pictures_on_a_gpu_are_those_of_the_cpu() -> None:
    device = torch.device("cuda:0")
    feed = feed_of(neighbours=0.5)
    plain, brought = (list(feed.ahead(0, 3, where)) for where in (CPU, device))
    for (_, (here,)), (_, (there,)) in zip(plain, brought, strict=True):
        assert there.pixels.device == device
        assert torch.allclose(pictures_of(there, device).cpu(), pictures_of(here, CPU), atol=2 / 255)
