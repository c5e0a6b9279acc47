"""How does a report become a file? One HTML page that needs nothing beside it, and runs no script."""

import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from indexer.errors import IconsError
from indexer.library.durable import write_result
from indexer.reports.style import STYLE

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
