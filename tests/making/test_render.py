"""Screens of products that never were: templates, the sets that they show, and boxes of painted pixels."""

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from data.making.detector.browser import Browser, painted_box, painted_icons, without_touching
from data.making.detector.filler import templates_of
from data.making.detector.icons import WAYS, Drawing, IconPool, Pen
from data.making.detector.page import Page, Viewport
from data.making.detector.render import PHONE, PLAIN, Recipe, ScreenWriter, Studio, render_screens
from indexer.errors import SourceError
from search.evaluation.screens import Screen, ScreenIcon, read_screens

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">'
    '<path fill="currentColor" d="M4 6h16v12H4z"/></svg>'
)
SQUARE = Drawing("squares:home", _SVG, 24, 24, is_coloured=False)


class OneWay(Pen):
    """Draws every icon in one way."""

    def __init__(self, way: str) -> None:
        super().__init__(Random(0))
        self._way = lambda drawing, colour: way  # type: ignore[method-assign]


def shown(browser: Browser, pen: Pen, body: str, *, scale: float = 1) -> list[ScreenIcon]:
    style = "<style>body{margin:0;background:#fff;color:#111}</style>"
    document = f"<!doctype html><html><head>{style}{pen.head()}</head><body>{pen.sprite()}{body}</body></html>"
    browser.show(document, Viewport(200, 100, scale))
    return painted_icons(browser, scale=scale)[1]


def placed(icon: str, left: int = 40) -> str:
    return f'<div style="position:absolute;left:{left}px;top:20px;line-height:0">{icon}</div>'


@pytest.mark.parametrize("room", ["training", "validation", "held-out"])
def test_a_template_shows_icons_unless_it_is_a_plain_one(room: str, iconify: Path) -> None:
    for name, template in templates_of(room).items():  # type: ignore[arg-type]
        bodies = []
        for seed in range(2):
            viewport = Viewport(390, 844, 1) if PHONE in name else Viewport(1280, 800, 1)
            bodies.append(template(Page(Random(seed), pool=IconPool(iconify, split="training"), viewport=viewport)))
        assert all(("data-icon=" in body) is not name.startswith(PLAIN) for body in bodies), name
        assert bodies[0] != bodies[1], name


def test_sets_that_are_measured_on_and_those_of_strict_licences_are_not_trained_on(iconify: Path) -> None:
    pools = {split: IconPool(iconify, split=split) for split in ("training", "held-out", "reserved")}  # type: ignore[arg-type]
    assert [pool.prefixes for pool in pools.values()] == [["squares"], ["heroicons"], ["lucide"]]
    (chosen, *_) = pools["training"].choose_sets(Random(0))
    assert "home" in chosen.names and "loading" not in chosen.names  # which moves
    assert [chosen.of_kind(kind) for kind in ("chevron", "search")] == [["chevron-down"], []]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_drawing_has_the_box_of_its_pixels(browser: Browser, way: str) -> None:
    for scale in (1, 2):
        pen = OneWay(way)
        (found,) = shown(browser, pen, placed(pen.draw(SQUARE, 24, "#c00")) + "<p>words</p>", scale=scale)
        assert (found.key, found.drawn) == ("squares:home", way)
        assert found.box == tuple(side * scale for side in (44, 26, 60, 38))


def test_a_box_is_tight_around_what_has_changed_enough() -> None:
    change = np.zeros((30, 40), np.uint8)
    change[10:20, 5:25] = 200
    change[8, 5:25] = 15  # less than a tenth of the rest
    assert painted_box(change, (0, 0, 40, 30)) == (5, 10, 25, 20)
    assert painted_box(change, (30, 0, 40, 30)) is None
    assert without_touching([(0, 0, 10, 10), (8, 0, 18, 10), (20, 0, 30, 10), (5, 5, 5, 9)]) == [[0, 2], [1]]


def test_a_screen_depends_on_its_seed_alone(iconify: Path, browser: Browser) -> None:
    screens = []
    for numbers in ((0, 1), (1,)):
        studio = Studio(Recipe(iconify, only="data-table"), browser)
        screens.append([studio.screen(number) for number in numbers][-1])
    (one, pixels), (other, same) = screens
    assert one == other and len(one.icons) > 5
    assert (pixels == same).all()


@pytest.mark.slow
def test_a_rerun_makes_what_is_missing(iconify: Path, tmp_path: Path) -> None:
    ScreenWriter(tmp_path).write(Screen("00000.png", 9, 9, 1, "plain-form", "dark", 0, ()), b"kept")
    options = ["--icons", str(iconify), "--out", str(tmp_path), "--screens", "3", "--only", "plain-form"]
    command = [sys.executable, "-m", "data.making.detector", "render", *options, "--workers", "2"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert [screen.seed for screen in read_screens(tmp_path)] == [0, 1, 2]
    assert (tmp_path / "00000.png").read_bytes() == b"kept"
    assert said.endswith("3 screens, 0 icons\n")


def test_a_folder_of_another_seed_and_a_template_that_is_not_there_are_refused(
    iconify: Path, tmp_path: Path, browser: Browser
) -> None:
    ScreenWriter(tmp_path).write(Screen("00000.png", 9, 9, 1, "board", "dark", 0, ()), b"kept")
    with pytest.raises(SourceError, match="another seed"):
        render_screens(Recipe(iconify, seed=4), tmp_path, n=2, workers=1)
    with pytest.raises(SourceError, match='no template "nonsense"'):
        Studio(Recipe(iconify, only="nonsense"), browser)
