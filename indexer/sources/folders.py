"""What does a plain folder of pictures hold? One set, whose icons are its files; or a single picture."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from indexer.errors import SourceError
from indexer.naming.names import path_hints
from indexer.sources.exclusion import Exclusion
from indexer.sources.paths import name_of, to_text
from indexer.sources.pictures import find_pictures, scan_picture
from indexer.sources.reading import read_regular
from indexer.sources.records import FileScan, IconSet, Record

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
    """Name the licence whose text lies in a folder, if it is one of the few that can be told by a sentence."""
    for file in (folder / name for name in LICENCE_FILES):
        try:
            content = read_regular(file, limit=_LICENCE_BYTES, inside=os.path.realpath(folder), cut=True)
        except (OSError, SourceError):
            continue
        return licence_of(content)
    return None


def licence_of(content: bytes) -> str | None:
    """Name the licence that a text is, if it can be told by a sentence that no other has."""
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
