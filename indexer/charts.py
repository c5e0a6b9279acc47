"""How do figures look? Bars with whiskers and curves with bands, as inline SVG from plain data; colours come from CSS.

Classes `c0` to `c5` colour what is measured; the page that a chart stands in says what they are, in light and in dark.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from indexer.measures import Figure, short
from indexer.report_style import STYLE

Spell = Callable[[float], str]
N_COLOURS = 6
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
    """One line of a chart, a figure for each place on the x axis."""

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


def bar_chart(title: str, bars: Sequence[Bar], *, spell_value: Spell = short) -> str:
    """Draw horizontal bars on a scale that ends a little above the largest interval; whiskers are 95 % intervals."""
    top = _scale(max((bar.figure.high for bar in bars), default=1.0))
    left = 16 + round(_LETTER * max((len(_cut(bar.label)) for bar in bars), default=0))
    width, height = left + _TRACK + _VALUES, 30 + _ROW * len(bars) + 18
    parts = _track(title, left=left, top=top, from_y=24, height=height)
    parts += [_bar(bar, left=left, y=28 + _ROW * row, top=top, told=spell_value) for row, bar in enumerate(bars)]
    return _svg(parts, width=width, height=height, title=title)


def stacked_chart(title: str, stacks: Sequence[Stack], *, parts: Sequence[str], spell_value: Spell) -> str:
    """Draw horizontal bars made of parts, with the parts' names above and each whole's value at its end."""
    top = _scale(max((sum(stack.parts) for stack in stacks), default=1.0))
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
            told = f"{escape(stack.label)}, {escape(name)}: {spell_value(value)}"
            drawn.append(
                f'<rect class="c{colour % N_COLOURS}" x="{x:.1f}" y="{y}" width="{_TRACK * value / top:.1f}" '
                f'height="{_BAR}"><title>{told}</title></rect>'
            )
            x += _TRACK * value / top
        whole = spell_value(sum(stack.parts))
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


def _bar(bar: Bar, *, left: int, y: int, top: float, told: Spell) -> str:
    value, low, high = (_TRACK * share / top for share in (bar.figure.value, bar.figure.low, bar.figure.high))
    middle = y + _BAR / 2
    whisker = (
        f'<path class="whisker" d="M{left + low:.1f} {middle}H{left + high:.1f}'
        f'M{left + low:.1f} {middle - 4}v8M{left + high:.1f} {middle - 4}v8"/>'
    )
    return (
        f"<g><title>{escape(bar.label)}: {_with_interval(bar.figure, told)}</title>"
        f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(_cut(bar.label))}</text>'
        f'<rect class="c{bar.colour % N_COLOURS}" x="{left}" y="{y}" width="{value:.1f}" height="{_BAR}" rx="2"/>'
        f'{whisker}<text class="value" x="{left + high + 7:.1f}" y="{middle + 4}">'
        f"{told(bar.figure.value)}</text></g>"
    )


def line_chart(
    title: str,
    curves: Sequence[Curve],
    *,
    ticks: Sequence[str],
    x_title: str,
    top: float | None = 1.0,
    spell_value: Spell = short,
) -> str:
    """Draw curves from 0 to `top` over named places; None: to a little above the largest of all intervals.

    Bands are 95 % intervals. Labels stand at the right ends, apart.
    """
    width, height = _LEFT + _PLOT_WIDTH + _RIGHT, _TOP + 18 + _PLOT_HEIGHT + _BOTTOM
    if top is None:
        top = _scale(max((figure.high for curve in curves for figure in curve.figures), default=1.0))
    places = [_LEFT + _PLOT_WIDTH * (0.04 + 0.92 * n / max(1, len(ticks) - 1)) for n in range(len(ticks))]
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>', *_axes(places, ticks, x_title, top)]
    for curve in curves:
        colour = curve.colour % N_COLOURS
        upper = [(x, _y(figure.high / top)) for x, figure in zip(places, curve.figures, strict=True)]
        lower = [(x, _y(figure.low / top)) for x, figure in zip(places, curve.figures, strict=True)]
        line = [(x, _y(figure.value / top)) for x, figure in zip(places, curve.figures, strict=True)]
        if curve.is_ideal:
            parts.append(f'<polyline class="line ideal s{colour}" points="{_points(line)}"/>')
            continue
        parts.append(f'<polygon class="band c{colour}" points="{_points([*upper, *reversed(lower)])}"/>')
        parts.append(f'<polyline class="line s{colour}" points="{_points(line)}"/>')
        for (x, y), tick, figure in zip(line, ticks, curve.figures, strict=True):
            told = f"{escape(curve.label)}, {escape(tick)}: {_with_interval(figure, spell_value)}"
            parts.append(f'<circle class="c{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{told}</title></circle>')
    ends = _apart([_y(curve.figures[-1].value / top) for curve in curves], least=16)
    for curve, y in zip(curves, ends, strict=True):
        label = f"{escape(_cut(curve.label))} {spell_value(curve.figures[-1].value)}"
        parts.append(
            f'<text class="t{curve.colour % N_COLOURS}" x="{places[-1] + 12:.1f}" y="{y + 4:.1f}">{label}</text>'
        )
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


def _axes(places: Sequence[float], ticks: Sequence[str], x_title: str, top: float) -> list[str]:
    parts = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        y = _y(share)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_tick(share * top)}</text>'
        )
    for x, tick in zip(places, ticks, strict=True):
        parts.append(f'<text class="tick" x="{x:.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">{escape(tick)}</text>')
    middle = _LEFT + _PLOT_WIDTH / 2
    parts.append(f'<text class="tick" x="{middle}" y="{_y(0) + 36:.1f}" text-anchor="middle">{escape(x_title)}</text>')
    return parts


def _with_interval(figure: Figure, spell_value: Spell) -> str:
    return f"{spell_value(figure.value)} ({spell_value(figure.low)}-{spell_value(figure.high)})"


def _apart(wanted: Sequence[float], *, least: float) -> list[float]:
    """Move heights so that neighbours are `least` apart, keeping their order."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    moved = list(wanted)
    for before, place in pairwise(order):
        moved[place] = max(moved[place], moved[before] + least)
    excess = max(0.0, max(moved, default=0.0) - _y(0))
    return [height - excess for height in moved]


def _y(share: float) -> float:
    return _TOP + 18 + _PLOT_HEIGHT * (1 - share)


def _scale(largest: float) -> float:
    """Choose the end of a scale: one, two, four, six or eight tenths, of a power of ten."""
    if largest <= 0:
        return 1.0
    power: float = 10 ** math.ceil(math.log10(largest))
    return next((end * power for end in (0.1, 0.2, 0.4, 0.6, 0.8) if largest <= end * power), power)


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}".rstrip("0").rstrip(".") or "0"


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
