"""Tiles and the panel of one icon: what they tell, copy and download, the look they have, where an icon is used."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from site_of_icons import CLIPBOARD, PHONE, RED, SAMPLES, Open, click, expect_centre, press, requests_of, shows, tile

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

KEPT = "() => JSON.parse(localStorage.getItem('icons.chosen')).map(icon => icon.name)"


def open_icon(open_page: Open, query: str, name: str, **options: Any) -> "Page":
    page = open_page(f"/?q={query}", **options)
    tile(page, name).click()
    shows(page, {"#detail-name": name, "#detail .similar.own h3": True})
    return page


def copied(page: "Page", name: str) -> str:
    """What is in the clipboard once the page says that it is there; each format can be copied once."""
    page.locator("#detail .framework").click()
    page.get_by_role("menuitemradio", name=name, exact=True).click()
    click(page, f"Copy as {name}")
    shows(page, {"#toast": re.compile("Copied “" if name == "Name" else f"Copied .* as {name}(,|$)")})
    text = page.evaluate(CLIPBOARD)
    assert text == page.locator("#detail .code code").text_content()
    return text


def test_the_panel_tells_licence_tags_and_where_it_comes_from(open_page: Open) -> None:
    page = open_icon(open_page, "tulip", "tulip")
    facts = page.locator("#detail dl").inner_text()
    told = ("CC-BY-4.0", "Free to use with credit", "flower", "nature", "tulip-2.svg")
    assert [fact in facts for fact in (*told, "/tmp")] == [True] * len(told) + [False]
    assert page.locator("#detail dd a").get_attribute("href") == "https://spdx.org/licenses/CC-BY-4.0.html"


def test_an_icon_is_copied_in_the_formats_that_the_server_writes(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    component = copied(page, "React component")
    assert "export function Heart(props: SVGProps<SVGSVGElement>) {" in component
    assert 'strokeWidth="2"' in component and "<!--" not in component
    assert re.fullmatch(r"lucide[\w-]*:heart", copied(page, "Name"))
    assert copied(page, "Lucide for React") == 'import { Heart } from "lucide-react";\n\n<Heart />'
    expect(page.locator("#detail .copy")).to_contain_text("npm install lucide-react")
    copied(page, "Path data")
    shows(
        page,
        {
            "#detail .copy .aside": re.compile("Path data can.t state the stroke"),
            "#toast": re.compile("^Copied heart as Path data, without stroke"),
        },
    )


@pytest.mark.slow
def test_the_format_is_remembered_for_icons_that_it_serves(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    assert copied(page, "Vue component").startswith("<template>")
    copied(page, "Lucide for React")
    page.goto(page.url.split("?")[0] + "?q=tulip")
    tile(page, "tulip").click()  # Lucide's package has no tulip of others
    shows(page, {"#detail .framework": re.compile("Vue component"), "#detail .code": re.compile("<template>")})
    page.goto(page.url.split("?")[0] + "?q=bell")
    tile(page, "bell").click()
    shows(page, {"#detail .framework": re.compile("Lucide for React")})
    tile(page, "bell").press("c")
    shows(page, {"#toast": "Copied bell as Lucide for React"})


@pytest.mark.parametrize("look", ["", "&colour=%23d7263d&stroke=1&joins=sharp"])
def test_downloads_are_what_is_shown_or_the_stored_svg(open_page: Open, tmp_path: "Path", look: str) -> None:
    page = open_icon(open_page, f"heart{look}", "heart")
    group = page.get_by_role("group", name="Download")
    group.get_by_label("Size of the PNG").select_option("96")
    stored = (SAMPLES / "icons" / "heart.svg").read_text().strip()
    for kind in ("SVG", "PNG", *(["Original"] if look else [])):
        with page.expect_download() as download:
            group.get_by_role("link", name=kind).click()
        download.value.save_as(tmp_path / kind)
        assert download.value.suggested_filename == f"heart.{'png' if kind == 'PNG' else 'svg'}"
    drawn = (tmp_path / "SVG").read_text()
    assert [part in drawn for part in ("#d7263d", 'stroke-width="1"', "miter")] == [bool(look)] * 3
    assert (tmp_path / ("Original" if look else "SVG")).read_text().strip() == stored
    with Image.open(tmp_path / "PNG") as png:
        pixels = np.asarray(png.convert("RGBA"))
    inks = np.unique(pixels[pixels[..., 3] == 255], axis=0).tolist()
    assert (pixels.shape, inks) == ((96, 96, 4), [[0xD7, 0x26, 0x3D, 255]] if look else [[0, 0, 0, 255]])


def test_keys_of_a_tile_do_the_same_in_the_panel_and_a_full_browser_is_told_of_at_once(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    page.locator("#detail .primary").press("x")
    shows(page, {"#detail .keep span": "Kept"})
    page.locator("#detail .primary").press("c")
    shows(page, {"#toast": re.compile("^Copied heart as ")})
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('full'); } }")
    page.locator("#detail .keep").click()
    shows(page, {"#toast": re.compile("keeps nothing for this page")})


def test_no_script_of_an_icon_ever_runs(open_page: Open) -> None:
    page = open_icon(open_page, "trap", "trap", forgives="Content Security Policy")
    for name in ("React component", "Vue component", "CSS class", "Data URI", "SVG file"):
        text = copied(page, name)
        assert "script" not in text.replace("JavaScript", "") and "onload" not in text.lower()
    expect(page).to_have_title("trap · icons")


@pytest.mark.slow
def test_why_an_icon_is_here_is_told_beside_the_first_hit(open_page: Open) -> None:
    page = open_icon(open_page, "bell&not=filled", "bell-off")
    why = page.locator("#detail details.why")
    expect(why.locator("table")).to_have_count(0)
    for _ in range(3):  # it is asked for once
        why.get_by_text("Why was this found?").click()
    expect(why.locator("table")).to_have_count(1)
    expect(why.locator("tbody th")).to_contain_text(
        ["picture, cosine", "name, cosine", "fused, cosine", "answers", "score", "rank"]
    )
    expect(why.locator("tr", has_text="answers").locator("td")).to_have_text(["related", "named"])
    expect(why.locator("tr", has_text="rank").locator("td").nth(1)).to_have_text("1")
    expect(why.get_by_role("meter").first).to_be_visible()
    shows(page, {".why thead th": ["bell-off", "bell"], ".why p": "asked: bell · without: filled"})
    expect(why.locator("p").last).to_have_text("It is a hit.")


def test_a_tile_that_is_pointed_at_offers_to_keep_and_copy(open_page: Open) -> None:
    page = open_page("/?q=heart")
    heart = page.locator("#grid .cell", has=page.locator('.name:text-is("heart")')).first
    shows(page, {"#filters .filter": True})  # they appear above the tiles once it is known what there is
    before = heart.bounding_box()
    heart.hover()
    expect(heart.locator(".actions button")).to_have_count(2)
    click(page, "Keep heart")
    expect(page.get_by_role("button", name="Keep heart")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(KEPT) == ["heart"]
    click(page, "Copy heart")
    shows(page, {"#toast": re.compile("Copied heart"), "#detail": False})
    page.locator("#words").hover()
    shows(page, {"#grid .actions": 0, "#grid .mark": 1})
    expect(heart.locator(".tile")).to_have_accessible_name(re.compile("kept"))
    assert heart.bounding_box() == before


@pytest.mark.slow
def test_a_long_press_begins_to_keep_and_taps_go_on(open_page: Open) -> None:
    page = open_page("/?q=arrow&fold=0", **PHONE)
    tiles, touch = page.locator("#grid button.tile"), {"pointerType": "touch", "bubbles": True}
    expect(tiles.nth(2)).to_be_visible()
    tiles.nth(0).dispatch_event("pointerdown", {**touch, "clientX": 50, "clientY": 200})
    expect(page.locator("#select")).to_have_attribute("aria-pressed", "true")
    tiles.nth(0).dispatch_event("pointerup", touch)
    tiles.nth(0).dispatch_event("click")  # the one that ends the press
    tiles.nth(1).tap()
    shows(page, {"#grid .cell[data-kept]": 2, "#detail": False})
    click(page, "Done")
    tiles.nth(2).tap()
    shows(page, {"#detail": True, "#grid .cell[data-kept]": 2})


TILES = """async () => {
  const { tile } = await import("/static/results/tile.js");
  const common = { id: 1, n_also: 0, svg_url: null, png_url: "static/icon.svg", coloured: false };
  const hit = (set, name, { words = name.replaceAll("-", " "), n = 1 } = {}) => (
    { ...common, key: `${set}:${name}`, name, words, set, n_variants: n });
  const long = "accessibility-checkmark-20";
  const plain = [long, "device-mobile-speaker", "cart-plus"].map((name) => hit("Font Awesome 6 Solid", name));
  const styles = [hit("Material", "baseline-home", { words: "home", n: 6 })];
  styles.push(hit("Material", "shopping-cart-outline-rounded", { words: "shopping cart", n: 6 }));
  const cells = [...plain, ...styles].map((one) => tile(one, { isKept: false }));
  document.querySelector("#grid").append(...cells);
  const texts = cells.flatMap((cell) => [...cell.querySelectorAll(".name, .set")]);
  const [cut, ...others] = cells.map((cell) => cell.querySelector(".name").textContent);
  const are_whole = texts.every((text) => text.scrollHeight <= text.clientHeight + 1);
  return { is_cut: /^acc.*….*-20$/.test(cut), others, are_whole };
}"""


def test_names_and_sets_are_whole_on_tiles(open_page: Open) -> None:
    page = open_page("/?q=arrow")
    shows(page, {"#grid .name": True})
    assert page.evaluate(TILES) == {
        "is_cut": True,
        "others": ["device-mobile-speaker", "cart-plus", "home", "shopping-cart"],
        "are_whole": True,
    }


def test_equal_names_of_several_sets_are_one_stack_that_opens_in_place(open_page: Open) -> None:
    page = open_page("/?q=arrow-left")
    arrows = page.locator("#grid .cell", has=page.locator('.name:text-is("arrow-left")'))
    unfold = arrows.locator(".unfold")
    expect(arrows).to_have_count(1)
    expect(unfold).to_have_text("in 2 sets")
    expect(arrows.locator(".tile")).to_have_accessible_name(re.compile("in 2 sets"))
    following = page.locator("#grid .name").nth(1).inner_text()
    unfold.click()
    expect(arrows).to_have_count(2)
    assert page.locator("#grid .name").all_inner_texts()[:3] == ["arrow-left", "arrow-left", following]
    shows(page, {"#grid .set": "2 in drawn"})
    expect(unfold).to_have_attribute("aria-expanded", "true")
    expect(unfold).to_be_focused()
    unfold.click()
    expect(arrows).to_have_count(1)


def test_a_colour_is_seen_on_all_tiles_and_the_server_is_not_asked_for_it(open_page: Open) -> None:
    page = open_page("/?q=night&bg=light", anew=True)
    picture = page.locator("#grid button .picture").first
    expect_centre(page, picture, "black")
    page.wait_for_load_state("networkidle")
    asked = requests_of(page)
    page.locator("#customize").click()
    for colour in (RED, "#2f6fed"):
        page.locator(f'#inks [value="{colour}"]').check()
        expect_centre(page, picture, colour)
    as_text = [url for url in asked if "/svgs?" in url]
    assert len(as_text) == len({*as_text}) <= 2, "each part of the page once, however many colours"
    assert not [url for url in asked if "/svg?" in url]
    expect(page).to_have_url(re.compile("colour=%232f6fed"))
    page.locator('#inks [value=""]').check()
    expect_centre(page, picture, "black")
    assert page.locator("#grid img").first.evaluate("image => image.src").startswith("http")


RESTYLED = """async () => {
  const { restyled, restyledStack } = await import("/static/view/look.js");
  const icon = btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><use href="#a"/></svg>');
  const layer = `<svg id="i7-0a"><image width="100%" height="100%" href="data:image/svg+xml;base64,${icon}"/></svg>`;
  const red = { colour: "#d7263d", stroke_width: null, corner: null };
  const wide = (view) => restyled(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${view}"><path/></svg>`,
    { colour: null, stroke_width: 2, corner: null }, { coloured: false });
  return [restyledStack(`<svg><style>a{}</style>${layer}</svg>`, red, new Map()),
    ...["0 0 24 24", "0 0 256 256", "0 0 16 8"].map(wide)];
}"""


def test_strokes_are_in_units_of_the_icon_s_grid_and_images_in_stacks_are_restyled_too(page: "Page") -> None:
    stack, *icons = page.evaluate(RESTYLED)
    for text, width in zip(icons, ("2px", "21.333px", "1.333px"), strict=True):
        assert f"stroke-width:{width}!important" in text
    assert "base64" not in stack and "%3Cstyle%3E%3Aroot%7Bcolor%3A%23d7263d" in stack


def _apart(page: "Page", one: str, other: str) -> bool:
    """Whether neither of two parts of the page lies over the other."""
    a, b = (page.locator(part).bounding_box() for part in (one, other))
    return any(p[at] + p[side] <= q[at] for p, q in ((a, b), (b, a)) for at, side in (("x", "width"), ("y", "height")))  # type: ignore[literal-required]


@pytest.mark.parametrize(
    "look", [{"viewport": {"width": 1440, "height": 900}}, pytest.param(PHONE, marks=pytest.mark.slow)]
)
def test_what_is_adjusted_stays_in_sight(open_page: Open, look: dict[str, Any]) -> None:
    page = open_page("/?q=heart", **look)
    page.locator("#customize").click()
    page.locator("#names label", has_text="When pointed at").click()
    shows(page, {"#grid .picture": True}, url="names=hover")
    assert page.locator("#grid .name").first.bounding_box()["height"] == 1  # for screen readers
    assert page.locator("#grid .picture").first.bounding_box()["height"] == 88
    assert _apart(page, "#grid .picture >> nth=0", "#look")
    click(page.locator("#look"), "Reset", "Done")
    tile(page, "heart").click()
    shows(page, {"#detail .similar.own h3": True})
    page.locator("#detail .framework").click()
    expect(page.locator("#choices .heading").first).to_be_in_viewport()
    assert look is PHONE or _apart(page, "#detail .preview", "#choices")
    press(page, "Escape")
    page.locator("#detail .tune").click()
    shows(page, {"#detail #look": True})
    page.locator("#surfaces [value=dark]").scroll_into_view_if_needed()
    expect(page.locator("#detail .preview .picture").first).to_be_in_viewport()


@pytest.mark.slow
def test_the_look_is_remembered_and_reset(open_page: Open) -> None:
    page = open_page("/?q=heart")
    page.locator("#customize").click()
    page.locator('#inks [value="#d7263d"]').check()
    page.locator("#stroke input").fill("1")
    shows(page, {"#stroke output": "1"})
    page.goto(page.url.partition("?")[0] + "?q=bell")
    page.wait_for_function("() => document.querySelector('#grid img')?.src.startsWith('blob:')")
    page.locator("#customize").click()
    shows(page, {'#inks [value="#d7263d"]:checked': 1, "#stroke output": "1"})
    click(page, "Stroke width as drawn")
    shows(page, {"#stroke output": "As drawn"})
    click(page, "Reset")
    page.wait_for_function("() => document.querySelector('#grid img').src.startsWith('http')")
    expect(page).not_to_have_url(re.compile("colour"))


def test_copies_have_the_look_that_is_seen(page: "Page") -> None:
    told = page.evaluate(
        """async () => {
          const { look } = await import("/static/view/look.js");
          const { parse } = await import("/static/state.js");
          const queries = ["", "colour=%23ff0000&stroke=1.5&joins=sharp&px=24", "colour=red&stroke=99&joins=odd&px=x"];
          return queries.map((query) => look(parse(`http://here/?${query}`)));
        }"""
    )
    nothing = {"colour": None, "stroke_width": None, "size": None, "corner": None}
    assert told == [nothing, {"colour": "#ff0000", "stroke_width": 1.5, "size": 24, "corner": "sharp"}, nothing]


def open_used(open_page: Open, site: str, name: str, **options: Any) -> "Page":
    page = open_page(f"/?q={name}", base=site, **options)
    tile(page, name).click()
    shows(page, {"#detail .used h3": True})
    return page


def open_shot(page: "Page") -> None:
    page.locator("#detail .used").get_by_role("button", name=re.compile("^account.png")).click()
    page.wait_for_function("() => document.querySelector('#shot img')?.naturalWidth > 0")


@pytest.mark.slow
def test_the_panel_tells_on_how_many_screenshots_an_icon_is(open_page: Open, used_site: str) -> None:
    page = open_used(open_page, used_site, "house")
    shows(page, {"#detail .used h3": "Used in 2 screenshots", "#detail .used .caption": ["account.png", "b.png"]})
    page.wait_for_function("() => document.querySelector('#detail .used img').naturalWidth >= 18")


@pytest.mark.slow
def test_a_crop_opens_its_screenshot_with_every_place_framed(open_page: Open, used_site: str) -> None:
    page = open_used(open_page, used_site, "heart")
    open_shot(page)
    dialog = page.get_by_role("dialog", name="account.png")
    expect(dialog).to_have_accessible_description(re.compile(r"^2 places of “heart”, .*% sure$"))
    expect(dialog.locator(".framed i")).to_have_count(2)
    places = "all => all.map(one => one.getBoundingClientRect()).map(box => [box.x, box.width])"
    [[left, width]] = dialog.locator("img").evaluate_all(places)
    lefts = sorted((x + 5 - left) * 640 / width for x, _ in dialog.locator(".framed i").evaluate_all(places))
    assert lefts == pytest.approx([180, 480], abs=6)  # where they were drawn


@pytest.mark.slow
def test_a_screenshot_that_has_gone_is_shown_by_its_crops(open_page: Open, used_site: str, shots: "Path") -> None:
    page = open_used(open_page, used_site, "settings", forgives="404")
    (shots / "b.png").rename(shots.parent / "elsewhere.png")
    try:
        page.locator("#detail .used .tile").first.click()
        shows(page, {"#shot .gone": re.compile("The file has gone"), "#shot .gone img": 1})
    finally:
        (shots.parent / "elsewhere.png").rename(shots / "b.png")
