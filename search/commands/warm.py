"""Which engine answers a command? The one that `icons repl` holds open, else one that is opened for it."""

from typing import TYPE_CHECKING

import click

from indexer.commands.options import warnings_as_lines
from indexer.errors import LibraryError
from indexer.library.folder import Library
from indexer.naming.printable import say

if TYPE_CHECKING:
    from search.engine import SearchEngine


def engine_of(library: Library) -> "SearchEngine":
    """Open a library, or take the one that is open; a new generation answers from now on.

    Raises:
        LibraryError: it can't be read.
    """
    from search.engine import SearchEngine

    warm = click.get_current_context().obj
    if not (isinstance(warm, SearchEngine) and warm.library.root == library.root):
        with warnings_as_lines():
            return SearchEngine.open(library.root)
    try:
        warm.refresh()
    except LibraryError as error:
        say(f"Warning: {error}", err=True)
    return warm
