"""The panel of one icon: what it tells, what it copies, what it downloads."""

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open

if TYPE_CHECKING:
    from playwright.sync_api import Page


def open_icon(open_page: Open, query: str, name: str, **options: Any) -> "Page":
    page = open_page(f"/?q={query}", **options)
    page.locator("#grid button.tile", has=page.locator(f'.name:text-is("{name}")')).first.click()
    expect(page.locator("#detail-name")).to_have_text(name)
    expect(page.locator("#detail .similar.own h3")).to_be_visible()
    return page


def copied(page: "Page", name: str) -> str:
    """What is in the clipboard once the page says that it is there; each format can be copied once."""
    page.locator("#detail .framework").click()
    page.get_by_role("menuitemradio", name=name, exact=True).click()
    page.get_by_role("button", name=f"Copy as {name}", exact=True).click()
    expect(page.locator("#toast")).to_have_text(re.compile("Copied “" if name == "Name" else f"Copied .* as {name}$"))
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    assert text == page.locator("#detail .code code").text_content()
    return text


def test_the_panel_tells_licence_tags_and_where_it_comes_from(open_page: Open) -> None:
    page = open_icon(open_page, "tulip", "tulip")
    facts = page.locator("#detail dl")
    expect(facts).to_contain_text("CC-BY-4.0")
    expect(facts).to_contain_text("Free to use with credit")
    expect(facts).to_contain_text("flower")
    expect(facts).to_contain_text("nature")
    expect(facts).to_contain_text("tulip-2.svg")
    assert str(Path("/")) + "tmp" not in facts.inner_text()
    assert page.locator("#detail dd a").get_attribute("href") == "https://spdx.org/licenses/CC-BY-4.0.html"


@pytest.mark.slow
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
    page.goto(page.url.replace("set=drawn", "fold=0"))
    expect(page.locator("#grid .tile .set").first).to_have_text("drawn")
    page.locator(".chip", has_text="First: drawn").click()
    expect(page).not_to_have_url(re.compile("prefer="))


@pytest.mark.slow
def test_more_like_this_asks_with_the_icon(open_page: Open) -> None:
    page = open_icon(open_page, "arrow+left", "arrow-left")
    page.get_by_role("button", name="More like this").click()
    expect(page).to_have_url(re.compile(r"\?icon=\d+$"))
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.locator("#like")).to_be_visible()
    expect(page.locator("#grid button.tile").first).to_be_visible()
    page.get_by_role("button", name="Search without this icon").click()
    expect(page.locator("#start")).to_be_visible()


def test_an_icon_is_copied_in_the_formats_that_the_server_writes(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    assert copied(page, "SVG file").startswith("<svg")
    component = copied(page, "React component")
    assert "export function Heart(props: SVGProps<SVGSVGElement>) {" in component
    assert 'strokeWidth="2"' in component
    assert "<!--" not in component
    assert copied(page, "Vue component").startswith("<template>")
    assert "mask:" in copied(page, "CSS class")
    assert copied(page, "Data URI").startswith("data:image/svg+xml,")
    assert re.fullmatch(r"lucide[\w-]*:heart", copied(page, "Name"))
    assert copied(page, "Lucide for React") == 'import { Heart } from "lucide-react";\n\n<Heart />'
    expect(page.locator("#detail .copy")).to_contain_text("npm install lucide-react")


@pytest.mark.slow
def test_the_format_is_remembered_for_icons_that_it_serves(open_page: Open) -> None:
    page = open_icon(open_page, "heart", "heart")
    copied(page, "Vue component")
    copied(page, "Lucide for React")
    page.goto(page.url.split("?")[0] + "?q=tulip")
    page.locator("#grid button.tile", has=page.locator('.name:text-is("tulip")')).first.click()
    expect(page.locator("#detail .framework")).to_contain_text(
        "Vue component"
    )  # Lucide's package has no tulip of others
    expect(page.locator("#detail .code")).to_contain_text("<template>")
    page.goto(page.url.split("?")[0] + "?q=bell")
    tile = page.locator("#grid button.tile", has=page.locator('.name:text-is("bell")')).first
    tile.click()
    expect(page.locator("#detail .framework")).to_contain_text("Lucide for React")
    tile.press("c")
    expect(page.locator("#toast")).to_have_text("Copied bell as Lucide for React")


@pytest.mark.slow
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


def test_no_script_of_an_icon_ever_runs(open_page: Open) -> None:
    page = open_icon(open_page, "trap", "trap", forgives="Content Security Policy")
    page.wait_for_load_state("networkidle")
    for name in ("React component", "Vue component", "CSS class", "Data URI", "SVG file"):
        text = copied(page, name)
        assert "script" not in text.replace("JavaScript", "")
        assert "onload" not in text.lower()
    expect(page).to_have_title("trap · icons")


@pytest.mark.slow
def test_why_an_icon_is_here_is_told_beside_the_first_hit(open_page: Open) -> None:
    page = open_page("/?q=bell&not=filled")
    page.locator("#grid button.tile", has=page.locator('.name:text-is("bell-off")')).first.click()
    why = page.locator("#detail details.why")
    expect(why.locator("table")).to_have_count(0)
    why.get_by_text("Why was this found?").click()
    expect(why.locator("thead th")).to_have_text(["bell-off", "bell"])
    labels = why.locator("tbody th")
    expect(labels).to_contain_text(["picture, cosine", "name, cosine", "fused, cosine", "answers", "score", "rank"])
    expect(why.locator("tr", has_text="answers").locator("td")).to_have_text(["related", "named"])
    expect(why.locator("tr", has_text="rank").locator("td").nth(1)).to_have_text("1")
    expect(why.locator("p").first).to_have_text("asked: bell · without: filled")
    expect(why.get_by_role("meter").first).to_be_visible()
    expect(why.locator("p").last).to_have_text("It is a hit.")
    why.get_by_text("Why was this found?").click()
    why.get_by_text("Why was this found?").click()
    expect(why.locator("table")).to_have_count(1)
