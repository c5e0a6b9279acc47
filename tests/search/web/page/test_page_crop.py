"""The part of a picture that is searched with: screens are cut by hand, with a mouse or with keys; photos, too."""

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open, looks

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCREEN = """async ([svg, width, height]) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = "#346";
  for (let x = 0; x < width; x += 90) pen.fillRect(x, 20, 60, 30);
  pen.drawImage(image, 600, 300, 100, 100);
  const carried = new DataTransfer();
  const drawn = await new Promise((resolve) => canvas.toBlob(resolve));
  carried.items.add(new File([drawn], "screen.png", { type: "image/png" }));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""
SETTINGS = (SAMPLES / "icons" / "settings.svg").read_text("utf-8")


def drop_screen(page: "Page") -> None:
    """A screen with one icon, at 600, 300, of 100 pixels: too large to be taken for one; a person cuts it out."""
    page.evaluate(SCREEN, [SETTINGS, 1280, 800])
    page.locator("#cut").click()
    expect(page.get_by_role("dialog", name="Which part is the icon?")).to_be_visible()
    expect(page.locator("#crop .box-of-crop")).to_have_attribute("aria-label", re.compile("1280 by 800 pixels"))


def test_a_box_around_an_icon_of_a_screen_finds_it(page: "Page") -> None:
    drop_screen(page)
    stage = page.locator("#crop .stage").bounding_box()
    assert stage is not None
    scale = stage["width"] / 1280
    page.mouse.move(stage["x"] + 590 * scale, stage["y"] + 290 * scale)
    page.mouse.down()
    page.mouse.move(stage["x"] + 710 * scale, stage["y"] + 410 * scale, steps=4)
    page.mouse.up()
    label = page.locator("#crop .box-of-crop").get_attribute("aria-label")
    assert re.fullmatch(
        r"Part to search with: 1[12]\d by 1[12]\d pixels, (58|59)\d from the left, (28|29)\d from the top", label or ""
    )
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("#grid .name").first).to_have_text("settings")
    expect(page.locator("#crop")).to_have_count(0)


@pytest.mark.slow
def test_the_box_is_moved_and_sized_with_keys_and_enter_searches(page: "Page") -> None:
    drop_screen(page)
    box = page.locator("#crop .box-of-crop")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-label", re.compile("1280 by 800 pixels, 0 from the left, 0 from the top"))
    for _ in range(45):  # a fiftieth of the longer side each: 25.6 pixels
        page.keyboard.press("Shift+ArrowLeft")
    for _ in range(26):
        page.keyboard.press("Shift+ArrowUp")
    for _ in range(23):
        page.keyboard.press("ArrowRight")
    for _ in range(11):
        page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-label", re.compile("128 by 134 pixels, 589 from the left, 282 from the top"))
    page.keyboard.press("Enter")
    expect(page.locator("#grid .name").first).to_have_text("settings")


@pytest.mark.slow
@pytest.mark.parametrize("look", looks("phone"))
def test_axe_finds_nothing_in_the_crop_dialog_and_the_menu(open_page: Open, look: dict[str, object]) -> None:
    page = open_page(reduced_motion="reduce", **look)
    page.get_by_role("button", name="Search with a picture").click()
    expect(page.get_by_role("menuitem").first).to_be_focused()
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    page.keyboard.press("Escape")
    drop_screen(page)
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
