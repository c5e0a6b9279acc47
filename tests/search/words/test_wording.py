"""The words of a query are taken apart as people mean them, and names are left whole."""

import time
from collections.abc import Callable

import pytest

from indexer.errors import IconsError
from search.words.wording import (
    MOST_LETTERS,
    MOST_PARTS,
    Phrase,
    Speller,
    Wording,
    read_keywords,
    read_phrase,
    read_words,
)

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


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bell with a plus", ("bell", "plus")),
        ("user in a circle", ("user", "circle")),
        ("user in circle", ("user", "circle")),
        ("a + b", ("a", "b")),
        ("mouse & keyboard", ("mouse", "keyboard")),
        ("drag and drop", ("drag", "drop")),
        ("a bell inside the house", ("bell", "house")),
        ("Bell  WITH \t a plus", ("Bell", "plus")),
        ("cloud containing an arrow and a lock", ("cloud", "arrow", "lock")),
        ("sign in with google", ("sign in", "google")),
        ("pizza slice with cheese", ("pizza slice", "cheese")),
        ("camera off and bell", ("camera off", "bell")),
        ("bell", ()),
        ("log in", ()),
        ("zoom in on map", ()),
        ("sign in with", ()),
        ("with a plus", ()),
        ("c++ file", ()),
        ("Q&A", ()),
        ("plus", ()),
    ],
)
def test_what_stands_between_words_joins_parts(text: str, parts: tuple[str, ...]) -> None:
    assert read_phrase(text) == Phrase(" ".join(text.split()), parts, ())


@pytest.mark.parametrize(
    ("text", "words", "without"),
    [
        ("star not filled", "star", ("filled",)),
        ("star not in a circle", "star", ("circle",)),
        ("star not in circle", "star", ("circle",)),
        ("person not the dog", "person", ("dog",)),
        ("arrow without circle", "arrow", ("circle",)),
        ("bell w/o dot", "bell", ("dot",)),
        ("heart with no outline", "heart", ("outline",)),
        ("credit card except visa", "credit card", ("visa",)),
        ("cat, no tail", "cat", ("tail",)),
        ("star,no circle", "star", ("circle",)),
        ("star, not filled, no circle", "star", ("filled", "circle")),
        ("a bell without a dot or circle", "a bell", ("dot", "circle")),
        ("bell without dot, circle and a plus", "bell", ("dot", "circle", "plus")),
        ("BELL WITHOUT DOT", "BELL", ("DOT",)),
        ("bell\u00a0without\u00a0dot", "bell", ("dot",)),
        ("pizza without camera a", "pizza", ("camera a",)),
    ],
)
def test_words_say_what_to_leave_out(text: str, words: str, without: tuple[str, ...]) -> None:
    assert read_phrase(text) == Phrase(words, (), without)


@pytest.mark.parametrize(
    ("text", "words", "without"),
    [
        ("bell -filled", "bell", ("filled",)),
        ("bell -filled -circle", "bell", ("filled", "circle")),
        ("-filled bell", "bell", ("filled",)),
        ("arrow -up-left", "arrow", ("up-left",)),
        ("bell -filled without dot", "bell", ("filled", "dot")),
    ],
)
def test_a_minus_says_so_explicitly(text: str, words: str, without: tuple[str, ...]) -> None:
    assert read_phrase(text) == Phrase(words, (), without, is_explicit=True)


@pytest.mark.parametrize(
    "text",
    [
        *("no smoking", "no wifi", "without circle", "not filled", "not a bell", "-x", "no", "no, bell", "except"),
        *("do not disturb", "page not found", "x-ray", "state-of-the-art", "file - pdf"),
        *("em -- dash", "arrow -", "bell without", "", " ", ",", "🔔", "日本語", "\u202ebell", "x\u0301" * 40),
    ],
)
def test_nothing_is_left_out_where_nothing_else_is_shown_or_a_name_says_so(text: str) -> None:
    phrase = read_phrase(text)
    assert (phrase.parts, phrase.without, phrase.is_explicit) == ((), (), False)
    assert phrase.words == text.strip() or phrase.words == text


def test_of_too_many_parts_none_is_told_apart() -> None:
    assert len(read_phrase(" and ".join("abcdefghijklmnop")).parts) == MOST_PARTS == 16
    assert read_phrase(" and ".join("abcdefghijklmnopq")).parts == ()


@pytest.mark.parametrize(
    "text", ["x", " ", "a ", "a with ", "-x ", " -", "a, ", ",", ", no ", "no ", "a no b ", "not a ", "\u00a0", "🔔 "]
)
def test_long_texts_are_taken_apart_in_no_time(text: str) -> None:
    started = time.process_time()
    read_phrase(text * (10_000 // len(text)))
    read_phrase(text * (10_000 // len(text)) + "end")
    assert time.process_time() - started < 1


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
