"""Charts say what was measured, in the colours of their page, and load nothing."""

import io
import re
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from indexer.reports.charts import (
    COLOURS,
    Bar,
    Chart,
    Curve,
    bar_chart,
    line_chart,
)
from indexer.reports.measures import Figure
from indexer.reports.page import STYLE

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
def test_a_chart_says_what_was_measured_in_texts(kind: str) -> None:
    texts = [
        "".join(text.itertext()).strip()
        for text in ET.fromstring(CHARTS[kind].svg()).iter()
        if text.tag.endswith("text")
    ]
    assert set(TOLD[kind]) <= set(texts)


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_has_the_colours_of_its_page_and_loads_nothing(kind: str) -> None:
    svg = CHARTS[kind].svg()
    assert "var(--c0)" in svg and "var(--text)" in svg
    assert set(re.findall(r"var\((--\w+)\)", svg)) <= set(re.findall(r"(--\w+):", STYLE))
    assert not any(colour in svg for colour in COLOURS)
    assert not re.search(r"(href|src)=\"(?!#)|@import|url\((?!#)", svg)


def test_whiskers_stand_where_the_interval_ends() -> None:
    axes = bar_chart("one", [Bar("a", RIGHT, 0)]).sheet.axes[0]
    [whisker] = axes.collections[0].get_segments()
    assert whisker[:, 0].tolist() == pytest.approx([0.4, 0.7])


def test_a_chart_is_a_picture_on_white() -> None:
    chart: Chart = CHARTS["bars"]
    with Image.open(io.BytesIO(chart.png())) as picture:
        assert picture.size[0] >= 1400
        assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        assert picture.convert("RGB").getcolors(1 << 20)
