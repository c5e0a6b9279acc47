"""Which files are code to be read? Those below a place that git does not ignore, and no build, package or link."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import IconsError, SourceError
from indexer.sources.exclusion import GITIGNORE, Exclusion
from indexer.sources.reading import read_regular
from search.references.code import Kind, kind_of

MOST_BYTES = 2_000_000
"""Of one file; what is larger was written by a program."""
LEFT_OUT = (
    GITIGNORE, ".git/", "node_modules/", "bower_components/", "dist/", "build/", ".next/", ".nuxt/", ".output/",
    ".svelte-kit/", "coverage/", "__pycache__/", ".venv/", "*.min.js", "*.min.css", "package-lock.json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of code."""

    path: Path
    kind: Kind


def code_files(places: Sequence[Path]) -> Iterator[CodeFile]:
    """Find the files to read, each once, in the order of their names; a file that is named is read whatever rules say.

    Raises:
        IconsError: a place is not there, or a named file is of no kind that is read.
    """
    seen = set()
    for place in places:
        for path in [place] if place.is_file() else files_below(place):
            kind = kind_of(path.name)
            if kind is None:
                if path == place:
                    raise IconsError(f'"{place}" is no file of code that is read; docs/checking.md lists the kinds')
            elif path not in seen:
                seen.add(path)
                yield CodeFile(path, kind)


def read_code(path: Path) -> str:
    """Read a file's text, its line ends as they are.

    Raises:
        IconsError: it can't be read, is too large, or is no UTF-8.
    """
    try:
        return read_regular(path, limit=MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError("it is not UTF-8") from error
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def files_below(place: Path) -> Iterator[Path]:
    """Find the files of a folder that git does not ignore, and that no build has made.

    Raises:
        IconsError: it is none, or it can't be read.
    """
    if not place.is_dir():
        raise IconsError(f'"{place}" is neither a folder nor a file; name the code to look at')
    yield from _walk(place, "", Exclusion.of(LEFT_OUT))


def _walk(folder: Path, path: str, rules: Exclusion) -> Iterator[Path]:
    rules = rules.entering(folder, path)
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        raise IconsError(f'"{folder}" can\'t be read: {error.strerror}') from error
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if not rules.excludes(f"{path}{entry.name}/"):
                yield from _walk(folder / entry.name, f"{path}{entry.name}/", rules)
        elif entry.is_file(follow_symlinks=False) and not rules.excludes(f"{path}{entry.name}"):
            yield folder / entry.name
