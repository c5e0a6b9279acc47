"""Which ids may not be given again? Those that shards hold vectors for, and icons of generations.

A catalog counts its ids by itself. One that begins anew beside vectors, or comes from a backup or a snapshot that is
older than they are, would give their ids to other pictures, which would then have the vectors of the old ones.
"""

import sqlite3
from contextlib import closing, suppress

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.library.shards import read_settled


def used_ids(library: Library) -> dict[str, int]:
    """The largest ids of images and names that any shard knows, and of icons that any generation knows."""
    used = {"images": 0, "names": 0, "icons": 0}
    for path in (library.root / "vectors").glob("*/[!.]*.safetensors"):
        with suppress(IconsError):
            kind, ids, failures = read_settled(path)
            used[kind] = max(used[kind], int(ids.max(initial=0)), *failures)
    for number in library.numbers():
        uri = f"{library.generation(number).catalog.as_uri()}?mode=ro&immutable=1"
        with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as connection:
            found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'icons'").fetchone()
            used["icons"] = max(used["icons"], *(found or (0,)))
    return used


def count_on(connection: sqlite3.Connection, used: dict[str, int]) -> None:
    """Let a catalog's next ids come after those that were used."""
    known = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    for table, number in used.items():
        if number > known.get(table, 0):
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))
