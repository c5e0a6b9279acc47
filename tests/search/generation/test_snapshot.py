"""A snapshot reads many icons at once, and names keys near an unknown one."""

from pathlib import Path

import numpy as np
import pytest

from indexer.library.folder import Library
from search.generation.snapshot import Snapshot

MANY = 40_000
"""More than SQLite takes values for one query."""


@pytest.fixture(scope="module")
def snapshot(asked: Path) -> Snapshot:
    library = Library(asked)
    return Snapshot(library.generation(library.current() or 0).catalog)


def test_more_ids_are_asked_for_than_one_query_takes(snapshot: Snapshot) -> None:
    icons = list(snapshot.all_icons())
    ids = np.arange(MANY, 0, -1)
    assert sorted(snapshot.candidates(ids)) == [icon for icon, *_ in icons] != []
    assert snapshot.showing(ids).tolist() == [icon for icon, *_ in icons]
    groups = [(place, name) for place in (1, 2) for name in range(MANY, 0, -1)]
    found = snapshot.variants(groups)
    assert sum(map(len, found.values())) == len(icons)
    assert {(set_id, name_id) for _, set_id, name_id, _, _ in icons} == set(found)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("arow-left", "own:arrow-left"),
        ("hosue", "own:house"),
        ("other:hosue", "other:house"),
        ("nosuch:hosue", "own:house"),
        ("ohuse", "own:house"),
        ("arrow_rigth", "own:arrow-right"),
    ],
)
def test_a_misspelt_key_has_near_ones(snapshot: Snapshot, key: str, nearest: str) -> None:
    assert snapshot.keys_near(key)[0] == nearest


@pytest.mark.parametrize("key", ["", ":", "own:", "zzzzzzzz", "\U0001f389", "x" * 5000])
def test_a_key_that_is_like_none_has_no_near_ones(snapshot: Snapshot, key: str) -> None:
    assert snapshot.keys_near(key) == []
