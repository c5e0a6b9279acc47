"""Do the first hits come from more than one set, and stays all else as it was?"""

import numpy as np

from indexer.arrays import Floats, Tiers
from search.ranking.order import AGAIN, MIXED, MIXED_AMONG, NAMED, RELATED, mix


def _mixed(evidence: list[float], sets: list[int], tiers: list[int] | None = None) -> list[int]:
    places = np.arange(len(evidence))
    of_tiers: Tiers = np.array(tiers or [RELATED] * len(evidence), np.int8)
    values: Floats = np.array(evidence, np.float32)
    return [int(place) for place in mix(places, of_tiers, values, np.array(sets))]


def test_hits_of_one_set_keep_their_order() -> None:
    evidence = [5 - 0.01 * place for place in range(40)]
    assert _mixed(evidence, [3] * 40) == list(range(40))
    assert _mixed([], []) == []


def test_a_set_that_is_there_already_stands_a_little_lower() -> None:
    assert _mixed([5.0, 4.9, 4.8, 4.7], [1, 1, 1, 2]) == [0, 3, 1, 2]
    much = 5.0 - AGAIN - 0.1
    assert _mixed([5.0, 4.9, much], [1, 1, 2]) == [0, 1, 2]


def test_a_tier_is_never_left_for_another_set() -> None:
    assert _mixed([5.0, 4.9, 9.0], [1, 1, 2], [NAMED, NAMED, RELATED]) == [0, 1, 2]


def test_what_a_user_prefers_comes_as_often_as_it_will() -> None:
    assert _mixed([5.0, 4.9, 4.85, 4.8], [-1, -1, -1, 2]) == [0, 1, 2, 3]


def test_only_the_first_hits_are_mixed_and_none_is_lost() -> None:
    n = MIXED_AMONG + 10
    mixed = _mixed([5 - 0.001 * place for place in range(n)], [place // 8 for place in range(n)])
    assert sorted(mixed) == list(range(n))
    assert mixed[MIXED_AMONG:] == list(range(MIXED_AMONG, n))
    assert len({place // 8 for place in mixed[:MIXED]}) == 4
