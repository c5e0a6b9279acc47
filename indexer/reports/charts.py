"""How figures look: bars with whiskers, and curves with bands, drawn by matplotlib.

It takes half a second to import, which only reports wait for. In a page, colours are those of its style sheet.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import FuncFormatter

from indexer.reports.measures import Figure, short

Written = Callable[[float], str]
"""How a value is spelled beside a chart."""
COLOURS = ("#0b7a75", "#3a6fd8", "#d9822b", "#9b4fb5", "#c23b5a", "#8a94a3", "#7a6a2f")
_TEXT, _SOFT, _LINE = "#1c2127", "#5f6b7a", "#d9dee5"
_VARIABLES = {_TEXT: "text", _SOFT: "soft", _LINE: "line", **{colour: f"c{n}" for n, colour in enumerate(COLOURS)}}
"""Names of these colours in the style sheet of `page`."""
_LOOKS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _TEXT,
    "axes.edgecolor": _LINE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": _SOFT,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": _LINE,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "xtick.labelcolor": _SOFT,
    "ytick.labelcolor": _TEXT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}
_WIDTH, _HEIGHT, _ROW = 5.6, 3.2, 0.27
"""In inches, of 72 px."""
_PNG_DPI = 250
_NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))
"""What matplotlib would tell of itself."""


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
class Chart:
    """A drawn chart, for a page and as a picture."""

    title: str
    sheet: Sheet

    def svg(self) -> str:
        """Spell it as an element of a page whose style sheet is `page.STYLE`."""
        text = self._saved(format="svg", transparent=True, metadata=_NOTHING).decode()
        for colour, name in _VARIABLES.items():
            text = text.replace(colour, f"var(--{name})")
        return f'<svg class="chart" role="img" aria-label="{escape(self.title)}"{text[text.index("<svg") + 4 :]}'

    def png(self) -> bytes:
        """Draw it on white."""
        return self._saved(format="png", dpi=_PNG_DPI)

    def _saved(self, **how: Any) -> bytes:
        file = io.BytesIO()
        with mpl.rc_context(_LOOKS):
            self.sheet.savefig(file, **how)
        return file.getvalue()


def bar_chart(title: str, bars: Sequence[Bar], *, written: Written = short) -> Chart:
    """Draw horizontal bars; whiskers are the intervals."""
    with _axes(title, n_rows=len(bars)) as (chart, axes):
        _rows(axes, [bar.label for bar in bars], [(bar.figure.high, written(bar.figure.value)) for bar in bars])
        values = [bar.figure.value for bar in bars]
        axes.barh(range(len(bars)), values, 0.55, color=[COLOURS[bar.colour % len(COLOURS)] for bar in bars])
        below = [bar.figure.value - bar.figure.low for bar in bars]
        above = [bar.figure.high - bar.figure.value for bar in bars]
        axes.errorbar(values, range(len(bars)), xerr=[below, above], fmt="none", ecolor=_TEXT, elinewidth=1, capsize=3)
    return chart


def line_chart(
    title: str,
    curves: Sequence[Curve],
    *,
    ticks: Sequence[str],
    x_title: str,
    written: Written = short,
    high: float | None = 1.02,
) -> Chart:
    """Draw curves over named places; bands are the intervals. The legend tells the last value of each.

    The y axis ends at `high`, by itself a little above a share of 1; None: where values end.
    """
    with _axes(title) as (chart, axes):
        for curve in curves:
            values, colour = [figure.value for figure in curve.figures], COLOURS[curve.colour % len(COLOURS)]
            looks: dict[str, Any] = {"ls": "--", "lw": 1.2} if curve.is_ideal else {"marker": "o", "markersize": 4}
            axes.plot(values, color=colour, label=f"{curve.label} {written(values[-1])}", **looks)
            if not curve.is_ideal:
                band = [figure.low for figure in curve.figures], [figure.high for figure in curve.figures]
                axes.fill_between(range(len(values)), *band, color=colour, alpha=0.16, linewidth=0)
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_xlabel(x_title)
        axes.set_ylim(0.0, high)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        chart.sheet.legend(loc="outside right upper")
    return chart


@contextmanager
def _axes(title: str, *, n_rows: int | None = None) -> Iterator[tuple[Chart, Axes]]:
    """An empty chart, as high as so many rows need."""
    with mpl.rc_context(_LOOKS):
        height = _HEIGHT if n_rows is None else 0.7 + _ROW * n_rows
        sheet = Sheet(figsize=(_WIDTH, height), layout="constrained")
        axes = sheet.add_subplot()
        axes.set_title(title)
        yield Chart(title, sheet), axes


def _rows(axes: Axes, labels: Sequence[str], ends: Sequence[tuple[float, str]]) -> None:
    """Name the rows of a chart of bars, from the top, and write a value at the end of each."""
    axes.set_yticks(range(len(labels)), [name if len(name) <= 36 else f"{name[:33]}..." for name in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.15)
    for row, (end, written) in enumerate(ends):
        axes.annotate(written, (end, row), xytext=(6, 0), textcoords="offset points", va="center")
