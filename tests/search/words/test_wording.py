"""What is asked of names and of the encoder, once words are read?"""

from collections.abc import Callable

import pytest

from indexer.errors import IconsError
from search.words.spelling import Speller
from search.words.wording import MOST_LETTERS, Wording, read_words

VOCABULARY = dict.fromkeys(("arrow", "bell", "star", "plus", "circle", "drag", "drop", "smoking", "heart"), 9)
SPELLER = Speller(
    lambda: VOCABULARY,
    is_name_or_tag=VOCABULARY.__contains__,
    is_usual=lambda word: word in ("icon", "with", "and", "no", "filled", "solid", "in", "two", "bells"),
    could_be=lambda word: word == "zoomable",
)


def _bearing(*names: str) -> Callable[[str], bool]:
    return lambda words: words in names


def _read(text: str, *names: str) -> Wording:
    return read_words(text, SPELLER, is_name_or_tag=_bearing(*names))


def test_a_plain_query_is_looked_for_as_it_is() -> None:
    assert _read(" Arrow_Bell ") == Wording(
        spellings=("arrow bell",),
        typed="arrow bell",
        name="arrow bell",
        style=None,
        spelled=None,
        are_known=True,
        parts=(),
        without=(),
        drawn=(),
        synonyms=(),
    )


@pytest.mark.parametrize(
    "text", ["no smoking", "drag and drop", "bell with a plus", "arrow without circle", "Bell Icon"]
)
def test_a_name_of_the_library_is_not_taken_apart(text: str) -> None:
    words = text.lower()
    wording = _read(text, words)
    assert (wording.spellings, wording.typed, wording.name) == ((words,), words, words)
    assert (wording.parts, wording.without, wording.style) == ((), (), None)


def test_a_minus_leaves_out_though_the_rest_is_a_name() -> None:
    wording = _read("bell -circle", "bell circle", "bell")
    assert (wording.spellings, wording.typed, wording.without) == (("bell",), "bell", ("circle",))


@pytest.mark.parametrize(
    ("text", "name", "style"),
    [
        ("filled star", "star", "filled"),
        ("star filled", "star", "filled"),
        ("solid star", "star", "filled"),
        ("star solid", "star", "filled"),
        ("star line", "star line", None),
        ("filled", "filled", None),
        ("star", "star", None),
    ],
)
def test_a_style_is_taken_off_either_end(text: str, name: str, style: str | None) -> None:
    wording = _read(text)
    assert (wording.typed, wording.name, wording.style) == (text, name, style)


def test_a_name_in_a_style_is_that_name_in_the_style_though_it_is_borne() -> None:
    wording = _read("star filled", "star filled")
    assert (wording.name, wording.style) == ("star", "filled")


@pytest.mark.parametrize(
    ("text", "typed"), [("bell icon", "bell"), ("Bell SVG icon", "bell"), ("icon", "icon"), ("icon bell", "icon bell")]
)
def test_what_every_icon_is_says_nothing(text: str, typed: str) -> None:
    wording = _read(text)
    assert (wording.typed, wording.name) == (typed, typed)
    assert wording.spellings == tuple(dict.fromkeys((text.lower(), typed)))


def test_a_guess_stands_beside_what_was_typed() -> None:
    wording = _read("arow bell")
    assert (wording.typed, wording.spelled, wording.name) == ("arow bell", "arrow bell", "arrow bell")
    assert wording.spellings == ("arow bell",)  # a guess is no name


def test_parts_are_looked_for_without_what_joins_them_and_without_their_number() -> None:
    wording = _read("two bells with a plus")
    assert wording.parts == ("two bells", "plus")
    assert wording.typed == "two bells with a plus"
    assert wording.name == "bells plus"
    assert _read("two bells").name == "two bells"


def test_where_something_is_left_out_only_the_rest_is_a_name() -> None:
    assert _read("Arrow without circle").spellings == ("arrow",)
    assert _read("arrow icon -circle").spellings == ("arrow",)
    assert _read("arrow icon").spellings == ("arrow icon", "arrow")
    wording = _read("star not filled, no circle")
    assert (wording.typed, wording.name, wording.without) == ("star", "star", ("filled", "circle"))


def test_signs_are_names_as_they_are_and_in_words() -> None:
    wording = _read("🔔 +")
    assert wording.spellings[1] == wording.typed == "bell plus"
    assert wording.name == "bell plus"
    assert _read("->").spellings == ("->", "right arrow")


@pytest.mark.parametrize(
    ("text", "are_known"),
    [("qwzx", False), ("the qwzx", False), ("bell qwzx", True), ("icon", True), ("zoomable", True)],
)
def test_a_query_is_known_by_one_word_that_tells(text: str, are_known: bool) -> None:
    assert _read(text).are_known == are_known


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\0"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(IconsError, match="the query is empty"):
        _read(text)


@pytest.mark.parametrize(
    "text", ["-", "--", ",", "🏽", "\ufe0f", "no", "-x", "with", "\u202e", "🔔" * 3_000, "x " * 9_000]
)
def test_whatever_else_is_typed_asks_for_something(text: str) -> None:
    wording = _read(text)
    assert wording.typed and wording.name and all(wording.spellings)
    assert len(wording.typed) <= MOST_LETTERS
