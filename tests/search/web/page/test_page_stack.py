"""Do pictures that come many in one still behave like pictures of one icon each?"""

from typing import TYPE_CHECKING

from playwright.sync_api import expect
from site_of_icons import Open

if TYPE_CHECKING:
    from playwright.sync_api import Page

EMPTY = '<svg xmlns="http://www.w3.org/2000/svg"/>'


def _asked(page: "Page") -> list[str]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_the_pictures_of_a_screen_come_in_one_answer(open_page: Open) -> None:
    page = open_page("/?q=heart")
    asked = _asked(page)
    page.locator("#words").fill("arrow")
    expect(page.locator("#summary")).to_contain_text("“arrow”")
    page.wait_for_function("() => document.querySelector('#grid img').naturalWidth > 0")
    page.wait_for_load_state("networkidle")
    pictures = {url for url in asked if "/svg" in url}
    assert 1 <= len(pictures) <= page.locator("#grid img").count() / 20
    assert all("/svgs?" in url for url in pictures)


def test_what_a_stack_lacks_is_asked_for_by_itself(open_page: Open) -> None:
    page = open_page("/?bg=light")
    page.route("**/svgs?*", lambda route: route.fulfill(body=EMPTY, content_type="image/svg+xml"))
    page.goto(f"{page.url}&q=tulip")
    page.wait_for_function("() => document.querySelector('#grid img')?.src.includes('/svg?v=')")


def test_a_picture_that_is_about_to_be_dragged_away_is_that_icon_s_own(open_page: Open) -> None:
    page = open_page("/?q=tulip")
    image = page.locator("#grid img").first
    expect(image).to_be_visible()
    assert "/svgs?" in image.evaluate("image => image.src")
    image.hover()
    page.wait_for_function("() => document.querySelector('#grid img').src.includes('/svg?v=')")
