"""The panel of one icon: what it tells, what it copies, what it downloads."""

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open, pixel

if TYPE_CHECKING:
    from playwright.sync_api import Page


def open_icon(open_page: Open, query: str, name: str, **options: Any) -> "Page":
    page = open_page(f"/?q={query}", **options)
    page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).first.click()
    expect(page.locator("#detail-name")).to_have_text(name)
    expect(page.locator("#detail .similar h3")).to_be_visible()
    return page


def copied(page: "Page", name: str) -> str:
    """What is in the clipboard once the page says that it is there; a format can be copied once."""
    page.get_by_role("button", name=f"Copy {name}", exact=True).click()
    expect(page.locator("#toast")).to_have_text(re.compile("Copied “" if name == "Name" else f"Copied .* as {name}$"))
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_the_panel_tells_licence_tags_and_where_it_comes_from(open_page: Open) -> None:
    page = open_icon(open_page, "tulip", "tulip")
    facts = page.locator("#detail dl")
    expect(facts).to_contain_text("CC-BY-4.0")
    expect(facts).to_contain_text("if you credit the author")
    expect(facts).to_contain_text("flower")
    expect(facts).to_contain_text("nature")
    expect(facts).to_contain_text("tulip-2.svg")
    assert str(Path("/")) + "tmp" not in facts.inner_text()
    assert page.locator("#detail dd a").get_attribute("href") == "https://spdx.org/licenses/CC-BY-4.0.html"


def test_a_tag_in_the_panel_becomes_a_filter(open_page: Open) -> None:
    page = open_icon(open_page, "tulip", "tulip")
    page.locator("#detail .links button", has_text="nature").click()
    expect(page.locator(".chip")).to_contain_text("nature")
    expect(page).to_have_url(re.compile("category=nature"))


def test_icons_of_a_set_are_put_first_and_back(open_page: Open) -> None:
    page = open_page("/?q=arrow-left")
    first = page.locator("#grid .tile .set").first
    expect(first).to_have_text("lucide-static")
    page = open_icon(open_page, "arrow-left&set=drawn", "arrow-left")
    pin = page.locator("#detail [data-key=pin]")
    expect(pin).to_have_text("put first")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("prefer=drawn"))
    chip = page.locator(".chip", has_text="First: drawn")
    expect(chip).to_be_visible()
    page.goto(page.url.replace("set=drawn", ""))
    expect(page.locator("#grid .tile .set").first).to_have_text("drawn")
    page.locator(".chip", has_text="First: drawn").click()
    expect(page).not_to_have_url(re.compile("prefer="))


def test_variants_and_similar_icons_are_a_click_away(open_page: Open) -> None:
    page = open_icon(open_page, "arrow-left&set=drawn", "arrow-left")
    variants = page.locator("#detail .variants .tile")
    expect(variants).not_to_have_count(0)
    before = page.url
    variants.first.click()
    page.wait_for_url(lambda url: url != before)
    expect(page.locator("#detail-name")).to_have_text("arrow-left")
    expect(page.locator("#detail .similar .tile").first).to_be_visible()


def test_more_like_this_asks_with_the_icon(open_page: Open) -> None:
    page = open_icon(open_page, "arrow+left", "arrow-left")
    page.get_by_role("button", name="More like this").click()
    expect(page).to_have_url(re.compile(r"\?icon=\d+$"))
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.locator("#like")).to_be_visible()
    expect(page.locator("#grid button.tile").first).to_be_visible()
    page.get_by_role("button", name="Search without this icon").click()
    expect(page.locator("#start")).to_be_visible()


def test_every_format_is_copied_as_it_should_be(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    stored = (SAMPLES / "icons" / "heart.svg").read_text("utf-8")
    assert copied(page, "SVG").strip() == stored.strip()
    jsx = copied(page, "JSX")
    assert jsx.startswith("export function Heart(props) {\n  return (\n    <svg")
    assert 'strokeWidth="2"' in jsx
    assert "{...props}" in jsx
    assert "<!--" not in jsx
    vue = copied(page, "Vue")
    assert vue.startswith("<template>\n  <svg")
    assert 'stroke-width="2"' in vue
    css = copied(page, "CSS")
    assert css.startswith(".icon-heart {")
    assert "background: currentColor" in css
    assert copied(page, "Data URI").startswith("data:image/svg+xml,%3Csvg xmlns")
    assert re.fullmatch(r"lucide[\w-]*:heart", copied(page, "Name"))


def test_copied_css_and_data_draw_the_icon(open_page: Open) -> None:
    page = open_icon(open_page, "tulip", "tulip")
    css, address = copied(page, "CSS"), copied(page, "Data URI")
    assert "currentColor" not in css
    page.goto("about:blank")
    page.set_content(
        f'<style>body{{margin:0;font-size:48px}}{css}</style><i class="icon-tulip"></i><img width=48 src="{address}">'
    )
    page.wait_for_function("() => document.images[0].complete")
    for x in (24, 72):
        assert pixel(page, page.screenshot(), x=x, y=24) == [0xD7, 0x26, 0x3D]


def test_downloads_are_the_stored_svg_and_a_png_of_the_chosen_size(open_page: Open, tmp_path: Path) -> None:
    page = open_icon(open_page, "heart", "heart")
    group = page.get_by_role("group", name="Download")
    with page.expect_download() as svg:
        group.get_by_role("link", name="SVG").click()
    assert svg.value.suggested_filename == "heart.svg"
    svg.value.save_as(tmp_path / "heart.svg")
    assert (tmp_path / "heart.svg").read_bytes().strip() == (SAMPLES / "icons" / "heart.svg").read_bytes().strip()
    group.get_by_label("Size of the PNG").select_option("96")
    with page.expect_download() as png:
        group.get_by_role("link", name="PNG").click()
    png.value.save_as(tmp_path / "heart.png")
    content = (tmp_path / "heart.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (96, 96)


def test_a_bitmap_offers_what_a_bitmap_has(open_page: Open) -> None:
    page = open_icon(open_page, "dot", "dot")
    expect(page.get_by_role("group", name="Copy").get_by_role("button")).to_have_text(["Copy Name"])
    expect(page.get_by_role("group", name="Download").get_by_role("link")).to_have_text(["PNG"])
    expect(page.locator("#detail .preview img").first).to_be_visible()
    assert page.locator("#detail .preview img").first.evaluate("image => image.naturalWidth") > 0


def test_no_script_of_an_icon_ever_runs(open_page: Open) -> None:
    page = open_icon(open_page, "trap", "trap", forgives="Content Security Policy")
    page.wait_for_load_state("networkidle")
    for name in ("JSX", "Vue", "CSS", "Data URI"):
        text = copied(page, name)
        assert "script" not in text.replace("JavaScript", "")
        assert "onload" not in text.lower()
    expect(page).to_have_title("trap · icons")


def test_an_icon_that_is_gone_is_said(open_page: Open) -> None:
    page = open_page("/?q=heart&open=999999", forgives="status of 404")
    expect(page.locator("#detail")).to_contain_text("This icon is not in the library any more.")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#detail")).to_be_hidden()


def test_why_an_icon_is_here_is_told_beside_the_first_hit(open_page: Open) -> None:
    page = open_page("/?q=bell&not=filled")
    page.locator("#grid button.tile", has=page.locator('.name:text-is("bell-off")')).first.click()
    why = page.locator("#detail details.why")
    expect(why.locator("table")).to_have_count(0)
    why.get_by_text("Why is it here?").click()
    expect(why.locator("thead th")).to_have_text(["bell-off", "bell"])
    labels = why.locator("tbody th")
    expect(labels).to_contain_text(["picture, cosine", "name, cosine", "fused, cosine", "answers", "score", "rank"])
    expect(why.locator("tr", has_text="answers").locator("td")).to_have_text(["related", "named"])
    expect(why.locator("tr", has_text="rank").locator("td").nth(1)).to_have_text("1")
    expect(why.locator("p").first).to_have_text("asked: bell · without: filled")
    expect(why.locator("p").last).to_have_text("It is a hit.")
    why.get_by_text("Why is it here?").click()
    why.get_by_text("Why is it here?").click()
    expect(why.locator("table")).to_have_count(1)


def test_the_first_hit_stands_alone_in_its_explanation(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    page.get_by_text("Why is it here?").click()
    expect(page.locator("#detail .why thead th")).to_have_text(["heart"])


def test_only_the_place_among_words_is_explained(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    expect(page.get_by_text("Why is it here?")).to_be_visible()
    page.get_by_role("button", name="More like this").click()
    page.locator("#grid button.tile").first.click()
    expect(page.locator("#detail .similar h3")).to_be_visible()
    expect(page.get_by_text("Why is it here?")).to_have_count(0)
    page = open_icon(open_page, "heart&keyword=1", "heart")
    expect(page.get_by_text("Why is it here?")).to_have_count(0)


HARD = """<?xml version="1.0"?><!-- made by X --><svg xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 2 2" class="a b" onclick="steal()">
 <style>.c{fill:red}</style><g style="fill: #f00; stroke-width: 2; --own: url(a;b)" data-x="1" stroke-linecap="round">
 <use xlink:href="#p"/><text aria-label='say "hi"'>{x} &amp; y</text></g><script>steal()</script></svg>"""


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ('toJsx(svg, { name: "2-d box" })', "export function Icon2DBox(props) {"),
        ('toJsx(svg, { name: "a" })', ' xmlnsXlink="http://www.w3.org/1999/xlink" '),
        ('toJsx(svg, { name: "a" })', ' className="a b" {...props}>'),
        ('toJsx(svg, { name: "a" })', '{".c{fill:red}"}'),
        ('toJsx(svg, { name: "a" })', 'style={{ fill: "#f00", strokeWidth: "2", "--own": "url(a;b)" }}'),
        ('toJsx(svg, { name: "a" })', ' data-x="1" strokeLinecap="round">'),
        ('toJsx(svg, { name: "a" })', '<use xlinkHref="#p" />'),
        ('toJsx(svg, { name: "a" })', '<text aria-label={"say \\"hi\\""}>'),
        ('toJsx(svg, { name: "a" })', '{"{x} & y"}'),
        ("toDataUri(svg)", "%23f00"),
        ('toCss(svg, { name: "Arrow Left!", coloured: true })', ".icon-arrow-left {"),
        ("toVue(svg)", 'viewBox="0 0 2 2"'),
    ],
)
def test_hard_svgs_are_written_as_code_that_holds(open_page: Open, call: str, wanted: str) -> None:
    page = open_page(forgives="Content Security Policy")  # which refuses the handlers even of what is only parsed
    written: str = page.evaluate(f"async (svg) => (await import('/static/detail/formats.js')).{call}", HARD)
    assert wanted in written
    assert "steal" not in written
    assert "made by X" not in written
