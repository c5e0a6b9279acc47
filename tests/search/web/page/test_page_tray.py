"""The tray of chosen icons: choosing, what its licences ask, copying, exporting, undoing; the same in all tabs."""

import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import PHONE, Open, looks

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def tile(page: "Page", name: str) -> "Locator":
    return page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).first


def choose(page: "Page", *names: str) -> None:
    for name in names:
        page.locator("#words").fill(name)
        expect(page.locator("#summary")).to_contain_text(f"“{name}”")
        tile(page, name).focus()
        page.keyboard.press("x")
    expect(page.locator("#tray")).to_be_visible()
    expect(page.locator("#tray strong")).to_have_text(re.compile(rf"^{len(names)} icons?$"))


def test_the_first_chosen_icon_brings_the_tray_and_the_last_one_takes_it_away(open_page: Open) -> None:
    page = open_page("/?q=heart")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(tile(page, "heart")).to_be_visible()
    assert not any("tray/tray.js" in url for url in asked)
    tile(page, "heart").focus()
    page.keyboard.press("x")
    expect(page.locator("#tray strong")).to_have_text("1 icon")
    expect(page.locator("#tray")).to_contain_text("All free to use")
    page.keyboard.press("x")
    expect(page.locator("#tray")).to_be_hidden()


@pytest.mark.slow
def test_the_tray_sums_up_what_licences_ask(page: "Page") -> None:
    choose(page, "heart", "tulip", "snow")
    expect(page.locator("#tray")).to_contain_text("2 need attribution")
    page.evaluate(
        """async () => {
      const { chosen } = await import("/static/tray/store.js");
      chosen.add([{ key: "a:b", licence_family: "unknown" }]);
    }"""
    )
    expect(page.locator("#tray")).to_contain_text("1 licence unknown, 2 need attribution")


@pytest.mark.slow
def test_shift_and_arrows_choose_a_row_and_shift_and_a_click_what_lies_between(open_page: Open) -> None:
    page = open_page("/?q=arrow&fold=0")
    tiles = page.locator("#grid button.tile[data-id]")
    expect(tiles.first).to_be_visible()
    tiles.first.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(tiles.nth(2)).to_be_focused()
    expect(page.locator("#tray strong")).to_have_text("3 icons")
    tiles.nth(4).click(modifiers=["Control"])
    tiles.nth(6).click(modifiers=["Shift"])
    expect(page.locator("#tray strong")).to_have_text("6 icons")


@pytest.mark.slow
def test_all_are_copied_in_the_format_that_is_remembered(page: "Page") -> None:
    choose(page, "heart", "bell")
    page.get_by_role("button", name="Copy all as …").click()
    page.get_by_role("menuitemradio", name="Lucide for React").click()
    expect(page.locator("#toast")).to_have_text("Copied 2 icons as Lucide for React")
    assert page.evaluate("() => navigator.clipboard.readText()") == (
        'import { Heart, Bell } from "lucide-react";\n\n<Heart />\n<Bell />'
    )
    page.locator("#words").fill("tulip")
    tile(page, "tulip").focus()
    page.keyboard.press("x")
    expect(page.locator("#tray strong")).to_have_text("3 icons")
    page.get_by_role("button", name="Copy all", exact=True).click()
    expect(page.locator("#toast")).to_have_text("Copied 3 icons as SVG file")
    assert page.evaluate("() => navigator.clipboard.readText()").count("<svg") == 3


def test_chosen_icons_are_exported_with_their_licences(page: "Page", tmp_path: Path) -> None:
    choose(page, "heart", "tulip")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Web font").click()
    download.value.save_as(tmp_path / "export.zip")
    files = zipfile.ZipFile(io.BytesIO((tmp_path / "export.zip").read_bytes())).namelist()
    assert any(name.endswith(".woff2") for name in files), files
    assert any(name.endswith("LICENCES.md") for name in files), files
    expect(page.locator("#toast")).to_contain_text(f"Saved {download.value.suggested_filename}")


@pytest.mark.slow
def test_clear_is_undone_with_its_button_and_with_keys(page: "Page") -> None:
    choose(page, "heart", "bell")
    page.locator("#tray").get_by_role("button", name="Clear").click()
    expect(page.locator("#tray")).to_be_hidden()
    page.locator("#undo").get_by_role("button", name="Undo").click()
    expect(page.locator("#tray strong")).to_have_text("2 icons")
    page.locator("#tray").get_by_role("button", name="Clear").press("Enter")
    expect(page.locator("#tray")).to_be_hidden()
    tile(page, "bell").focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#tray strong")).to_have_text("2 icons")
    expect(page.locator("#undo")).to_have_count(0)


@pytest.mark.slow
def test_what_is_chosen_stays_and_is_the_same_in_all_tabs(page: "Page") -> None:
    choose(page, "heart")
    other = page.context.new_page()
    other.goto(page.url.split("?")[0])
    expect(other.locator("#tray strong")).to_have_text("1 icon")
    other.locator("#tray").get_by_role("button", name="Clear").click()
    expect(page.locator("#tray")).to_be_hidden()
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
def test_what_a_browser_holds_is_read_with_care(open_page: Open) -> None:
    page = open_page(forgives="status of 404")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for stored in ("{", "null", "[1, null, {}]", '[{"key": "a:b", "svg_url": "https://elsewhere/x.svg"}]'):
        page.evaluate("text => localStorage.setItem('icons.chosen', text)", stored)
        page.reload()
        expect(page.locator("#start")).to_be_visible()
        page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "elsewhere" in url]


@pytest.mark.slow
@pytest.mark.parametrize("look", looks("phone"))
def test_axe_finds_nothing_in_the_tray_and_its_menu(open_page: Open, look: dict[str, object]) -> None:
    page = open_page(reduced_motion="reduce", **look)
    choose(page, "heart", "tulip")
    page.wait_for_load_state("networkidle")
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("menuitem").first).to_be_focused()
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Export")).to_be_focused()
    if look is PHONE:
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390
