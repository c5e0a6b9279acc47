"""Are drawings taken apart that words describe, and names left whole?"""

import time

import pytest

from search.words.wording import MOST_PARTS, Phrase, read_phrase


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


def test_parts_and_what_is_left_out_stand_side_by_side() -> None:
    phrase = read_phrase("folder with a lock and a heart, no outline")
    assert phrase == Phrase("folder with a lock and a heart", ("folder", "lock", "heart"), ("outline",))


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
