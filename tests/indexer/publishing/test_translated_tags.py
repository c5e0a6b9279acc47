"""Tags in another language that others say in English, and the vector of a name with several readings."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from indexer.merging.facets import in_english
from indexer.merging.vectors import OTHERS, with_others

ICONS = [(3, "flèche\nbleu", "arrow\nblue"), (5, "house", ""), (9, "chat\nHouse", "cat\nchat\nhouse")]
TAGS = ["arrow", "blue", "bleu", "cat", "chat", "flèche", "house"]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection:
        connection.execute("CREATE TABLE icons (id INTEGER, tags TEXT, english_tags TEXT)")
        connection.execute("CREATE TABLE labels (kind TEXT, code INTEGER, value TEXT)")
        connection.executemany("INSERT INTO icons VALUES (?, ?, ?)", ICONS)
        connection.executemany("INSERT INTO labels VALUES ('tag', ?, ?)", enumerate(TAGS))
        connection.commit()
    return tmp_path / "catalog.sqlite"


def test_a_tag_that_another_says_in_english_is_left_out_for_its_icon_alone(catalog: Path) -> None:
    pairs = np.array([[0, 0, 0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 5, 6, 2, 3, 4, 6]], np.int32)
    kept = [(place, TAGS[code]) for place, code in in_english(catalog, pairs).T.tolist()]
    assert kept == [(0, "arrow"), (0, "blue"), (1, "house"), (1, "bleu"), (2, "cat"), (2, "chat"), (2, "house")]


def test_english_tags_are_the_very_same_pairs(catalog: Path) -> None:
    with closing(sqlite3.connect(catalog)) as connection:
        connection.execute("UPDATE icons SET english_tags = ''")
        connection.commit()
    pairs = np.array([[0, 1], [0, 6]], np.int32)
    assert in_english(catalog, pairs) is pairs


def test_a_name_that_may_say_several_things_lies_between_them() -> None:
    names = np.eye(4, dtype=np.float16)[:3]
    others = np.eye(4, dtype=np.float16)[[2, 3, 3]]
    found = with_others(names.copy(), np.array([0, 0, 2]), others)
    own, rest = 1 - OTHERS, OTHERS / np.sqrt(2)
    expected = np.array([own, 0, rest, rest]) / np.linalg.norm([own, rest, rest])
    assert found[0] == pytest.approx(expected, abs=1e-3)
    assert (found[1] == names[1]).all()
    assert found[2] == pytest.approx(np.array([0, 0, own, OTHERS]) / np.hypot(own, OTHERS), abs=1e-3)
    assert with_others(names, np.array([], np.int64), others[:0]) is names
