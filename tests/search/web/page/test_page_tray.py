"""The tray of kept icons, and collections: keeping, licences, copies, exports, undoing, files."""

import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import CLIPBOARD, Open, choose, click, press, requests_of, save_collection, shelf, shows, tile

from search.drawings.licences import read_collection

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

STORE = """async () => {
  const { chosen } = await import("/static/tray/store.js");
  chosen.add([{ key: "a:b", licence_family: "unknown" }]);
}"""


def test_the_first_kept_icon_brings_the_tray_and_the_last_one_takes_it_away(open_page: Open) -> None:
    page = open_page("/?q=heart")
    asked = requests_of(page)
    page.reload()
    tile(page, "heart").focus()
    assert not any("tray/tray.js" in url for url in asked)
    press(page, "x")
    shows(page, {"#tray strong": "1 icon", "#tray": re.compile("All free to use")})
    press(page, "x")
    shows(page, {"#tray": False})


@pytest.mark.slow
def test_the_tray_sums_up_what_licences_ask(page: "Page") -> None:
    choose(page, "heart", "tulip", "snow")
    shows(page, {"#tray": re.compile("2 need attribution")})
    page.evaluate(STORE)
    shows(page, {"#tray": re.compile("1 licence unknown, 2 need attribution")})


@pytest.mark.slow
def test_shift_and_arrows_keep_a_row_and_shift_and_a_click_what_lies_between(open_page: Open) -> None:
    page = open_page("/?q=arrow&fold=0")
    tiles = page.locator("#grid button.tile[data-id]")
    tiles.first.focus()
    press(page, "Shift+ArrowRight", "Shift+ArrowRight")
    expect(tiles.nth(2)).to_be_focused()
    shows(page, {"#tray strong": "3 icons"})
    tiles.nth(4).click(modifiers=["Control"])
    tiles.nth(6).click(modifiers=["Shift"])
    shows(page, {"#tray strong": "6 icons"})


@pytest.mark.slow
def test_all_are_copied_in_the_format_that_is_remembered(page: "Page") -> None:
    choose(page, "heart", "bell")
    click(page, "Copy all as …")
    page.get_by_role("menuitemradio", name="Lucide for React").click()
    shows(page, {"#toast": "Copied 2 icons as Lucide for React"})
    assert page.evaluate(CLIPBOARD) == 'import { Heart, Bell } from "lucide-react";\n\n<Heart />\n<Bell />'
    choose(page, "tulip", n=3)
    click(page, "Copy all")
    shows(page, {"#toast": "Copied 3 icons as SVG file"})
    assert page.evaluate(CLIPBOARD).count("<svg") == 3


def test_kept_icons_are_exported_with_their_licences(page: "Page") -> None:
    choose(page, "heart", "tulip")
    click(page, "Export")
    menu, bar = (page.locator(part).bounding_box() for part in ("#choices", "#tray .acts"))
    assert menu["y"] + menu["height"] <= bar["y"]
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Web font").click()
    with zipfile.ZipFile(download.value.path()) as files:
        assert {"icons.woff2", "LICENCES.md"} <= {Path(name).name for name in files.namelist()}
    shows(page, {"#toast": re.compile(f"Saved {download.value.suggested_filename}")})


@pytest.mark.slow
def test_clear_is_undone_with_its_button_and_with_keys(page: "Page") -> None:
    choose(page, "heart", "bell")
    for undo in (lambda: click(page, "Undo"), lambda: press(page, "Control+z")):
        page.locator("#tray").get_by_role("button", name="Clear").click()
        shows(page, {"#tray": False})
        tile(page, "bell").focus()
        press(page, "c")
        shows(page, {"#toast.shown": re.compile("Copied")})
        said, line = (page.locator(part).bounding_box() for part in ("#toast", "#undo"))
        assert said["y"] + said["height"] < line["y"] + 17  # it still slides up, a rem
        undo()
        shows(page, {"#tray strong": "2 icons"})
    expect(page.locator("#undo")).to_have_count(0)


@pytest.mark.slow
def test_what_is_kept_stays_and_is_the_same_in_all_tabs(page: "Page") -> None:
    choose(page, "heart")
    other = page.context.new_page()
    other.goto(page.url.split("?")[0])
    shows(other, {"#tray strong": "1 icon"})
    other.locator("#tray").get_by_role("button", name="Clear").click()
    shows(page, {"#tray": False})
    other.close()


@pytest.mark.slow
def test_what_this_library_lacks_of_the_tray_is_said(open_page: Open) -> None:
    page = open_page(forgives="status of 404")
    page.evaluate("""() => localStorage.setItem("icons.chosen", JSON.stringify([
      { key: "gone:bell", id: 3, image: 3, svg_url: "/api/v1/icons/3/svg?v=" + "3".repeat(32) },
      { key: "drawn:tulip", id: 999999, image: 1 }]))""")
    page.reload()
    expect(page.locator("#tray .tile[title='gone:bell, not in this library']")).to_be_disabled()
    expect(page.locator("#tray .tile[title='tulip, drawn'] img")).to_be_visible()
    assert page.locator("#tray .tile[title='tulip, drawn'] img").evaluate("image => image.decode().then(() => true)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "stored", ["{", "null", "[1, null, {}]", '[{"key": "a:b", "svg_url": "https://elsewhere/x.svg"}]']
)
def test_what_a_browser_holds_is_read_with_care(open_page: Open, stored: str) -> None:
    page = open_page(forgives="status of 404")
    asked = requests_of(page)
    page.evaluate("text => localStorage.setItem('icons.chosen', text)", stored)
    page.reload()
    shows(page, {"#start": True})
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "elsewhere" in url]


def test_kept_icons_become_a_collection_that_opens_as_results(page: "Page") -> None:
    choose(page, "tulip", "snow")
    save_collection(page, "Garden  & weather")
    shows(page, {"#toast": "Saved “Garden & weather”"})
    asked = requests_of(page)
    shelf(page).get_by_role("button", name="Garden & weather").first.click()
    found = {"#summary": "2 icons in “Garden & weather”", "#grid .name": ["tulip", "snow"]}
    shows(page, found)
    assert "collection=Garden" in page.url
    page.reload()
    shows(page, found)
    tile(page, "tulip").click()
    shows(page, {"#detail-name": "tulip"})
    click(page, "Leave the collection")
    shows(page, {"#start": True})
    assert not [url for url in asked if "/api/" in url and "Garden" in url]  # its name is never sent


@pytest.mark.slow
def test_a_file_takes_a_collection_along(page: "Page", open_page: Open, tmp_path: Path) -> None:
    choose(page, "tulip", "snow")
    save_collection(page, "Täglich!")
    shelf(page)
    click(page, "More for Täglich!")
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download as a file").click()
    assert download.value.suggested_filename == "täglich.json"
    download.value.save_as(tmp_path / "kept.json")
    collection, n_again = read_collection((tmp_path / "kept.json").read_bytes(), name="x")  # as `icons export` reads it
    assert (collection.name, collection.icons, n_again) == ("Täglich!", ("drawn:tulip", "drawn:snow"), 0)
    other = open_page()
    shelf(other)
    other.locator("#shelf input[type=file]").set_input_files(tmp_path / "kept.json")
    other.locator("#shelf .row", has_text="Täglich!").click()
    shows(other, {"#grid .name": ["tulip", "snow"]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "“bad.json” can't be read: it is no JSON."),
        ('{"format": "other", "icons": []}', "“bad.json” is no collection of icons."),
        ('{"version": 9, "icons": ["a:b"]}', "“bad.json” is of version 9; this page reads version 1."),
        ('{"icons": [1, "x"]}', "“bad.json” names no icon; write keys as lucide:bell."),
    ],
)
def test_a_file_that_is_no_collection_is_refused(page: "Page", content: str, said: str) -> None:
    file = {"name": "bad.json", "mimeType": "application/json", "buffer": content.encode()}
    shelf(page).locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    shows(page, {"#toast": said})


@pytest.mark.slow
def test_stars_of_an_older_page_become_a_collection_and_a_click_counts_while_more_becomes_known(
    open_page: Open,
) -> None:
    page = open_page("/?q=tulip")
    held: list[Route] = []
    page.route("**/api/v1/icons/*", lambda route: held.append(route))  # noqa: PLW0108  playwright can't take a builtin
    page.locator("#grid button.tile").first.click()
    page.locator("#detail .keep").hover()
    page.mouse.down()
    held[0].continue_()
    shows(page, {"#detail .why": True})
    page.mouse.up()
    expect(page.locator("#detail .keep")).to_have_attribute("aria-pressed", "true")
    page.unroute("**/api/v1/icons/*")
    page.evaluate("() => localStorage.setItem('icons.starred', JSON.stringify([{ key: 'drawn:snow' }]))")
    page.goto(f"{page.url.partition('?')[0]}?collection=%E2%98%85")  # as its address called them
    shows(page, {"#summary": "1 icon in “Starred”", "#grid .name": "snow"})
    assert page.evaluate("() => localStorage.getItem('icons.starred')") is None
    shelf(page).get_by_role("button", name="Kept").first.click()
    shows(page, {"#grid .name": "tulip"})
    page.locator("#grid button.tile").first.focus()
    press(page, "x")
    shows(page, {"#notice": re.compile("No icon in")})
