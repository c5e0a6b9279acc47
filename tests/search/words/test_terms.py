"""Signs are said in words, and words lead to the names that sets use."""

import time

import pytest

from search.words.wording import name_of, names_for, spell_signs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("🏠", "house"),
        ("🔔", "bell"),
        ("🔔\ufe0f", "bell"),
        ("☎", "telephone"),
        ("☎\ufe0f", "telephone"),
        ("☎\ufe0e", "telephone"),
        ("❤️", "heart"),
        ("👍", "thumbs up"),
        ("👍🏽", "thumbs up"),
        ("👩🏽\u200d💻", "woman technologist"),
        ("❤️\u200d🔥", "heart on fire"),
        ("👨\u200d👩\u200d👧", "man woman girl"),
        ("🇩🇪", "flag de"),
        ("🇫🇷🇧🇷", "flag fr flag br"),
        ("🔔🔕", "bell bell with slash"),
        ("🔔 off", "bell off"),
        ("folder with 🔒", "folder with locked"),
        ("bell🔔", "bell bell"),
    ],
)
def test_emoji_are_said_in_words_whatever_their_variant(text: str, said: str) -> None:
    assert spell_signs(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("€", "euro"),
        ("£", "pound"),
        ("$", "dollar"),
        ("5 $", "5 dollar"),
        ("50 %", "50 percent"),
        ("+", "plus"),
        ("-", "minus"),
        ("\u2212", "minus"),
        ("\u00d7", "multiplication"),
        ("÷", "division"),
        ("=", "equal"),
        ("?", "question mark"),
        ("!!", "exclamation mark"),
        ("@", "at-sign"),
        ("->", "right arrow"),
        ("<-", "left arrow"),
        ("=>", "right arrow"),
        ("→", "right arrow"),
        ("left → right", "left right arrow right"),
        ("A→B", "A right arrow B"),
        ("…", "ellipsis"),
        ("✔", "check mark"),
        ("10°", "10 degree"),
    ],
)
def test_signs_are_said_in_words(text: str, said: str) -> None:
    assert spell_signs(text) == said


@pytest.mark.parametrize(
    "text",
    [
        *(
            "bell",
            "c++",
            "c#",
            "a + b",
            "a & b",
            "a/b",
            "50%",
            "$5",
            "-filled bell",
            "bell -filled",
            "file - pdf",
            "Q&A",
        ),
        *(
            "16:9",
            "don't",
            "don\u2019t",
            "“bell”",
            "bell \u2013 off",
            "naïve café",
            "日本語",
            "矢印・左",
            "ベル、家",
            "שלום",
            "½",
        ),
        *("", "x\u200dy", "\u0645\u06cc\u200c\u062e", "\U0010ffff", "a\u0301"),
    ],
)
def test_words_and_what_stands_between_them_stay(text: str) -> None:
    assert spell_signs(text) == text


def test_a_sign_without_annotation_has_the_name_that_unicode_gives_it() -> None:
    assert name_of("★") == "black star"
    assert spell_signs("⭍ up") == "downwards triangle-headed zigzag arrow up"
    assert name_of("\ue000") == ""


def test_long_texts_are_said_in_no_time() -> None:
    started = time.process_time()
    for text in ("🔔", "🔔 ", "🇩", "\u200d", "+", "+ ", "a+ ", "\u2019", "👨\u200d"):
        spell_signs(text * (10_000 // len(text)))
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("bin", "trash"),
        ("settings", "cog"),
        ("the dustbin", "trash"),
        ("unread", "notification"),
        ("purity", "droplet"),
    ],
)
def test_a_word_leads_to_the_names_that_sets_draw_it_under(words: str, name: str) -> None:
    assert name in dict(names_for(words))


@pytest.mark.parametrize("words", ["qwzxbv", "a thing that nobody says", ""])
def test_what_no_set_says_leads_nowhere(words: str) -> None:
    assert names_for(words) == ()
