"""Ids are told apart and numbered as numpy would, only sooner."""

import numpy as np

from indexer.arrays import Numbers, distinct


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
