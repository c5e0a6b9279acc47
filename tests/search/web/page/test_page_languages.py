"""Words of another language on the page: how they were read is said, and a link finds the same for everybody."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from site_of_icons import Open

if TYPE_CHECKING:
    from playwright.sync_api import Page


def names(page: "Page") -> list[str]:
    """Of the first hits: more come while the page stands."""
    return page.locator("#grid .name").all_inner_texts()[:20]


def path_of(page: "Page") -> str:
    split = urlsplit(page.url)
    return f"{split.path}?{split.query}"


@pytest.fixture
def french(open_page: Open) -> "Page":
    """The page of somebody who reads French first, with "chat" typed: a cat, or the English chat."""
    page = open_page(locale="fr-FR")
    page.locator("#words").fill("chat")
    expect(page.locator(".remark")).to_contain_text("chat: cat, chat (French)")
    expect(page).to_have_url(re.compile(r"\?q=chat&language=fr(&|$)"))
    return page


def test_how_words_were_read_stands_above_the_hits_and_is_spoken(open_page: Open) -> None:
    page = open_page(locale="de-AT")
    page.locator("#words").fill("Pfeil links")
    expect(page.locator(".remark")).to_have_text(re.compile(r"^Pfeil: arrow; links: left.* \(German\) $"))
    expect(page.locator("#grid .name").first).to_have_text("arrow-left")
    assert page.locator(".remark bdi").all_inner_texts() == ["Pfeil", "links"]
    assert page.locator(".remark bdi").first.get_attribute("lang") == "de"
    expect(page.locator("#live")).to_have_text(
        re.compile(r"^\d+ icons for “Pfeil links”\. Pfeil: arrow; links: left.* \(German\)$")
    )
    expect(page.get_by_role("button", name="Search in English only")).to_have_count(0)  # there is nothing to find so


@pytest.mark.slow
def test_a_link_finds_the_same_for_readers_of_other_languages(french: "Page", open_page: Open) -> None:
    english = open_page(path_of(french), locale="en-US")
    expect(english.locator(".remark")).to_contain_text("(French)")
    assert names(english) == names(french)


@pytest.mark.slow
def test_words_that_are_english_too_are_asked_as_that_by_keyboard(french: "Page") -> None:
    as_french = names(french)
    french.get_by_role("button", name="Search in English only").focus()
    french.keyboard.press("Enter")
    expect(french.locator(".remark")).to_have_count(0)
    expect(french).to_have_url(re.compile(r"\?q=chat(&k=\d+)?$"))
    expect(french.locator("#results")).to_be_focused()
    assert names(french) != as_french
    french.go_back()
    expect(french.locator(".remark")).to_contain_text("(French)")
    assert names(french) == as_french


@pytest.mark.slow
def test_readers_of_english_alone_send_no_language(page: "Page") -> None:
    with page.expect_request(lambda request: "search?q=heart" in request.url) as asked:
        page.locator("#words").fill("heart")
    assert "language" not in asked.value.url


@pytest.mark.slow
def test_a_language_that_is_none_is_left_out_of_the_address(open_page: Open) -> None:
    page = open_page("/?q=chat&language=%3Cb%3E&language=fr-CH&language=german")
    expect(page.locator(".remark")).to_contain_text("(French)")
