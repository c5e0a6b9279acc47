"""The whole page with the keyboard alone."""

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import Open

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route


def tile(page: "Page", at: int) -> "Locator":
    return page.locator("#grid button.tile").nth(at)


def test_an_icon_is_found_opened_and_copied_without_a_mouse(page: "Page") -> None:
    page.locator("body").press("Tab")
    page.keyboard.press("/")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("arrow left")
    expect(page.locator("#summary")).to_contain_text("“arrow left”")  # the first of "arrow lef" is another of that name
    expect(tile(page, 0)).to_contain_text("arrow-left")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#summary")).to_contain_text("“arrow left”")  # the first of "arrow lef" is another of that name
    expect(tile(page, 0)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy as SVG file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text("Copied arrow-left as SVG file")
    assert "<svg" in page.evaluate("() => navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()
    expect(tile(page, 0)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("#words")).to_have_value("")


def test_an_arrow_before_the_answer_goes_to_its_first_tile(page: "Page") -> None:
    held: list[Route] = []

    def hold(route: "Route") -> None:
        held.append(route)

    page.route("**/search?*", hold)  # also what the start page shows of a small library: there is no tile yet
    page.reload()
    page.locator("#words").fill("arrow left")
    expect(page.locator("#grid .waiting").first).to_be_visible()
    page.locator("#words").press("ArrowDown")
    for route in held:
        route.continue_()
    expect(tile(page, 0)).to_be_focused()


@pytest.mark.slow
def test_arrows_walk_through_rows_and_columns(open_page: Open) -> None:
    page = open_page("/?q=arrow&min_score=0")
    expect(tile(page, 0)).to_be_visible()
    columns = page.evaluate(
        "() => getComputedStyle(document.querySelector('#grid')).gridTemplateColumns.split(' ').length"
    )
    assert columns > 3
    page.locator("#words").press("ArrowDown")
    page.keyboard.press("End")
    expect(page.locator("#more")).to_be_hidden()
    page.keyboard.press("Home")
    for key, at in (
        ("ArrowRight", 1),
        ("ArrowDown", 1 + columns),
        ("ArrowLeft", columns),
        ("ArrowLeft", columns - 1),
        ("ArrowDown", 2 * columns - 1),
        ("ArrowUp", columns - 1),
        ("Home", 0),
        ("End", page.locator("#grid button.tile").count() - 1),
        ("ArrowDown", page.locator("#grid button.tile").count() - 1),
        ("Home", 0),
        ("ArrowLeft", 0),
    ):
        page.keyboard.press(key)
        expect(tile(page, at)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#words")).to_be_focused()


@pytest.mark.slow
def test_the_grid_is_one_stop_of_the_tab_key(open_page: Open) -> None:
    page = open_page("/?q=arrow")
    expect(tile(page, 0)).to_be_visible()
    expect(page.locator('#grid [tabindex="0"]')).to_have_count(1)
    page.locator("#words").press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator('#grid [tabindex="0"]')).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(tile(page, 1)).to_be_focused()


@pytest.mark.slow
def test_a_slash_that_belongs_to_the_text_is_typed(page: "Page") -> None:
    page.locator("#words").press_sequentially("on/off")
    expect(page.locator("#words")).to_have_value("on/off")
