"""Filters: which lead, how they are found and ticked, and that they stay until somebody takes them away."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import PHONE, Open, click, shows

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


def test_set_style_and_licence_lead_and_the_rest_is_under_more(page: "Page") -> None:
    shows(page, {"#filters .filter": ["Set", "Style", "Licence", "More"]})
    page.locator('#filters [data-kind="more"]').click()
    kinds = page.locator("#menu .kind span:first-child").all_inner_texts()
    assert "Category" in kinds and not {"Set", "Style", "Licence"} & set(kinds)
    page.locator('#menu [data-kind="category"]').click()
    with page.expect_response(re.compile("category=nature.*facets=1")):
        page.locator("#menu .option", has_text="nature").locator("input").check()
    shows(page, {".chip": re.compile("nature"), '#filters [data-kind="more"][data-on=""]': True})
    late: list[Route] = []

    def hold(route: "Route") -> None:
        late.append(route)

    page.route(re.compile("facets=1"), hold)
    click(page, "Back to More filters")
    shows(page, {'#menu [data-kind="category"]:focus': True, '#menu [data-kind="category"] .value': "nature"})
    with page.expect_request(re.compile("facets=1")):
        page.locator(".chip", has_text="nature").click()
    page.locator('#filters [data-kind="more"]').click()
    page.locator('#menu [data-kind="tag"]').click()
    shows(page, {"#menu input[type=search]:focus": True})  # though what was counted last has three tags
    for route in late:
        route.continue_()
    page.keyboard.type("bul")
    shows(page, {"#menu .option": re.compile("bullet")})
    page.keyboard.press("Enter")  # ticks the first match
    shows(page, {"#menu": True}, url="tag=bullet")
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile("tag="))


def test_a_filter_narrows_shows_its_count_and_goes_away_again(page: "Page") -> None:
    page.locator("#words").fill("arrow")
    shows(page, {"#grid button.tile": True})
    page.locator('[data-kind="set"]').click()
    option = page.locator("#menu .option", has_text="drawn")
    expect(option.locator(".count")).to_have_text(re.compile(r"^\d+$"))
    option.locator("input").check()
    expect(page.locator("#grid .set").filter(has_not_text="drawn")).to_have_count(0)  # the first may have been of it
    shows(page, {"#grid .set": re.compile("drawn"), '#menu input[value="drawn"]:focus': True}, url="set=drawn")
    page.keyboard.press("Escape")
    expect(page.locator('[data-kind="set"]')).to_be_focused()
    page.locator(".chip", has_text="drawn").click()
    expect(page.locator("#grid .set", has_text=re.compile("lucide", re.IGNORECASE)).first).to_be_visible()
    assert "set=" not in page.url
    page.locator('[data-kind="licence"]').click()
    shows(page, {"#menu .option": re.compile("Commercial use without attribution")})
    texts = page.locator("#menu .option span:first-of-type")
    assert texts.evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")


def test_filters_that_leave_nothing_are_named_with_a_cross_each_and_an_unknown_set_with_near_ones(
    open_page: Open,
) -> None:
    page = open_page("/?q=heart&set=lucide-static&animated=true", forgives="status of 400")
    shows(
        page,
        {
            ".cause .count": [
                re.compile("icons here; none fits without it, either$"),
                re.compile("^1 icon here; .* fits? without it$"),
            ]
        },
    )
    page.locator(".cause .chip", has_text="Animated").click()
    shows(page, {"#grid .name": "heart", ".cause": 0}, url="set=lucide-static$")
    page.goto(page.url.replace("lucide-static", "drwn"))
    shows(page, {".nothing h2": "There is no set “drwn” here", ".nothing": re.compile("^(?!.*Try again)")})
    click(page.locator(".nothing"), "drawn")
    page.locator("#words").fill("trash")
    shows(
        page,
        {
            "#summary": re.compile("^No good match for “trash”"),
            ".cause .count": [re.compile(r"icons here; \d+ fits? without it$")],
        },
        url="q=trash&set=drawn",
    )


@pytest.mark.slow
def test_corners_stand_among_styles(open_page: Open) -> None:
    page = open_page("/health", forgives="status of 400")  # no icon here has any
    corners = [{"value": value, "title": value, "n": 2} for value in ("rounded", "sharp")]
    page.route("**/facets", lambda route: route.fulfill(json={**route.fetch().json(), "corner": corners}))
    page.goto(page.url.replace("health", ""))
    page.locator('#filters [data-kind="style"]').click()
    shows(page, {"#menu .option": re.compile("^(outline|filled)"), '#menu input[value="sharp"]': 1})
    page.locator('#menu input[value="sharp"]').check()
    expect(page).to_have_url(re.compile("corner=sharp"))


@pytest.mark.slow
def test_an_answer_between_press_and_release_loses_no_click(page: "Page") -> None:
    page.locator("#words").fill("tulip")
    page.locator('#filters [data-kind="more"]').click()
    page.locator('#menu [data-kind="coloured"]').click()
    page.locator("#menu label", has_text="Many colours").hover()
    page.mouse.down()
    page.evaluate(
        "words => { words.value = 'tulips'; words.dispatchEvent(new Event('input', { bubbles: true })); }",
        page.locator("#words").element_handle(),
    )
    shows(page, {"#summary": re.compile("“tulips”")})
    page.mouse.up()
    expect(page.locator(".chip", has_text="Many colours")).to_be_visible()


@pytest.mark.slow
def test_on_a_phone_filters_are_a_sheet_that_leads_from_kind_to_kind(open_page: Open) -> None:
    page = open_page("/?q=arrow", **PHONE)
    shows(page, {"#grid button.tile": True})
    click(page, "Filters")
    sheet = page.locator("#menu").bounding_box()
    assert (sheet["x"], sheet["width"], round(sheet["y"] + sheet["height"])) == (0, 390, 844)
    page.locator('#menu [data-kind="set"]').tap()
    page.locator("#menu .option", has_text="drawn").tap()
    expect(page).to_have_url(re.compile("set=drawn"))
    click(page, "Back to Filters")
    shows(page, {'#menu [data-kind="set"] .value': "drawn"})
    click(page, "Done")
    shows(page, {"#menu": False})
    click(page, "Filters, 1 on", "Clear all filters")
    expect(page).not_to_have_url(re.compile("set="))
