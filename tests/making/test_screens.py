"""Screens of products that never were and of some that are: templates, sets, and boxes of painted pixels."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from data.making.detector.browser import Browser, painted_icons
from data.making.detector.filler import templates_of
from data.making.detector.icons import WAYS, Drawing, IconPool, Pen
from data.making.detector.page import Page, Viewport
from data.making.detector.product_icons import Found, Namer, Rules, mark_icons
from data.making.detector.products import ORIGIN, Files
from data.making.detector.render import PHONE, PLAIN, Recipe, Studio

from .conftest import write_set

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">'
    '<path fill="currentColor" d="M4 6h16v12H4z"/></svg>'
)
SQUARE = Drawing("squares:home", _SVG, 24, 24, is_coloured=False)


@pytest.mark.parametrize("room", [pytest.param("training", marks=pytest.mark.slow), "validation", "held-out"])
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
        pen = Pen(Random(0))
        pen._way = lambda drawing, colour: way  # type: ignore[method-assign]
        icon = f'<div style="position:absolute;left:40px;top:20px;line-height:0">{pen.draw(SQUARE, 24, "#c00")}</div>'
        head = f"<style>body{{margin:0;background:#fff;color:#111}}</style>{pen.head()}"
        body = f"<body>{pen.sprite()}{icon}<p>words</p></body>"
        browser.show(f"<!doctype html><html><head>{head}</head>{body}</html>", Viewport(200, 100, scale))
        (found,) = painted_icons(browser, scale=scale)[1]
        assert (found.key, found.drawn) == ("squares:home", way)
        assert found.box == tuple(side * scale for side in (44, 26, 60, 38))


def test_a_screen_depends_on_its_seed_alone(iconify: Path, browser: Browser) -> None:
    screens = []
    for numbers in ((0, 1), (1,)):
        studio = Studio(Recipe(iconify, only="data-table"), browser)
        screens.append([studio.screen(number) for number in numbers][-1])
    (one, pixels), (other, same) = screens
    assert one == other and len(one.icons) > 5
    assert (pixels == same).all()


_ICON = '<svg viewBox="0 0 24 24" width="24" height="24" class="x"><path d="M4 4h16v16H4z"/></svg>'
_PAGE = f"""<style>body {{ margin: 0 }} span, div {{ position: absolute; top: 10px }}
.ti::before {{ content: "\\e001"; font: 20px sans-serif }} .mask {{ width: 16px; height: 16px; background: #000;
mask-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cpath d='M0 0h9v9z'/%3E%3C/svg%3E") }}
</style><div style="left: 20px">{_ICON}</div><div style="left: 80px"><b class="ti ti-home"></b></div>
<div style="left: 140px" class="logo">{_ICON}</div><div style="left: 200px" class="mask"></div>
<div style="left: 260px"><svg width="300" height="200"><rect width="300" height="200"/></svg></div>"""


def found(classes: str = "", *, svg: str = "", prefix: str = "", name: str = "") -> Found:
    return Found(classes, name, prefix, svg, "inline", (24, 24))


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    bodies = {"stop": "M4 4h16v16H4z", "play": "M6 4l14 8-14 8z", "halt": "M4 4h16v16H4z"}
    drawn = {name: f'<path fill="currentColor" d="{path}"/>' for name, path in bodies.items()}
    for prefix in ("fa-solid", "mdi"):
        write_set(tmp_path, prefix, drawn)
    return tmp_path


def test_icons_are_svgs_glyphs_and_masks_and_neither_logos_nor_illustrations(browser: Browser) -> None:
    browser.show(_PAGE, Viewport(600, 240, 1))
    marked = mark_icons(browser, Rules(skip=".logo"))
    assert ([one.drawn for one in marked], marked[1].classes) == (["inline", "font-before", "mask"], "ti ti-home")
    pixels, icons = painted_icons(browser, scale=1)
    assert pixels.shape == (240, 600, 3)
    np.testing.assert_allclose(icons[0].box, (24, 14, 40, 30), atol=1)  # by its pixels
    assert [icon.key for icon in icons if icon.drawn != "font-before"] == ["0", "2"]


def test_a_class_or_a_drawing_names_an_icon_however_it_is_written(sets: Path) -> None:
    namer = Namer(sets, families=["fontawesome5"], sets=["mdi"])
    assert (namer.key(found("fas fa-lg fa-fw fa-play")), namer.key(found("fas fa-unheard-of"))) == ("fa-solid:play", "")
    assert namer.key(found(prefix="fas", name="play")) == "fa-solid:play"
    assert namer.key(found(svg=_ICON)) == "mdi:stop"
    sharper = '<svg viewBox="0 0 48 48" fill="red" width="12"><polygon points="12,8 40,24 12,40"/></svg>'
    assert namer.key(found(svg=sharper)) == "mdi:play"
    assert namer.key(found(svg='<svg viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/></svg>')) == ""


def test_only_files_below_the_packages_are_given_out(tmp_path: Path) -> None:
    page = tmp_path / "packages" / "one" / "index.html"
    page.parent.mkdir(parents=True)
    for file in (page, tmp_path / "secret.txt"):
        file.touch()
    files = Files(tmp_path / "packages", {ORIGIN: "one/"})
    assert files.find(f"{ORIGIN}index.html") == page and files.find(f"{ORIGIN}../../secret.txt") is None
    assert files.find("https://elsewhere.test/index.html") is None
