"""Slips of the pen are put right, real words and what reads like one are left alone."""

from pathlib import Path

import pytest

from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.merging.calibration import made_up_words
from search.words.wording import Plausible, Speller


def _speller(vocabulary: dict[str, int], *, usual: str, could_be: str = "") -> Speller:
    return Speller(
        lambda: vocabulary,
        is_name_or_tag=vocabulary.__contains__,
        is_usual=lambda word: word == usual,
        could_be=lambda word: word == could_be,
    )


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
    assert _speller(vocabulary, usual="caution").correct(words) == meant


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
    assert _speller(vocabulary, usual="left").correct(words) == meant


def test_a_word_means_something_if_it_is_borne_or_usual_or_reads_like_one() -> None:
    speller = _speller({"arrow": 40}, usual="caution", could_be="zoomable")
    assert [word for word in ("arrow", "caution", "zoomable", "qwzxbv") if speller.knows(word)] == [
        "arrow", "caution", "zoomable",
    ]  # fmt: skip


def test_a_word_that_reads_like_one_is_put_right_all_the_same() -> None:
    assert _speller({"arrow": 40}, usual="", could_be="arow").correct("arow") == "arrow"


@pytest.fixture(scope="module")
def encoder(asked: Path) -> QueryEncoder:
    [folder] = (asked / "encoders").iterdir()
    return open_query_encoder(folder)


@pytest.fixture(scope="module")
def plausible(encoder: QueryEncoder) -> Plausible:
    return Plausible(encoder.whole_words)


def test_an_encoder_lists_the_words_that_it_reads_as_one_piece(encoder: QueryEncoder) -> None:
    words = encoder.whole_words()
    assert len(words) == len(set(words))
    assert {"arrow", "house", "calendar"} <= set(words)
    letters = [word for word in words if word.isascii() and word.isalpha()]
    assert len(letters) > 30_000 and all(map(encoder.has_token, letters[::500]))
    assert not {"arro", "thermostatic", "qwzxbv"} & set(words)


@pytest.mark.parametrize("word", ["thermostatic", "rotatable", "defragment", "hygrometer", "unsubscribing"])
def test_a_rare_word_reads_like_one(plausible: Plausible, encoder: QueryEncoder, word: str) -> None:
    assert not encoder.has_token(word)
    assert plausible.reads_like_a_word(word)


def test_few_made_up_words_that_can_be_spoken_pass(plausible: Plausible) -> None:
    words = [word for word in made_up_words(400, seed=3) if len(word) > 4]
    assert sum(map(plausible.reads_like_a_word, words)) < 0.15 * len(words)


@pytest.mark.parametrize(
    "word", ["xqzw", "svg", "h264qzx", "c++", "qwzx-vb", "\u043a\u0432\u0437\u0449\u044a\u044b\u0436", "QWZXVB"]
)
def test_of_short_words_digits_signs_and_other_scripts_nothing_is_known(plausible: Plausible, word: str) -> None:
    assert plausible.reads_like_a_word(word)
