import numpy as np
import pytest

from indexer.arrays import Pixels
from indexer.screens.boxes import NO_BOXES, Boxes, picture_kind


def _boxes(n: int) -> Boxes:
    return Boxes(np.tile(np.array([0, 0, 20, 20], np.float32), (n, 1)), np.ones(n, np.float32))


def _page(*, n_words: int) -> Pixels:
    """A large page with two squares, and some words: bars that stand apart."""
    page = np.full((800, 1280, 3), 250, np.uint8)
    page[40:60, 40:60] = page[40:60, 1200:1220] = 30
    for word in range(n_words):
        left, top = 60 + 110 * (word % 10), 120 + 40 * (word // 10)
        page[top : top + 10, left : left + 70] = 90
    return page


@pytest.mark.parametrize(("n_icons", "kind"), [(2, "screen"), (0, "neither")])
def test_a_page_of_words_with_few_icons_is_no_icon(n_icons: int, kind: str) -> None:
    assert picture_kind(_page(n_words=60), _boxes(n_icons)) == kind


def test_one_large_drawing_on_an_even_ground_is_an_icon() -> None:
    drawing = np.full((500, 500, 3), 20, np.uint8)
    drawing[100:400, 100:130] = drawing[100:130, 100:400] = drawing[300:400, 300:400] = 240
    assert picture_kind(drawing, _boxes(2)) == "icon"
    assert picture_kind(drawing, _boxes(9)) == "screen"


def test_a_photograph_is_neither() -> None:
    ramp = np.linspace(0, 255, 600).astype(np.uint8)
    photograph = np.stack(np.broadcast_arrays(ramp[:, None], ramp[None, :], ramp[::-1, None]), axis=-1)
    assert picture_kind(np.ascontiguousarray(photograph), NO_BOXES) == "neither"
