"""Tiles: what is done with one without opening it, stacks of equal names, places that wait for their pictures."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import PHONE, Open

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CHOSEN = "() => JSON.parse(localStorage.getItem('icons.chosen') ?? '[]').map((icon) => icon.name)"
STARRED = "() => JSON.parse(localStorage.getItem('icons.starred') ?? '[]').map((icon) => icon.name)"


def cell(page: "Page", name: str) -> "Locator":
    return page.locator("#grid .cell", has=page.locator(f'.name:text-is("{name}")')).first


def test_a_tile_that_is_pointed_at_offers_to_choose_star_and_copy(open_page: Open) -> None:
    page = open_page("/?q=heart")
    heart = cell(page, "heart")
    expect(page.locator("#filters .filter").first).to_be_visible()
    page.wait_for_load_state("networkidle")  # filters appear above the tiles once it is known what there is
    before = heart.bounding_box()
    heart.hover()
    expect(heart.locator(".actions button")).to_have_count(3)
    assert heart.bounding_box() == before
    page.get_by_role("button", name="Choose heart").click()
    page.get_by_role("button", name="Star heart").click()
    expect(page.get_by_role("button", name="Choose heart")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(CHOSEN) == ["heart"]
    assert page.evaluate(STARRED) == ["heart"]
    expect(page.locator("#detail")).to_be_hidden()
    page.get_by_role("button", name="Copy heart as SVG").click()
    expect(page.locator("#toast")).to_contain_text("Copied heart")
    page.locator("#words").hover()
    expect(heart.locator(".actions")).to_have_count(0)
    expect(heart.locator(".mark.chosen")).to_be_visible()
    expect(heart.locator(".mark.starred")).to_be_visible()
    expect(heart.locator(".tile")).to_have_accessible_name(re.compile("chosen, starred"))
    assert heart.bounding_box() == before


@pytest.mark.slow
def test_a_long_press_begins_to_choose_and_taps_go_on(open_page: Open) -> None:
    page = open_page("/?q=arrow&fold=0", **PHONE)
    tiles = page.locator("#grid button.tile")
    expect(tiles.nth(2)).to_be_visible()
    tiles.nth(0).dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True, "clientX": 50, "clientY": 200})
    expect(page.locator("#select")).to_have_attribute("aria-pressed", "true")
    tiles.nth(0).dispatch_event("pointerup", {"pointerType": "touch", "bubbles": True})
    tiles.nth(0).dispatch_event("click")  # the one that ends the press
    tiles.nth(1).tap()
    expect(page.locator("#grid .cell[data-chosen]")).to_have_count(2)
    expect(page.locator("#detail")).to_be_hidden()
    page.get_by_role("button", name="Done", exact=True).click()
    tiles.nth(2).tap()
    expect(page.locator("#detail")).to_be_visible()
    expect(page.locator("#grid .cell[data-chosen]")).to_have_count(2)


def test_equal_names_of_several_sets_are_one_stack_that_opens_in_place(open_page: Open) -> None:
    page = open_page("/?q=arrow-left")
    arrows = page.locator("#grid .cell", has=page.locator('.name:text-is("arrow-left")'))
    expect(arrows).to_have_count(1)
    expect(arrows.locator(".unfold")).to_have_text("in 2 sets")
    expect(arrows.locator(".tile")).to_have_accessible_name(re.compile("in 2 sets"))
    following = page.locator("#grid .name").nth(1).inner_text()
    arrows.locator(".unfold").click()
    expect(arrows).to_have_count(2)
    assert page.locator("#grid .name").all_inner_texts()[:3] == ["arrow-left", "arrow-left", following]
    expect(page.locator("#grid .set").first).to_have_text("drawn")
    expect(arrows.locator(".unfold")).to_have_attribute("aria-expanded", "true")
    expect(arrows.locator(".unfold")).to_be_focused()
    arrows.locator(".unfold").click()
    expect(arrows).to_have_count(1)
