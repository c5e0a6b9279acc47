"""The look of all icons: colour, stroke, corners, size; live, in the address, remembered."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import Open
from test_page_looks import expect_centre

if TYPE_CHECKING:
    from playwright.sync_api import Page

RED = [0xD7, 0x26, 0x3D]


def customize(page: "Page") -> None:
    page.locator("#customize").click()
    expect(page.locator("#look")).to_be_visible()


def restyled(page: "Page") -> None:
    page.wait_for_function("() => document.querySelector('#grid img')?.src.startsWith('blob:')")
    page.wait_for_function("() => document.querySelector('#grid img').complete")


def test_a_colour_is_seen_on_all_tiles_and_the_server_is_not_asked_for_it(open_page: Open) -> None:
    page = open_page("/?q=night&bg=light")
    picture = page.locator("#grid button .picture").first
    expect(picture).to_be_visible()
    expect_centre(page, picture, [0, 0, 0])
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    customize(page)
    page.locator('#inks [value="#d7263d"]').check()
    expect_centre(page, picture, RED)
    stacks = {url for url in asked if "/svgs?" in url}  # once, as text
    page.locator('#inks [value="#2f6fed"]').check()
    expect_centre(page, picture, [0x2F, 0x6F, 0xED])
    assert {url for url in asked if "/svgs?" in url} == stacks
    assert not [url for url in asked if "/svg?" in url]
    expect(page).to_have_url(re.compile("colour=%232f6fed"))
    page.locator('#inks [value=""]').check()
    expect_centre(page, picture, [0, 0, 0])
    assert page.locator("#grid img").first.evaluate("image => image.src").startswith("http")


def test_a_stroke_width_is_told_in_the_units_of_the_icon_s_grid(page: "Page") -> None:
    for view, width in (("0 0 24 24", "2px"), ("0 0 256 256", "21.333px"), ("0 0 16 8", "1.333px")):
        text = page.evaluate(
            """async (view) => (await import("/static/view/look.js")).restyled(
              `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${view}"><path/></svg>`,
              { colour: null, stroke_width: 2, corner: null }, { coloured: false })""",
            view,
        )
        assert f"stroke-width:{width}!important" in text


def test_an_icon_that_stands_in_a_stack_as_an_image_is_restyled_too(page: "Page") -> None:
    text = page.evaluate(
        """async () => {
          const { restyledStack } = await import("/static/view/look.js");
          const icon = btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><use href="#a"/></svg>');
          const address = `data:image/svg+xml;base64,${icon}`;
          const layer = `<svg id="i7-0a"><image width="100%" height="100%" href="${address}"/></svg>`;
          const red = { colour: "#d7263d", stroke_width: null, corner: null };
          return restyledStack(`<svg><style>a{}</style>${layer}</svg>`, red, new Map());
        }"""
    )
    assert "base64" not in text
    assert "%3Cstyle%3E%3Aroot%7Bcolor%3A%23d7263d" in text


@pytest.mark.slow
def test_the_look_is_remembered_and_reset(open_page: Open) -> None:
    page = open_page("/?q=heart")
    customize(page)
    page.locator('#inks [value="#d7263d"]').check()
    page.locator("#stroke input").fill("1")
    expect(page.locator("#stroke output")).to_have_text("1")
    page.goto(page.url.partition("?")[0] + "?q=bell")
    restyled(page)
    customize(page)
    expect(page.locator('#inks [value="#d7263d"]')).to_be_checked()
    expect(page.locator("#stroke output")).to_have_text("1")
    page.get_by_role("button", name="Stroke width as drawn").click()
    expect(page.locator("#stroke output")).to_have_text("As drawn")
    page.get_by_role("button", name="Reset", exact=True).click()
    page.wait_for_function("() => document.querySelector('#grid img').src.startsWith('http')")
    expect(page).not_to_have_url(re.compile("colour"))
    page.reload()
    expect(page.locator('#inks [value=""]')).to_be_checked()


def test_copies_have_the_look_that_is_seen(page: "Page") -> None:
    told = page.evaluate(
        """async () => {
          const { look } = await import("/static/view/look.js");
          const { parse } = await import("/static/state.js");
          const queries = ["", "colour=%23ff0000&stroke=1.5&joins=sharp&px=24", "colour=red&stroke=99&joins=odd&px=x"];
          return queries.map((query) => look(parse(`http://here/?${query}`)));
        }"""
    )
    nothing = {"colour": None, "stroke_width": None, "size": None, "corner": None}
    assert told == [nothing, {"colour": "#ff0000", "stroke_width": 1.5, "size": 24, "corner": "sharp"}, nothing]
