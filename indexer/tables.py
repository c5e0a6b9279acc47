"""Where do tables go? To stdout, as wide as they are."""

from rich.console import Console


def open_console() -> Console:
    """Open stdout for tables; a pipe has no width, and 80 columns would cut them."""
    console = Console()
    return console if console.is_terminal else Console(width=200)
