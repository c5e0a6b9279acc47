"""Hostile pictures, made when they are needed: what each file holds, and whether it is drawn or why it is refused.

Whatever is drawn shows the same black square on white. A drawing that read a file, fetched an address or ran a script
would show a red one.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hostile_bitmaps import bitmaps
from hostile_names import NAMES
from hostile_svgs import plain_square, svgs

from indexer.library.folder import Library
from indexer.library.shards import read_vectors


@dataclass(frozen=True, slots=True)
class Case:
    """One file of the corpus; `reason` is a pattern of why it is refused, None where the square is drawn."""

    path: str
    content: bytes
    reason: str | None = None

    @property
    def is_slow(self) -> bool:
        """Takes as long as it is let: only a limit of time or memory ends it."""
        return self.reason is not None and "took longer" in self.reason


def cases(secret: Path, port: int) -> Iterator[Case]:
    """Yield all pictures; the canaries in `secret` must not be read, `port` must not be asked."""
    for name, content, reason in svgs(secret, port):
        yield Case(f"svg/{name}.svg", content, reason)
    for name, content, reason in bitmaps():
        yield Case(f"bitmap/{name}", content, reason)
    for number, name in enumerate(NAMES):
        yield Case(f"names/{name}.svg", plain_square(f"name {number}"))


def write(folder: Path, found: list[Case]) -> None:
    """Write the corpus; the same bytes in every run."""
    for case in found:
        file = folder / case.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(case.content)


def vectors_by_digest(library: Library, fingerprint: str) -> dict[bytes, bytes]:
    """The vector of each picture that has one, by the digest of its content."""
    with closing(sqlite3.connect(library.catalog)) as connection:
        digests = dict(connection.execute("SELECT id, digest FROM images ORDER BY id"))
    ids = np.array([*digests], np.int64)
    found, filled = read_vectors(library.vectors(fingerprint), "images", ids, fingerprint=fingerprint)
    return {digests[number]: found[row].tobytes() for row, number in enumerate(ids.tolist()) if filled[row]}
