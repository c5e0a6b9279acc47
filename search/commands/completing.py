"""How does this value go on? Labels of a library that begin so, read straight from its newest catalog.

A shell asks at every TAB: nothing is imported but SQLite, and what can't be read completes nothing.
"""

import sqlite3
from contextlib import closing

from indexer.library.folder import Library
from indexer.naming.printable import printable

MOST = 50
_LABELS = "SELECT value FROM labels WHERE kind = ? AND value GLOB ? AND value NOT GLOB '* *' ORDER BY n DESC LIMIT ?"
"""Shells would cut a value with a space into words."""


def labels_beginning(library: Library, kind: str, start: str) -> list[str]:
    """Values of a kind (set, style, category, tag, licence) that begin so, the most frequent first."""
    pattern = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in start) + "*"
    for generation in library.candidates():
        try:
            with closing(sqlite3.connect(f"{generation.catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as catalog:
                found = catalog.execute(_LABELS, (kind, pattern, MOST))
                return [value for (value,) in found if value == printable(value)]
        except (sqlite3.Error, UnicodeError):
            continue
    return []
