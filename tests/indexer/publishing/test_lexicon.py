import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from indexer.errors import LibraryError
from indexer.merging.lexicon import STATED_SHARE, Lexicon, stems, write_keywords

NAMES = [
    (3, "arrow left", "", ""),
    (5, "arrow right", "", ""),
    (9, "batteries", "power ; left", ""),
    (12, "c++", "", ""),
]
ICONS = [(3, 1), (3, 7), (5, 2), (9, 4), (12, 5)]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    with closing(sqlite3.connect(":memory:")) as connection:
        write_keywords(connection, NAMES)
        Lexicon.of(connection, ICONS).save(tmp_path / "lexicon")
    return Lexicon.open(tmp_path / "lexicon")


def test_coverage_is_the_weight_of_the_words_that_a_name_bears_or_is_told(lexicon: Lexicon) -> None:
    arrow, left = (float(lexicon.weights[lexicon.place(word)]) for word in ("arrow", "left"))
    expected = [1, arrow / (arrow + left), STATED_SHARE * left / (arrow + left), 0]
    assert lexicon.coverage("left arrow") == pytest.approx(expected)
    assert lexicon.coverage("left unheard") == pytest.approx(
        [left / (left + 1), 0, STATED_SHARE * left / (left + 1), 0]
    )


def test_function_words_count_where_there_are_no_others(lexicon: Lexicon) -> None:
    assert lexicon.coverage("an arrow of the left").tolist() == lexicon.coverage("arrow left").tolist()
    assert lexicon.coverage("of the").tolist() == [0, 0, 0, 0]


def test_stems_are_those_of_the_keyword_index(lexicon: Lexicon) -> None:
    assert stems("battery arrows") == ("batteri", "arrow")
    assert lexicon.coverage("battery").argmax() == 2
    assert lexicon.coverage("c++").tolist() == [0, 0, 0, 1]


def test_the_best_icons_are_those_whose_short_names_cover_most(lexicon: Lexicon) -> None:
    assert lexicon.best_icons(lexicon.coverage("arrow left"), most=10).tolist() == [1, 7, 2, 4]
    assert lexicon.best_icons(lexicon.coverage("arrow left"), most=1).tolist() == [1]
    assert lexicon.best_icons(lexicon.coverage("nothing"), most=10).tolist() == []


def test_a_word_is_known_in_any_form_that_a_name_or_a_tag_bears(lexicon: Lexicon) -> None:
    assert [word for word in ("battery", "powers", "arrow", "c++", "c", "arro") if lexicon.knows(word)] == [
        "battery", "powers", "arrow", "c++",
    ]  # fmt: skip


def test_a_lexicon_of_rows_is_that_of_the_keyword_index(lexicon: Lexicon) -> None:
    of_rows = Lexicon.of_keywords(NAMES, ICONS)
    assert of_rows.terms.tolist() == lexicon.terms.tolist()
    assert of_rows.coverage("left power").tolist() == lexicon.coverage("left power").tolist()


def test_a_damaged_lexicon_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "lexicon").write_bytes(b"half")
    with pytest.raises(LibraryError, match="`icons index` builds a new generation"):
        Lexicon.open(tmp_path / "lexicon")
