"""Do strokes, corners and sizes of a copy become what was asked for, and nothing else?"""

import pytest
from drawn_icons import sample

from indexer.errors import IconsError
from search.drawings.drawn import Look, restyled

_ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"'


def restyled_text(svg: str, **look: object) -> str:
    return restyled(svg.encode(), Look(**look)).decode()  # type: ignore[arg-type]


def test_a_colour_alone_touches_nothing_else() -> None:
    assert restyled_text("<svg><g stroke='currentColor'><p></svg>", colour="red") == (
        "<svg fill=\"red\"><g stroke='red'><p></svg>"
    )


def test_the_longer_side_gets_the_size() -> None:
    text = restyled_text(f"{_ROOT}><path d='M0 0'/></svg>", size=48)
    assert 'width="48"' in text and 'height="24"' in text
    without = restyled_text('<svg xmlns="http://www.w3.org/2000/svg" width="16" height="8px"/>', size=32)
    assert 'viewBox="0 0 16 8"' in without and 'width="32"' in without and 'height="16"' in without


def test_widths_keep_their_proportions() -> None:
    text = restyled_text(
        f'{_ROOT} stroke="#000" stroke-width="2"><path stroke-width="1"/><path style="stroke-width:.5px"/></svg>',
        stroke_width=3,
    )
    assert text.count('stroke-width="3"') == 1
    assert 'stroke-width="1.5"' in text and "stroke-width:0.75" in text


def test_a_stroke_without_a_width_gets_one_and_a_filled_icon_none() -> None:
    assert 'stroke-width="1.5"' in restyled_text(f'{_ROOT} stroke="red"><path/></svg>', stroke_width=1.5)
    assert "stroke" not in restyled_text(f"{_ROOT}><path/></svg>", stroke_width=1.5, corner="sharp")


@pytest.mark.parametrize(("corner", "cap", "join"), [("sharp", "square", "miter"), ("round", "round", "round")])
def test_corners_are_those_of_all_strokes(corner: str, cap: str, join: str) -> None:
    text = restyled_text(
        f'{_ROOT} stroke="red" stroke-linecap="butt">'
        '<path style="stroke-linejoin:bevel;fill:red" stroke-linecap="x"/></svg>',
        corner=corner,
    )
    assert text.count("stroke-linecap") == text.count("stroke-linejoin") == 1
    assert f'stroke-linecap="{cap}"' in text and f'stroke-linejoin="{join}"' in text and "fill:red" in text


def test_what_is_not_well_formed_keeps_its_shape() -> None:
    with pytest.raises(IconsError, match="not well-formed"):
        restyled(b"<svg><path></svg>", Look(size=3))


def test_samples_stay_readable_in_every_look() -> None:
    svg = sample("bell").svg
    assert svg is not None
    once = restyled(svg, Look(size=16, stroke_width=1, corner="sharp", colour="red"))
    assert restyled(once, Look(size=16)) == once
