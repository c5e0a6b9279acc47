"""What is seen before anything is typed: sets, all icons of a small library, what was done before."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def card(page: "Page", set_key: str) -> "Locator":
    return page.locator(f'.set-card:has(a[href="?set={set_key}"])').first


def test_a_set_is_a_card_with_icons_their_number_licence_and_style(page: "Page") -> None:
    drawn = card(page, "drawn")
    expect(drawn.locator(".title")).to_have_text("drawn")
    expect(drawn.locator(".facts")).to_contain_text("8 icons")
    expect(drawn.locator(".mosaic img")).to_have_count(6)
    expect(card(page, "lucide-static").locator(".facts")).to_contain_text("ISC")


@pytest.mark.slow
def test_a_card_browses_its_set_and_words_search_in_it(page: "Page") -> None:
    card(page, "drawn").locator("a").click()
    expect(page).to_have_url(re.compile(r"\?set=drawn$"))
    expect(page.locator("#start")).to_be_hidden()
    expect(page.locator("#summary")).to_have_text("7 icons in drawn")  # two of its eight are variants of one
    expect(page.locator("#notice")).to_contain_text("Licence unknown")
    page.locator("#words").fill("flower")
    expect(page.locator("#grid .name").first).to_have_text("tulip")
    expect(page).to_have_url(re.compile(r"q=flower&set=drawn"))
    page.locator("#words").fill("")
    expect(page.locator("#summary")).to_have_text("7 icons in drawn")
    page.locator("#words").press("Escape")
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.slow
def test_searches_and_opened_icons_come_back_and_are_forgotten_on_demand(page: "Page") -> None:
    expect(page.locator("#recent")).to_be_hidden()
    page.locator("#words").press_sequentially("heart")
    expect(page.locator("#grid .name").first).to_have_text("heart")
    page.wait_for_function("() => localStorage.getItem('icons.searches') !== null")
    page.locator("#grid button.tile").first.click()
    expect(page.locator("#detail-name")).to_have_text("heart")
    page.goto(page.url.partition("?")[0])
    expect(page.locator("#recent-searches li")).to_have_text(["heart"])  # not its beginnings
    page.get_by_role("button", name="heart, lucide-static").first.click()
    expect(page.locator("#detail-name")).to_have_text("heart")
    page.locator("#recent-searches button").click()
    expect(page.locator("#words")).to_have_value("heart")
    page.locator(".brand").click()
    page.locator("#forget").click()
    expect(page.locator("#recent")).to_be_hidden()
    page.reload()
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("#recent")).to_be_hidden()
