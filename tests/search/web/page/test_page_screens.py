"""A screenshot is dropped: its icons are framed and named, and can be used as hits are."""

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open, looks

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("settings", "bell", "heart", "trash-2", "house")
ICONS = [(SAMPLES / "icons" / f"{name}.svg").read_text("utf-8") for name in NAMES]
PLACES = [(700, 40), (760, 40), (60, 40), (60, 120), (60, 200)]
READ = ("heart", "settings", "bell", "trash-2", "house")
DROP = """async ([icons, places]) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 900, height: 500 });
  const pen = canvas.getContext("2d");
  const ground = pen.createLinearGradient(0, 0, 900, 500);
  ground.addColorStop(0, "#fff");
  ground.addColorStop(1, icons.length ? "#f2f2f4" : "#58a");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 900, 500);
  for (const [at, svg] of icons.entries()) {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    pen.drawImage(image, ...places[at], 28, 28);
  }
  const carried = new DataTransfer();
  const drawn = await new Promise((resolve) => canvas.toBlob(resolve));
  carried.items.add(new File([drawn], "screen.png", { type: "image/png" }));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
}"""


def drop_screen(page: "Page") -> None:
    """A screen with five icons, of which two stand at its right."""
    page.evaluate(DROP, [ICONS, PLACES])
    expect(page.locator(".found-icon")).to_have_count(len(NAMES))


def names_of(page: "Page", selector: str) -> list[str]:
    labels = [one.get_attribute("aria-label") or "" for one in page.locator(selector).all()]
    return [re.sub(r"^\d+: ", "", label).split(",")[0] for label in labels]


def test_every_icon_of_a_dropped_screen_is_framed_and_named_in_reading_order(page: "Page") -> None:
    drop_screen(page)
    assert names_of(page, ".found-icon") == list(READ)
    assert names_of(page, ".row") == list(READ)
    expect(page.locator("#grid .name")).to_have_text(list(READ))
    expect(page.locator("#summary")).to_have_text("5 different icons in your picture")
    expect(page.get_by_label("Whole screen")).to_be_checked()
    shot, frame = page.locator(".shot").bounding_box(), page.locator(".found-icon").first.bounding_box()
    assert shot is not None and frame is not None
    scale = shot["width"] / 900
    assert (frame["x"] - shot["x"]) / scale == pytest.approx(62, abs=4)
    assert (frame["y"] - shot["y"]) / scale == pytest.approx(43, abs=4)


@pytest.mark.slow
def test_the_picture_stays_out_of_the_address_and_is_gone_with_the_page(page: "Page") -> None:
    drop_screen(page)
    page.locator(".found-icon").nth(1).click()
    expect(page).to_have_url(re.compile(r"/\?screen=\w{1,16}&frame=1$"))
    page.reload()
    expect(page.locator("#screen")).to_contain_text("This picture is not here any more")
    page.get_by_role("button", name="Clear the search").click()
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("#screen")).to_be_hidden()


@pytest.mark.slow
def test_a_frame_opens_its_hits_which_open_like_any_other(page: "Page") -> None:
    drop_screen(page)
    page.locator(".found-icon").nth(2).click()
    expect(page.locator("#summary")).to_contain_text("for the framed icon")
    expect(page.locator("#grid .name").first).to_have_text("bell")
    expect(page.locator(".row[aria-pressed=true]")).to_have_attribute("aria-label", re.compile("^3: bell"))
    page.locator("#grid .tile").first.click()
    expect(page.locator("#detail-name")).to_have_text("bell")
    page.get_by_role("button", name="Search with this part of the picture").click()
    expect(page.locator("#summary")).to_contain_text("your picture")
    expect(page.locator("#grid .name").first).to_have_text("bell")
    page.go_back()
    expect(page.locator(".found-icon[aria-pressed=true]")).to_have_attribute("aria-label", re.compile("^3: bell"))


@pytest.mark.slow
def test_arrow_keys_walk_among_frames_and_enter_goes_on_to_the_hits(page: "Page") -> None:
    drop_screen(page)
    page.locator(".found-icon").first.focus()
    for key, name in (("ArrowDown", "trash-2"), ("ArrowDown", "house"), ("Home", "heart"), ("ArrowRight", "settings")):
        page.keyboard.press(key)
        expect(page.locator(".found-icon:focus")).to_have_attribute("aria-label", re.compile(f"^\\d: {name}"))
    assert page.locator('.found-icon[tabindex="0"]').count() == 1
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("for the framed icon")
    page.keyboard.press("Enter")
    expect(page.locator("#grid .tile:focus .name")).to_have_text("settings")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".found-icon:focus")).to_have_attribute("aria-label", re.compile("^2: settings"))
    page.keyboard.press("Escape")
    expect(page.locator("#summary")).to_have_text("5 different icons in your picture")
    page.keyboard.press("Escape")
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.slow
def test_all_icons_that_are_sure_go_into_the_tray_at_once(page: "Page") -> None:
    drop_screen(page)
    page.get_by_role("button", name=re.compile("Choose all [0-9]+")).click()
    tray = page.locator("#tray")
    expect(tray.locator("strong")).to_have_text("5 icons")
    tray.get_by_role("button", name="Copy all", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("Copied 5 icons")


@pytest.mark.slow
def test_a_person_says_what_a_picture_shows(page: "Page") -> None:
    drop_screen(page)
    page.get_by_label("One icon").check(force=True)
    expect(page.locator("#summary")).to_contain_text("your picture")
    expect(page).to_have_url(re.compile("#picture="))
    page.get_by_label("Whole screen").check(force=True)
    expect(page.locator(".found-icon")).to_have_count(len(NAMES))
    page.locator("#words").fill("bell")
    expect(page.locator("#screen")).to_be_hidden()
    expect(page.locator("#grid .name").first).to_have_text("bell")
    page.go_back()
    expect(page.locator(".found-icon")).to_have_count(len(NAMES))


@pytest.mark.slow
def test_a_picture_without_icons_says_so_and_can_be_searched_all_the_same(page: "Page") -> None:
    page.evaluate(DROP, [[], []])
    expect(page.locator("#screen h2:visible")).to_have_text("No icons here")
    expect(page.get_by_label("Whole screen")).not_to_be_checked()
    expect(page.locator("#found")).to_be_hidden()
    page.locator("#screen").get_by_role("button", name="Crop by hand").click()
    expect(page.get_by_role("dialog", name="Which part is the icon?")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Search it as one icon").click()
    expect(page.locator("#picture")).to_be_visible()
    expect(page.get_by_label("One icon")).to_be_checked()
    expect(page.locator("#screen")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("look", looks("dark"))
def test_axe_finds_nothing_beside_the_frames(open_page: Open, look: dict[str, object]) -> None:
    page = open_page(reduced_motion="reduce", **look)
    drop_screen(page)
    page.locator(".found-icon").first.click()
    expect(page.locator("#summary")).to_contain_text("for the framed icon")
    expect(page.locator("#grid .picture.waiting")).to_have_count(0)
    page.mouse.move(0, 0)
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
    width = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert width <= 0
