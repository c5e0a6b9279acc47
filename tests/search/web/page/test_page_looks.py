"""How the page looks and reads: light, dark, phone, contrast, screen readers, calm; pictures that come many in one."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import build_library, svg
from playwright.sync_api import expect
from site_of_icons import (
    LOOKS,
    PHONE,
    RED,
    Open,
    click,
    expect_centre,
    requests_of,
    serve_library,
    shows,
    tile,
)  # fmt: skip
from test_page_icon import open_shot, open_used
from test_page_pictures import cut_screen, draw, drop_screen, open_canvas

from indexer.library.folder import Library

if TYPE_CHECKING:
    from playwright.sync_api import Page

_LAYOUT_SHIFT = """() => new Promise((resolve) => {
  const add = (sum, one) => sum + (one.hadRecentInput ? 0 : one.value);
  new PerformanceObserver((list) => resolve(list.getEntries().reduce(add, 0)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(0), 1500);
})"""


@pytest.mark.slow
@pytest.mark.parametrize("look", [{}, {"forced_colors": "active", "color_scheme": "dark"}])
def test_icons_are_seen_on_every_ground(open_page: Open, look: dict[str, str]) -> None:
    page = open_page(**look)
    for name, ink, painted in (
        ("night", "dark", {"light": "black", "dark": "white", "%23000080": "white", "%23ffff00": "black"}),
        ("snow", "light", {"dark": "white", "light": "black"}),
        ("tulip", "colour", {"dark": RED, "light": RED}),
    ):
        for ground, colour in painted.items():
            page.goto(f"{page.url.partition('?')[0]}?q={name}&bg={ground}")
            picture = tile(page, name).locator(".picture")
            expect(picture).to_have_attribute("data-ink", ink)
            expect_centre(page, picture, colour)


def _see(page: "Page", path: str, steps: Sequence[str], awaited: str) -> None:
    """Open a path, click what the steps name, "?" where a look has it, and wait for something."""
    page.goto(f"{page.url.partition('?')[0].rstrip('/')}{path}")
    shows(page, {"#start:visible, #grid button.tile, .nothing": True})
    page.wait_for_load_state("networkidle")
    for step in steps:
        found = page.locator(step.removeprefix("?")).locator("visible=true").first
        if not step.startswith("?") or found.count():
            found.click()
    shows(page, {awaited: True})


def _drawing(page: "Page") -> None:
    open_canvas(page)
    draw(page, [[(40, 40), (280, 40)]])
    shows(page, {"#grid button.tile[data-id]": True})


def _frames(page: "Page") -> None:
    drop_screen(page)
    page.locator(".found-icon").first.click()
    shows(page, {".found-icon[aria-pressed=true]": True, "#grid .name": True, "#grid .picture.waiting": 0})
    page.mouse.move(0, 0)


_TILE, _KEEP = "#grid button.tile", ("#select", "#grid button.tile")
_SEEN = {  # path, what is clicked where it is seen, what is waited for
    "start": ("/", (), "#sets .mosaic img"),
    "results": ("/?q=arrow", (), _TILE),
    "panel": ("/?q=arrow", (_TILE,), "#detail .similar h3"),
    "menu": ("/?q=arrow", ("?#all-filters", '[data-kind="set"]'), "#menu .count"),
    "nothing": ("/?q=qxzvkj&min_score=1&set=drawn&animated=false&bg=%23ff8800", (), ".cause .count"),
    "stack": ("/?q=arrow-left", ("#grid .unfold", *_KEEP), "#grid .unfolded .mark"),
    "customized": ("/?set=drawn&colour=%23d7263d&px=24", ("#customize",), "#look :checked"),
    "adjusted": ("/?q=heart", (_TILE, "#detail .tune"), "#detail #look"),
    "more": ("/?q=arrow", ("?#all-filters", '?#filters [data-kind="more"]'), "#menu .kind"),
    "letters": ("/?set=lucide-static", (), "#rail button"),
    "tray": ("/?q=heart", _KEEP, "#tray .sum"),
    "exports": ("/?q=heart", (*_KEEP, '#tray [aria-haspopup]:has-text("Export")'), "[role=menuitem]:focus"),
    "naming": ("/?q=heart", (*_KEEP, '[aria-label="Save as collection"]'), "#naming"),
    "shelf": ("/?q=heart", (*_KEEP, "#shelf-button"), "#shelf .row"),
    "pictures": ("/", ("#choose",), "#choices [role=menuitem]"),
}
SCENES: dict[str, Callable[["Page"], None]] = {
    **{name: (lambda page, seen=seen: _see(page, *seen)) for name, seen in _SEEN.items()},
    "crop": cut_screen,
    "drawing": _drawing,
    "frames": _frames,
}
QUICK = (("panel", "dark"), ("results", "phone"))
"""Scenes that the gate looks at; all of them are `slow`."""


def check_axe(page: "Page") -> None:
    """Nothing is wrong for those who see or hear otherwise, and nothing is wider than the page."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


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
    check_axe(page)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_where_an_icon_is_used(open_page: Open, used_site: str, look: str) -> None:
    page = open_used(open_page, used_site, "house", reduced_motion="reduce", **LOOKS[look])
    check_axe(page)
    open_shot(page)
    check_axe(page)
    expect(page.locator("#shot .framed i").first).to_be_in_viewport()


@pytest.mark.slow
def test_on_a_phone_the_panel_covers_the_page_and_buttons_are_large_enough_for_fingers(open_page: Open) -> None:
    page = open_page(**PHONE)
    SCENES["panel"](page)
    assert page.locator("#detail").evaluate("panel => panel.matches(':modal')")
    click(page.locator("#detail"), "Close")
    shows(page, {"#detail": False})
    expect(page.locator("#grid button.tile").first).to_be_focused()
    heights = page.locator("#grid button.tile, .opener, #clear, #choose, #select, #sort select").evaluate_all(
        "all => all.filter(one => one.checkVisibility()).map(one => one.offsetHeight)"
    )
    assert min(heights) >= 36


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 640, 720])
def test_what_sorts_and_what_keeps_stand_side_by_side_in_narrow_windows(open_page: Open, width: int) -> None:
    page = open_page("/?q=arrow", viewport={"width": width, "height": 450})
    shows(page, {"#fold": True, "#summary": re.compile("arrow")})
    sort, keep = (page.locator(part).bounding_box() for part in ("#sort", "#select"))
    assert abs(sort["y"] - keep["y"]) < 8 and keep["x"] > sort["x"]


@pytest.mark.slow
def test_tiles_do_not_move_when_their_pictures_arrive_nor_for_those_who_asked_for_calm(open_page: Open) -> None:
    page = open_page("/?q=arrow", reduced_motion="reduce")
    shows(page, {"#grid button.tile": True})
    assert (
        page.evaluate(_LAYOUT_SHIFT) < 0.05
    )  # filters appear above once it is known what there is to filter by; 0.1 counts as good
    assert page.evaluate("() => document.getAnimations().length") == 0


def test_pictures_come_in_one_answer_and_nothing_from_elsewhere(open_page: Open, site: str) -> None:
    page = open_page("about:blank", base="")
    asked = requests_of(page)
    page.goto(f"{site}?q=heart")
    page.wait_for_load_state("networkidle")
    before = set(asked)
    page.locator("#words").fill("arrow")
    shows(page, {"#summary": re.compile("arrow")})
    page.wait_for_function("() => document.querySelector('#grid img').naturalWidth > 0")
    pictures = {url for url in set(asked) - before if "/svg" in url}
    assert 1 <= len(pictures) <= page.locator("#grid img").count() / 20 and all("/svgs?" in url for url in pictures)
    page.locator("#grid button.tile").first.click()
    shows(page, {"#detail .similar h3": True})
    assert {url for url in asked if not url.startswith((site, "data:", "blob:"))} == set()


@pytest.mark.slow
def test_what_a_stack_lacks_is_asked_for_by_itself(open_page: Open) -> None:
    page = open_page("/?bg=light")
    empty = {"body": '<svg xmlns="http://www.w3.org/2000/svg"/>', "content_type": "image/svg+xml"}
    page.route("**/svgs?*", lambda route: route.fulfill(**empty))
    page.goto(f"{page.url}&q=tulip")
    page.wait_for_function("() => document.querySelector('#grid img')?.src.includes('/svg?v=')")


def _is_painted(page: "Page", colour: str) -> None:
    """Wait until the only icon is of a colour, in the stack and by itself."""
    expect(page.locator("#grid img")).to_have_count(1)
    expect_centre(page, page.locator("#grid img"), colour)
    page.locator("#grid img").hover()
    page.wait_for_function("() => document.querySelector('#grid img').src.includes('/svg?v=')")
    expect_centre(page, page.locator("#grid img"), colour)


@pytest.mark.slow
def test_no_picture_is_that_of_the_library_that_was_served_here_before(
    open_page: Open, tiny_model: Path, tmp_path: Path
) -> None:
    red, blue = (Library(tmp_path / "libraries" / fill) for fill in ("red", "blue"))
    for library in (red, blue):
        fill = library.root.name
        (tmp_path / fill).mkdir()
        (tmp_path / fill / "tulip.svg").write_text(svg(f'<rect width="24" height="24" fill="{fill}"/>'))
        build_library(library, tiny_model, [tmp_path / fill])
    with serve_library(red) as address:
        page = open_page("/?q=tulip", base=address, forgives="ERR_CONNECTION_REFUSED")  # between two servers
        _is_painted(page, "red")
    with serve_library(blue, port=urlsplit(address).port or 0):
        page.locator("#words").fill("rose")
        page.locator("#words").fill("tulip")
        page.wait_for_load_state("networkidle")
        _is_painted(page, "blue")
    with serve_library(red, port=urlsplit(address).port or 0):
        page.goto(f"{address}/?q=tulip")
        _is_painted(page, "red")
