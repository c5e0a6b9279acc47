"""Ranks, figures and intervals are what they are by hand; charts say what was measured; a wait says how far it is."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from indexer.reports import terminal
from indexer.reports.figures import (
    COLOURS,
    STYLE,
    UNRANKED,
    Bar,
    Curve,
    Figure,
    bar_chart,
    figures,
    first_ranks,
    line_chart,
    means,
    right_ranks,
)
from indexer.reports.terminal import ProgressLine, with_progress
from search.evaluation.evaluate import measure, ndcg

CORPUS = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def _slow_ranks(scores: list[float], right: set[int]) -> list[int]:
    """Lay everything out in a list, wrong ones first where scores are equal, and look where the right ones stand."""
    laid_out = sorted(range(len(scores)), key=lambda place: (-scores[place], place in right))
    return [
        UNRANKED if np.isneginf(scores[place]) else position
        for position, place in enumerate(laid_out, 1)
        if place in right
    ]


@given(st.data())
def test_ranks_are_those_of_the_slow_obvious_way(data: st.DataObject) -> None:
    few = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1.0])  # many ties
    scores = data.draw(st.lists(few, min_size=1, max_size=12))
    right = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    found = right_ranks(np.array(scores, np.float32), sorted(right))
    assert found.tolist() == _slow_ranks(scores, right)


def test_the_rank_of_a_query_is_that_of_its_first_right_answer() -> None:
    assert first_ranks(QUERIES, CORPUS, [[0], [0]]).tolist() == [1, 3]
    assert first_ranks(QUERIES, CORPUS, [[1, 2], [2]]).tolist() == [2, 2]
    assert first_ranks(QUERIES, np.ones((3, 2), np.float32), [[0], [1]]).tolist() == [3, 3]
    assert right_ranks(np.array([np.nan, 0.5, np.nan]), [0, 1]).tolist() == [1, UNRANKED]


def test_figures_are_means_over_queries_with_repeatable_intervals() -> None:
    ranks = np.array([1, 2, 7, 60])
    found = figures(ranks, seed=3)
    assert [found[name].value for name in ("R@1", "R@5", "R@10")] == [0.25, 0.5, 0.75]
    assert found["MRR@50"].value == round((1 + 1 / 2 + 1 / 7) / 4, 4)
    assert found["R@5"].low < 0.5 < found["R@5"].high
    assert figures(ranks, seed=3) == found
    many = np.random.default_rng(0).integers(1, 99, size=300)
    assert figures(many, seed=4) != figures(many, seed=3)


def test_intervals_are_percentiles_of_resampled_means() -> None:
    scores: npt.NDArray[np.float64] = np.random.default_rng(0).uniform(size=37)
    drawn = np.random.default_rng(5).integers(37, size=(1000, 37))
    low, high = np.percentile([scores[row].mean() for row in drawn], (2.5, 97.5))
    found = means({"one": scores, "two": 1 - scores}, seed=5)
    assert (found["one"].low, found["one"].high) == (round(low, 4), round(high, 4))
    assert found["two"].value == pytest.approx(1 - found["one"].value, abs=2e-4)


@given(st.sets(st.integers(1, 30), min_size=1, max_size=8))
def test_the_gain_is_that_of_the_slow_obvious_way(places: set[int]) -> None:
    ranks = np.array(sorted(places))
    gained = sum(1 / np.log2(1 + rank) for rank in places if rank <= 10)
    ideal = sum(1 / np.log2(1 + rank) for rank in range(1, min(10, len(places)) + 1))
    assert ndcg(ranks) == pytest.approx(gained / ideal)


def test_what_is_not_ranked_adds_nothing_and_a_perfect_order_is_1() -> None:
    assert {figure.value for figure in measure([np.array([UNRANKED, UNRANKED])] * 3).values()} == {0.0}
    assert {figure.value for figure in measure([np.arange(1, 13), np.array([1])]).values()} == {1.0}


def test_a_share_is_the_ratio_of_two_means_over_the_same_draws() -> None:
    english = {"R@1": np.array([1.0, 1.0, 1.0, 0.0]), "R@10": np.ones(4)}
    own = {"R@1": np.array([1.0, 0.0, 0.0, 0.0]), "R@10": np.array([1.0, 1.0, 1.0, 0.0])}
    found = means(own, of=english, seed=3)
    assert (found["R@1"].value, found["R@10"].value) == (0.3333, 0.75)
    drawn = np.random.default_rng(3).integers(4, size=(1000, 4))
    ratios = own["R@1"][drawn].mean(axis=1) / np.maximum(english["R@1"][drawn].mean(axis=1), 1e-9)
    assert [found["R@1"].low, found["R@1"].high] == pytest.approx(np.percentile(ratios, (2.5, 97.5)), abs=1e-4)
    assert means(english, of=english)["R@10"] == Figure(1.0, 1.0, 1.0)
    assert means(own, of=dict.fromkeys(own, np.zeros(4)))["R@1"] == Figure(0.0, 0.0, 0.0)


RIGHT = Figure(0.5, 0.4, 0.7)
CHARTS = {
    "bars": bar_chart("R@10 & more", [Bar("<engine>", RIGHT, 0), Bar("names", Figure(0.2, 0.2, 0.2), 9)]),
    "curves": line_chart(
        "speed-up",
        [Curve("ideal", [RIGHT], 5, is_ideal=True), Curve("now", [RIGHT, RIGHT], 0)],
        ticks=["1", "2"],
        x_title="n",
    ),
}
TOLD = {
    "bars": ["R@10 & more", "<engine>", "names", ".500", ".200"],
    "curves": ["speed-up", "ideal .500", "now .500", "1", "2", "n"],
}


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_says_what_was_measured_in_texts_and_colours_of_its_page_and_loads_nothing(kind: str) -> None:
    svg = CHARTS[kind].svg()
    texts = (text for text in ET.fromstring(svg).iter() if text.tag.endswith("text"))
    assert set(TOLD[kind]) <= {"".join(text.itertext()).strip() for text in texts}
    assert "var(--c0)" in svg and "var(--text)" in svg
    assert set(re.findall(r"var\((--\w+)\)", svg)) <= set(re.findall(r"(--\w+):", STYLE))
    assert not any(colour in svg for colour in COLOURS)
    assert not re.search(r"(href|src)=\"(?!#)|@import|url\((?!#)", svg)


def test_a_chart_is_a_picture_on_white() -> None:
    with Image.open(io.BytesIO(CHARTS["bars"].png())) as picture:
        assert picture.size[0] >= 1400
        assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        assert picture.convert("RGB").getcolors(1 << 20)


def test_plain_lines_tell_the_rate_and_the_time_left_once_they_can_be_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(terminal, "_LOOK_SECONDS", 600.0)
    with ProgressLine() as progress:
        progress("Asking", 100, 4100)
        now = 140.0
        progress("Asking", 2100, 4100)
        now = 1140.0
        progress("Asking", 2200, 4100)
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "Asking",
        "100 of 4,100",
        "2,100 of 4,100, 50/s, 0:00:40 left",
        "2,200 of 4,100, 2.0/s, 0:15:41 left",
    ]


def test_a_loop_tells_how_much_is_done_before_each_and_at_the_end() -> None:
    said: list[object] = []
    for item in with_progress(["a", "b"], "Reading", lambda *state: said.append(state)):
        said.append(item)
    assert said == [("Reading", 0, 2), "a", ("Reading", 1, 2), "b", ("Reading", 2, 2)]
    assert not list(with_progress([], "Reading", lambda *state: said.append(state))) and len(said) == 5
