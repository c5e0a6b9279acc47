"""Which picture files lie in a folder, and what does each hold? Nothing is decoded here."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.exclusion import Exclusion
from indexer.sources.paths import to_text
from indexer.sources.reading import read_regular, refuse_outside
from indexer.sources.records import UNREAD, FileScan, Record, content_digest, stamp_of

SUFFIXES = frozenset((".svg", ".svgz", ".png", ".webp", ".jpg", ".jpeg", ".gif", ".apng", ".bmp", ".ico"))


def find_pictures(
    root: Path, *, exclusion: Exclusion, suffixes: frozenset[str] = SUFFIXES, start: str = ""
) -> Iterator[str | FileScan]:
    """Walk a tree from `start` on, in the order of names, folders where their name stands.

    Yields the path of each picture, relative to the root and not yet text, or what cannot be looked into. A link to a
    folder of the tree is left alone, as its pictures are found where they stand; a link that leads out of the tree is
    an error.
    """
    inside_root = os.path.realpath(root)
    if start and (why_not := _outside(str(root / start), inside_root)):
        yield _unread(f"{start}/", why_not)
        return
    pending = [(f"{start}/" if start else "", exclusion)]
    while pending:
        path, rules = pending.pop()  # a folder's path ends in a slash, but for the root's
        if path and not path.endswith("/"):
            yield path
            continue
        try:
            entries = sorted(os.scandir(root / path), key=lambda entry: entry.name)
        except OSError as error:
            yield _unread(path, reason_of(error))
            continue
        rules = rules.entering(root / path, path)
        inside = []
        for entry in entries:
            is_folder = _is_folder(entry)
            child = f"{path}{entry.name}{'/' if is_folder else ''}"
            is_wanted = is_folder or Path(entry.name).suffix.lower() in suffixes
            if not is_wanted or rules.excludes(child):
                continue
            if entry.is_symlink() and (why_not := _outside(entry.path, inside_root)):
                yield _unread(child, why_not)
            elif not (entry.is_symlink() and is_folder):
                inside.append((child, rules))
        pending += reversed(inside)


def _unread(path: str, reason: str) -> FileScan:
    return FileScan(to_text(path), UNREAD, error=reason)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _outside(link: str, root: str) -> str | None:
    """Say where a link leads that leaves the tree; None for one that stays, or leads nowhere at all."""
    try:
        refuse_outside(os.path.realpath(link, strict=True), root)
    except SourceError as error:
        return str(error)
    except OSError:
        return None
    return None


def scan_picture(
    file: Path,
    key: str,
    stamps: Mapping[str, str],
    *,
    inside: str | None,
    beside: str,
    record_of: Callable[[bytes], Record],
) -> FileScan:
    """Make the record of one picture file from its digest, unless its stamp is the one already known.

    `key` is its path as the catalog keeps it, `inside` the real path that it must lie below, `beside` the stamp of what
    else its record depends on.
    """
    try:
        stamp = stamp_of(file, recipe=beside)
        if stamp == stamps.get(key):
            return FileScan(key, stamp)
        digest = content_digest(read_regular(file, inside=inside))
    except OSError as error:
        return FileScan(key, UNREAD, error=reason_of(error))
    except SourceError as error:
        return FileScan(key, stamp, error=reason_of(error))
    return FileScan(key, stamp, records=(record_of(digest),))


def reason_of(error: Exception) -> str:
    """Put into words why a picture could not be had, without the file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
