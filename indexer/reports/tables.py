"""Where do tables go, and texts of unknown origin in them? To stdout, as wide as they are; as plain as they can be."""

from rich.console import Console
from rich.text import Text

from indexer.naming.printable import printable


def open_console() -> Console:
    """Open stdout for tables; a pipe has no width, even if FORCE_COLOR colours it, and 80 columns would cut them."""
    console = Console()
    return console if console.file.isatty() else Console(width=200)


def plain(text: str) -> Text:
    """Show a text of unknown origin in a table: no markup, nothing that a terminal would obey."""
    return Text(printable(text))
