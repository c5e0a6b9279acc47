"""Ranks of right answers -> figures with bootstrap intervals; charts of them, and one HTML page that holds both.

A figure is a mean over queries. Its interval is the 95 % percentile bootstrap over queries (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, ch. 13): the same mean over `RESAMPLES` draws of as many queries, with replacement.
Charts are drawn by matplotlib, which takes half a second to import, when one is asked for. In a page, colours are those
of its style sheet.
"""

import errno
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.arrays import Floats
from indexer.errors import IconsError
from indexer.library.named import goes_aside, write_result

Scores = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

UNRANKED = np.iinfo(np.int64).max
"""Rank of what a ranker does not rank at all: its score is minus infinity."""
CUTS = (1, 5, 10)
DEPTH = 50
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over queries with its bootstrap 95 % interval."""

    value: float
    low: float
    high: float


def right_ranks(scores: npt.NDArray[np.floating], right: Sequence[int] | Ranks) -> Ranks:
    """Ranks (1 is best) of all right answers of one query, ascending, from the scores (n,) of everything.

    Of equal scores the wrong ones come first, so that a ranker that says the same of everything scores nothing. A score
    that is no number ranks nothing: it would compare as the best of all.
    """
    places = np.asarray(right, np.int64)
    others = np.where(np.isnan(scores), -np.inf, scores)
    found = -np.sort(-others[places])
    others[places] = -np.inf
    ahead = np.sort(others[others >= found[-1]])
    ranks: Ranks = np.arange(1, len(found) + 1) + (len(ahead) - np.searchsorted(ahead, found, side="left"))
    return np.where(np.isneginf(found), UNRANKED, ranks)


def first_ranks(queries: Floats, corpus: Floats, relevant: Sequence[Sequence[int]]) -> Ranks:
    """Rank (1 is best) of the first right answer of each query, by inner product, exact, fp32; ties as above."""
    return np.array([right_ranks(corpus @ queries[row], right)[0] for row, right in enumerate(relevant)], np.int64)


def figures(ranks: Ranks, *, seed: int = 0) -> dict[str, Figure]:
    """R@1, R@5, R@10 and MRR@50 of the first right answers' ranks (n,), with intervals."""
    return means(first_rank_scores(ranks, cuts=CUTS), seed=seed)


def first_rank_scores(ranks: Ranks, *, cuts: Sequence[int]) -> dict[str, Scores]:
    """Score each query by the rank of its first right answer: a hit at each cut, and its reciprocal down to DEPTH."""
    scores: dict[str, Scores] = {f"R@{cut}": (ranks <= cut).astype(np.float64) for cut in cuts}
    scores[f"MRR@{DEPTH}"] = np.where(ranks <= DEPTH, 1 / ranks, 0.0)
    return scores


def means(scores: Mapping[str, Scores], *, of: Mapping[str, Scores] | None = None, seed: int = 0) -> dict[str, Figure]:
    """Average each measure's scores (n,), n > 0, over queries, to four digits; all measures see the same draws.

    As a share of the mean `of` others on the same queries, where these are given; 0 of nothing. A query is drawn with
    both of its scores, so that intervals are those of the share.
    """
    table = np.stack([*scores.values(), *(of[name] for name in scores if of)])
    generator, n = np.random.default_rng(seed), table.shape[1]
    drawn = [table, *(table[:, generator.integers(n, size=n)] for _ in range(RESAMPLES))]
    found: Scores = np.stack([some.mean(axis=1) for some in drawn], axis=1)
    if of:
        ours, theirs = np.split(found, 2)
        found = np.divide(ours, theirs, out=np.zeros_like(ours), where=theirs > 0)
    rows = np.column_stack([found[:, 0], *np.percentile(found[:, 1:], (2.5, 97.5), axis=1)]).round(4).tolist()
    return {name: Figure(*row) for name, row in zip(scores, rows, strict=True)}


def short(value: float) -> str:
    """Spell a share with three digits, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


Written = Callable[[float], str]
"""How a value is spelled beside a chart."""


def spell(figure: Figure, with_interval: bool = False, written: Written = short) -> str:
    """Spell a share as .345, or with its interval as .345 (.329-.360); other quantities as `written` says."""
    interval = f" ({written(figure.low)}-{written(figure.high)})" if with_interval else ""
    return written(figure.value) + interval


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
    sheet: Any

    def svg(self) -> str:
        """Spell it as an element of a page whose style sheet is `STYLE`."""
        text = self._saved(format="svg", transparent=True, metadata=_NOTHING).decode()
        for colour, name in _VARIABLES.items():
            text = text.replace(colour, f"var(--{name})")
        return f'<svg class="chart" role="img" aria-label="{escape(self.title)}"{text[text.index("<svg") + 4 :]}'

    def png(self) -> bytes:
        """Draw it on white."""
        return self._saved(format="png", dpi=250)

    def _saved(self, **how: Any) -> bytes:
        import matplotlib as mpl

        file = io.BytesIO()
        with mpl.rc_context(_LOOKS):
            self.sheet.savefig(file, **how)
        return file.getvalue()


def bar_chart(title: str, bars: Sequence[Bar], *, written: Written = short) -> Chart:
    """Draw horizontal bars; whiskers are the intervals."""
    with _axes(title, n_rows=len(bars)) as (chart, axes):
        labels, values = [bar.label for bar in bars], [bar.figure.value for bar in bars]
        axes.set_yticks(range(len(bars)), [name if len(name) <= 36 else f"{name[:33]}..." for name in labels])
        axes.set_ylim(len(bars) - 0.4, -0.6)  # the first row at the top
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.15)
        for row, bar in enumerate(bars):
            axes.annotate(
                written(bar.figure.value),
                (bar.figure.high, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
        axes.barh(range(len(bars)), values, 0.55, color=[COLOURS[bar.colour % len(COLOURS)] for bar in bars])
        around = np.array([(bar.figure.value - bar.figure.low, bar.figure.high - bar.figure.value) for bar in bars]).T
        axes.errorbar(values, range(len(bars)), xerr=around, fmt="none", ecolor=_TEXT, elinewidth=1, capsize=3)
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
                axes.fill_between(
                    range(len(values)),
                    [figure.low for figure in curve.figures],
                    [figure.high for figure in curve.figures],
                    color=colour,
                    alpha=0.16,
                    linewidth=0,
                )
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_xlabel(x_title)
        axes.set_ylim(0.0, high)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        chart.sheet.legend(loc="outside right upper")
    return chart


@contextmanager
def _axes(title: str, *, n_rows: int | None = None) -> Iterator[tuple[Chart, Any]]:
    """An empty chart, as high as so many rows need."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Sheet

    with mpl.rc_context(_LOOKS):
        sheet = Sheet(figsize=(_WIDTH, (_HEIGHT if n_rows is None else 0.7 + _ROW * n_rows)), layout="constrained")
        axes = sheet.add_subplot()
        axes.set_title(title)
        yield Chart(title, sheet), axes


STYLE = """
:root { color-scheme: light dark; --text: #1c2127; --soft: #5f6b7a; --line: #d9dee5; --page: #fff; --card: #f6f8fa;
  --c0: #0b7a75; --c1: #3a6fd8; --c2: #d9822b; --c3: #9b4fb5; --c4: #c23b5a; --c5: #8a94a3; --c6: #7a6a2f;
  font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page); }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --soft: #98a2b0; --line: #343b46; --page: #14171c;
  --card: #1d2229; --c0: #2cb5ad; --c1: #7aa2ff; --c2: #f0a25a; --c3: #c58ae0; --c4: #f07a92; --c5: #8a94a3;
  --c6: #cbb766; } }
body { margin: 2rem auto; padding: 0 1.5rem; max-width: 78rem; }
h1 { font-size: 1.6rem; margin: 0 0 .6rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
h2 small { font-weight: 400; color: var(--soft); margin-left: .4rem; }
.facts { list-style: none; margin: 0; padding: 0; color: var(--soft); font-size: .87rem; overflow-wrap: anywhere; }
.charts { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 1.5rem; margin-bottom: 1rem; }
.chart { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; width: 100%; }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; }
th:first-child { text-align: left; } thead th { color: var(--soft); font-size: .82rem; }
td small { display: block; color: var(--soft); font-size: .72rem; }
td.left, th.left { text-align: left; }
summary { cursor: pointer; color: var(--soft); margin: .5rem 0; }
.case { display: grid; grid-template-columns: 15rem 14.5rem 1fr; gap: 1rem; background: var(--card);
  border-radius: .6rem; padding: .7rem .9rem; margin-bottom: .6rem; break-inside: avoid; }
.asked { display: flex; flex-direction: column; justify-content: center; overflow-wrap: anywhere; }
.asked:has(.shot) { flex-direction: row; justify-content: flex-start; align-items: center; gap: .8rem; }
.asked b { font-size: 1.05rem; } .asked small { display: block; color: var(--soft); }
.shot { height: 4.2rem; max-width: 7rem; object-fit: contain; image-rendering: pixelated; border-radius: .3rem; }
.group em { font-style: normal; color: var(--soft); font-size: .75rem; } .group > div { display: flex; gap: .5rem; }
figure { margin: 0; width: 4.4rem; text-align: center; }
figure img, .gone { box-sizing: border-box; width: 3.4rem; height: 3.4rem; padding: .5rem; border-radius: .5rem;
  background: #fff; object-fit: contain; border: 1px solid var(--line); }
figure img.dark { background: #1b1c1e; }
.gone { display: inline-grid; place-items: center; color: #888; font-size: .7rem; }
figcaption { font-size: .7rem; line-height: 1.2; color: var(--soft); overflow-wrap: anywhere; }
@media (max-width: 60rem) { .case { grid-template-columns: 1fr; } }
"""
"""Of a page; its colours are those of the charts, light and dark."""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title><style>{style}</style></head><body>
<h1>{title}</h1><ul class="facts">{facts}</ul>
{sections}
</body></html>
"""


def page(title: str, *, facts: Sequence[str], sections: Sequence[str]) -> str:
    """Lay out a page: a title, what was measured in a few lines of text, and sections of HTML."""
    return _PAGE.format(
        title=escape(title),
        style=STYLE,
        facts="".join(f"<li>{escape(line)}</li>" for line in facts),
        sections="".join(sections),
    )


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def section(
    title: str, *, small: str = "", charts: Iterable["Chart"] = (), table: str = "", lines: Iterable[str] = ()
) -> str:
    """Lay out a subject: charts, a table, and lines of text beneath."""
    head = _html(title) + (f" <small>{_html(small)}</small>" if small else "")
    drawn, items = "".join(chart.svg() for chart in charts), "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<section><h2>{head}</h2><div class="charts">{drawn}</div>{table}<ul class="facts">{items}</ul></section>'


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1) -> str:
    """Lay out a table; the first columns, `n_left` of them, name a row."""

    def line(cells: Sequence[str], kinds: tuple[str, str]) -> str:
        spelled = ((kinds[n >= n_left], ' class="left"' if n < n_left else "", cell) for n, cell in enumerate(cells))
        return f"<tr>{''.join(f'<{kind}{left}>{_html(cell)}</{kind}>' for kind, left, cell in spelled)}</tr>"

    body = "".join(line(row, ("th", "td")) for row in rows)
    return f"<table><thead>{line(head, ('th', 'th'))}</thead><tbody>{body}</tbody></table>"


def _html(text: str) -> str:
    return text if isinstance(text, Html) else escape(text)


def figure_html(figure: Figure, *, is_best: bool = False) -> Html:
    """Lay out a share in a table, its interval beneath it."""
    mark, end = ("<b>", "</b>") if is_best else ("", "")
    return Html(f"{mark}{short(figure.value)}{end}<small>{short(figure.low)}-{short(figure.high)}</small>")


def check_page(path: Path) -> None:
    """Find out whether a page can be written, before hours of work end at that.

    Raises:
        IconsError: it can't.
    """
    try:
        if goes_aside(path):
            folder = Path(os.path.realpath(path)).parent
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise IconsError(f'"{path}" can\'t be written ({error.strerror}); choose another --report') from error


def write_page(path: Path, html: str) -> None:
    """Write a page to where `--report` says.

    Raises:
        IconsError: it can't be written there.
    """
    write_result(path, html.encode("utf-8"), option="--report")
