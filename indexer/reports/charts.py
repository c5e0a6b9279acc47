"""How do figures look? Bars with whiskers and curves with bands, as inline SVG from plain data; colours come from CSS.

Classes `c0` to `c6` colour what is measured; the page that a chart stands in says what they are, in light and in dark.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from indexer.reports.axes import SHARES, Axis, Written, round_up
from indexer.reports.measures import Figure, short, spell
from indexer.reports.style import STYLE

N_COLOURS = 7
_TRACK, _VALUES = 280, 52
_LETTER, _LONGEST = 7.2, 36
"""Width of a letter in px, and letters of a label before it is cut."""
_ROW, _BAR = 26, 14
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT, _BOTTOM, _RIGHT = 48, 14, 320, 230, 44, 190


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart."""

    label: str
    figure: Figure
    colour: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart, a figure for each place on the x axis, or for the first of them."""

    label: str
    figures: Sequence[Figure]
    colour: int
    is_ideal: bool = False
    """Dashed and without a band: what would be, not what was measured."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One row of a chart of parts."""

    label: str
    parts: Sequence[float]


@dataclass(frozen=True, slots=True)
class Point:
    """One place in a plane."""

    label: str
    x: float
    y: float
    colour: int


def bar_chart(title: str, bars: Sequence[Bar], *, written: Written = short) -> str:
    """Draw horizontal bars on a scale that ends a little above the largest interval; whiskers are the intervals."""
    top = round_up(max((bar.figure.high for bar in bars), default=1.0))
    left = 16 + round(_LETTER * max((len(_cut(bar.label)) for bar in bars), default=0))
    values = round(_LETTER * max((len(written(bar.figure.value)) for bar in bars), default=0))
    width, height = left + _TRACK + max(_VALUES, 16 + values), 30 + _ROW * len(bars) + 18
    parts = _track(title, left=left, top=top, from_y=24, height=height)
    for row, bar in enumerate(bars):
        parts.append(_bar(bar, left=left, y=28 + _ROW * row, top=top, written=written))
    return _svg(parts, width=width, height=height, title=title)


def stacked_chart(title: str, stacks: Sequence[Stack], *, parts: Sequence[str], written: Written) -> str:
    """Draw horizontal bars made of parts, with the parts' names above and each whole's value at its end."""
    top = round_up(max((sum(stack.parts) for stack in stacks), default=1.0))
    left = 16 + round(_LETTER * max((len(_cut(stack.label)) for stack in stacks), default=0))
    places = [0.0]
    for name in parts:
        places.append(places[-1] + 26 + _LETTER * len(name))
    width, height = max(left + _TRACK + _VALUES, places[-1]), 52 + _ROW * len(stacks) + 18
    drawn = _track(title, left=left, top=top, from_y=46, height=height)
    for colour, (name, x) in enumerate(zip(parts, places, strict=False)):
        drawn.append(f'<rect class="c{colour % N_COLOURS}" x="{x:.1f}" y="25" width="10" height="10" rx="2"/>')
        drawn.append(f'<text class="tick" x="{x + 14:.1f}" y="34">{escape(name)}</text>')
    for row, stack in enumerate(stacks):
        y, x = 50 + _ROW * row, float(left)
        drawn.append(
            f'<text x="{left - 8}" y="{y + _BAR / 2 + 4}" text-anchor="end">{escape(_cut(stack.label))}</text>'
        )
        for colour, (name, value) in enumerate(zip(parts, stack.parts, strict=True)):
            told = f"{escape(stack.label)}, {escape(name)}: {written(value)}"
            drawn.append(
                f'<rect class="c{colour % N_COLOURS}" x="{x:.1f}" y="{y}" width="{_TRACK * value / top:.1f}" '
                f'height="{_BAR}"><title>{told}</title></rect>'
            )
            x += _TRACK * value / top
        whole = written(sum(stack.parts))
        drawn.append(f'<text class="value" x="{x + 7:.1f}" y="{y + _BAR / 2 + 4}">{whole}</text>')
    return _svg(drawn, width=width, height=height, title=title)


def _track(title: str, *, left: int, top: float, from_y: int, height: int) -> list[str]:
    """Title and scale of horizontal bars."""
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * _TRACK
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{from_y}" y2="{height - 16}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{height - 3}" text-anchor="middle">{_tick(share * top)}</text>'
        )
    return parts


def _bar(bar: Bar, *, left: int, y: int, top: float, written: Written) -> str:
    value, low, high = (_TRACK * share / top for share in (bar.figure.value, bar.figure.low, bar.figure.high))
    middle = y + _BAR / 2
    whisker = (
        ""
        if bar.figure.low == bar.figure.high
        else (
            f'<path class="whisker" d="M{left + low:.1f} {middle}H{left + high:.1f}'
            f'M{left + low:.1f} {middle - 4}v8M{left + high:.1f} {middle - 4}v8"/>'
        )
    )
    return (
        f"<g><title>{escape(bar.label)}: {spell(bar.figure, True, written)}</title>"
        f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(_cut(bar.label))}</text>'
        f'<rect class="c{bar.colour % N_COLOURS}" x="{left}" y="{y}" width="{value:.1f}" height="{_BAR}" rx="2"/>'
        f'{whisker}<text class="value" x="{left + high + 7:.1f}" y="{middle + 4}">'
        f"{written(bar.figure.value)}</text></g>"
    )


def line_chart(title: str, curves: Sequence[Curve], *, ticks: Sequence[str], x_title: str, y: Axis = SHARES) -> str:
    """Draw curves over named places; bands are the intervals. Labels stand at the right ends, apart."""
    width, height = _LEFT + _PLOT_WIDTH + _RIGHT, _TOP + 18 + _PLOT_HEIGHT + _BOTTOM
    places = [_LEFT + _PLOT_WIDTH * (0.04 + 0.92 * n / max(1, len(ticks) - 1)) for n in range(len(ticks))]
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>', *_axes(places, ticks, x_title, y)]
    for curve in curves:
        colour = curve.colour % N_COLOURS
        upper = [(x, _y(y, figure.high)) for x, figure in zip(places, curve.figures, strict=False)]
        lower = [(x, _y(y, figure.low)) for x, figure in zip(places, curve.figures, strict=False)]
        line = [(x, _y(y, figure.value)) for x, figure in zip(places, curve.figures, strict=False)]
        if curve.is_ideal:
            parts.append(f'<polyline class="line ideal s{colour}" points="{_points(line)}"/>')
            continue
        parts.append(f'<polygon class="band c{colour}" points="{_points([*upper, *reversed(lower)])}"/>')
        parts.append(f'<polyline class="line s{colour}" points="{_points(line)}"/>')
        for place, tick, figure in zip(line, ticks, curve.figures, strict=False):
            told = f"{curve.label}, {tick}: {spell(figure, True, y.written)}"
            parts.append(_dot(*place, colour=curve.colour, told=told))
    labels = [(f"{_cut(curve.label)} {y.written(curve.figures[-1].value)}", curve.colour) for curve in curves]
    heights = [_y(y, curve.figures[-1].value) for curve in curves]
    parts += _labels(labels, heights, x=places[-1] + 12)
    return _svg(parts, width=width, height=height, title=title)


def scatter_chart(title: str, points: Sequence[Point], *, x: Axis, y: Axis) -> str:
    """Draw points in a plane, labelled at the right with lines that lead there."""
    width, height = _LEFT + _PLOT_WIDTH + _RIGHT, _TOP + 18 + _PLOT_HEIGHT + _BOTTOM
    ticks = [_LEFT + _PLOT_WIDTH * x.share(tick) for tick in x.ticks]
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>']
    parts += _axes(ticks, [_tick(tick) for tick in x.ticks], x.title, y)
    points = sorted(points, key=lambda point: (-point.y, -point.x))
    places = [(_LEFT + _PLOT_WIDTH * x.share(point.x), _y(y, point.y)) for point in points]
    ends = _apart([height for _, height in places], least=16)
    for point, place, end in zip(points, places, ends, strict=True):
        line = [place, (_LEFT + _PLOT_WIDTH + 8, end)]
        parts.append(f'<polyline class="lead s{point.colour % N_COLOURS}" points="{_points(line)}"/>')
        told = f"{point.label}: {x.written(point.x)}, {y.written(point.y)}"
        parts.append(_dot(*place, colour=point.colour, told=told))
    labels = [(f"{_cut(point.label)} {x.written(point.x)}", point.colour) for point in points]
    parts += _labels(labels, ends, x=_LEFT + _PLOT_WIDTH + 12)
    return _svg(parts, width=width, height=height, title=title)


def standalone(chart: str) -> bytes:
    """Give a chart its style, in the light colours, so that it can be drawn without its page."""
    light = STYLE[: STYLE.index("@media")]
    rules = STYLE[STYLE.index(".chart") : STYLE.index("table {")]
    for name, colour in re.findall(r"--(\w+): ([^;}]+);", light):
        rules = rules.replace(f"var(--{name})", colour)
    rules = re.sub(r"[^{}]*\{[^{}]*var\(--[^{}]*\}", "", rules)
    head, rest = chart.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{rules}</style>{rest}'.encode()


def _axes(places: Sequence[float], ticks: Sequence[str], x_title: str, y: Axis) -> list[str]:
    parts = []
    for tick in y.ticks:
        height = _y(y, tick)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{height:.1f}" y2="{height:.1f}"/>'
        )
        parts.append(f'<text class="tick" x="{_LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{_tick(tick)}</text>')
    below = _TOP + 18 + _PLOT_HEIGHT
    for x, name in zip(places, ticks, strict=True):
        parts.append(f'<text class="tick" x="{x:.1f}" y="{below + 18}" text-anchor="middle">{escape(name)}</text>')
    middle = _LEFT + _PLOT_WIDTH / 2
    parts.append(f'<text class="tick" x="{middle}" y="{below + 36}" text-anchor="middle">{escape(x_title)}</text>')
    return parts


def _dot(x: float, y: float, *, colour: int, told: str) -> str:
    title = f"<title>{escape(told)}</title>"
    return f'<circle class="c{colour % N_COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">{title}</circle>'


def _labels(labels: Sequence[tuple[str, int]], heights: Sequence[float], *, x: float) -> list[str]:
    """Write labels in a column, as near to their heights as they can stand apart."""
    return [
        f'<text class="t{colour % N_COLOURS}" x="{x:.1f}" y="{height + 4:.1f}">{escape(label)}</text>'
        for (label, colour), height in zip(labels, _apart(heights, least=16), strict=True)
    ]


def _apart(wanted: Sequence[float], *, least: float) -> list[float]:
    """Move heights so that neighbours are `least` apart, keeping their order."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    moved = list(wanted)
    for before, place in pairwise(order):
        moved[place] = max(moved[place], moved[before] + least)
    excess = max(0.0, max(moved, default=0.0) - (_TOP + 18 + _PLOT_HEIGHT))
    return [height - excess for height in moved]


def _y(axis: Axis, value: float) -> float:
    return _TOP + 18 + _PLOT_HEIGHT * (1 - axis.share(value))


def _tick(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:,g}k"
    return f"{value:.3f}".rstrip("0").rstrip(".") or "0"


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 3]}..."


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _svg(parts: Sequence[str], *, width: float, height: float, title: str) -> str:
    inside = "".join(parts)
    return (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{inside}</svg>'
    )
