"""Has a file changed since it was last read? Its stamp says so without reading it."""

from pathlib import Path

UNREAD = "unread"
"""Stamp of what could not be read; no file has it, so the next scan tries again."""


def stamp_of(*files: Path, recipe: str = "") -> str:
    """Join what tells states of the files that records depend on apart, and the version of the code that reads them.

    Size and time of modification can be set to what they were; the time of change and the inode can't.

    Raises:
        OSError: one of them is gone.
    """
    facts = [file.stat() for file in files]
    spelled = (f"{fact.st_size}:{fact.st_mtime_ns}:{fact.st_ctime_ns}:{fact.st_ino}" for fact in facts)
    return "+".join((*spelled, *((recipe,) if recipe else ())))
