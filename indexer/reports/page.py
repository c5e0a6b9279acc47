"""A report as a file: one HTML page that needs nothing beside it, and runs no script."""

import errno
import os
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import IconsError
from indexer.library.named import goes_aside, write_result
from indexer.reports.measures import Figure, short

if TYPE_CHECKING:
    from indexer.reports.charts import Chart

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
    value = f"<b>{short(figure.value)}</b>" if is_best else short(figure.value)
    return Html(f"{value}<small>{short(figure.low)}-{short(figure.high)}</small>")


def check_page(path: Path) -> None:
    """Find out whether a page can be written, before hours of work end at that.

    Raises:
        IconsError: it can't.
    """
    try:
        if goes_aside(path):
            folder = Path(os.path.realpath(path)).parent
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
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
