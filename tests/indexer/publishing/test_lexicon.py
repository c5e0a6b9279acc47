import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from indexer.errors import IconsError, LibraryError
from indexer.publishing.curves import Curve, fit
from indexer.publishing.lexicon import STATED_SHARE, Lexicon, stems
from indexer.publishing.snapshot import write_keywords
from search.words.keywords import read_keywords
from search.words.spelling import Speller

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


def test_a_damaged_lexicon_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "lexicon").write_bytes(b"half")
    with pytest.raises(LibraryError, match="`icons merge` builds a new generation"):
        Lexicon.open(tmp_path / "lexicon")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("arow left", "arrow left"),
        ("serach", "search"),
        ("dowload", "download"),
        ("arrowleft", "arrow left"),
        ("download", None),
        ("caution", None),
        ("qqqqq", None),
        ("lef", None),
    ],
)
def test_only_unknown_words_near_to_known_ones_are_corrected(words: str, meant: str | None) -> None:
    vocabulary = {"arrow": 40, "left": 30, "search": 9, "download": 5, "caption": 7, "leaf": 1}
    speller = Speller(lambda: vocabulary, is_borne=vocabulary.__contains__, is_usual=lambda word: word == "caution")
    assert speller.correct(words) == meant


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("arow left", "arrow left"),  # left out
        ("aarrow", None),
        ("arrrow", "arrow"),  # doubled
        ("arorw", "arrow"),  # swapped
        ("darrow", None),  # a letter more may be a brand, and so may another letter
        ("barrow", None),
        ("arro", "arrow"),
        ("homee", None),  # not so much rarer
    ],
)
def test_a_slip_that_a_few_names_bear_is_put_right(words: str, meant: str | None) -> None:
    slips = ("arow", "aarrow", "arrrow", "arorw", "darrow", "barrow", "arro", "homee")
    vocabulary = {"arrow": 3000, "left": 2000, "home": 400, **dict.fromkeys(slips, 4)}
    speller = Speller(lambda: vocabulary, is_borne=vocabulary.__contains__, is_usual=lambda word: word == "left")
    assert speller.correct(words) == meant


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('arrow* -"left down" "c++"', '"arrow" * AND "c++" NOT "left down"'),
        ("a AND NEAR(b c)", '"a" AND "and" AND "near b" AND "c"'),
        ("arrowLeft*", '"arrow left" *'),
        ("words:arrow", '"words arrow"'),
        ('"not closed', '"not closed"'),
    ],
)
def test_a_keyword_query_is_quoted_word_by_word(text: str, match: str) -> None:
    assert read_keywords(text) == match


def test_a_keyword_query_that_only_excludes_is_refused_and_signs_are_no_query() -> None:
    with pytest.raises(IconsError, match='"-arrow" only excludes'):
        read_keywords("-arrow")
    assert read_keywords('-> * "" -') is None


def test_a_curve_is_a_half_where_good_and_bad_hits_are_equally_frequent() -> None:
    random = np.random.default_rng(0)
    good, bad = (random.normal(middle, 0.05, 4000).astype(np.float32) for middle in (0.7, 0.5))
    curve = fit(good, bad)
    assert curve.centre == pytest.approx(0.6, abs=0.005)
    assert curve.slope == pytest.approx((0.7 - 0.5) / 0.05**2, rel=0.1)
    assert curve.scores(np.array([0.5, 0.6, 0.7], np.float32))[1] == pytest.approx(0.5, abs=0.1)


def test_the_number_of_bad_hits_does_not_move_a_curve() -> None:
    good = np.linspace(0.6, 0.8, 100, dtype=np.float32)
    bad = np.linspace(0.4, 0.65, 100, dtype=np.float32)
    assert fit(good, np.tile(bad, 50)).centre == pytest.approx(fit(good, bad).centre, abs=0.005)


def test_an_encoder_that_takes_nonsense_for_sense_keeps_its_order() -> None:
    curve = fit(np.array([0.4, 0.5], np.float32), np.array([0.6, 0.7], np.float32))
    assert curve == Curve(1.0, curve.centre)


def test_a_keyword_query_has_bounds() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]
    assert read_keywords(" ".join(words[:32] * 9)) is not None
    for text in (" ".join(words[:33]), f'"{" ".join(words[:33])}"', "arrow " + " ".join(f"-{word}" for word in words)):
        with pytest.raises(IconsError, match=r"the keyword query holds \d+ words; ask with 32 or fewer"):
            read_keywords(text)
    for text in ("a*", "arrow -b*", "arrowA*"):
        with pytest.raises(IconsError, match="begins a word with one letter; write 2 or more before"):
            read_keywords(text)
    assert read_keywords("ar*") == read_keywords("ar* ar* AR*")
