"""How do figures look? Bars with whiskers and curves with bands, as inline SVG from plain data; colours come from CSS.

Classes `c0` to `c5` colour what is measured; the page that a chart stands in says what they are, in light and in dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from indexer.measures import Figure, short, spell

N_COLOURS = 6
_TRACK, _VALUES = 280, 52
_LETTER, _LONGEST = 7.2, 36
"""Width of a letter in px, and letters of a label before it is cut."""
_ROW, _BAR = 26, 14
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT, _BOTTOM, _RIGHT = 34, 14, 320, 230, 44, 190


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


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Draw horizontal bars on a scale that ends a little above the largest interval; whiskers are 95 % intervals."""
    top = _scale(max((bar.figure.high for bar in bars), default=1.0))
    left = 16 + round(_LETTER * max((len(_cut(bar.label)) for bar in bars), default=0))
    width, height = left + _TRACK + _VALUES, 30 + _ROW * len(bars) + 18
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * _TRACK
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="24" y2="{height - 16}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{height - 3}" text-anchor="middle">{_tick(share * top)}</text>'
        )
    parts += [_bar(bar, left=left, y=28 + _ROW * row, top=top) for row, bar in enumerate(bars)]
    return _svg(parts, width=width, height=height, title=title)


def _bar(bar: Bar, *, left: int, y: int, top: float) -> str:
    value, low, high = (_TRACK * share / top for share in (bar.figure.value, bar.figure.low, bar.figure.high))
    middle = y + _BAR / 2
    whisker = (
        f'<path class="whisker" d="M{left + low:.1f} {middle}H{left + high:.1f}'
        f'M{left + low:.1f} {middle - 4}v8M{left + high:.1f} {middle - 4}v8"/>'
    )
    return (
        f"<g><title>{escape(bar.label)}: {spell(bar.figure, True)}</title>"
        f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(_cut(bar.label))}</text>'
        f'<rect class="c{bar.colour % N_COLOURS}" x="{left}" y="{y}" width="{value:.1f}" height="{_BAR}" rx="2"/>'
        f'{whisker}<text class="value" x="{left + high + 7:.1f}" y="{middle + 4}">'
        f"{short(bar.figure.value)}</text></g>"
    )


def line_chart(title: str, curves: Sequence[Curve], *, ticks: Sequence[str], x_title: str) -> str:
    """Draw curves from 0 to 1 over named places; bands are 95 % intervals. Labels stand at the right ends, apart."""
    width, height = _LEFT + _PLOT_WIDTH + _RIGHT, _TOP + 18 + _PLOT_HEIGHT + _BOTTOM
    places = [_LEFT + _PLOT_WIDTH * (0.04 + 0.92 * n / max(1, len(ticks) - 1)) for n in range(len(ticks))]
    parts = [f'<text class="title" x="0" y="14">{escape(title)}</text>', *_axes(places, ticks, x_title)]
    for curve in curves:
        colour = curve.colour % N_COLOURS
        upper = [(x, _y(figure.high)) for x, figure in zip(places, curve.figures, strict=True)]
        lower = [(x, _y(figure.low)) for x, figure in zip(places, curve.figures, strict=True)]
        line = [(x, _y(figure.value)) for x, figure in zip(places, curve.figures, strict=True)]
        parts.append(f'<polygon class="band c{colour}" points="{_points([*upper, *reversed(lower)])}"/>')
        parts.append(f'<polyline class="line s{colour}" points="{_points(line)}"/>')
        parts += [_dot(x, y, tick, curve, n) for n, ((x, y), tick) in enumerate(zip(line, ticks, strict=True))]
    ends = _apart([_y(curve.figures[-1].value) for curve in curves], least=16)
    for curve, y in zip(curves, ends, strict=True):
        label = f"{escape(_cut(curve.label))} {short(curve.figures[-1].value)}"
        parts.append(
            f'<text class="t{curve.colour % N_COLOURS}" x="{places[-1] + 12:.1f}" y="{y + 4:.1f}">{label}</text>'
        )
    return _svg(parts, width=width, height=height, title=title)


def _axes(places: Sequence[float], ticks: Sequence[str], x_title: str) -> list[str]:
    parts = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        y = _y(share)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_tick(share)}</text>')
    for x, tick in zip(places, ticks, strict=True):
        parts.append(f'<text class="tick" x="{x:.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">{escape(tick)}</text>')
    middle = _LEFT + _PLOT_WIDTH / 2
    parts.append(f'<text class="tick" x="{middle}" y="{_y(0) + 36:.1f}" text-anchor="middle">{escape(x_title)}</text>')
    return parts


def _dot(x: float, y: float, tick: str, curve: Curve, place: int) -> str:
    told = f"{escape(curve.label)}, {escape(tick)}: {spell(curve.figures[place], True)}"
    return (
        f'<circle class="c{curve.colour % N_COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{told}</title></circle>'
    )


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
    """Choose the end of a scale."""
    return next((end for end in (0.1, 0.2, 0.4, 0.6, 0.8) if largest <= end), 1.0)


def _tick(share: float) -> str:
    return f"{share:.3f}".rstrip("0").rstrip(".") or "0"


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
