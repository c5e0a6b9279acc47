"""Which files have searches found to be others than were indexed? The next scan reads these, whatever their stamp says.

Searches write nothing into a library but this list; where they can't, nothing is lost but the reminder.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.library.foreign import from_json

Place = tuple[str, str]
"""Location of a source, and the path of a file in it."""
NAME = "changed.jsonl"
_MOST_BYTES = 1_000_000


def note_changed(root: Path, place: Place) -> None:
    """Keep a file of a source in mind for the next scan of the library at `root`."""
    line = json.dumps(place).encode() + b"\n"
    with suppress(OSError):  # a library may be read-only
        file = os.open(root / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            known = os.pread(file, _MOST_BYTES, 0)
            if line not in known and len(known) < _MOST_BYTES:
                os.write(file, line)
        finally:
            os.close(file)


@contextmanager
def noted_changes(root: Path) -> Iterator[frozenset[Place]]:
    """Give what was noted to a scan, and forget it once that has succeeded; what was noted meanwhile stays."""
    path = root / NAME
    content = path.read_bytes() if path.is_file() else b""
    yield frozenset(_places(content))
    if content and path.is_file() and path.stat().st_size == len(content):
        path.unlink()


def _places(content: bytes) -> Iterator[Place]:
    for line in content.splitlines():
        with suppress(ValueError):  # a line that was cut short by a full disk, or damaged
            yield from_json(tuple[str, str], line)
