"""The page of a screenshot frames what was found where it is, with the names of the chosen frame."""

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from search.results import Hit
from search.screens.locate import LocatedFile
from search.screens.locate_page import located_page
from search.screens.results import Box, LocatedIcon, LocatedPicture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DANGEROUS = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>top.stolen = 1</script>'
    b'<path d="M0 0h9v9z"/></svg>'
)
BOXES = {"bell": Box(40, 30, 60, 50), "<b>star": Box(120, 30, 150, 60), "moon": Box(200, 80, 220, 96)}
SCORES = {"bell": 0.97, "<b>star": 0.31, "moon": None}


def hit(name: str, number: int, score: float) -> Hit:
    return Hit(
        id=number, key=f"mine:{name}", image=number, digest="", name=name, words=name, set="mine", set_title="Mine",
        style="outline", size=24, licence="MIT", licence_family="permissive", coloured=False, animated=False,
        path=f"/mine/{name}.svg", member="", score=score, similarity=0.9, exact=False, n_variants=1, also=(), n_also=0,
    )  # fmt: skip


def icon(name: str, number: int) -> LocatedIcon:
    score = SCORES[name]
    hits = [hit(name, number, score), hit(f"{name}-off", number + 10, score / 2)] if score else []
    return LocatedIcon(BOXES[name], 0.9, hits)


@pytest.fixture(scope="module")
def page(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> "Page":
    pixels = np.full((120, 240, 3), 240, np.uint8)
    pixels[30:50, 40:60] = (200, 0, 0)
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG")
    icons = [icon(name, number) for number, name in enumerate(BOXES)]
    located = LocatedPicture(240, 120, "screen", icons, 3, is_cut=False)
    files = [LocatedFile("shot.png", located, 0.1, written.getvalue()), LocatedFile("b.png", error='"b.png": broken')]
    file = tmp_path_factory.mktemp("located") / "found.html"
    file.write_text(located_page(files, lambda images: [(image, DANGEROUS) for image in images]), "utf-8")
    opened = browser.new_page(viewport={"width": 1200, "height": 700})
    opened.goto(file.as_uri())
    return opened


def test_frames_stand_where_the_icons_are(page: "Page") -> None:
    shot = page.locator(".shot img").bounding_box()
    frame = page.locator('[data-name="bell"]').bounding_box()
    assert shot and frame
    assert (shot["width"], shot["height"]) == (240, 120)
    place = (frame["x"] - shot["x"], frame["y"] - shot["y"], frame["width"], frame["height"])
    assert place == pytest.approx((40, 30, 20, 20), abs=0.5)
    assert page.locator(".frame.sure").count() == page.locator(".frame.doubtful").count() == 1
    assert page.locator(".frame.unknown").count() == 1


def test_a_click_shows_the_names_and_the_crop(page: "Page") -> None:
    page.locator('[data-name="<b>star"]').click()
    panel = page.locator("section:visible")
    assert panel.locator("code").all_inner_texts() == ["mine:<b>star", "mine:<b>star-off"]
    assert panel.locator(".sure b").all_inner_texts() == ["31%", "16%"]
    assert "No good match" in panel.inner_text()
    page.locator('[data-name="bell"]').click()
    colour = "[...panel.getContext('2d').getImageData(96, 96, 1, 1).data]"
    assert page.locator("section:visible canvas").evaluate(f"panel => {colour}") == [200, 0, 0, 255]


def test_no_script_of_a_picture_runs_and_a_broken_file_is_told(page: "Page") -> None:
    assert page.locator(".picture img").count() == 4
    assert page.evaluate("window.stolen") is None
    assert page.locator(".refused").inner_text() == '"b.png": broken'
    assert page.locator("h1").inner_text() == "2 screenshots"
