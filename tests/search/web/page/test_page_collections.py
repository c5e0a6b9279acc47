"""Collections and stars: kept under names, opened as results, taken along as files."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import Open, looks

from search.drawings.collection import read_collection

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

CHOOSE = """async (keys) => {
  const { chosen } = await import("/static/tray/store.js");
  const show = async (key) => (await fetch(`/api/v1/icons/${encodeURIComponent(key)}`)).json();
  const icons = await Promise.all(keys.map(show));
  chosen.add(icons);
}"""


def with_chosen(open_page: Open, *keys: str, **options: object) -> "Page":
    page = open_page(**options)
    page.evaluate(CHOOSE, list(keys))
    expect(page.locator("#tray")).to_be_visible()
    return page


def save(page: "Page", name: str) -> None:
    page.get_by_role("button", name="Save as collection").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#naming")).to_have_count(0)


def shelf(page: "Page") -> "Locator":
    page.get_by_role("button", name="Collections and stars").click()
    expect(page.locator("#shelf")).to_be_visible()
    return page.locator("#shelf")


def more(page: "Page", name: str, what: str) -> None:
    page.get_by_role("button", name=f"More for {name}").click()
    page.get_by_role("menuitem", name=what).click()


def test_chosen_icons_become_a_collection_that_opens_as_results(open_page: Open) -> None:
    page = with_chosen(open_page, "drawn:tulip", "drawn:snow")
    save(page, "Garden  & weather")
    expect(page.locator("#toast")).to_have_text("Saved “Garden & weather”")
    shelf(page).get_by_role("button", name="Garden & weather").first.click()
    expect(page.locator("#summary")).to_have_text("2 icons in “Garden & weather”")
    expect(page.locator("#grid .name")).to_have_text(["tulip", "snow"])
    assert "collection=Garden" in page.url
    page.reload()
    expect(page.locator("#grid .name")).to_have_text(["tulip", "snow"])
    page.locator("#grid button.tile").first.click()
    expect(page.locator("#detail-name")).to_have_text("tulip")
    page.get_by_role("button", name="Leave the collection").click()
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.slow
def test_the_name_of_a_collection_is_never_sent(open_page: Open) -> None:
    page = with_chosen(open_page, "drawn:tulip")
    save(page, "Secret")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    shelf(page).get_by_role("button", name="Secret").first.click()
    expect(page.locator("#grid .name")).to_have_text(["tulip"])
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "Secret" in url]


@pytest.mark.slow
def test_a_file_takes_a_collection_along(open_page: Open, tmp_path: Path) -> None:
    page = with_chosen(open_page, "drawn:tulip", "drawn:snow")
    save(page, "Täglich!")
    shelf(page)
    with page.expect_download() as download:
        more(page, "Täglich!", "Download as a file")
    assert download.value.suggested_filename == "täglich.json"
    download.value.save_as(tmp_path / "kept.json")
    collection, n_again = read_collection((tmp_path / "kept.json").read_bytes(), name="x")  # as `icons export` reads it
    assert (collection.name, collection.icons, n_again) == ("Täglich!", ("drawn:tulip", "drawn:snow"), 0)
    other = open_page()
    shelf(other)
    other.locator("#shelf input[type=file]").set_input_files(tmp_path / "kept.json")
    other.locator("#shelf .row", has_text="Täglich!").click()
    expect(other.locator("#grid .name")).to_have_text(["tulip", "snow"])


@pytest.mark.slow
def test_a_file_that_is_no_collection_is_refused(page: "Page", tmp_path: Path) -> None:
    shelf(page)
    for content, said in (
        ("{", "“bad.json” can't be read: it is no JSON."),
        ('{"format": "other", "icons": []}', "“bad.json” is no collection of icons."),
        ('{"version": 9, "icons": ["a:b"]}', "“bad.json” is of version 9; this page reads version 1."),
        ('{"icons": [1, "x"]}', "“bad.json” names no icon; write keys as lucide:bell."),
    ):
        (tmp_path / "bad.json").write_text(content)
        page.locator("#shelf input[type=file]").set_input_files(tmp_path / "bad.json")
        expect(page.locator("#toast")).to_have_text(said)


@pytest.mark.slow
def test_stars_are_a_collection_of_their_own(open_page: Open) -> None:
    page = open_page("/?q=tulip")
    page.locator("#grid button.tile").first.click()
    page.locator("#detail").get_by_role("button", name="Star", exact=True).click()
    expect(page.locator("#detail .star")).to_have_attribute("aria-pressed", "true")
    shelf(page).get_by_role("button", name="Starred").first.click()
    expect(page.locator("#summary")).to_have_text("1 icon in your stars")
    page.locator("#grid button.tile").first.focus()
    page.keyboard.press("s")
    expect(page.locator("#notice")).to_contain_text("No icon in your stars")


@pytest.mark.slow
def test_a_click_counts_though_more_becomes_known_of_the_icon_meanwhile(open_page: Open) -> None:
    page = open_page("/?q=tulip")
    held: list[Route] = []
    page.route("**/api/v1/icons/*", lambda route: held.append(route))  # noqa: PLW0108  playwright can't take a builtin
    page.locator("#grid button.tile").first.click()
    page.locator("#detail .star").hover()
    page.mouse.down()
    held[0].continue_()
    expect(page.locator("#detail .why")).to_be_visible()
    page.mouse.up()
    expect(page.locator("#detail .star")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
@pytest.mark.parametrize("look", looks("phone"))
def test_axe_finds_nothing_in_the_dialogs(open_page: Open, look: dict[str, object]) -> None:
    page = with_chosen(open_page, "drawn:tulip", reduced_motion="reduce", **look)
    page.get_by_role("button", name="Save as collection").click()
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    page.keyboard.press("Escape")
    save(page, "One")
    shelf(page)
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
