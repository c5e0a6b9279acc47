"""What does the licence file say that lies with a source? Its text, as npm packages bring one."""

import os
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.reading import read_regular

MAX_BYTES = 200_000
"""The GPL has 35 kB."""
_STEMS = ("license", "licence", "copying", "unlicense")
_SUFFIXES = ("", ".txt", ".md", ".rst")
_OF_OTHERS = ("iconify",)
"""Kinds of sources whose licence file would be about the collection, not about the sets in it."""


def read_licence_file(kind: str, location: Path) -> str | None:
    """Read the text of the licence file beside a source's pictures; None where there is none, or it can't be read."""
    folder = location.parent if kind == "manifest" or location.is_file() else location
    if kind in _OF_OTHERS:
        return None
    try:
        inside = os.path.realpath(folder)
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return None
    for name in filter(_is_licence, names):
        try:
            text = read_regular(folder / name, limit=MAX_BYTES, inside=inside).decode("utf-8-sig").strip()
        except (OSError, SourceError, UnicodeDecodeError):
            continue
        if text:
            return text
    return None


def _is_licence(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - of a name alone
    return stem in _STEMS and suffix in _SUFFIXES
