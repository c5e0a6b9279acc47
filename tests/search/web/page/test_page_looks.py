"""How the page looks and reads: light, dark, phone, contrast, screen readers, calm; and the README's pictures of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import LOOKS, PHONE, Open, build_library, pixel, serve_library

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

DOCS = Path(__file__).parents[4] / "docs"
_LAYOUT_SHIFT = """() => new Promise((resolve) => {
  const add = (sum, one) => sum + (one.hadRecentInput ? 0 : one.value);
  new PerformanceObserver((list) => resolve(list.getEntries().reduce(add, 0)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(0), 1500);
})"""


def centre(page: "Page", picture: "Locator") -> list[int]:
    """Colour in the middle of what is painted."""
    box = picture.bounding_box()
    assert box is not None
    return pixel(page, picture.screenshot(), x=int(box["width"] / 2), y=int(box["height"] / 2))


def expect_centre(page: "Page", picture: "Locator", colour: list[int]) -> None:
    """Wait until it is painted so: a picture comes a moment after its tile."""
    for _ in range(50):
        if centre(page, picture) == colour:
            return
        page.wait_for_timeout(100)
    assert centre(page, picture) == colour


def picture_of(page: "Page", name: str) -> "Locator":
    picture = page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).locator(".picture")
    expect(picture).to_have_attribute(
        "data-ink", "dark" if name == "night" else "light" if name == "snow" else "colour"
    )
    return picture


@pytest.mark.slow
def test_icons_are_seen_on_every_ground(page: "Page") -> None:
    red = [0xD7, 0x26, 0x3D]
    for query, painted in (
        ("night", {"light": [0, 0, 0], "dark": [255] * 3, "%23000080": [255] * 3, "%23ffff00": [0, 0, 0]}),
        ("snow", {"dark": [255] * 3, "light": [0, 0, 0]}),
        ("tulip", {"dark": red, "light": red}),
    ):
        for ground, colour in painted.items():
            page.goto(f"{page.url.partition('?')[0]}?q={query}&bg={ground}")
            expect_centre(page, picture_of(page, query), colour)


def _start(page: "Page") -> None:
    expect(page.locator("#examples button").first).to_be_visible()
    expect(page.locator("#sets .mosaic img").first).to_be_visible()


def _results(page: "Page") -> None:
    page.locator("#words").fill("arrow")
    expect(page.locator("#grid button.tile").first).to_be_visible()
    page.wait_for_load_state("networkidle")


def _panel(page: "Page") -> None:
    _results(page)
    page.locator("#grid button.tile").first.click()
    expect(page.locator("#detail .similar h3").first).to_be_visible()


def _menu(page: "Page") -> None:
    _results(page)
    if page.locator("#all-filters").is_visible():
        page.locator("#all-filters").click()
    page.locator('[data-kind="set"]:visible').click()
    expect(page.locator("#menu .count").first).to_be_visible()


def _nothing(page: "Page") -> None:
    page.goto(f"{page.url}?q=qxzvkj&min_score=1&set=drawn&bg=%23ff8800")
    expect(page.locator(".nothing")).to_be_visible()


def _stack(page: "Page") -> None:
    page.goto(f"{page.url}?q=arrow-left")
    page.locator("#grid .unfold").first.click()
    page.locator("#grid button.tile").first.press("x")
    expect(page.locator("#grid .mark.chosen")).to_be_attached()


def _customized(page: "Page") -> None:
    page.goto(f"{page.url}?set=drawn&colour=%23d7263d&px=24")
    expect(page.locator("#grid button.tile").first).to_be_visible()
    page.locator("#customize").click()
    expect(page.locator("#look")).to_be_visible()


def _more_filters(page: "Page") -> None:
    _results(page)
    page.locator('#all-filters:visible, #filters [data-kind="more"]:visible').first.click()
    expect(page.locator("#menu .kind").first).to_be_visible()


SCENES = {
    "start": _start,
    "results": _results,
    "panel": _panel,
    "menu": _menu,
    "nothing": _nothing,
    "stack": _stack,
    "customized": _customized,
    "more": _more_filters,
}
QUICK = (("panel", "dark"), ("results", "phone"))
"""Scenes that the gate looks at; all of them are `slow`."""


@pytest.mark.parametrize(
    ("scene", "look"),
    [
        pytest.param(scene, look, marks=() if (scene, look) in QUICK else pytest.mark.slow)
        for scene in SCENES
        for look in LOOKS
    ],
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(open_page: Open, scene: str, look: str) -> None:
    page = open_page(reduced_motion="reduce", **LOOKS[look])
    SCENES[scene](page)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_on_a_phone_the_panel_covers_the_page_and_gives_it_back(open_page: Open) -> None:
    page = open_page(**PHONE)
    _panel(page)
    assert page.locator("#detail").evaluate("panel => panel.matches(':modal')")
    page.locator("#detail").get_by_role("button", name="Close").click()
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.locator("#grid button.tile").first).to_be_focused()


@pytest.mark.slow
def test_tiles_and_buttons_are_large_enough_for_fingers(open_page: Open) -> None:
    page = open_page(**PHONE)
    _results(page)
    heights = page.locator("#grid button.tile, .opener, #clear, #choose, #select, #sort select").evaluate_all(
        "all => all.filter(one => one.checkVisibility()).map(one => one.offsetHeight)"
    )
    assert min(heights) >= 36


@pytest.mark.slow
def test_tiles_do_not_move_when_their_pictures_arrive(open_page: Open) -> None:
    page = open_page("/?q=arrow")
    expect(page.locator("#grid button.tile").first).to_be_visible()
    shift: float = page.evaluate(_LAYOUT_SHIFT)
    assert shift < 0.05  # filters appear above once it is known what there is to filter by; 0.1 counts as good


@pytest.mark.slow
def test_nothing_moves_for_those_who_asked_for_calm(open_page: Open) -> None:
    page = open_page("/?q=arrow", reduced_motion="reduce")
    moving = page.evaluate("() => document.getAnimations().length")
    assert moving == 0


@pytest.mark.slow
def test_the_number_of_results_is_told_once_typing_pauses(page: "Page") -> None:
    expect(page.locator("#live")).to_have_text("All icons")  # what the page tells when it opens
    told = page.evaluate_handle(
        "() => { const told = []; new MutationObserver(() => told.push(document.querySelector('#live').textContent))"
        ".observe(document.querySelector('#live'), { childList: true }); return told; }"
    )
    page.locator("#words").evaluate(
        "box => { for (const typed of ['h', 'he', 'hea', 'hear', 'heart']) {"
        " box.value = typed; box.dispatchEvent(new Event('input')); } }"
    )
    expect(page.locator("#live")).to_contain_text("“heart”")
    assert len(told.json_value()) == 1


def test_nothing_is_fetched_from_elsewhere(open_page: Open, site: str) -> None:
    page = open_page("about:blank", base="")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    _panel(page)
    assert asked
    assert {url for url in asked if not url.startswith((site, "data:", "blob:"))} == set()


@pytest.mark.slow
def test_the_readme_shows_the_page_as_it_is(open_page: Open, tmp_path: Path) -> None:
    """Writes docs/page-*.png: the bundled samples, as `icons index && icons serve` shows them."""
    wide = {"viewport": {"width": 1280, "height": 800}}
    with serve_library(build_library(tmp_path / "samples")) as site:
        for name, look, path in (
            ("light", wide, "/?q=danger"),
            ("dark", {**wide, "color_scheme": "dark"}, "/?q=go+back"),
            ("phone", {**PHONE, "device_scale_factor": 2}, "/?q=shopping"),
        ):
            page = open_page(path, base=site, **look)
            page.set_default_timeout(60_000)
            expect(page.locator("#grid button.tile").first).to_be_visible(timeout=60_000)
            if name != "phone":
                page.locator("#grid button.tile").nth(1).click()
                expect(page.locator("#detail .similar .tile").first).to_be_visible(timeout=60_000)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(300)  # for what fades in
            file = DOCS / f"page-{name}.png"
            page.screenshot(path=file)
            assert 10_000 < file.stat().st_size < 300_000
