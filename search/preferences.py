"""What does the user of a library like? Sets that come first, and the format of code; a small file in its folder."""

import json
from collections.abc import Sequence
from typing import Any

from indexer.errors import LibraryError
from indexer.library.durable import write_file
from indexer.library.folder import Library


def read_preferred(library: Library) -> tuple[str, ...]:
    """Keys of the preferred sets, the most preferred first; none where nobody chose any.

    Raises:
        LibraryError: the file is not as `write_preferred` writes it.
    """
    written = _read(library)
    sets = written.get("sets", [] if written.keys() <= {"format"} else None)
    if not isinstance(sets, list) or not all(isinstance(key, str) for key in sets):
        raise _unreadable(library, "it lists no sets")
    return tuple(sets)


def write_preferred(library: Library, sets: Sequence[str]) -> None:
    """Remember which sets come first, the most preferred first."""
    _write(library, "sets", list(sets))


def read_format(library: Library) -> str | None:
    """Name of the format that code is written in where none is named; None where nobody chose one.

    Raises:
        LibraryError: the file is not as `write_format` writes it.
    """
    name = _read(library).get("format")
    if name is not None and not isinstance(name, str):
        raise _unreadable(library, "it names no format")
    return name


def write_format(library: Library, name: str) -> None:
    """Remember a format by its name."""
    _write(library, "format", name)


def _read(library: Library) -> dict[str, Any]:
    try:
        written = json.loads(library.preferences.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(library, error) from error
    if not isinstance(written, dict):
        raise _unreadable(library, "it lists no sets")
    return written


def _write(library: Library, name: str, value: object) -> None:
    """Write one preference, the others stay; a file that can't be read makes way."""
    try:
        written = _read(library)
    except LibraryError:
        written = {}
    try:
        write_file(library.preferences, json.dumps({**written, name: value}).encode())
    except OSError as error:
        raise LibraryError(
            f'"{library.preferences}" can\'t be written ({error.strerror}); nothing is remembered'
        ) from error


def _unreadable(library: Library, why: object) -> LibraryError:
    return LibraryError(f'"{library.preferences}" can\'t be read ({why}); `icons prefer SET...` writes it anew')
