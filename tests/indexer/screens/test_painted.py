"""Boxes are those of painted pixels, whatever way an icon is drawn and whatever lies upon it."""

from random import Random

import numpy as np
import pytest

from indexer.screens.browser import Browser
from indexer.screens.drawn import WAYS, Pen
from indexer.screens.icon_pool import Drawing
from indexer.screens.page import Viewport
from indexer.screens.painted import painted_box, painted_icons, without_touching
from indexer.screens.stored import ScreenIcon

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


def placed(icon: str, left: int = 40, top: int = 20) -> str:
    return f'<div style="position:absolute;left:{left}px;top:{top}px;line-height:0">{icon}</div>'


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [1, 2])
def test_each_way_of_drawing_has_the_box_of_its_pixels(browser: Browser, way: str, scale: int) -> None:
    pen = OneWay(way)
    icon = pen.draw(SQUARE, 24, "#c00")
    (found,) = shown(browser, pen, placed(icon) + "<p>words</p>", scale=scale)
    assert (found.key, found.drawn) == ("squares:home", way)
    assert found.box == tuple(side * scale for side in (44, 26, 60, 38))


def test_what_lies_upon_an_icon_is_not_its_own(browser: Browser) -> None:
    pen = OneWay("inline")
    cover = '<div style="position:absolute;left:52px;top:0;width:30px;height:90px;background:#080"></div>'
    (found,) = shown(browser, pen, placed(pen.draw(SQUARE, 24, None)) + cover)
    assert found.box == (44, 26, 52, 38)


def test_icons_that_overlap_keep_boxes_of_their_own(browser: Browser) -> None:
    pen = OneWay("inline")
    one, other = pen.draw(SQUARE, 24, "#00c"), pen.draw(SQUARE, 24, "#c00")
    boxes = [icon.box for icon in shown(browser, pen, placed(one) + placed(other, left=50))]
    assert boxes == [(44, 26, 54, 38), (54, 26, 70, 38)]


def test_an_icon_in_the_colour_of_its_ground_or_out_of_sight_has_no_box(browser: Browser) -> None:
    pen = OneWay("inline")
    unseen = placed(pen.draw(SQUARE, 24, "#fefefe")) + placed(pen.draw(SQUARE, 24, "#000"), left=400)
    assert shown(browser, pen, unseen) == []


def test_two_icons_of_one_drawing_with_ids_do_not_share_them() -> None:
    clip = '<defs><clipPath id="a"><path d="M0 0h9v9H0z"/></clipPath></defs><g clip-path="url(#a)"/>'
    pen = OneWay("inline")
    drawing = Drawing("squares:cut", f'<svg viewBox="0 0 24 24">{clip}</svg>', 24, 24, is_coloured=True)
    first, second = pen.draw(drawing, 24, None), pen.draw(drawing, 24, None)
    assert 'id="u1-a"' in first
    assert "url(#u1-a)" in first
    assert 'id="u2-a"' in second


def test_a_box_is_tight_around_what_has_changed_enough() -> None:
    change = np.zeros((30, 40), np.uint8)
    change[10:20, 5:25] = 200
    change[8, 5:25] = 15  # less than a tenth of the rest
    assert painted_box(change, (0, 0, 40, 30)) == (5, 10, 25, 20)
    assert painted_box(change, (30, 0, 40, 30)) is None


def test_rectangles_that_touch_are_looked_at_apart() -> None:
    boxes = [(0, 0, 10, 10), (8, 0, 18, 10), (20, 0, 30, 10), (5, 5, 5, 9)]
    assert without_touching(boxes) == [[0, 2], [1]]
