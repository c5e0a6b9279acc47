import threading
from collections.abc import Iterator

import pytest
import torch

from indexer.embedding.lanes import default_workers, n_lanes, side_by_side
from indexer.process import cores_of_rank

CPU = torch.device("cpu")


def test_what_is_made_side_by_side_comes_in_the_order_of_what_was_given() -> None:
    first_may_end = threading.Event()

    def make(number: int) -> int:
        if number == 1:
            first_may_end.set()
        if number == 0:
            assert first_may_end.wait(60), "the second was begun before the first had ended"
        return 10 * number

    assert list(side_by_side(make, range(5), lanes=2, device=CPU)) == [(0, 0), (1, 10), (2, 20), (3, 30), (4, 40)]


@pytest.mark.parametrize("lanes", [1, 3])
def test_no_more_is_asked_for_than_goes_side_by_side(lanes: int) -> None:
    taken = 0

    def given() -> Iterator[int]:
        nonlocal taken
        for number in range(10):
            taken += 1
            yield number

    for number, _ in side_by_side(lambda number: number, given(), lanes=lanes, device=CPU):
        assert taken <= number + lanes


def test_an_error_is_raised_in_its_turn() -> None:
    made = side_by_side(lambda number: 1 / number, [2, 0, 1], lanes=2, device=CPU)
    assert next(made) == (2, 0.5)
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_each_lane_has_its_share_of_the_cores() -> None:
    before = torch.get_num_threads()
    try:
        told = list(side_by_side(lambda _: torch.get_num_threads(), range(4), lanes=2, device=CPU))
        assert {share for _, share in told} == {max(1, cores_of_rank() // 2)}
    finally:
        torch.set_num_threads(before)


def test_a_gpu_takes_one_batch_at_a_time() -> None:
    assert n_lanes(torch.device("cuda")) == 1
    assert 1 <= n_lanes(torch.device("cpu")) <= 4


def test_every_lane_makes_its_gpu_that_of_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: dict[str, torch.device] = {}

    def choose(device: torch.device) -> None:
        chosen[threading.current_thread().name] = device

    monkeypatch.setattr(torch.cuda, "set_device", choose)
    gpu, both_run = torch.device("cuda", 3), threading.Barrier(2, timeout=60)

    def make(_: int) -> str:
        both_run.wait()
        return threading.current_thread().name

    made = {name for _, name in side_by_side(make, range(4), lanes=2, device=gpu)}
    assert chosen == dict.fromkeys(made, gpu) and len(made) == 2
    list(side_by_side(lambda number: number, range(4), lanes=2, device=CPU))
    assert len(chosen) == 2, "a CPU is no device of CUDA"


@pytest.mark.parametrize(("cores", "on_cpu", "on_gpu"), [(8, 8, 7), (2, 2, 1), (1, 1, 1)])
def test_workers_leave_a_core_to_what_feeds_a_gpu(
    monkeypatch: pytest.MonkeyPatch, cores: int, on_cpu: int, on_gpu: int
) -> None:
    monkeypatch.setattr("indexer.embedding.lanes.cores_of_rank", lambda: cores)
    assert (default_workers(5000, CPU), default_workers(5000, torch.device("cuda", 1))) == (on_cpu, on_gpu)
    assert default_workers(499, CPU) == 1
