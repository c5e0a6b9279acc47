"""A plain folder of pictures is a set, whose icons are its files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import SourceError
from indexer.languages.names import path_hints
from indexer.sources.records import (
    UNREAD,
    FileScan,
    IconSet,
    Record,
    content_digest,
    name_of,
    read_regular,
    refuse_outside,
    stamp_of,
    to_text,
)

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MAX_RULES_BYTES = 1_000_000
GITIGNORE = "@gitignore"
"""Among the patterns: leave out what the .gitignore files found in the tree leave out."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is left out below some folder; `entering` adds what that folder says itself."""

    rules: "GitIgnoreSpec | None" = None
    honours_gitignore: bool = False
    found: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()
    """(folder, rules) of the .gitignore files on the way here; the innermost one that has an opinion decides."""

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Exclusion":
        """Read patterns in the syntax of .gitignore; `.*` leaves out what is hidden, `@gitignore` what git ignores.

        Raises:
            SourceError: one of them is no pattern.
        """
        own = [pattern for pattern in patterns if pattern != GITIGNORE]
        if wrong := next((pattern for pattern in own if not _is_pattern(pattern)), None):
            raise SourceError(
                f'"{wrong}" is no pattern as in .gitignore; give --exclude one such as "drafts/" or "*.png"'
            )
        return cls(_rules(own) if own else None, honours_gitignore=GITIGNORE in patterns)

    def entering(self, folder: Path, path: str) -> "Exclusion":
        """Take in the rules of a folder, whose `path` in the source ends in a slash; an unreadable one has none."""
        if not self.honours_gitignore:
            return self
        try:
            content = read_regular(folder / ".gitignore", limit=_MAX_RULES_BYTES)
        except (OSError, SourceError):
            return self
        lines = content.decode(errors="replace").splitlines()
        # What is no pattern matches nothing, as for git itself.
        rules = _rules(line for line in lines if _is_pattern(line))
        return replace(self, found=(*self.found, (path, rules)))

    def excludes(self, path: str) -> bool:
        """Say whether a path is left out; a folder's ends in a slash."""
        if self.honours_gitignore and f"/{path}".endswith("/.git/"):
            return True
        if self.rules is not None and (is_excluded := self.rules.check_file(path).include) is not None:
            return is_excluded
        for base, rules in reversed(self.found):
            if (is_excluded := rules.check_file(path.removeprefix(base)).include) is not None:
                return is_excluded
        return False


def _is_pattern(line: str) -> bool:
    try:
        _rules([line])
    except ValueError:
        return False
    return True


def _rules(lines: Iterable[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # render workers, which read single files, do without

    return GitIgnoreSpec.from_lines(lines)


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
            may_hold_icons = is_folder or Path(entry.name).suffix.lower() in suffixes
            if not may_hold_icons or rules.excludes(child):
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


_LICENCE_BYTES = 50_000
"""More than the longest of these licences has."""
LICENCE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING")
_LICENCES = {
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining a copy",
    "ISC": r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose with or without fee",
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "OFL-1.1": r"SIL OPEN FONT LICENSE Version 1\.1",
    "CC0-1.0": r"CC0 1\.0 Universal",
    "CC-BY-SA-4.0": r"Attribution-ShareAlike 4\.0 International",
    "CC-BY-4.0": r"Attribution 4\.0 International",
    "Unlicense": r"This is free and unencumbered software released into the public domain",
}
"""A sentence that only this licence has; a file with the sentences of two licences is left to its reader."""


def scan(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield the pictures of a folder, folder by folder in the order of names, or one picture; see `Source.scan`."""
    is_file = location.is_file()
    folder = location.parent if is_file else location
    name = to_text(folder.resolve().name) or "icons"
    icon_set = IconSet(key=name, title=name, licence=_recognise_licence(folder))
    if is_file:
        yield _scan_file(location, "", stamps, icon_set, inside=None)
        return
    inside = os.path.realpath(location)
    for found in find_pictures(location, exclusion=exclusion):
        yield _scan_file(location, found, stamps, icon_set, inside=inside) if isinstance(found, str) else found


def _recognise_licence(folder: Path) -> str | None:
    """Name the licence whose text lies in a folder, if one sentence of it shows which it is."""
    for file in (folder / name for name in LICENCE_FILES):
        try:
            content = read_regular(file, limit=_LICENCE_BYTES, inside=os.path.realpath(folder), cut=True)
        except (OSError, SourceError):
            continue
        return licence_of(content)
    return None


def licence_of(content: bytes) -> str | None:
    """Name the licence that a text is, if it has a sentence that no other has."""
    text = " ".join(content.decode(errors="replace").split())
    named = [spdx for spdx, sentence in _LICENCES.items() if re.search(sentence, text, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None


def _scan_file(
    location: Path, path: str, stamps: Mapping[str, str], icon_set: IconSet, *, inside: str | None
) -> FileScan:
    def record_of(digest: bytes) -> Record:
        style, size = path_hints([to_text(part) for part in Path(path).parts[:-1]])
        return Record("", name_of(path or location.name), digest, icon_set, style=style, size=size)

    beside = icon_set.licence or ""
    return scan_picture(location / path, to_text(path), stamps, inside=inside, beside=beside, record_of=record_of)
