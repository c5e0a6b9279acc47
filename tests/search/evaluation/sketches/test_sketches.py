"""Sketches: how strokes become a picture, and how often the icon that was meant is found."""

import re
from pathlib import Path

import pytest
from called_icons import build_called

from search.engine import SearchEngine
from search.evaluation.sketches.drawing import PAGE, Preparation, as_svg
from search.evaluation.sketches.measure import measure, ranked
from search.evaluation.sketches.sketch import Sketch, read_sketches


def numbers(svg: str) -> list[float]:
    """Coordinates of all paths."""
    return [float(text) for d in re.findall(r'd="([^"]+)"', svg) for text in re.findall(r"-?[0-9.]+", d)]


def test_a_sketch_is_cut_to_its_ink_and_centred() -> None:
    svg = as_svg([[(100, 50), (300, 50)], [(200, 50), (200, 150)]])
    assert numbers(svg) == [2, 7, 22, 7, 12, 7, 12, 17]
    assert 'stroke-width="1.5" stroke-linecap="round"' in svg


def test_the_canvas_can_be_taken_as_it_is() -> None:
    svg = as_svg([[(0, 0), (320, 160)]], Preparation("raw", is_cropped=False))
    assert numbers(svg) == [0, 0, 24, 12]


def test_shaking_is_smoothed_and_ends_stay() -> None:
    line = [(0.0, 0.0), *((x, 0.4 if x % 2 else -0.4) for x in range(1, 200)), (200.0, 0.0)]
    svg = as_svg([line])
    assert svg.count("Q") < 40
    assert numbers(svg)[:2] == [2, 12]
    assert numbers(svg)[-2:] == [22, 12]


@pytest.mark.parametrize("strokes", [[[(5.0, 5.0)]], [[(5.0, 5.0), (5.0, 5.0)]]])
def test_a_dot_stays_a_dot(strokes: list[list[tuple[float, float]]]) -> None:
    assert numbers(as_svg(strokes)) == [12, 12, 12, 12]


def test_the_bundled_sketches_are_whole() -> None:
    sketches = read_sketches()
    assert [sum(one.by == by for one in sketches) for by in ("lot", "hand")] == [40, 20]
    assert all(0 <= n <= 320 for one in sketches for stroke in one.strokes for point in stroke for n in point)
    assert all(as_svg(one.strokes).startswith("<svg ") for one in sketches)


def test_a_sketch_finds_what_it_was_meant_to_be(tmp_path: Path) -> None:
    engine = SearchEngine.open(build_called(tmp_path).root)
    hits = engine.search("bell", k=1)
    bell = next(sketch for sketch in read_sketches() if sketch.right[0] == "bell")
    named, said = ranked(engine, bell, PAGE)
    assert hits[0].words == "bell"
    assert named is not None and said is not None and said <= named
    nothing = Sketch("hand", ("no such icon",), bell.strokes)
    assert ranked(engine, nothing, PAGE) == (None, None)
    [by_hand, everything] = measure(engine, [bell, nothing], [PAGE])
    assert (by_hand.by, by_hand.n, everything.by, everything.n) == ("hand", 2, "all", 2)
    assert by_hand.named_at_10 == 0.5
