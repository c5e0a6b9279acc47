"""Under an icon the page shows on which screenshots it is used; a crop opens the screenshot, the icon framed."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from screens_with_icons import saved, screen
from site_of_icons import Open, looks, serve_library
from usage_screens import plain_sight

from indexer.library.folder import Library
from indexer.screens.add import AddOptions, add
from search.engine import SearchEngine

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("used-on-page") / "shots"


@pytest.fixture(scope="module")
def used_site(shots: Path, library_of_page: Library) -> Iterator[str]:
    """A served library that knows two screenshots: both have a house, one of them two hearts."""
    shutil.copytree(library_of_page.root, shots.parent / "library")
    library = Library(shots.parent / "library")
    engine = SearchEngine.open(library.root)
    shots.mkdir()
    lucide = [f"lucide-static:{name}" for name in ("house", "heart", "trash-2", "heart")]
    saved(screen(engine, lucide), shots / "account.png")
    saved(
        screen(engine, [lucide[0], "lucide-static:settings"], ground=(18, 20, 26), ink=(235, 235, 240)), shots / "b.png"
    )
    add(library, AddOptions(shots=[shots], workers=1), lambda *_: None, sight=plain_sight(library))
    with serve_library(library) as address:
        yield address


def open_used(open_page: Open, site: str, name: str, **options: Any) -> "Page":
    page = open_page(f"/?q={name}", base=site, **options)
    page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).first.click()
    expect(page.locator("#detail .used h3")).to_be_visible()
    return page


def open_shot(page: "Page", file: str) -> None:
    page.locator("#detail .used").get_by_role("button", name=re.compile(f"^{file}")).click()
    expect(page.get_by_role("dialog", name=file)).to_be_visible()
    page.wait_for_function("() => document.querySelector('#shot img')?.naturalWidth > 0")


def test_the_panel_tells_on_how_many_screenshots_an_icon_is(open_page: Open, used_site: str) -> None:
    page = open_used(open_page, used_site, "house")
    used = page.locator("#detail .used")
    expect(used.locator("h3")).to_have_text("Used in 2 screenshots")
    expect(used.locator(".caption")).to_have_text(["account.png", "b.png"])
    page.wait_for_function("() => document.querySelector('#detail .used img').naturalWidth >= 18")


@pytest.mark.slow
def test_a_crop_opens_its_screenshot_with_every_place_framed(open_page: Open, used_site: str) -> None:
    page = open_used(open_page, used_site, "heart")
    open_shot(page, "account.png")
    dialog = page.get_by_role("dialog", name="account.png")
    expect(dialog).to_have_accessible_description(re.compile(r"^2 places of “heart”, .*% sure$"))
    frames = dialog.locator(".framed i")
    expect(frames).to_have_count(2)
    image = dialog.locator("img").bounding_box()
    assert image is not None
    scale = image["width"] / 640
    boxes = [frame.bounding_box() for frame in frames.all()]
    lefts = sorted((box["x"] + 5 - image["x"]) / scale for box in boxes if box)
    assert lefts == pytest.approx([180, 480], abs=6)  # where they were drawn


@pytest.mark.slow
@pytest.mark.parametrize("options", looks("dark"))
def test_it_can_be_read_and_heard(open_page: Open, used_site: str, options: dict[str, Any]) -> None:
    page = open_used(open_page, used_site, "house", **options)
    for _ in range(2):
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]})
        assert [(one["id"], one["nodes"][0]["html"]) for one in found.response["violations"]] == []
        if page.locator("#shot").count() == 0:
            open_shot(page, "account.png")
    box = page.locator("#shot").bounding_box()
    viewport = page.viewport_size
    assert box is not None
    assert viewport is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= viewport["width"]
    frame = page.locator("#shot .framed i").first
    expect(frame).to_be_in_viewport()


@pytest.mark.slow
def test_a_screenshot_that_has_gone_is_shown_by_its_crops(open_page: Open, used_site: str, shots: Path) -> None:
    page = open_used(open_page, used_site, "settings", forgives="404")
    (shots / "b.png").rename(shots.parent / "elsewhere.png")
    try:
        page.locator("#detail .used .tile").first.click()
        expect(page.locator("#shot .gone")).to_contain_text("The file has gone")
        expect(page.locator("#shot .gone img")).to_have_count(1)
    finally:
        (shots.parent / "elsewhere.png").rename(shots / "b.png")
