"""Does an icon show on every ground: light on dark, in its colours where these show, on white where they do not?"""

import numpy as np
import pytest
from conftest import svg

from indexer.errors import RenderError
from search.showing.terminal import Colour, is_dark, tile

NIGHT, CREAM = (30, 30, 46), (253, 246, 227)
BLACK = svg('<path d="M4 4h16v16h-16z"/>').encode()
RED = svg('<path fill="#e11" d="M4 4h16v16h-16z"/>').encode()
RED_AND_BLACK = svg('<path fill="#e11" d="M4 4h8v16h-8z"/><path d="M12 4h8v16h-8z"/>').encode()


@pytest.mark.parametrize(
    ("content", "ground", "corner", "middle"),
    [
        (BLACK, None, (255, 255, 255), (0, 0, 0)),
        (BLACK, NIGHT, NIGHT, (232, 232, 232)),
        (BLACK, CREAM, CREAM, (0, 0, 0)),
        (RED, NIGHT, NIGHT, (238, 17, 17)),
        (RED_AND_BLACK, NIGHT, (255, 255, 255), (238, 17, 17)),
        (RED_AND_BLACK, CREAM, CREAM, (238, 17, 17)),
    ],
)
def test_ink_shows_on_its_ground(content: bytes, ground: Colour | None, corner: Colour, middle: Colour) -> None:
    drawn = tile(content, size=24, ground=ground)
    assert (drawn.shape, drawn.dtype) == ((24, 24, 3), np.uint8)
    assert (tuple(drawn[0, 0]), tuple(drawn[12, 10])) == (corner, middle)


def test_a_wide_picture_stands_in_the_middle() -> None:
    wide = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"><path d="M0 0h24v12h-24z"/></svg>'
    drawn = tile(wide, size=24, ground=NIGHT)
    assert [tuple(drawn[row, 12]) for row in (5, 6, 17, 18)] == [NIGHT, (232, 232, 232), (232, 232, 232), NIGHT]


@pytest.mark.parametrize("ground", [None, NIGHT, CREAM])
def test_what_is_no_picture_is_refused(ground: Colour | None) -> None:
    with pytest.raises(RenderError):
        tile(b"no picture", size=24, ground=ground)


@pytest.mark.parametrize(
    ("ground", "answer"), [(NIGHT, True), (CREAM, False), ((0, 43, 54), True), ((238, 232, 213), False)]
)
def test_a_ground_is_dark_where_black_does_not_show(ground: Colour, answer: bool) -> None:
    assert is_dark(ground) is answer
