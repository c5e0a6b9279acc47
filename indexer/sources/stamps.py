"""Has a file changed since it was last read? Its stamp says so without reading it."""

from pathlib import Path

UNREAD = "unread"
"""Stamp of what could not be read; no file has it, so the next scan tries again."""


def stamp_of(*files: Path, recipe: str = "") -> str:
    """Join size and time of change of the files that records depend on, and the version of the code that reads them.

    Raises:
        OSError: one of them is gone.
    """
    facts = [file.stat() for file in files]
    return "+".join((*(f"{fact.st_size}:{fact.st_mtime_ns}" for fact in facts), *((recipe,) if recipe else ())))
