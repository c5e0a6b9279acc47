"""Pages that commands write: a screenshot with what was found framed, a mapping in which a person chooses and saves."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from site_of_icons import click, shows

from search.code.map import Candidate, IconMapping, Mapped, Name, mapping_page
from search.query import Hit
from search.screens.locate import LocatedFile
from search.screens.locate_page import located_page
from search.screens.results import Box, LocatedIcon, LocatedPicture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DANGEROUS = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>top.stolen = 1</script>'
    b'<path d="M0 0h9v9z"/></svg>'
)
FOUND = (
    ("bell", Box(40, 30, 60, 50), 0.97), ("<b>star", Box(120, 30, 150, 60), 0.31), ("moon", Box(200, 80, 220, 96), None)
)  # fmt: skip


def hit(name: str, number: int, score: float) -> Hit:
    return Hit(
        id=number, key=f"mine:{name}", image=number, digest="", name=name, words=name, set="mine", set_title="Mine",
        style="outline", size=24, licence="MIT", licence_family="permissive", coloured=False, animated=False,
        path=f"/mine/{name}.svg", member="", score=score, similarity=0.9, exact=False, n_variants=1, also=(), n_also=0,
    )  # fmt: skip


def drawn(images: Iterable[int]) -> list[tuple[int, bytes]]:
    return [(image, DANGEROUS) for image in images]


@pytest.fixture
def opened(browser: "Browser") -> "Page":
    return browser.new_page(viewport={"width": 1200, "height": 700})


def test_frames_stand_where_icons_are_and_a_click_shows_their_names_and_crop(opened: "Page", tmp_path: Path) -> None:
    pixels = np.full((120, 240, 3), 240, np.uint8)
    pixels[30:50, 40:60] = (200, 0, 0)
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG")
    icons = [
        LocatedIcon(box, 0.9, [hit(name, n, score), hit(f"{name}-off", n + 10, score / 2)] if score else [])
        for n, (name, box, score) in enumerate(FOUND)
    ]
    located = LocatedPicture(240, 120, "screen", icons, 3, is_cut=False)
    files = [LocatedFile("shot.png", located, 0.1, written.getvalue()), LocatedFile("b.png", error='"b.png": broken')]
    (tmp_path / "found.html").write_text(located_page(files, drawn), "utf-8")
    opened.goto((tmp_path / "found.html").as_uri())
    shot, frame = opened.locator(".shot img").bounding_box(), opened.locator('[data-name="bell"]').bounding_box()
    assert (shot["width"], shot["height"], frame["width"], frame["height"]) == pytest.approx(
        (240, 120, 20, 20), abs=0.5
    )
    assert (frame["x"] - shot["x"], frame["y"] - shot["y"]) == pytest.approx((40, 30), abs=0.5)
    shows(opened, {".frame.sure": 1, ".frame.doubtful": 1, ".frame.unknown": 1, ".picture img": 4})
    shows(opened, {".refused": '"b.png": broken', "h1": "2 screenshots"})
    opened.locator('[data-name="<b>star"]').click()
    panel = opened.locator("section:visible")
    assert panel.locator("code").all_inner_texts() == ["mine:<b>star", "mine:<b>star-off"]
    assert panel.locator(".sure b").all_inner_texts() == ["31%", "16%"] and "No good match" in panel.inner_text()
    opened.locator('[data-name="bell"]').click()
    colour = "[...panel.getContext('2d').getImageData(96, 96, 1, 1).data]"
    assert panel.locator("canvas").evaluate(f"panel => {colour}") == [200, 0, 0, 255]
    assert opened.evaluate("window.stolen") is None


def test_a_person_chooses_and_saves(opened: "Page", tmp_path: Path) -> None:
    home, bell, star = (Candidate(Name("to", name), n, n) for n, name in enumerate(("home", "bell", 'a"<b>')))
    sure = IconMapping(Name("from", "house"), 9, [home, bell], 0.95, is_doubtful=False)
    odd = IconMapping(Name("from", 'x,"<i>'), None, [bell, star, home], 0.4, is_doubtful=True)
    (tmp_path / "page.html").write_bytes(mapping_page(Mapped("to", [sure, odd]), drawn))
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.goto((tmp_path / "page.html").as_uri())
    rows = opened.locator("li")
    assert "doubtful 40%" in rows.first.inner_text() and "by name alone" in rows.first.inner_text()
    shows(opened, {"#count": "1 doubtful left, 0 chosen"})
    opened.get_by_label("doubtful only").check()
    shows(opened, {"li": True, "li >> nth=1": False})
    rows.first.get_by_label('a"<b>').check(force=True)
    shows(opened, {"#count": "0 doubtful left, 1 chosen"})
    opened.get_by_label("doubtful only").uncheck()
    rows.nth(1).get_by_label("none").press("Space")
    with opened.expect_download() as saving:
        click(opened, "Save as CSV")
    with saving.value.path().open(newline="") as lines:
        saved = {row["source"]: (row["target"], row["doubtful"]) for row in csv.DictReader(lines)}
    assert saved == {'from:x,"<i>': ('to:a"<b>', ""), "from:house": ("", "")}
    assert complaints == [] and opened.title() == "from to to"
