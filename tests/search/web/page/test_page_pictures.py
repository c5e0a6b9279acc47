"""Searching with a picture: pasted, dropped, cut or drawn by hand; the icons of a whole screen, framed and named."""

import base64
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open, click, press, requests_of, shows

from data.making.eval.sketches import as_svg, read_sketches

if TYPE_CHECKING:
    from playwright.sync_api import Page

DRAW = """async ([width, height, ground, places]) => {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d");
  const shade = pen.createLinearGradient(0, 0, width, height);
  for (const [at, colour] of ground.entries()) shade.addColorStop(at, colour);
  pen.fillStyle = shade;
  pen.fillRect(0, 0, width, height);
  for (const [svg, ...place] of places) {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    pen.drawImage(image, ...place);
  }
  window.drawn = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}"""
"""Draw a picture of icons for a test to use."""
CUT = """async (type) => {
  window.whole ??= await createImageBitmap(drawn);
  const canvas = new OffscreenCanvas(whole.width, whole.height);
  canvas.getContext("2d").drawImage(whole, 0, 0);
  const file = await canvas.convertToBlob({ type });
  window.drawn = file.slice(0, file.size - 200, type);
}"""
"""Of that picture as a file of some kind all but the end."""
DROP = """async ([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text ?? window.drawn], name, { type: text ? "text/csv" : window.drawn.type }));
  for (const type of ["dragenter", "dragover", "drop"]) {
    document.querySelector("#results").dispatchEvent(
      new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
    if (type === "dragover") window.shaded = !document.querySelector("#drop").hidden;
  }
}"""
"""Drop that picture, or a text, on the page, as a browser tells it."""
SHOT = [300, 200, ["white", "white"], [[(SAMPLES / "icons/settings.svg").read_text("utf-8"), 90, 40, 120, 120]]]
HEART = next(sketch.strokes for sketch in read_sketches() if sketch.right[0] == "heart")
PLACES = {"heart": (60, 40), "settings": (700, 40), "bell": (760, 40), "trash-2": (60, 120), "house": (60, 200)}
READ = list(PLACES)
"""Icons of a screen in reading order; two stand at its right."""


def drop(page: "Page", drawn: list[object]) -> None:
    page.evaluate(DRAW, drawn)
    page.evaluate(DROP, ["screen.png", None])


def drop_screen(page: "Page", *, is_empty: bool = False) -> None:
    """A screen with five icons, or with none."""
    icons = [[(SAMPLES / "icons" / f"{name}.svg").read_text("utf-8"), *at, 28, 28] for name, at in PLACES.items()]
    drop(page, [900, 500, ["#fff", "#58a" if is_empty else "#f2f2f4"], [] if is_empty else icons])
    expect(page.locator(".found-icon")).to_have_count(0 if is_empty else len(PLACES))


def finds_settings(page: "Page") -> None:
    shows(page, {"#summary": re.compile("your picture"), "#grid .name": "settings", "#picture": True})


def names_of(page: "Page", selector: str) -> list[str]:
    labels = page.locator(selector).evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    return [re.sub(r"^\d+: ", "", label).split(",")[0] for label in labels]


def test_a_pasted_screenshot_finds_its_icon(page: "Page") -> None:
    page.evaluate(DRAW, SHOT)
    page.evaluate("() => navigator.clipboard.write([new ClipboardItem({ 'image/png': window.drawn })])")
    page.locator("#words").press("Control+V")
    finds_settings(page)


@pytest.mark.slow
def test_a_dropped_picture_is_in_the_address_where_no_server_sees_it(page: "Page", open_page: Open) -> None:
    drop(page, SHOT)
    finds_settings(page)
    assert page.evaluate("() => window.shaded")
    shows(page, {"#drop": False})
    path, picture = re.fullmatch(r"http://[^/]+(/[^#]*)#(picture=[\w-]+)", page.url).groups()  # type: ignore[union-attr]
    assert len(picture) < 20_000
    again = open_page(f"{path}#{picture}")
    finds_settings(again)
    both = [one.locator("#grid .name").all_inner_texts()[:60] for one in (page, again)]
    assert both[0] == both[1]  # those after them may still be on their way
    page.locator("#words").fill("bell")
    shows(page, {"#summary": re.compile("“bell” and your picture")})
    click(page, "Search without the picture")
    shows(page, {"#grid .name": "bell", "#picture": False}, url="^[^#]*$")


def test_a_file_that_is_no_picture_or_a_part_of_one_is_refused_by_name(page: "Page") -> None:
    page.evaluate(DROP, ["table.csv", "a,b,c"])
    shows(page, {"#toast": "“table.csv” is not a picture that this browser can read.", "#start": True})
    page.evaluate(DRAW, SHOT)
    for kind in ("png", "jpeg", "webp"):
        page.evaluate(CUT, f"image/{kind}")
        page.evaluate(DROP, [f"part.{kind}", None])
        shows(page, {"#toast": f"“part.{kind}” is cut off: its end is missing.", "#start": True})


def test_a_picture_of_nothing_is_told_with_what_helps(open_page: Open) -> None:
    page = open_page(forgives="status of 422")
    asked = requests_of(page)
    drop(page, [600, 400, ["white", "white"], []])
    shows(
        page,
        {
            **{".nothing h2": re.compile("^This picture can.t be searched"), ".nothing p": re.compile("of one colour")},
            ".nothing .button": ["Choose another part", "Choose another picture"],
        },
    )
    assert not [url for url in asked if "/locate" in url]
    click(page, "Choose another part")
    shows(page, {"#crop": True})


def cut_screen(page: "Page") -> None:
    """A screen with one icon, at 600, 300, of 100 pixels: too large to be taken for one; a person cuts it out."""
    drop(page, [1280, 800, ["white", "white"], [[SHOT[3][0][0], 600, 300, 100, 100]]])  # type: ignore[index]
    page.locator("#cut").click()
    expect(page.locator("#crop .box-of-crop")).to_have_attribute("aria-label", re.compile("1280 by 800 pixels"))


def test_a_box_around_an_icon_of_a_screen_finds_it(page: "Page") -> None:
    cut_screen(page)
    stage = page.locator("#crop .stage").bounding_box()
    scale = stage["width"] / 1280
    page.mouse.move(stage["x"] + 590 * scale, stage["y"] + 290 * scale)
    page.mouse.down()
    page.mouse.move(stage["x"] + 710 * scale, stage["y"] + 410 * scale, steps=4)
    page.mouse.up()
    part = r"Part to search with: 1[12]\d by 1[12]\d pixels, (58|59)\d from the left, (28|29)\d from the top"
    expect(page.locator("#crop .box-of-crop")).to_have_attribute("aria-label", re.compile(part))
    click(page, "Search")
    shows(page, {"#grid .name": "settings", "#crop": 0})


@pytest.mark.slow
def test_the_box_is_moved_and_sized_with_keys_and_enter_searches(page: "Page") -> None:
    cut_screen(page)
    box = page.locator("#crop .box-of-crop")
    expect(box).to_be_focused()
    for key, times in (("Shift+ArrowLeft", 45), ("Shift+ArrowUp", 26), ("ArrowRight", 23), ("ArrowDown", 11)):
        press(page, *[key] * times)  # a fiftieth of the longer side each: 25.6 pixels
    expect(box).to_have_attribute("aria-label", re.compile("128 by 134 pixels, 589 from the left, 282 from the top"))
    press(page, "Enter")
    shows(page, {"#grid .name": "settings"})


def open_canvas(page: "Page") -> None:
    click(page, "Search with a picture")
    page.get_by_role("menuitem", name="Draw it").click()
    strokes_are(page, "empty")


def strokes_are(page: "Page", number: str) -> None:
    expect(page.get_by_role("img", name=f"Your drawing, {number}")).to_be_visible()


def draw(page: "Page", strokes: Sequence[Sequence[Sequence[float]]]) -> None:
    box = page.locator("#drawing canvas").bounding_box()
    scale = box["width"] / 320
    for stroke in strokes:
        for number, (x, y) in enumerate(stroke):
            page.mouse.move(box["x"] + x * scale, box["y"] + y * scale, steps=2)
            if number == 0:
                page.mouse.down()
        page.mouse.up()


def test_a_drawing_finds_its_icon_and_results_follow_each_stroke(page: "Page") -> None:
    open_canvas(page)
    draw(page, HEART)
    shows(page, {"#grid .name": "heart"})
    strokes_are(page, "1 stroke")
    page.wait_for_url(re.compile("#picture="))
    before = page.url
    draw(page, [[(20, 20), (300, 300)]])
    page.wait_for_url(lambda url: url != before)
    text = page.url.partition("#picture=")[2]
    assert base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).count(b"<path") == 2
    page.go_back()
    shows(page, {"#start": True})  # strokes are one step of the history
    strokes_are(page, "empty")


@pytest.mark.slow
def test_strokes_are_undone_erased_and_cleared(page: "Page") -> None:
    open_canvas(page)
    draw(page, [[(40, 40), (280, 40)], [(40, 200), (280, 200)]])
    click(page, "Eraser")
    expect(page.get_by_role("button", name="Eraser", exact=True)).to_have_attribute("aria-pressed", "true")
    draw(page, [[(150, 20), (150, 60)]])
    strokes_are(page, "1 stroke")
    click(page, "Undo")
    strokes_are(page, "2 strokes")
    press(page, "Control+z")
    strokes_are(page, "1 stroke")
    click(page, "Clear the drawing")
    strokes_are(page, "empty")
    shows(page, {"#start": True})
    expect(page.get_by_role("button", name="Clear the drawing")).to_be_disabled()


def test_the_page_prepares_a_drawing_as_it_was_measured(page: "Page") -> None:
    sketches = [sketch.strokes for sketch in read_sketches()]
    sketches += [[[(5, 5)]], [[(0, 0), (320, 0)]], [[(1, 1), (1, 1)], [(9.94, 3.06), (7, 7)]]]
    told = page.evaluate(
        "async (all) => { const { toSvg } = await import('/static/picture/strokes.js'); return all.map(toSvg); }",
        json.loads(json.dumps(sketches)),
    )
    assert told == [as_svg(strokes) for strokes in sketches]


def test_every_icon_of_a_dropped_screen_is_framed_and_named_in_reading_order(page: "Page") -> None:
    drop_screen(page)
    assert names_of(page, ".found-icon") == names_of(page, ".row") == READ
    shows(
        page,
        {
            **{"#grid .name": READ, "#summary": "5 different icons in your picture"},
            '#shows [value="screen"]:checked': 1,
        },
    )
    shot, frame = page.locator(".shot").bounding_box(), page.locator(".found-icon").first.bounding_box()
    place = [(frame[side] - shot[side]) * 900 / shot["width"] for side in ("x", "y")]  # type: ignore[literal-required]
    assert place == pytest.approx([62, 43], abs=4)
    page.locator(".found-icon").nth(1).click()
    expect(page).to_have_url(re.compile(r"/\?screen=\w{1,16}&frame=1$"))
    page.reload()  # the picture is not in the address, and outlasts the page
    shows(page, {".row[aria-pressed=true]": re.compile("settings"), "#grid .name": "settings", "#picture": True})
    page.goto(re.sub(r"screen=\w+", "screen=elsewhere", page.url))
    shows(page, {"#screen": re.compile("This picture is not here any more")})
    page.evaluate("() => { IDBObjectStore.prototype.put = () => { throw new DOMException('full'); }; }")
    drop_screen(page)
    shows(page, {"#toast": re.compile("keeps nothing for this page")})


@pytest.mark.slow
def test_arrow_keys_walk_among_frames_and_enter_goes_on_to_the_hits(page: "Page") -> None:
    drop_screen(page)
    focused = page.locator(".found-icon:focus")
    page.locator(".found-icon").first.focus()
    for key, name in (("ArrowDown", "trash-2"), ("ArrowDown", "house"), ("Home", "heart"), ("ArrowRight", "settings")):
        press(page, key)
        expect(focused).to_have_attribute("aria-label", re.compile(f"^\\d: {name}"))
    assert page.locator('.found-icon[tabindex="0"]').count() == 1
    press(page, "Enter")
    shows(page, {"#summary": re.compile("like the framed icon")})
    press(page, "Enter")
    shows(page, {"#grid .tile:focus .name": "settings"})
    press(page, "ArrowUp")
    expect(focused).to_have_attribute("aria-label", re.compile("^2: settings"))
    press(page, "Escape")
    shows(page, {"#summary": "5 different icons in your picture"})
    press(page, "Escape")
    shows(page, {"#start": True})
