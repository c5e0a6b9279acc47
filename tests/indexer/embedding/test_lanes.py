import threading
from collections.abc import Iterator

import pytest
import torch

from indexer.embedding.lanes import n_lanes, side_by_side
from indexer.process import cores_of_rank


def test_what_is_made_side_by_side_comes_in_the_order_of_what_was_given() -> None:
    first_may_end = threading.Event()

    def make(number: int) -> int:
        if number == 1:
            first_may_end.set()
        if number == 0:
            assert first_may_end.wait(60), "the second was begun before the first had ended"
        return 10 * number

    assert list(side_by_side(make, range(5), lanes=2, begin=torch.set_num_threads)) == [
        (0, 0),
        (1, 10),
        (2, 20),
        (3, 30),
        (4, 40),
    ]


@pytest.mark.parametrize("lanes", [1, 3])
def test_no_more_is_asked_for_than_goes_side_by_side(lanes: int) -> None:
    taken = 0

    def given() -> Iterator[int]:
        nonlocal taken
        for number in range(10):
            taken += 1
            yield number

    for number, _ in side_by_side(lambda number: number, given(), lanes=lanes, begin=torch.set_num_threads):
        assert taken <= number + lanes


def test_an_error_is_raised_in_its_turn() -> None:
    made = side_by_side(lambda number: 1 / number, [2, 0, 1], lanes=2, begin=torch.set_num_threads)
    assert next(made) == (2, 0.5)
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_each_lane_has_its_share_of_the_cores() -> None:
    before = torch.get_num_threads()
    try:
        told = list(side_by_side(lambda _: torch.get_num_threads(), range(4), lanes=2, begin=torch.set_num_threads))
        assert {share for _, share in told} == {max(1, cores_of_rank() // 2)}
    finally:
        torch.set_num_threads(before)


def test_a_gpu_takes_one_batch_at_a_time() -> None:
    assert n_lanes(torch.device("cuda")) == 1
    assert 1 <= n_lanes(torch.device("cpu")) <= 4
