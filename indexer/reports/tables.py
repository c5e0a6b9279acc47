"""Where do tables go, and texts of unknown origin in them? To stdout, as wide as they are; as plain as they can be."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from indexer.naming.printable import printable


def open_console() -> Console:
    """Open stdout for tables; a pipe has no width, even if FORCE_COLOR colours it, and 80 columns would cut them."""
    console = Console()
    return console if console.file.isatty() else Console(width=200)


def plain(text: str) -> Text:
    """Show a text of unknown origin in a table: no markup, nothing that a terminal would obey."""
    return Text(printable(text))


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1) -> Table:
    """Lay out a table for a terminal; its first columns, `n_left` of them, name a row, the others are figures."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for number, column in enumerate(head):
        table.add_column(column, justify="left" if number < n_left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(plain, row))
    return table
