"""Pictures that come many in one behave like pictures of one icon each."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from site_of_icons import Open, build_library, serve_library

from indexer.library.folder import Library

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


@pytest.mark.slow
def test_what_a_stack_lacks_is_asked_for_by_itself(open_page: Open) -> None:
    page = open_page("/?bg=light")
    page.route("**/svgs?*", lambda route: route.fulfill(body=EMPTY, content_type="image/svg+xml"))
    page.goto(f"{page.url}&q=tulip")
    page.wait_for_function("() => document.querySelector('#grid img')?.src.includes('/svg?v=')")


SHOWS = """async ([image, colour]) => {
  if (!image.src) return false;
  await image.decode();
  const pen = new OffscreenCanvas(8, 8).getContext("2d");
  pen.drawImage(image, 0, 0, 8, 8);
  return `${[...pen.getImageData(4, 4, 1, 1).data.slice(0, 3)]}` === colour;
}"""


def _shows(page: "Page", colour: str) -> None:
    """Wait until the only icon is of a colour, in the stack and by itself."""
    expect(page.locator("#grid img")).to_have_count(1)
    shows = f"async colour => ({SHOWS})([document.querySelector('#grid img'), colour])"
    page.wait_for_function(shows, arg=colour)
    page.locator("#grid img").hover()
    page.wait_for_function("() => document.querySelector('#grid img').src.includes('/svg?v=')")
    page.wait_for_function(shows, arg=colour)


@pytest.fixture(scope="module")
def red_and_blue(tmp_path_factory: pytest.TempPathFactory) -> list[Library]:
    """Two libraries that have one icon of one name."""
    libraries = []
    for fill in ("red", "blue"):
        folder = tmp_path_factory.mktemp(fill)
        square = f'<rect width="24" height="24" fill="{fill}"/>'
        (folder / "tulip.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{square}</svg>')
        libraries.append(build_library(tmp_path_factory.mktemp("library") / fill, folder))
    return libraries


@pytest.mark.parametrize("is_open", [True, False], ids=["page that stays open", "page that is opened again"])
def test_no_picture_is_that_of_the_library_that_was_served_here_before(
    open_page: Open, red_and_blue: list[Library], is_open: bool
) -> None:
    red, blue = red_and_blue
    with serve_library(red) as address:
        page = open_page("/?q=tulip", base=address, forgives="ERR_CONNECTION_REFUSED")  # between two servers
        _shows(page, "255,0,0")
    with serve_library(blue, port=urlsplit(address).port or 0):
        if is_open:
            page.locator("#words").fill("rose")
            page.locator("#words").fill("tulip")
            page.wait_for_load_state("networkidle")
        else:
            page.goto(f"{address}/?q=tulip")
        _shows(page, "0,0,255")
