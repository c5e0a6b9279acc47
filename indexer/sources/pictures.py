"""Which picture files lie in a folder, and what does each hold? Nothing is decoded here."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.exclusion import Exclusion
from indexer.sources.records import FileScan, Record, content_digest
from indexer.sources.stamps import UNREAD, stamp_of

SUFFIXES = frozenset((".svg", ".svgz", ".png", ".webp", ".jpg", ".jpeg", ".gif", ".apng", ".bmp", ".ico"))
MAX_BYTES = 64 * 1024 * 1024
"""More than any icon has; a file beyond it is listed as broken instead of being read into memory."""


@dataclass(frozen=True, slots=True)
class Found:
    """A picture file, or with `error` a folder that cannot be listed; `path` is relative to the root, not yet text."""

    path: str
    error: str | None = None


def find_pictures(
    root: Path, *, exclusion: Exclusion, suffixes: frozenset[str] = SUFFIXES, start: str = ""
) -> Iterator[Found]:
    """Walk a tree from `start` on, in the order of names, folders where their name stands.

    A linked folder is followed once, and when it leads out of the tree; so no loop is walked and no icon found twice.
    """
    links = _Links(root)
    pending = [(start, True, exclusion)]
    while pending:
        path, is_folder, rules = pending.pop()
        if not is_folder:
            yield Found(path)
            continue
        try:
            entries = sorted(os.scandir(root / path), key=lambda entry: entry.name)
        except OSError as error:
            yield Found(f"{path}/" if path else "", error=reason_of(error))
            continue
        rules = rules.entering(root / path, path)
        inside = []
        for entry in entries:
            child, is_folder = f"{path}/{entry.name}" if path else entry.name, _is_folder(entry)
            is_wanted = is_folder or Path(entry.name).suffix.lower() in suffixes
            if not is_wanted or rules.excludes(f"{child}/" if is_folder else child):
                continue
            if not (is_folder and entry.is_symlink()) or links.lead_to_new(entry.path):
                inside.append((child, is_folder, rules))
        pending += reversed(inside)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class _Links:
    """The linked folders that a walk has followed."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.followed: set[Path] = set()

    def lead_to_new(self, link: str) -> bool:
        target = Path(link).resolve()
        is_new = not target.is_relative_to(self.root) and not self.root.is_relative_to(target)
        is_new = is_new and target not in self.followed
        self.followed.add(target)
        return is_new


def read_file(file: Path) -> bytes:
    """Read a picture's bytes.

    Raises:
        OSError: it is gone or may not be read.
        SourceError: it is a device or a pipe, or far too large for an icon.
    """
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise SourceError("not a regular file")
    if facts.st_size > MAX_BYTES:
        raise SourceError(f"file of {facts.st_size / 1e6:.0f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB")
    return file.read_bytes()


def scan_picture(
    file: Path, key: str, *, beside: str = "", known: str | None, record_of: Callable[[bytes], Record]
) -> FileScan:
    """Make the record of one picture file from its digest, unless its stamp is the one already known.

    `key` is its path as the catalog keeps it, `beside` the stamp of what else its record depends on.
    """
    try:
        stamp = f"{stamp_of(file)}+{beside}" if beside else stamp_of(file)
        if stamp == known:
            return FileScan(key, stamp)
        digest = content_digest(read_file(file))
    except OSError as error:
        return FileScan(key, UNREAD, error=reason_of(error))
    except SourceError as error:
        return FileScan(key, stamp, error=reason_of(error))
    return FileScan(key, stamp, records=(record_of(digest),))


def reason_of(error: Exception) -> str:
    """Put into words why a picture could not be had, without the file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
