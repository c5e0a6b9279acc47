"""Drawing an icon by hand on the page: strokes, eraser, undo, results that follow, what is searched with."""

import base64
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from site_of_icons import Open, looks

from data.making.eval.sketches import as_svg, read_sketches

if TYPE_CHECKING:
    from playwright.sync_api import Page

HEART = next(sketch.strokes for sketch in read_sketches() if sketch.right[0] == "heart")


def open_canvas(page: "Page") -> None:
    page.get_by_role("button", name="Search with a picture").click()
    page.get_by_role("menuitem", name="Draw it").click()
    expect(page.get_by_role("img", name="Your drawing, empty")).to_be_visible()


def draw(page: "Page", strokes: Sequence[Sequence[Sequence[float]]]) -> None:
    box = page.locator("#drawing canvas").bounding_box()
    assert box is not None
    scale = box["width"] / 320
    for stroke in strokes:
        places = [(box["x"] + x * scale, box["y"] + y * scale) for x, y in stroke]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=2)
        page.mouse.up()


def drawn(page: "Page") -> str:
    """The SVG in the address."""
    page.wait_for_url(re.compile("#picture="))
    text = page.url.partition("#picture=")[2]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def test_a_drawing_finds_its_icon_and_results_follow_each_stroke(page: "Page") -> None:
    open_canvas(page)
    draw(page, HEART)
    expect(page.locator("#grid .name").first).to_have_text("heart")
    expect(page.get_by_role("img", name="Your drawing, 1 stroke")).to_be_visible()
    assert drawn(page).startswith('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"')
    before = page.url
    draw(page, [[(20, 20), (300, 300)]])
    page.wait_for_url(lambda url: url != before)
    assert drawn(page).count("<path") == 2
    page.go_back()
    expect(page.locator("#start")).to_be_visible()  # strokes are one step of the history
    expect(page.get_by_role("img", name="Your drawing, empty")).to_be_visible()


@pytest.mark.slow
def test_strokes_are_undone_erased_and_cleared(page: "Page") -> None:
    open_canvas(page)
    draw(page, [[(40, 40), (280, 40)], [(40, 200), (280, 200)]])
    expect(page.get_by_role("img", name="Your drawing, 2 strokes")).to_be_visible()
    page.get_by_role("button", name="Eraser", exact=True).click()
    expect(page.get_by_role("button", name="Eraser", exact=True)).to_have_attribute("aria-pressed", "true")
    draw(page, [[(150, 20), (150, 60)]])
    expect(page.get_by_role("img", name="Your drawing, 1 stroke")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("img", name="Your drawing, 2 strokes")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("img", name="Your drawing, 1 stroke")).to_be_visible()
    page.get_by_role("button", name="Clear the drawing").click()
    expect(page.get_by_role("img", name="Your drawing, empty")).to_be_visible()
    expect(page.locator("#start")).to_be_visible()
    expect(page.get_by_role("button", name="Clear the drawing")).to_be_disabled()


def test_the_page_prepares_a_drawing_as_it_was_measured(page: "Page") -> None:
    sketches = [sketch.strokes for sketch in read_sketches()]
    sketches += [[[(5, 5)]], [[(0, 0), (320, 0)]], [[(1, 1), (1, 1)], [(9.94, 3.06), (7, 7)]]]
    told = page.evaluate(
        "async (all) => { const { toSvg } = await import('/static/picture/strokes.js'); return all.map(toSvg); }",
        json.loads(json.dumps(sketches)),
    )
    assert told == [as_svg(strokes) for strokes in sketches]


@pytest.mark.slow
@pytest.mark.parametrize("look", looks("dark"))
def test_axe_finds_nothing_beside_the_canvas(open_page: Open, look: dict[str, object]) -> None:
    page = open_page(reduced_motion="reduce", **look)
    open_canvas(page)
    draw(page, [[(40, 40), (280, 40)]])
    expect(page.locator("#grid button.tile[data-id]").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()
