"""Filters: which lead, how they are found and ticked, and that they stay until somebody takes them away."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import PHONE, Open

if TYPE_CHECKING:
    from playwright.sync_api import Page


def first_tile(page: "Page") -> None:
    expect(page.locator("#grid button.tile").first).to_be_visible()


def test_set_style_and_licence_lead_and_the_rest_is_under_more(page: "Page") -> None:
    expect(page.locator("#filters .filter")).to_have_text(["Set", "Style", "Licence", "More"])
    page.locator('#filters [data-kind="more"]').click()
    kinds = page.locator("#menu .kind span:first-child").all_inner_texts()
    assert "Category" in kinds
    assert not {"Set", "Style", "Licence"} & set(kinds)
    page.locator('#menu [data-kind="category"]').click()
    page.locator("#menu .option", has_text="nature").locator("input").check()
    expect(page.locator(".chip", has_text="nature")).to_be_visible()
    expect(page.locator('#filters [data-kind="more"]')).to_have_attribute("data-on", "")
    page.get_by_role("button", name="Back to More filters").click()
    expect(page.locator('#menu [data-kind="category"]')).to_be_focused()
    expect(page.locator('#menu [data-kind="category"] .value')).to_have_text("nature")


def test_enter_ticks_the_first_match(open_page: Open) -> None:
    page = open_page()
    first_tile(page)
    page.locator('#filters [data-kind="more"]').click()
    page.locator('#menu [data-kind="tag"]').click()
    expect(page.locator("#menu input[type=search]")).to_be_focused()
    page.keyboard.type("bul")
    expect(page.locator("#menu .option").first).to_contain_text("bullet")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("tag=bullet"))
    expect(page.locator("#menu")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("tag="))


@pytest.mark.slow
def test_filters_stay_when_words_change_and_when_more_like_an_icon_is_asked(open_page: Open) -> None:
    page = open_page("/?q=arrow&set=drawn")
    first_tile(page)
    page.locator("#words").fill("night")
    expect(page).to_have_url(re.compile("q=night&set=drawn"))
    page.locator("#grid button.tile").first.click()
    page.get_by_role("button", name="More like this").click()
    expect(page).to_have_url(re.compile(r"\?icon=\d+&set=drawn"))
    expect(page.locator("#grid .set").filter(has_not_text="drawn")).to_have_count(0)
    page.get_by_role("button", name="Clear the search").click()
    expect(page).to_have_url(re.compile(r"/\?set=drawn$"))
    expect(page.locator("#summary")).to_contain_text("in drawn")
    page.locator("#words").fill("arrow")
    page.locator("#words").press("Escape")
    expect(page).to_have_url(re.compile(r"/\?set=drawn$"))
    page.locator(".brand").click()
    expect(page.locator("#start")).to_be_visible()
    expect(page).not_to_have_url(re.compile("set="))


@pytest.mark.slow
def test_filters_that_leave_nothing_say_so(open_page: Open) -> None:
    page = open_page("/?set=drawn&licence=ISC")
    expect(page.locator(".nothing h2")).to_have_text("No icon is left by these filters")
    page.get_by_role("button", name="Search without the 2 filters").click()
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.slow
def test_on_a_phone_filters_are_a_sheet_that_leads_from_kind_to_kind(open_page: Open) -> None:
    page = open_page("/?q=arrow", **PHONE)
    first_tile(page)
    page.get_by_role("button", name="Filters", exact=True).click()
    sheet = page.locator("#menu").bounding_box()
    assert sheet is not None
    assert (sheet["x"], sheet["width"]) == (0, 390)
    assert round(sheet["y"] + sheet["height"]) == 844
    page.locator('#menu [data-kind="set"]').tap()
    page.locator("#menu .option", has_text="drawn").tap()
    expect(page).to_have_url(re.compile("set=drawn"))
    page.get_by_role("button", name="Back to Filters").tap()
    expect(page.locator('#menu [data-kind="set"] .value')).to_have_text("drawn")
    page.get_by_role("button", name="Done", exact=True).tap()
    expect(page.locator("#menu")).to_be_hidden()
    expect(page.get_by_role("button", name="Filters, 1 on")).to_be_visible()
    page.get_by_role("button", name="Filters, 1 on").tap()
    page.get_by_role("button", name="Clear all filters").tap()
    expect(page).not_to_have_url(re.compile("set="))
