"""Are slips of the pen put right, and real words left alone?"""

import pytest

from search.words.spelling import Speller


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
