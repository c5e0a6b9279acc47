"""Ids are told apart and numbered as numpy would, only sooner; values are cut and grouped in their order."""

import numpy as np

from indexer.arrays import Numbers, as_floats, distinct, grouped, in_chunks


def test_each_id_comes_once_and_ascending() -> None:
    random = np.random.default_rng(0)
    for n, most in ((0, 1), (1, 1), (50, 1), (400, 20), (400, 10**12)):
        ids = random.integers(0, most, n)
        assert distinct(ids).tolist() == np.unique(ids).tolist()


def test_values_are_numbered_as_they_come() -> None:
    numbers = Numbers[str]()
    assert numbers.of(iter(["b", "a", "b", "c", "a"])).tolist() == [0, 1, 0, 2, 1]
    assert list(numbers) == ["b", "a", "c"]
    assert numbers.of(["c", "d"]).tolist() == [2, 3]


def test_values_are_cut_into_chunks_of_their_own_kind() -> None:
    assert list(in_chunks([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]] and not list(in_chunks([], 2))
    assert [some.tolist() for some in in_chunks(np.arange(3), 2)] == [[0, 1], [2]]


def test_items_are_grouped_in_their_order() -> None:
    assert grouped(iter(["bell", "Arrow", "box"]), lambda name: name[0].lower()) == {
        "b": ["bell", "box"],
        "a": ["Arrow"],
    }


def test_halves_are_the_same_numbers_in_fp32() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(2, -1)[:, :0x7C00]  # all that are finite
    assert np.array_equal(as_floats(halves), halves.astype(np.float32))
