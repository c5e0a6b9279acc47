import json
from pathlib import Path

import numpy as np
import pytest

from data.making.detector.browser import Browser, painted_icons
from data.making.detector.page import Viewport
from data.making.detector.product_icons import Found, Namer, Rules, mark_icons
from data.making.detector.products import ORIGIN, Files, install_lines, read_products

_SVG = '<svg viewBox="0 0 24 24" width="24" height="24" class="x"><path d="M4 4h16v16H4z"/></svg>'
_PAGE = f"""<style>body {{ margin: 0 }} span, div {{ position: absolute; top: 10px }}
.ti::before {{ content: "\\e001"; font: 20px sans-serif }} .mask {{ width: 16px; height: 16px; background: #000;
mask-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cpath d='M0 0h9v9z'/%3E%3C/svg%3E") }}
</style><div style="left: 20px">{_SVG}</div><div style="left: 80px"><b class="ti ti-home"></b></div>
<div style="left: 140px" class="logo">{_SVG}</div><div style="left: 200px" class="mask"></div>
<div style="left: 260px"><svg width="300" height="200"><rect width="300" height="200"/></svg></div>"""


def found(classes: str = "", *, svg: str = "", prefix: str = "", name: str = "") -> Found:
    return Found(classes, name, prefix, svg, "inline", (24, 24))


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets")
    (folder / "json").mkdir()
    bodies = {"stop": "M4 4h16v16H4z", "play": "M6 4l14 8-14 8z"}
    icons = {name: {"body": f'<path fill="currentColor" d="{path}"/>'} for name, path in bodies.items()}
    plus = '<path fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" d="M3 12h18M12 3v18"/>'
    icons["plus"] = {"body": plus}
    for prefix in ("fa-solid", "mdi"):
        facts = {"prefix": prefix, "icons": icons, "aliases": {"halt": {"parent": "stop"}}, "width": 24, "height": 24}
        (folder / "json" / f"{prefix}.json").write_text(json.dumps(facts))
    return folder


def test_icons_are_svgs_glyphs_and_masks_and_neither_logos_nor_illustrations(browser: Browser) -> None:
    browser.show(_PAGE, Viewport(600, 240, 1))
    marked = mark_icons(browser, Rules(skip=".logo"))
    assert [one.drawn for one in marked] == ["inline", "font-before", "mask"]
    assert marked[1].classes == "ti ti-home"


def test_a_marked_icon_is_measured_by_its_pixels(browser: Browser) -> None:
    browser.show(_PAGE, Viewport(600, 240, 1))
    mark_icons(browser, Rules(skip=".logo"))
    pixels, icons = painted_icons(browser, scale=1)
    assert pixels.shape == (240, 600, 3)
    np.testing.assert_allclose(icons[0].box, (24, 14, 40, 30), atol=1)
    assert [icon.key for icon in icons if icon.drawn != "font-before"] == ["0", "2"]


def test_two_pseudo_elements_of_one_element_are_two_icons(browser: Browser) -> None:
    glyphs = ".two::before { content: '\\e001' } .two::after { content: '\\e002'; float: right }"
    page = f"<style>.two {{ font: 20px sans-serif; width: 200px }} {glyphs}</style><div class=two></div>"
    browser.show(page, Viewport(300, 100, 1))
    assert [one.drawn for one in mark_icons(browser, Rules())] == ["font-before", "font-after"]
    _, (before, after) = painted_icons(browser, scale=1)
    assert before.box[2] < 100 < after.box[0]


def test_a_class_names_an_icon_and_aliases_lead_to_their_icon(sets: Path) -> None:
    namer = Namer(sets, families=["fontawesome5"], sets=[])
    assert namer.key(found("fas fa-lg fa-fw fa-play")) == "fa-solid:play"
    assert namer.key(found("fas fa-halt")) == "fa-solid:stop"
    assert namer.key(found("fas fa-unheard-of")) == ""
    assert namer.key(found(prefix="fas", name="play")) == "fa-solid:play"


def test_a_drawing_names_an_icon_however_it_is_written(sets: Path) -> None:
    namer = Namer(sets, families=[], sets=["mdi"])
    assert namer.key(found(svg=_SVG)) == "mdi:stop"
    sharper = '<svg viewBox="0 0 48 48" fill="red" width="12"><polygon points="12,8 40,24 12,40"/></svg>'
    assert namer.key(found(svg=sharper)) == "mdi:play"
    assert namer.key(found(svg='<svg viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/></svg>')) == ""


def test_only_files_below_the_packages_are_given_out(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "one").mkdir(parents=True)
    (packages / "one" / "index.html").write_text("here")
    (tmp_path / "secret.txt").write_text("no")
    files = Files(packages, {ORIGIN: "one/"})
    assert files.find(f"{ORIGIN}index.html") == packages / "one" / "index.html"
    assert files.find(f"{ORIGIN}../../secret.txt") is None
    assert files.find("https://elsewhere.test/index.html") is None


def test_products_have_names_of_their_own_and_commands_that_install_them() -> None:
    names = [product.name for product in read_products()]
    assert len(set(names)) == len(names) >= 5
    npm, _, pip = install_lines(Path("aside"))
    assert "gentelella@" in npm
    assert "--ignore-scripts" in npm
    assert "jupyterlab==" in pip
