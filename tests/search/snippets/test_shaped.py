"""Do strokes, corners and sizes of a copy become what was asked for, and nothing else?"""

import pytest
from drawn_icons import drawing, sample

from search.drawings.drawn import Look, NamedIcon
from search.drawings.frameworks import framework
from search.drawings.write import write

_ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"'


def restyled(svg: str, **look: object) -> str:
    icon = NamedIcon("own:icon", "own", "icon", svg.encode())
    return write([icon], framework("svg"), Look(**look)).code  # type: ignore[arg-type]


def test_the_longer_side_gets_the_size() -> None:
    text = restyled(f"{_ROOT}><path d='M0 0'/></svg>", size=48)
    assert 'width="48"' in text and 'height="24"' in text
    without = restyled('<svg xmlns="http://www.w3.org/2000/svg" width="16" height="8px"/>', size=32)
    assert 'viewBox="0 0 16 8"' in without and 'width="32"' in without and 'height="16"' in without


def test_widths_keep_their_proportions() -> None:
    text = restyled(
        f'{_ROOT} stroke="#000" stroke-width="2"><path stroke-width="1"/><path style="stroke-width:.5px"/></svg>',
        stroke_width=3,
    )
    assert text.count('stroke-width="3"') == 1
    assert 'stroke-width="1.5"' in text and "stroke-width:0.75" in text


def test_a_stroke_without_a_width_gets_one_and_a_filled_icon_none() -> None:
    assert 'stroke-width="1.5"' in restyled(f'{_ROOT} stroke="red"><path/></svg>', stroke_width=1.5)
    assert "stroke" not in restyled(f"{_ROOT}><path/></svg>", stroke_width=1.5, corner="sharp")


@pytest.mark.parametrize(("corner", "cap", "join"), [("sharp", "square", "miter"), ("round", "round", "round")])
def test_corners_are_those_of_all_strokes(corner: str, cap: str, join: str) -> None:
    text = restyled(
        f'{_ROOT} stroke="red" stroke-linecap="butt">'
        '<path style="stroke-linejoin:bevel;fill:red" stroke-linecap="x"/></svg>',
        corner=corner,
    )
    assert text.count("stroke-linecap") == text.count("stroke-linejoin") == 1
    assert f'stroke-linecap="{cap}"' in text and f'stroke-linejoin="{join}"' in text and "fill:red" in text


def test_a_colour_goes_to_what_an_icon_leaves_open() -> None:
    svg = sample("bell").svg
    assert svg is not None
    assert 'stroke="red"' in restyled(svg.decode(), colour="red")
    filled = drawing('<path d="M0 0h9v9z"/><path fill="#00f" d="M1 1h1"/>').svg
    assert filled is not None
    coloured = restyled(filled.decode(), colour="red")
    assert coloured.count('fill="red"') == 1 and 'fill="#00f"' in coloured
