"""How does a report become a file? One HTML page that needs nothing beside it, and runs no script."""

import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import IconsError
from indexer.library.durable import write_result
from indexer.reports.style import STYLE

if TYPE_CHECKING:
    from indexer.reports.charts import Chart

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
    listed = "".join(f"<li>{escape(line)}</li>" for line in facts)
    return _PAGE.format(title=escape(title), style=STYLE, facts=listed, sections="".join(sections))


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


def check_page(path: Path) -> None:
    """Find out whether a page can be written, before hours of work end at that.

    Raises:
        IconsError: it can't.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise IconsError(f'"{path}" can\'t be written ({error.strerror}); choose another --report') from error


def write_page(path: Path, html: str) -> None:
    """Write a page to where `--report` says.

    Raises:
        IconsError: it can't be written there.
    """
    write_result(path, html.encode("utf-8"), option="--report")
