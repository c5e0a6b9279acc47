"""Searching with a picture that is pasted, dropped or chosen."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from site_of_icons import SAMPLES, Open

if TYPE_CHECKING:
    from playwright.sync_api import Page

DRAW = """async (name) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([name], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 300, height: 200 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, 300, 200);
  pen.drawImage(image, 90, 40, 120, 120);
  return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}"""
SETTINGS = (SAMPLES / "icons" / "settings.svg").read_text("utf-8")


def drop(page: "Page", *, content: str, kind: str, name: str) -> None:
    """Drop a file on the page, as a browser tells it."""
    page.evaluate(
        """async ({ content, kind, name, draw }) => {
          const blob = kind === "image/png" ? await eval(draw)(content) : content;
          const carried = new DataTransfer();
          carried.items.add(new File([blob], name, { type: kind }));
          for (const type of ["dragenter", "dragover", "drop"]) {
            document.querySelector("#results").dispatchEvent(
              new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
            await new Promise(requestAnimationFrame);
            if (type === "dragover") window.shaded = !document.querySelector("#drop").hidden;
          }
        }""",
        {"content": content, "kind": kind, "name": name, "draw": DRAW},
    )


def finds_settings(page: "Page") -> None:
    expect(page.locator("#summary")).to_contain_text("your picture")
    expect(page.locator("#grid .name").first).to_have_text("settings")
    expect(page.locator("#picture")).to_be_visible()


def test_a_pasted_screenshot_finds_its_icon(page: "Page") -> None:
    page.evaluate(
        f"async (svg) => navigator.clipboard.write([new ClipboardItem({{ 'image/png': ({DRAW})(svg) }})])", SETTINGS
    )
    page.locator("#words").press("Control+V")
    finds_settings(page)


@pytest.mark.slow
def test_a_dropped_picture_finds_its_icon_wherever_it_falls(page: "Page") -> None:
    drop(page, content=SETTINGS, kind="image/png", name="shot.png")
    finds_settings(page)
    assert page.evaluate("() => window.shaded")
    expect(page.locator("#drop")).to_be_hidden()


@pytest.mark.slow
def test_the_picture_is_in_the_address_and_no_server_sees_it_there(page: "Page", open_page: Open) -> None:
    drop(page, content=SETTINGS, kind="image/png", name="shot.png")
    finds_settings(page)
    path, picture = re.fullmatch(r"http://[^/]+(/[^#]*)#(picture=[\w-]+)", page.url).groups()  # type: ignore[union-attr]
    assert len(picture) < 20_000
    found = page.locator("#grid .name").all_inner_texts()[:60]  # those after them may still be on their way
    again = open_page(f"{path}#{picture}")
    finds_settings(again)
    assert again.locator("#grid .name").all_inner_texts()[:60] == found


@pytest.mark.slow
def test_words_narrow_a_picture_and_it_can_be_taken_away(page: "Page") -> None:
    drop(page, content=SETTINGS, kind="image/png", name="shot.png")
    finds_settings(page)
    page.locator("#words").fill("bell")
    expect(page.locator("#summary")).to_contain_text("“bell” and your picture")
    page.get_by_role("button", name="Search without the picture").click()
    expect(page.locator("#grid .name").first).to_have_text("bell")
    expect(page.locator("#picture")).to_be_hidden()
    assert "#picture" not in page.url


@pytest.mark.slow
def test_a_file_that_is_no_picture_is_refused_by_name(page: "Page") -> None:
    drop(page, content="a,b,c", kind="text/csv", name="table.csv")
    expect(page.locator("#toast")).to_have_text("“table.csv” is not a picture that this browser can read.")
    expect(page.locator("#start")).to_be_visible()
