"""What does a source tell about its icons and files, before anything is rendered?"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

UNREAD = "unread"
"""Stamp of what could not be read; no file has it, so the next scan tries again."""


@dataclass(frozen=True, slots=True)
class IconSet:
    """A named collection of icons with one licence, as `--set` takes it."""

    key: str
    title: str
    version: str | None = None
    licence: str | None = None
    """SPDX identifier where the source gives one, else its own words."""
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One icon as its source spells it; `name` is raw, naming is done later over the whole set."""

    member: str
    """Key inside the file: an Iconify icon's name, or "" where the file is the picture."""
    name: str
    digest: bytes
    """`content_digest` of the bytes that will be rendered: equal digests are one image."""
    set: IconSet
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    caption: str | None = None
    style: str | None = None
    """Style that the source states beside the name (a folder, a manifest column, an Iconify suffix)."""
    size: int | None = None
    """Nominal size in pixels that the source states beside the name."""
    licence: str | None = None
    """Licence of this icon alone, where it differs from its set's."""


@dataclass(frozen=True, slots=True)
class FileScan:
    """What one file of a source was found to hold.

    Exactly one of three: `records` (new or changed), `error` (unreadable, with the reason),
    or neither: its stamp equals the one already known, so it was not read again.
    """

    path: str
    """Relative to the source's location, POSIX separators, spelled by `paths.to_text`, unique within the source; ""
    when the location is itself the file."""
    stamp: str
    """Changes whenever the file, or metadata that its records depend on, may have changed."""
    records: tuple[Record, ...] | None = None
    error: str | None = None
    skipped: int = 0
    """Entries that the file itself marks as hidden."""
    broken: tuple[tuple[str, str], ...] = ()
    """Entries beside the records that cannot become icons, as (member, reason): an alias of what is not there."""


def content_digest(content: bytes) -> bytes:
    """Identify a picture's content: BLAKE2b, 16 bytes."""
    return blake2b(content, digest_size=16).digest()


def stamp_of(*files: Path, recipe: str = "") -> str:
    """Join what tells states of the files that records depend on apart, and the version of the code that reads them.

    It says without reading a file whether it has changed: its size and time of modification can be set to what they
    were, its time of change and inode can't.

    Raises:
        OSError: one of them is gone.
    """
    facts = [file.stat() for file in files]
    spelled = (f"{fact.st_size}:{fact.st_mtime_ns}:{fact.st_ctime_ns}:{fact.st_ino}" for fact in facts)
    return "+".join((*spelled, *((recipe,) if recipe else ())))
